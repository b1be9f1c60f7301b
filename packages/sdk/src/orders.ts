import { formWith, type NamedPdf, type Pdf } from "./documents.ts";
import { wireName, wireValue } from "./names.ts";
import type { OrderFields } from "./order-fields.ts";
import { allOf } from "./pages.ts";
import { newIdempotencyKey, path, type StreamedBody, type Transport, type WriteOptions } from "./transport.ts";

/** A line of a quote. */
export type OrderLine = {
  /** For programs: `WorkflowFee`, `NotaryFee`, ... The list can grow. */
  type: string;
  /** For people. */
  label: string;
  /** US cents; negative for discounts. */
  amountCents: number;
};

/** Something in a document that is signed which people may not see as it is sealed. Each signer is told it, too. */
export type DocumentNotice = {
  /** `text_below_place`, `active_content`, `hidden_text`, ... The list can grow. */
  code: string;
  /** From 1; null for the whole document. */
  page: number | null;
  /** What the document says there, or what it names; null where nothing is quoted, and always in the answer to create. */
  text: string | null;
  /** For people, in English. */
  message: string;
};

/** With a test key an answer may warn: of fields that are unknown, say. */
export type Warned = { warnings?: string[] };

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
  /** What the signers are told of the document: only when there is something. */
  documentNotices?: DocumentNotice[];
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

export type OrderQuery = {
  /** 1 to 100; default 20. */
  limit?: number | undefined;
  status?: string | undefined;
  externalReference?: string | undefined;
  /** `nextCursor` of the page before. */
  cursor?: string | undefined;
};

function formOf(fields: OrderFields, document: Pdf | NamedPdf | null): FormData | StreamedBody {
  const texts = Object.entries(fields).flatMap(([name, value]): [string, string][] =>
    value === undefined || value === false
      ? []
      : [[wireName(name), typeof value === "object" ? JSON.stringify(wireValue(value)) : String(value)]],
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

    /** One page, newest first. */
    list,

    /** All of them, newest first; pages of 100 are fetched as they are wanted, with waits where the limit asks for them. */
    all: (query: Omit<OrderQuery, "cursor"> = {}): AsyncGenerator<OrderSummary, void, undefined> =>
      allOf(transport, "/api/partner/orders", { limit: 100, ...query }, ({ orders }: OrderList) => orders),

    get: (orderCode: string): Promise<OrderDetail> => json("GET", path`/api/partner/orders/${orderCode}`),

    /** The hosted checkout; one that is still open is returned again. */
    checkout: (
      orderCode: string,
      { idempotencyKey = newIdempotencyKey() }: WriteOptions = {},
    ): Promise<{ checkoutUrl: string; requestId: string }> =>
      json("POST", path`/api/partner/orders/${orderCode}/checkout`, { idempotencyKey }),
  };
}
