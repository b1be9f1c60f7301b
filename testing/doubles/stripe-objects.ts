import { type BalanceObjects, createBalance } from "./stripe-balance.ts";
import { createFirmObjects, type FirmObjects } from "./stripe-firm.ts";
import { missing, newId, type Params, type Reply, refusal, type StripeObject } from "./stripe-values.ts";

/** A URL that receives the account's events of some types, as the account's owner has chosen. */
export type WebhookEndpoint = { url: string; status: "enabled" | "disabled"; enabled_events: string[] };

/** The double's stored objects, and its answers to requests. */
export type StripeObjects = {
  sessions: Map<string, StripeObject>;
  refunds: StripeObject[];
  firm: FirmObjects;
  balance: BalanceObjects;
  webhookEndpoints: WebhookEndpoint[];
  answer: (method: string, path: string, params: Params) => Reply;
  /** The URL to which the payer is redirected after paying. */
  successUrl: (sessionId: string) => string | undefined;
};

const alreadyRefunded: Reply = {
  status: 400,
  body: {
    error: {
      type: "invalid_request_error",
      code: "charge_already_refunded",
      message: "The charge has already been refunded.",
    },
  },
};

/** The parameters of a form-encoded body. */
export function readParams(body: string): Params {
  const params: Params = {};
  for (const [name, value] of new URLSearchParams(body)) {
    const [first = "", ...rest] = name.replaceAll("]", "").split("[");
    const path = [first, ...rest];
    let at = params;
    for (const key of path.slice(0, -1)) {
      const found = at[key];
      const next: Params = typeof found === "object" ? found : {};
      at[key] = next;
      at = next;
    }
    at[path.at(-1) ?? ""] = value;
  }
  return params;
}

function at(params: Params, ...path: string[]): string | undefined {
  let value: string | Params | undefined = params;
  for (const key of path) value = typeof value === "object" ? value[key] : undefined;
  return typeof value === "string" ? value : undefined;
}

/** The amount of each line item of a session, in order: the unit price times the quantity. */
function amountsOf({ line_items: items }: Params): number[] {
  const amountOf = (item: string | Params): number =>
    typeof item === "object"
      ? Number(at(item, "price_data", "unit_amount")) * Number(at(item, "quantity"))
      : Number.NaN;
  return typeof items === "object" ? Object.values(items).map(amountOf) : [];
}

/** The fault in the parameters of a new session; undefined when there is none. */
function sessionFault(params: Params): string | undefined {
  const amounts = amountsOf(params);
  const hasLines = amounts.length > 0 && amounts.length <= 100 && amounts.every((amount) => amount >= 0);
  const inSeconds = Number(params["expires_at"]) - Date.now() / 1000;
  if (params["mode"] !== "payment" || !params["success_url"] || !hasLines) return "a parameter is missing";
  return inSeconds > 1795 && inSeconds < 86_405 ? undefined : "expires_at must be 30 minutes to 24 hours ahead";
}

function newSession(sessionId: string, params: Params, hostedPages: string, livemode: boolean): StripeObject {
  return {
    id: sessionId,
    object: "checkout.session",
    url: `${hostedPages}/${sessionId}`,
    status: "open",
    payment_status: "unpaid",
    mode: "payment",
    amount_total: amountsOf(params).reduce((sum, amount) => sum + amount, 0),
    currency: at(params, "line_items", "0", "price_data", "currency"),
    client_reference_id: params["client_reference_id"] ?? null,
    metadata: params["metadata"] ?? {},
    payment_intent: null,
    expires_at: Number(params["expires_at"]),
    livemode,
  };
}

/**
 * @param hostedPages returns the URL below which sessions have their payment pages
 * @param livemode whether the caller has a live key
 */
export function createStripeObjects(hostedPages: () => string, livemode: () => boolean): StripeObjects {
  const sessions: StripeObjects["sessions"] = new Map();
  const refunds: StripeObject[] = [];
  const successUrls = new Map<string, string>();
  const webhookEndpoints: WebhookEndpoint[] = [];
  const firm = createFirmObjects({ sessions, livemode });
  const balance = createBalance({ sessions, intents: firm.intents, refunds });

  function createSession(params: Params): Reply {
    if (params["mode"] === "setup") {
      const reply = firm.createSetup(params, hostedPages());
      successUrls.set(String((reply.body as { id?: string }).id), String(params["success_url"]));
      return reply;
    }
    const fault = sessionFault(params);
    if (fault !== undefined) return refusal(400, fault);
    const sessionId = newId("cs");
    const session = newSession(sessionId, params, hostedPages(), livemode());
    sessions.set(sessionId, session);
    successUrls.set(sessionId, String(params["success_url"]));
    return { status: 200, body: session };
  }

  /** The amount of the intent's charge that was neither refunded nor lost; undefined for an unknown intent. */
  function refundable(intent: unknown): number | undefined {
    const session = [...sessions.values()].find((each) => each["payment_intent"] === intent);
    const given = refunds.filter((each) => each["payment_intent"] === intent && each["status"] !== "failed");
    const charged = session?.["amount_total"] ?? firm.intents.get(String(intent))?.["amount_received"];
    if (charged === undefined) return undefined;
    return given.reduce((rest, each) => rest - Number(each["amount"]), Number(charged) - balance.lostOf(intent));
  }

  function createRefund(params: Params): Reply {
    if (balance.isDisputed(params["payment_intent"])) return refusal(400, "The charge has been charged back");
    const rest = refundable(params["payment_intent"]);
    const amount = params["amount"] === undefined ? rest : Number(params["amount"]);
    if (rest === undefined) return missing("No such payment_intent", "payment_intent");
    if (rest <= 0 && balance.lostOf(params["payment_intent"]) === 0) return alreadyRefunded;
    if (amount === undefined || amount > rest || amount <= 0)
      return refusal(400, "Refund amount is greater than unrefunded amount on charge");
    const metadata = params["metadata"] ?? {};
    const refund = { id: newId("re"), object: "refund", status: "succeeded", ...params, amount, metadata };
    refunds.push(refund);
    balance.settleRefund(refund);
    return { status: 200, body: refund };
  }

  function expire(session: StripeObject): Reply {
    if (session["status"] !== "open") return refusal(400, "only open sessions can be expired");
    Object.assign(session, { status: "expired", url: null });
    return { status: 200, body: session };
  }

  return {
    sessions,
    refunds,
    firm,
    balance,
    webhookEndpoints,
    successUrl: (sessionId) => successUrls.get(sessionId),
    answer(method, path, params) {
      const [, sessionId, action] = /^\/v1\/checkout\/sessions(?:\/(\w+))?(?:\/(\w+))?$/.exec(path) ?? [];
      if (method === "POST" && path === "/v1/checkout/sessions") return createSession(params);
      if (method === "GET" && path === "/v1/checkout/sessions") {
        const data = [...sessions.values()].reverse();
        return { status: 200, body: { object: "list", data, has_more: false, url: path } };
      }
      if (sessionId) {
        const session = sessions.get(sessionId);
        if (!session) return refusal(404, "No such checkout.session");
        if (method === "GET" && !action) return { status: 200, body: session };
        if (method === "POST" && action === "expire") return expire(session);
      }
      if (method === "GET" && path === "/v1/webhook_endpoints") {
        const data = webhookEndpoints.map((each, n) => ({ id: `we_${n + 1}`, object: "webhook_endpoint", ...each }));
        return { status: 200, body: { object: "list", data, has_more: false, url: path } };
      }
      const known = balance.answer(method, path, params) ?? firm.answer(method, path, params);
      if (known) return known;
      const [, intent] = /^\/v1\/payment_intents\/(\w+)$/.exec(path) ?? [];
      if (method === "GET" && intent) {
        const session = [...sessions.values()].find((each) => each["payment_intent"] === intent);
        const status =
          session?.["payment_status"] === "paid" ? "succeeded" : (session?.["intent_status"] ?? "processing");
        return session
          ? { status: 200, body: { id: intent, object: "payment_intent", status } }
          : refusal(404, "No such payment_intent");
      }
      if (method === "POST" && path === "/v1/refunds") {
        return createRefund(params);
      }
      if (method === "GET" && path === "/v1/refunds") {
        if (refundable(params["payment_intent"]) === undefined)
          return missing("No such payment_intent", "payment_intent");
        const all = refunds.filter((each) => each["payment_intent"] === params["payment_intent"]).reverse();
        const start = all.findIndex(({ id }) => id === params["starting_after"]) + 1;
        const end = start + Number(params["limit"] ?? 10);
        const data = all.slice(start, end);
        return { status: 200, body: { object: "list", data, has_more: end < all.length, url: "/v1/refunds" } };
      }
      return refusal(404, "Unrecognized request URL");
    },
  };
}
