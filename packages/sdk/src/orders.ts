import { formWith, type NamedPdf, type Pdf } from "./documents.ts";
import { wireName, wireValue } from "./names.ts";
import type { CreatedOrder, OrderDetail, OrderFields, OrderList, OrderSummary, Warned } from "./order-types.ts";
import { allOf } from "./pages.ts";
import { newIdempotencyKey, path, type StreamedBody, type Transport, type WriteOptions } from "./transport.ts";

export type PriceQuestion = {
  /** The number of pages in the document. */
  pages: number;
  docSlug?: string | undefined;
  svcSign?: boolean | undefined;
  svcNotary?: boolean | undefined;
  /** True to include shipping, which needs `shipState` and `shipPostal`. */
  svcShip?: boolean | undefined;
  svcFax?: boolean | undefined;
  /** The fax number, in the form that an order accepts. The price then includes the fax. */
  faxTo?: string | undefined;
  shipMethod?: "label" | "print_mail" | undefined;
  shipState?: string | undefined;
  shipPostal?: string | undefined;
};

/** The price of a document for the firm. No order is placed. */
export type PriceEstimate = Pick<OrderDetail, "subtotalCents" | "discountCents" | "totalCents" | "lines"> & {
  /** False if a person must price the postage after the order is placed. The sums then exclude the postage. */
  isComplete: boolean;
  requestId: string;
} & Warned;

/** The corrections made to an order so far, and the kinds of corrections that are possible now. */
export type OrderCorrections = {
  orderCode: string;
  status: string;
  /** For each kind of correction, the reason why it is refused now; null when it is allowed. */
  refusals: Record<"document" | "email" | "address" | "fax" | "again" | "refund", string | null>;
  /** The corrections so far, oldest first. */
  corrections: {
    kind: "document" | "email" | "address" | "fax" | "signer" | "again" | "refund";
    before: Record<string, unknown>;
    after: Record<string, unknown>;
    at: string;
  }[];
  /**
   * The amounts that corrections cost in addition to the order's total. The order's checkout collects each amount whose
   * `state` is `asked`.
   */
  supplements: { amountCents: number; label: string; state: "asked" | "paid" | "withdrawn"; at: string }[];
  /**
   * Other orders of the firm in the same room whose email address this correction also replaced. Present only in the
   * answer to a correction of an email address.
   */
  alsoCorrected?: string[];
  /**
   * The firm's other orders in the same room that were not corrected, because their record was altered outside the
   * service. Present with `alsoCorrected`.
   */
  notCorrected?: string[];
  /**
   * True if some of the links for the new email address were not mailed, because a room mails at most 25 a day. Present
   * with `alsoCorrected`.
   */
  linksNotMailed?: boolean;
  requestId: string;
};

/** The new values for an order. If you change any part of the postal address, send the complete address. */
export type Correction = Partial<
  Record<"email" | "faxTo" | "shipName" | "shipLine1" | "shipLine2" | "shipCity" | "shipState" | "shipPostal", string>
>;

export type OrderQuery = {
  /** The number of orders on a page: 1 to 100. Default 20. */
  limit?: number | undefined;
  status?: string | undefined;
  externalReference?: string | undefined;
  /** The `nextCursor` of the previous page. */
  cursor?: string | undefined;
};

/**
 * Spells the names of a value's properties like `svc_sign`. Role names and field labels stay unchanged, because they
 * are the firm's own words.
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
     * @param document the completed PDF, of at most 35 MB; null with `fillToken`, or to use the document of the
     * `template`
     */
    create: async (
      fields: OrderFields,
      document: Pdf | NamedPdf | null,
      { idempotencyKey = newIdempotencyKey() }: WriteOptions = {},
    ): Promise<CreatedOrder> => json("POST", "/api/partner/orders", { body: formOf(fields, document), idempotencyKey }),

    /**
     * Estimates the price of a document before it is uploaded. The actual postage can differ if a carrier's rate
     * applies.
     */
    estimate: ({ svcSign, svcNotary, svcShip, svcFax, ...question }: PriceQuestion): Promise<PriceEstimate> => {
      const flags = Object.entries({ svcSign, svcNotary, svcShip, svcFax }).filter(([, isOn]) => isOn);
      const services = Object.fromEntries(flags.map(([name]) => [name, "true"]));
      return json("GET", "/api/partner/prices/estimate", { query: { ...question, ...services } });
    },

    /** Returns one page of the orders, newest first. */
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

    /**
     * Corrects the email address, postal address or fax number of an order; `corrections` states what is refused now. A
     * changed postal address must be complete.
     */
    correct: (orderCode: string, fields: Correction): Promise<OrderCorrections> =>
      json("POST", path`/api/partner/orders/${orderCode}/corrections`, { body: wireValue(fields) }),

    /**
     * Replaces the document of a paid order, unless it is signed, notarized, with a notary or on its way. All signers
     * must then sign again.
     */
    replaceDocument: async (
      orderCode: string,
      document: Pdf | NamedPdf,
      fields: Pick<OrderFields, "fields"> & { findPlaces?: boolean } = {},
    ): Promise<OrderCorrections> =>
      json("POST", path`/api/partner/orders/${orderCode}/document`, { body: formOf(fields, document) }),

    /** Starts the failed service again: signatures, notarization, parcel or fax. Restarts parcel and fax only once. */
    sendAgain: (orderCode: string): Promise<OrderCorrections> =>
      json("POST", path`/api/partner/orders/${orderCode}/send-again`),

    /**
     * Asks the operator to refund the payment, or a part of it (`amountCents`, US cents). No money moves before the
     * operator approves the refund. The approval takes two people, unless the installation allows one.
     */
    askRefund: (orderCode: string, request: { reason: string; amountCents?: number }): Promise<OrderCorrections> =>
      json("POST", path`/api/partner/orders/${orderCode}/refund-request`, { body: request }),

    /** Opens the order's hosted checkout. If a checkout is already open, returns that checkout. */
    checkout: (
      orderCode: string,
      { idempotencyKey = newIdempotencyKey() }: WriteOptions = {},
    ): Promise<{ checkoutUrl: string; requestId: string }> =>
      json("POST", path`/api/partner/orders/${orderCode}/checkout`, { idempotencyKey }),
  };
}
