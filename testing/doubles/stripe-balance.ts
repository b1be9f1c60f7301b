import { newId, type Params, type Reply, refusal, type StripeObject } from "./stripe-values.ts";

/** The processor's own books: all movements of money, as the list of balance transactions returns them. */
export type BalanceObjects = {
  /**
   * The movements of money, oldest first. Tests remove or change some to make the processor's books differ from the
   * service's.
   */
  transactions: StripeObject[];
  disputes: Map<string, StripeObject>;
  /** Books the money of a paid intent, once. @returns its charge */
  settleCharge: (paymentIntent: string) => StripeObject;
  settleRefund: (refund: StripeObject) => void;
  /**
   * Simulates a dispute: the bank demands back the whole amount, or the given one. An inquiry is a dispute that moves
   * no money.
   */
  dispute: (paymentIntent: string, more?: { amount?: number; isInquiry?: boolean }) => StripeObject;
  endDispute: (id: string, status: "won" | "lost") => StripeObject;
  /** True if a dispute of the intent is open, apart from inquiries. Then the processor refuses refunds of the intent. */
  isDisputed: (paymentIntent: unknown) => boolean;
  /** The cents of an intent that the bank took back in lost disputes. They can't be refunded any more. */
  lostOf: (paymentIntent: unknown) => number;
  /** Simulates a refund that the payer's bank returns. */
  failRefund: (id: string) => StripeObject;
  /** Answers a request about balances and disputes; undefined for any other request. */
  answer: (method: string, path: string, params: Params) => Reply | undefined;
};

type Deps = {
  sessions: Map<string, StripeObject>;
  intents: Map<string, StripeObject>;
  refunds: StripeObject[];
};

/** One page of a list, newest first, as the processor paginates all of its lists. */
function page(all: readonly StripeObject[], params: Params, url: string): Reply {
  const created = typeof params["created"] === "object" ? params["created"] : {};
  const isWithin = ({ created: at }: StripeObject) =>
    (created["gte"] === undefined || Number(at) >= Number(created["gte"])) &&
    (created["lt"] === undefined || Number(at) < Number(created["lt"]));
  const found = [...all].reverse().filter(isWithin);
  const after = params["starting_after"];
  const begin = after === undefined ? 0 : found.findIndex(({ id }) => id === after) + 1;
  if (after !== undefined && begin === 0) return refusal(404, "No such balance_transaction");
  const limit = Number(params["limit"] ?? 10);
  if (!(limit >= 1 && limit <= 100)) return refusal(400, "Invalid limit: must be between 1 and 100");
  const data = found.slice(begin, begin + limit);
  return { status: 200, body: { object: "list", data, has_more: begin + limit < found.length, url } };
}

export function createBalance({ sessions, intents, refunds }: Deps): BalanceObjects {
  const transactions: StripeObject[] = [];
  const charges = new Map<string, StripeObject>();
  const disputes = new Map<string, StripeObject>();

  function book(category: string, source: StripeObject, amount: number): void {
    const fee = category === "charge" ? Math.round(amount * 0.029) + 30 : 0;
    const created = Math.floor(Date.now() / 1000);
    transactions.push({
      id: newId("txn"),
      object: "balance_transaction",
      amount,
      currency: source["currency"] ?? "usd",
      type: types[category] ?? category,
      reporting_category: category,
      fee,
      net: amount - fee,
      created,
      available_on: created + 2 * 86_400,
      status: "pending",
      source,
    });
  }

  function settleCharge(intent: string): StripeObject {
    const known = charges.get(intent);
    if (known) return known;
    const session = [...sessions.values()].find((each) => each["payment_intent"] === intent);
    const paid = session ?? intents.get(intent);
    if (!paid) throw new Error(`no such payment: ${intent}`);
    const amount = Number(paid["amount_total"] ?? paid["amount_received"]);
    const { currency, metadata } = paid;
    const charge = { id: newId("ch"), object: "charge", payment_intent: intent, amount, currency, metadata };
    charges.set(intent, charge);
    book("charge", charge, amount);
    return charge;
  }

  const chargeOf = (intent: unknown) => charges.get(String(intent)) ?? settleCharge(String(intent));

  function dispute(
    intent: string,
    { amount, isInquiry = false }: { amount?: number; isInquiry?: boolean } = {},
  ): StripeObject {
    const charge = chargeOf(intent);
    const cents = amount ?? Number(charge["amount"]);
    const object = {
      id: newId("dp"),
      object: "dispute",
      payment_intent: intent,
      charge: charge["id"],
      amount: cents,
      currency: charge["currency"],
      status: isInquiry ? "warning_needs_response" : "needs_response",
    };
    disputes.set(object.id, object);
    if (!isInquiry) book("dispute", object, -cents);
    return object;
  }

  function endDispute(id: string, status: "won" | "lost"): StripeObject {
    const found = disputes.get(id);
    if (!found) throw new Error(`no such dispute: ${id}`);
    if (status === "won") book("dispute_reversal", found, Number(found["amount"]));
    return Object.assign(found, { status });
  }

  function failRefund(id: string): StripeObject {
    const refund = refunds.find((each) => each["id"] === id);
    if (!refund) throw new Error(`no such refund: ${id}`);
    book("refund_failure", refund, Number(refund["amount"]));
    return Object.assign(refund, { status: "failed", failure_reason: "declined" });
  }

  const disputesOf = (intent: unknown) => [...disputes.values()].filter((each) => each["payment_intent"] === intent);
  const isDisputed = (intent: unknown) =>
    disputesOf(intent).some(
      ({ status }) => status !== "won" && status !== "lost" && status !== "warning_needs_response",
    );
  const lostOf = (intent: unknown) =>
    disputesOf(intent).reduce((sum, { status, amount }) => sum + (status === "lost" ? Number(amount) : 0), 0);

  return {
    isDisputed,
    lostOf,
    transactions,
    disputes,
    settleCharge,
    settleRefund: (refund) => book("refund", refund, -Number(refund["amount"])),
    dispute,
    endDispute,
    failRefund,
    answer(method, path, params) {
      const [, id] = method === "GET" ? (/^\/v1\/disputes\/(\w+)$/.exec(path) ?? []) : [];
      const dispute = id === undefined ? undefined : disputes.get(id);
      if (id !== undefined) return dispute ? { status: 200, body: dispute } : refusal(404, `No such dispute: '${id}'`);
      if (`${method} ${path}` !== "GET /v1/balance_transactions") return undefined;
      const { expand } = params;
      const isExpanded = typeof expand === "object" && Object.values(expand).includes("data.source");
      // The processor returns the ids of related objects, unless the request asks for the objects themselves.
      const shown = transactions.map((each) => {
        const { source } = each;
        return { ...each, source: isExpanded ? structuredClone(source) : (source as StripeObject)["id"] };
      });
      return page(shown, params, path);
    },
  };
}

const types: Readonly<Record<string, string>> = {
  dispute: "adjustment",
  dispute_reversal: "adjustment",
};
