import { wireName, wireValue } from "./names.ts";
import { allOf } from "./pages.ts";
import { newIdempotencyKey, path, type Transport } from "./transport.ts";

/** A line of a quote. */
export type OrderLine = {
  /** For programs: `WorkflowFee`, `NotaryFee`, ... The list can grow. */
  type: string;
  /** For people. */
  label: string;
  /** US cents; negative for discounts. */
  amountCents: number;
};

/** With a test key an answer may warn: of fields that are unknown, say. */
type Warned = { warnings?: string[] };

type OrderCommon = {
  /** Of the request, for support. */
  requestId: string;
  /** By which the order is known; who has it sees the client's page. */
  orderCode: string;
  /** The client's page: a path on the service. */
  orderUrl: string;
  /** `QuoteReady`, `Paid`, `EsignPending`, ... `Completed`. The list can grow. */
  status: string;
  /** What was sent as `externalReference`. */
  externalReference: string | null;
  /** E.164; null without a fax. */
  faxToNumber: string | null;
  /** US cents, before the discount of the firm's tier. */
  subtotalCents: number;
  /** US cents. */
  discountCents: number;
  /** US cents: what a checkout charges. */
  totalCents: number;
  lines: OrderLine[];
};

export type CreatedOrder = OrderCommon & {
  /** Where the client pays; null unless `createCheckout` was sent and the order can be paid. */
  checkoutUrl: string | null;
} & Warned;

export type OrderDetail = OrderCommon & {
  /** Flags joined by a comma and a space: `Sign, Notarize, Ship, Fax`. */
  services: string;
  /** Of the signatures: `Sent`, `Viewed`, `PartiallySigned`, `Completed`, ...; null when none are wanted. */
  envelopeStatus: string | null;
  customerEmail: string;
  /** ISO 8601, UTC. */
  createdAt: string;
};

export type OrderSummary = Pick<
  OrderDetail,
  "orderCode" | "status" | "services" | "totalCents" | "externalReference" | "customerEmail" | "createdAt"
>;

export type OrderList = {
  orders: OrderSummary[];
  /** For `cursor` of the next call; null after the last page. */
  nextCursor: string | null;
  requestId: string;
};

/** How a signer is identified, besides the link that is mailed. */
export type SignerAuth = "link" | "mail_code" | "access_code" | "text_code";

export type Signer = {
  name: string;
  email: string;
  /** A 10-digit US number, or an international one in `+country` form. Required when `auth` is `text_code`. */
  phone?: string | undefined;
  /** 1 to 10: signers of one number sign in parallel, after those of lower numbers. Default 1. */
  routing?: number | undefined;
  /** Default: `signerAuth`. */
  auth?: SignerAuth | undefined;
  /** For `access_code`: what you tell the signer yourself. */
  accessCode?: string | undefined;
  /** Of mails and pages. Default `en`. */
  language?: "en" | "es" | undefined;
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
  /** What the signer is asked for. */
  label?: string | undefined;
  /** Default true. */
  required?: boolean | undefined;
};

/** What an order is placed with. */
export type OrderFields = {
  /** Of the client. */
  email: string;
  /** Attests that the document is the client's own completed one. */
  byodConfirmed: true;
  /** 40 hex digits, in place of a document. */
  fillToken?: string | undefined;
  /** Of the client. */
  name?: string | undefined;
  /** A document of the catalog, which then decides on signing and notarization. */
  docSlug?: string | undefined;
  /** Have the document signed. */
  svcSign?: boolean | undefined;
  /** Have it notarized online. */
  svcNotary?: boolean | undefined;
  /** Have it shipped; send the `ship` fields with it. */
  svcShip?: boolean | undefined;
  /** Where the signer is: two letters. */
  signerState?: string | undefined;
  /** Where the document goes: two letters. */
  destState?: string | undefined;
  /** Your file number, up to 120 characters; it comes back in lists and webhooks. */
  externalReference?: string | undefined;
  shipName?: string | undefined;
  shipLine1?: string | undefined;
  shipLine2?: string | undefined;
  shipCity?: string | undefined;
  /** Two letters. */
  shipState?: string | undefined;
  /** ZIP or ZIP+4. */
  shipPostal?: string | undefined;
  /** `label` (default): a prepaid carrier label; `print_mail`: the service prints and mails it. */
  shipMethod?: "label" | "print_mail" | undefined;
  /** The return address; with it go the other `from` fields. */
  fromName?: string | undefined;
  fromLine1?: string | undefined;
  fromLine2?: string | undefined;
  fromCity?: string | undefined;
  fromState?: string | undefined;
  fromPostal?: string | undefined;
  /** Adds a fax: a 10-digit US number, or an international one in `+country` form. */
  faxTo?: string | undefined;
  /** Answers the hosted checkout, too. */
  createCheckout?: boolean | undefined;
  /** Who signs. Default: the client, alone. */
  signers?: readonly Signer[] | undefined;
  /** Where they sign. Default: the document's own signature fields, its tags, or a page that is added. */
  fields?: readonly SignatureField[] | undefined;
  /** How signers are identified who say nothing else. Default `link`. */
  signerAuth?: SignerAuth | undefined;
};

/** Bytes of a PDF, in whatever a form takes. */
export type Pdf = Uint8Array | Blob;

const pdfBlob = (pdf: Pdf): Blob =>
  pdf instanceof Blob ? pdf : new Blob([new Uint8Array(pdf)], { type: "application/pdf" });

/** A PDF, and the name of its file. */
export type NamedPdf = { pdf: Pdf; fileName: string };

export const formFile = (given: Pdf | NamedPdf): [Blob, string] =>
  "fileName" in given ? [pdfBlob(given.pdf), given.fileName] : [pdfBlob(given), "document.pdf"];

export type WriteOptions = {
  /** 8 to 255 characters: what is sent again under the same key happens once. Default: a new one, for retries of this call. */
  idempotencyKey?: string | undefined;
};

export type OrderQuery = {
  /** 1 to 100; default 20. */
  limit?: number | undefined;
  status?: string | undefined;
  externalReference?: string | undefined;
  /** `nextCursor` of the page before. */
  cursor?: string | undefined;
};

function formOf(fields: OrderFields, document: Pdf | NamedPdf | null): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields))
    if (value !== undefined && value !== false)
      form.append(wireName(name), typeof value === "object" ? JSON.stringify(wireValue(value)) : String(value));
  if (document) form.append("document", ...formFile(document));
  return form;
}

export function ordersOf({ json }: Transport) {
  const list = (query: OrderQuery = {}): Promise<OrderList> => json("GET", "/api/partner/orders", { query });
  return {
    /**
     * Places an order.
     * @param document the completed PDF, of at most 35 MB; null when `fillToken` is sent
     */
    create: (
      fields: OrderFields,
      document: Pdf | NamedPdf | null,
      { idempotencyKey = newIdempotencyKey() }: WriteOptions = {},
    ): Promise<CreatedOrder> => json("POST", "/api/partner/orders", { body: formOf(fields, document), idempotencyKey }),

    /** One page, newest first. */
    list,

    /** All of them, newest first; pages are fetched as they are wanted. */
    all: (query: Omit<OrderQuery, "cursor"> = {}): AsyncGenerator<OrderSummary, void, undefined> =>
      allOf(
        (cursor) => list({ ...query, cursor }),
        ({ orders }) => orders,
      ),

    get: (orderCode: string): Promise<OrderDetail> => json("GET", path`/api/partner/orders/${orderCode}`),

    /** The hosted checkout; one that is still open is returned again. */
    checkout: (
      orderCode: string,
      { idempotencyKey = newIdempotencyKey() }: WriteOptions = {},
    ): Promise<{ checkoutUrl: string; requestId: string }> =>
      json("POST", path`/api/partner/orders/${orderCode}/checkout`, { idempotencyKey }),
  };
}

/** A test order after a step. */
export type SandboxStep = { orderCode: string; status: string; firedEvents: string[]; requestId: string } & Warned;

/** The test clock of the firm. */
export type TestClock = {
  /** `advancing`: what came due is happening. */
  status: "ready" | "advancing";
  /** What the clock shows; it goes on from there. */
  testTime: string;
  /** What new objects, evidence and webhooks are dated with. */
  realTime: string;
  advancedSeconds: number;
  requestId: string;
} & Warned;

const clockOf = ({ json }: Pick<Transport, "json">) => ({
  get: (): Promise<TestClock> => json("GET", "/api/partner/sandbox/clock"),

  /**
   * What comes due of the firm's test objects happens as if so much time had gone by. Ask with `get` until the clock is `ready`.
   * @param leap by so many seconds, or to a test time that is later than the clock's own (ISO 8601)
   */
  advance: (
    leap: { advanceSeconds: number; to?: undefined } | { to: string; advanceSeconds?: undefined },
  ): Promise<TestClock> => json("POST", "/api/partner/sandbox/clock", { body: leap }),

  /** Back to real time. What happened has happened, and what came nearer stays there. */
  reset: (): Promise<TestClock> => json("DELETE", "/api/partner/sandbox/clock"),
});

/** How a payment in the sandbox ends. */
export type SandboxOutcome = "success" | "decline" | "cancel" | "delayed";

/** For test keys and test orders. */
export const sandboxOf = ({ json }: Pick<Transport, "json">) => ({
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

  clock: clockOf({ json }),
});
