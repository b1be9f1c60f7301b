import { formWith, type NamedPdf, type Pdf } from "./documents.ts";
import { wireName, wireValue } from "./names.ts";
import type { OrderFields } from "./order-fields.ts";
import { allOf } from "./pages.ts";
import { newIdempotencyKey, path, type StreamedBody, type Transport, type WriteOptions } from "./transport.ts";

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
 * Something in a document to be signed that its readers may see differently from what will be sealed. Each signer is
 * warned, too.
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
  /** `QuoteReady`, `Paid`, `EsignPending`, ... `Completed`. The list can grow. */
  status: string;
  /** The `externalReference` of the request. */
  externalReference: string | null;
  /** The fax number in E.164 format, such as `+12125550123`; null without a fax. */
  faxToNumber: string | null;
  /** The price in US cents, before the discount of the firm's tier. */
  subtotalCents: number;
  /** The discount of the firm's tier, in US cents. */
  discountCents: number;
  /** The amount that a checkout charges, in US cents. */
  totalCents: number;
  lines: OrderLine[];
  /** `firm` when your firm pays; absent when the client does. */
  payBy?: "firm";
  /** Why a person must price the order; present only in `ManualQuoteRequired`. */
  manualQuoteReason?: string;
  /** Warnings about the document that signers see; absent when there are none. */
  documentNotices?: DocumentNotice[];
  /** The template that the order was placed from; absent without one. */
  template?: { templateId: string; version: number };
};

export type CreatedOrder = OrderCommon & {
  /** The address of the payment page; null unless `createCheckout` was sent and the order can already be paid. */
  checkoutUrl: string | null;
} & Warned;

/** The state of an order's notarization, without names, links and addresses. */
export type Notarization = {
  /** `not_due`, `waiting`, `claimed`, `completed`, `failed`, `identity_locked` or `ended`. The list may grow. */
  state: string;
  /**
   * The method. By audio and video: `ron` for an electronic document, `rin` for paper. In person: `ipen` for an
   * electronic document, `ink` for paper. Null while the method is not known.
   */
  method: string | null;
  /** The US state where the notarization takes place, as two letters; null until a notary has the order. */
  jurisdiction: string | null;
  /** The time of the appointment: ISO 8601, UTC; null when there is no appointment. */
  appointmentUtc: string | null;
  /**
   * `scheduled`, `queued`, `called`, `waiting_room`, `live`, `held`, `signed` or `ended`; null without a meeting. The
   * list may grow.
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
  /** Why the charge failed or was refused, such as `insufficient_funds`; otherwise null. The list can grow. */
  reason: string | null;
};

export type OrderDetail = OrderCommon & {
  /** The order's services, joined by a comma and a space: `Sign, Notarize, Ship, Fax`. */
  services: string;
  /**
   * State of the signatures: `Sent`, `Viewed`, `PartiallySigned`, `Completed`, ...; null for an order without
   * signatures.
   */
  envelopeStatus: string | null;
  customerEmail: string;
  /** The time when the order was created: ISO 8601, UTC. */
  createdAt: string;
  /** Absent for an order without notarization. */
  notarization?: Notarization;
  /** Absent for an order that was never charged to your firm. */
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

export type PriceQuestion = {
  /** The pages of the document. */
  pages: number;
  docSlug?: string | undefined;
  svcSign?: boolean | undefined;
  svcNotary?: boolean | undefined;
  /** Shipping needs `shipState` and `shipPostal`. */
  svcShip?: boolean | undefined;
  svcFax?: boolean | undefined;
  /** The fax number, as an order has it: the price then includes the fax. */
  faxTo?: string | undefined;
  shipMethod?: "label" | "print_mail" | undefined;
  shipState?: string | undefined;
  shipPostal?: string | undefined;
};

/** The price of a document for the firm. Nothing was ordered. */
export type PriceEstimate = Pick<OrderDetail, "subtotalCents" | "discountCents" | "totalCents" | "lines"> & {
  /** False when a person prices the postage after the order is placed. The sums don't include it then. */
  isComplete: boolean;
  requestId: string;
} & Warned;

/** The corrections of an order, and those that are possible now. */
export type OrderCorrections = {
  orderCode: string;
  status: string;
  /** For each act, why it is refused now; null when it is allowed. */
  refusals: Record<"document" | "email" | "address" | "fax" | "again" | "refund", string | null>;
  /** The corrections so far, oldest first. */
  corrections: {
    kind: "document" | "email" | "address" | "fax" | "signer" | "again" | "refund";
    before: Record<string, unknown>;
    after: Record<string, unknown>;
    at: string;
  }[];
  /**
   * The amounts that corrections cost on top of the order's total. The order's checkout collects each amount whose
   * state is `asked`.
   */
  supplements: { amountCents: number; label: string; state: "asked" | "paid" | "withdrawn"; at: string }[];
  requestId: string;
};

/** The new values for a paid order. If you change any part of the postal address, send the complete address. */
export type Correction = Partial<
  Record<"email" | "faxTo" | "shipName" | "shipLine1" | "shipLine2" | "shipCity" | "shipState" | "shipPostal", string>
>;

export type OrderQuery = {
  /** The number of orders on a page: 1 to 100. Default 20. */
  limit?: number | undefined;
  status?: string | undefined;
  externalReference?: string | undefined;
  /** `nextCursor` of the previous page. */
  cursor?: string | undefined;
};

/**
 * Role names and field labels are the firm's own words, so they are not respelled as the interface's member names are.
 */
function jsonOf(name: string, value: object): unknown {
  if (name === "values") return value;
  if (name !== "roles") return wireValue(value);
  return Object.fromEntries(Object.entries(value).map(([role, person]) => [role, wireValue(person)]));
}

function formOf(fields: object, document: Pdf | NamedPdf | null): FormData | StreamedBody {
  const texts = Object.entries(fields).flatMap(([name, value]): [string, string][] =>
    value === undefined || value === false
      ? []
      : [[wireName(name), typeof value === "object" ? JSON.stringify(jsonOf(name, value)) : String(value)]],
  );
  return formWith(texts, document && ["document", document]);
}

export function ordersOf(transport: Transport) {
  const { json } = transport;
  const list = (query: OrderQuery = {}): Promise<OrderList> => json("GET", "/api/partner/orders", { query });
  return {
    /**
     * Places an order.
     * @param document the completed PDF, of at most 35 MB; null when `fillToken` is sent
     */
    create: async (
      fields: OrderFields,
      document: Pdf | NamedPdf | null,
      { idempotencyKey = newIdempotencyKey() }: WriteOptions = {},
    ): Promise<CreatedOrder> => json("POST", "/api/partner/orders", { body: formOf(fields, document), idempotencyKey }),

    /** The price of a document before it is uploaded. A carrier's own rate can change the postage of an order. */
    estimate: ({ svcSign, svcNotary, svcShip, svcFax, ...question }: PriceQuestion): Promise<PriceEstimate> => {
      const flags = Object.entries({ svcSign, svcNotary, svcShip, svcFax }).filter(([, isOn]) => isOn);
      const services = Object.fromEntries(flags.map(([name]) => [name, "true"]));
      return json("GET", "/api/partner/prices/estimate", { query: { ...question, ...services } });
    },

    /** One page of the orders, newest first. */
    list,

    /**
     * All orders, newest first. Pages of 100 orders are fetched on demand, with a pause when the rate limit requires
     * it.
     */
    all: (query: Omit<OrderQuery, "cursor"> = {}): AsyncGenerator<OrderSummary, void, undefined> =>
      allOf(transport, "/api/partner/orders", { limit: 100, ...query }, ({ orders }: OrderList) => orders),

    get: (orderCode: string): Promise<OrderDetail> => json("GET", path`/api/partner/orders/${orderCode}`),

    /** Returns the order's corrections so far, and which corrections are possible now. */
    corrections: (orderCode: string): Promise<OrderCorrections> =>
      json("GET", path`/api/partner/orders/${orderCode}/corrections`),

    /** Corrects the mail address, postal address or fax number of a paid order. Send a complete postal address. */
    correct: (orderCode: string, fields: Correction): Promise<OrderCorrections> =>
      json("POST", path`/api/partner/orders/${orderCode}/corrections`, { body: wireValue(fields) }),

    /** Replaces the document, as long as it is not yet signed or notarized. Everybody signs again. */
    replaceDocument: async (
      orderCode: string,
      document: Pdf | NamedPdf,
      fields: Pick<OrderFields, "fields"> & { findPlaces?: boolean } = {},
    ): Promise<OrderCorrections> =>
      json("POST", path`/api/partner/orders/${orderCode}/document`, { body: formOf(fields, document) }),

    /** Starts the failed service again: signatures, notarization, parcel or fax. */
    sendAgain: (orderCode: string): Promise<OrderCorrections> =>
      json("POST", path`/api/partner/orders/${orderCode}/send-again`),

    /**
     * Asks the operator to refund the payment, or a part of it. No money moves before two of the operator's people
     * agree.
     */
    askRefund: (orderCode: string, request: { reason: string; amountCents?: number }): Promise<OrderCorrections> =>
      json("POST", path`/api/partner/orders/${orderCode}/refund-request`, { body: request }),

    /** Opens the order's hosted checkout. If one is already open, returns that one. */
    checkout: (
      orderCode: string,
      { idempotencyKey = newIdempotencyKey() }: WriteOptions = {},
    ): Promise<{ checkoutUrl: string; requestId: string }> =>
      json("POST", path`/api/partner/orders/${orderCode}/checkout`, { idempotencyKey }),
  };
}
