import { path, type Transport } from "./transport.ts";

export type OrderLine = { type: string; label: string; amountCents: number };

type OrderCommon = {
  requestId: string;
  orderCode: string;
  orderUrl: string;
  status: string;
  externalReference: string | null;
  faxToNumber: string | null;
  subtotalCents: number;
  discountCents: number;
  totalCents: number;
  lines: OrderLine[];
};

export type CreatedOrder = OrderCommon & { checkoutUrl: string | null };

export type OrderDetail = OrderCommon & {
  /** Flags joined by a comma and a space: `Sign, Notarize, Ship, Fax`. */
  services: string;
  envelopeStatus: string | null;
  customerEmail: string;
  createdAt: string;
};

export type OrderSummary = Pick<
  OrderDetail,
  "orderCode" | "status" | "services" | "totalCents" | "externalReference" | "customerEmail" | "createdAt"
>;

export type OrderList = { orders: OrderSummary[]; nextCursor: string | null; requestId: string };

/** How a signer is identified, besides the link that is mailed. */
export type SignerAuth = "link" | "mail_code" | "access_code" | "text_code";

export type Signer = {
  name: string;
  email: string;
  /** A 10-digit US number, or an international one in `+country` form. Required when `auth` is `text_code`. */
  phone?: string;
  /** 1 to 10: signers of one number sign in parallel, after those of lower numbers. Default 1. */
  routing?: number;
  /** Default: `signer_auth`. */
  auth?: SignerAuth;
  /** For `access_code`: what you tell the signer yourself. */
  access_code?: string;
  /** Of mails and pages; default `en`. */
  language?: "en" | "es";
};

/** A place on a page as a reader shows it, in points (1/72 inch) from its upper left corner. */
export type SignatureField = {
  kind: "signature" | "initials" | "date" | "name" | "text";
  /** The signer's place in `signers`, from 1. */
  signer: number;
  /** From 1. */
  page: number;
  x: number;
  y: number;
  width: number;
  height: number;
  label?: string;
  /** Default true. */
  required?: boolean;
};

/** The fields of an order, by their names on the wire. */
export type OrderFields = {
  email: string;
  /** Attests that the document is the client's own completed one. */
  byod_confirmed: true;
  /** 40 hex digits, in place of a document. */
  fill_token?: string;
  name?: string;
  doc_slug?: string;
  svc_sign?: boolean;
  svc_notary?: boolean;
  svc_ship?: boolean;
  signer_state?: string;
  dest_state?: string;
  external_reference?: string;
  ship_name?: string;
  ship_line1?: string;
  ship_line2?: string;
  ship_city?: string;
  ship_state?: string;
  ship_postal?: string;
  ship_method?: "label" | "print_mail";
  from_name?: string;
  from_line1?: string;
  from_line2?: string;
  from_city?: string;
  from_state?: string;
  from_postal?: string;
  fax_to?: string;
  create_checkout?: boolean;
  /** Who signs; default: the client, alone. */
  signers?: readonly Signer[];
  /** Where they sign; default: the document's own signature fields, its tags, or a page that is added. */
  fields?: readonly SignatureField[];
  signer_auth?: SignerAuth;
};

/** Bytes of a PDF, in whatever a form takes. */
export type Pdf = Uint8Array | Blob;

export const pdfBlob = (pdf: Pdf): Blob =>
  pdf instanceof Blob ? pdf : new Blob([new Uint8Array(pdf)], { type: "application/pdf" });

type Keyed = { idempotencyKey?: string };

const keyHeader = ({ idempotencyKey }: Keyed): Record<string, string> =>
  idempotencyKey === undefined ? {} : { "Idempotency-Key": idempotencyKey };

function formOf(fields: OrderFields, document: Pdf | null): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields))
    if (value !== undefined && value !== false)
      form.append(name, typeof value === "object" ? JSON.stringify(value) : String(value));
  if (document) form.append("document", pdfBlob(document), "document.pdf");
  return form;
}

export const ordersOf = ({ json }: Transport) => ({
  /** Places an order. @param document the completed PDF; null when `fill_token` is sent. */
  create: (fields: OrderFields, document: Pdf | null, options: Keyed = {}): Promise<CreatedOrder> =>
    json("POST", "/api/partner/orders", { body: formOf(fields, document), headers: keyHeader(options) }),

  /** Newest first. */
  list: (
    query: { limit?: number; status?: string; external_reference?: string; cursor?: string } = {},
  ): Promise<OrderList> => json("GET", "/api/partner/orders", { query }),

  get: (orderCode: string): Promise<OrderDetail> => json("GET", path`/api/partner/orders/${orderCode}`),

  /** The hosted checkout; one that is still open is returned again. */
  checkout: (orderCode: string, options: Keyed = {}): Promise<{ checkoutUrl: string; requestId: string }> =>
    json("POST", path`/api/partner/orders/${orderCode}/checkout`, { headers: keyHeader(options) }),
});

export type SandboxStep = { orderCode: string; status: string; firedEvents: string[]; requestId: string };

/** How a payment in the sandbox ends. */
export type SandboxOutcome = "success" | "decline" | "cancel" | "delayed";

/** For test keys and test orders. */
export const sandboxOf = ({ json }: Transport) => ({
  /** Pays, or fails to, as a client would. */
  checkout: (
    orderCode: string,
    outcome: SandboxOutcome = "success",
  ): Promise<SandboxStep & { outcome: SandboxOutcome; checkoutUrl: string }> =>
    json("POST", path`/api/partner/sandbox/orders/${orderCode}/checkout`, { body: { outcome } }),

  /** Walks on to the milestone, or to the next one. */
  advance: (
    orderCode: string,
    event: "payment.cleared" | "signature.completed" | "shipment.delivered" | null = null,
  ): Promise<SandboxStep> => json("POST", path`/api/partner/sandbox/orders/${orderCode}/advance`, { body: { event } }),
});
