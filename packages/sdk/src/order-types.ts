import type { RolePerson, SignatureField, Signer, SignerAuth } from "./signer-fields.ts";

/** The fields of a new order. They are sent as form fields next to the document. */
export type OrderFields = {
  /** The client's email address. */
  email: string;
  /** Your statement that the document is completed and belongs to the client. */
  byodConfirmed: true;
  /** The token of a completed online form (40 hex digits). Send it instead of a document. */
  fillToken?: string | undefined;
  /** The client's name. */
  name?: string | undefined;
  /** A document type of the catalog. It determines whether the document is signed and notarized. */
  docSlug?: string | undefined;
  /** True to have the document signed. */
  svcSign?: boolean | undefined;
  /** True to have the document notarized online. */
  svcNotary?: boolean | undefined;
  /** True to have the document shipped. Send the `ship` fields as well. */
  svcShip?: boolean | undefined;
  /** The US state where the signer is, as two letters. */
  signerState?: string | undefined;
  /** The US state to which the document is shipped: two letters. */
  destState?: string | undefined;
  /** Your file number, up to 120 characters; lists and webhooks return it. */
  externalReference?: string | undefined;
  shipName?: string | undefined;
  shipLine1?: string | undefined;
  shipLine2?: string | undefined;
  shipCity?: string | undefined;
  /** The recipient's US state: two letters, such as `NY`. */
  shipState?: string | undefined;
  /** The recipient's ZIP code, as ZIP or ZIP+4. */
  shipPostal?: string | undefined;
  /** `label` (default): a prepaid carrier label; `print_mail`: the service prints and mails it. */
  shipMethod?: "label" | "print_mail" | undefined;
  /** The name in the return address. A return address also needs the other `from` fields. */
  fromName?: string | undefined;
  fromLine1?: string | undefined;
  fromLine2?: string | undefined;
  fromCity?: string | undefined;
  fromState?: string | undefined;
  fromPostal?: string | undefined;
  /** Adds a fax: a 10-digit US number, or an international number that starts with `+` and the country code. */
  faxTo?: string | undefined;
  /** The payer. Default `client`. With `firm`, the client's mails and pages do not mention money. */
  payBy?: "client" | "firm" | undefined;
  /** True to open the hosted checkout as well. The answer then includes the checkout's URL. */
  createCheckout?: boolean | undefined;
  /** The signers. Default: only the client. */
  signers?: readonly Signer[] | undefined;
  /**
   * The places where signers sign. Default: the document's own signature fields, else tags in its text (such as
   * `{{signature, r1}}`), else an added page.
   */
  fields?: readonly SignatureField[] | undefined;
  /** How signers without an `auth` of their own are identified. Default `link`. */
  signerAuth?: SignerAuth | undefined;
  /** The id of one of your templates, which decides the services, the signers' roles and the fields. */
  template?: string | undefined;
  /** The version of the template. Default: the latest. */
  templateVersion?: number | undefined;
  /** The person for each of the template's roles, keyed by the role's name. */
  roles?: Readonly<Record<string, RolePerson>> | undefined;
  /** Values of the template's fields, keyed by the field's label. */
  values?: Readonly<Record<string, string | number | boolean>> | undefined;
  /** True to use the template's fields even if the document is another form than the template's. */
  otherDocument?: boolean | undefined;
};

/** A line of a quote. */
export type OrderLine = {
  /** The kind of line, for programs: `WorkflowFee`, `NotaryFee`, ... The list can grow. */
  type: string;
  /** The name of the line, for people to read. */
  label: string;
  /** The amount of the line in US cents; negative for discounts. */
  amountCents: number;
};

/**
 * Content of a document that people may overlook, or that programs may show differently from one another. Each signer
 * also gets this warning.
 */
export type DocumentNotice = {
  /** `text_below_place`, `active_content`, `hidden_text`, ... The list can grow. */
  code: string;
  /** The page, counted from 1; null for the whole document. */
  page: number | null;
  /**
   * The text or name in the document; null when nothing is quoted, and always null in the answer to `orders.create`.
   */
  text: string | null;
  /** A text for people, in English. */
  message: string;
};

/** With a test key, an answer may contain warnings, for example about fields that the service does not know. */
export type Warned = { warnings?: string[] };

type OrderCommon = {
  /** The request's id, for support requests. */
  requestId: string;
  /** The order's code. Anyone who has it can open the client's page. */
  orderCode: string;
  /** The client's page: a path on the service. */
  orderUrl: string;
  /** The order's status: `QuoteReady`, `Paid`, `EsignPending`, ... `Completed`. The list can grow. */
  status: string;
  /** The `externalReference` that the order was created with. */
  externalReference: string | null;
  /** The fax number in E.164 format, such as `+12125550123`; null without a fax. */
  faxToNumber: string | null;
  /** The price in US cents before the firm's discount, which its tier sets. */
  subtotalCents: number;
  /** The discount in US cents, which the firm's tier sets. */
  discountCents: number;
  /** The amount that a checkout charges, in US cents. */
  totalCents: number;
  lines: OrderLine[];
  /** `firm` when your firm pays; absent when the client does. */
  payBy?: "firm";
  /** The reason why a person must price the order; present only in `ManualQuoteRequired`. */
  manualQuoteReason?: string;
  /** Warnings about the document that signers see; absent when there are none. */
  documentNotices?: DocumentNotice[];
  /** The template that the order was placed from; absent without one. */
  template?: { templateId: string; version: number };
};

export type CreatedOrder = OrderCommon & {
  /**
   * The URL of the payment page. Null if `createCheckout` was not sent, the service accepts no payments, or the order
   * can't be paid yet.
   */
  checkoutUrl: string | null;
} & Warned;

/** The progress of an order's notarization, without names, links and addresses. */
export type Notarization = {
  /**
   * The progress: `not_due`, `waiting`, `claimed`, `completed`, `failed`, `identity_locked` or `ended`. The list may
   * grow.
   */
  state: string;
  /**
   * The method. By audio and video: `ron` for an electronic document, `rin` for paper. In person: `ipen` for an
   * electronic document, `ink` for paper. Null while the method is not known.
   */
  method: string | null;
  /** The US state where the notarization takes place, as two letters; null until a notary has claimed the order. */
  jurisdiction: string | null;
  /** The time of the appointment: ISO 8601, UTC; null when there is no appointment. */
  appointmentUtc: string | null;
  /**
   * The progress of the meeting: `scheduled`, `queued`, `called`, `waiting_room`, `live`, `held`, `signed` or `ended`.
   * Null without a meeting. The list may grow.
   */
  session: string | null;
};

/** The latest charge of an order's total to your firm's own card or bank account. */
export type OrderCharge = {
  chargeId: string;
  state: "asked" | "processing" | "succeeded" | "failed" | "refused";
  amountCents: number;
  /** The time when the charge was requested: ISO 8601, UTC. */
  askedAt: string;
  /**
   * The reason why the charge failed or was refused, such as `insufficient_funds`; otherwise null. The list can grow.
   */
  reason: string | null;
};

export type OrderDetail = OrderCommon & {
  /** The order's services, joined by a comma and a space: `Sign, Notarize, Ship, Fax`. */
  services: string;
  /**
   * The progress of the signatures: `Sent`, `Viewed`, `PartiallySigned`, `Completed`, ... Null for an order without
   * signatures.
   */
  envelopeStatus: string | null;
  customerEmail: string;
  /** The time when the order was created: ISO 8601, UTC. */
  createdAt: string;
  /** Absent for an order without notarization. */
  notarization?: Notarization;
  /** The latest charge, even if it was refused. Absent if no charge was requested. */
  charge?: OrderCharge;
};

export type OrderSummary = Pick<
  OrderDetail,
  "orderCode" | "status" | "services" | "totalCents" | "externalReference" | "customerEmail" | "createdAt"
>;

export type OrderList = {
  orders: OrderSummary[];
  /** The `cursor` of the next call; null after the last page. */
  nextCursor: string | null;
  requestId: string;
};
