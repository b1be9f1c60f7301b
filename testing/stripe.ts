import { createHmac, randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { startHttpDouble } from "./http-double.ts";

/** Values of a form whose names nest: `metadata[order_code]=..`, `line_items[0][quantity]=1`. */
export type Params = { [name: string]: string | Params };

export type StripeSession = Params & { id: string; url: string; status: string; client_reference_id: string };

export type StripeRequest = {
  method: string;
  path: string;
  params: Params;
  idempotencyKey: string | null;
  authorization: string;
};

/** What the next request meets: an answer of an error, a cut connection after the work is done, or no answer at all. */
export type Failure = { status: number; type?: string; message?: string } | "cut" | "hang";

export type StripeEvent = {
  id: string;
  object: "event";
  type: string;
  created: number;
  livemode: boolean;
  account?: string;
  data: { object: Record<string, unknown> };
};

export type StripeDouble = {
  /** For STRIPE_API_BASE. */
  url: string;
  /** For STRIPE_WEBHOOK_SECRET. */
  webhookSecret: string;
  /** All that was asked, in order. */
  requests: StripeRequest[];
  sessions: Map<string, Record<string, unknown>>;
  refunds: Record<string, unknown>[];
  /** Prepares failures for the requests that come, one each. */
  fail: (...failures: Failure[]) => void;
  /** An event of the type about the object, as the processor would write it. */
  event: (type: string, object: Record<string, unknown>, more?: Partial<StripeEvent>) => StripeEvent;
  /** The value of `Stripe-Signature` over a body. */
  sign: (body: string, options?: { secret?: string; at?: Date }) => string;
  /** Posts an event to a service's webhook, signed. */
  deliver: (serviceUrl: string, event: StripeEvent, options?: { secret?: string; at?: Date }) => Promise<Response>;
  /** What payers did on hosted pages; as with the real one, the browser comes back before the event is delivered. */
  paidByHand: StripeEvent[];
  /** The events of a payer's deeds on a session's hosted page. */
  pay: (sessionId: string, more?: Record<string, unknown>) => StripeEvent;
  close: () => Promise<void>;
};

type Reply = { status: number; body: object };

function nested(body: string): Params {
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

const id = (prefix: string): string => `${prefix}_test_${randomBytes(12).toString("hex")}`;

function at(params: Params, ...path: string[]): string | undefined {
  let value: string | Params | undefined = params;
  for (const key of path) value = typeof value === "object" ? value[key] : undefined;
  return typeof value === "string" ? value : undefined;
}

/**
 * A double of the payment processor: checkout sessions and refunds by its wire protocol with idempotency keys, and webhooks
 * signed as it signs them. It remembers what it was asked and fails to order.
 */
export async function startStripe(): Promise<StripeDouble> {
  const webhookSecret = `whsec_${randomBytes(16).toString("hex")}`;
  const requests: StripeRequest[] = [];
  const sessions: StripeDouble["sessions"] = new Map();
  const refunds: Record<string, unknown>[] = [];
  const failures: Failure[] = [];
  const successUrls = new Map<string, string>();
  const paidByHand: StripeEvent[] = [];
  const replies = new Map<string, Reply & { params: string }>();
  let url = "";

  function createSession(params: Params): Reply {
    const amount = Number(at(params, "line_items", "0", "price_data", "unit_amount"));
    const quantity = Number(at(params, "line_items", "0", "quantity"));
    const expiresAt = Number(params["expires_at"]);
    const inSeconds = expiresAt - Date.now() / 1000;
    if (params["mode"] !== "payment" || !params["success_url"] || !(amount > 0))
      return refusal(400, "a parameter is missing");
    if (!(inSeconds > 1795 && inSeconds < 86_405))
      return refusal(400, "expires_at must be 30 minutes to 24 hours ahead");
    const sessionId = id("cs");
    const session = {
      id: sessionId,
      object: "checkout.session",
      url: `${url}/c/pay/${sessionId}`,
      status: "open",
      payment_status: "unpaid",
      mode: "payment",
      amount_total: amount * quantity,
      currency: at(params, "line_items", "0", "price_data", "currency"),
      client_reference_id: params["client_reference_id"] ?? null,
      metadata: params["metadata"] ?? {},
      payment_intent: null,
      expires_at: expiresAt,
      livemode: false,
    };
    sessions.set(sessionId, session);
    successUrls.set(sessionId, String(params["success_url"]));
    return { status: 200, body: session };
  }

  function answer(method: string, path: string, params: Params): Reply {
    const [, sessionId, action] = /^\/v1\/checkout\/sessions(?:\/(\w+))?(?:\/(\w+))?$/.exec(path) ?? [];
    if (method === "POST" && path === "/v1/checkout/sessions") return createSession(params);
    if (sessionId) {
      const session = sessions.get(sessionId);
      if (!session) return refusal(404, "No such checkout.session");
      if (method === "GET" && !action) return { status: 200, body: session };
      if (method === "POST" && action === "expire") {
        if (session["status"] !== "open") return refusal(400, "only open sessions can be expired");
        Object.assign(session, { status: "expired", url: null });
        return { status: 200, body: session };
      }
    }
    if (method === "POST" && path === "/v1/refunds") {
      const refund = { id: id("re"), object: "refund", status: "succeeded", ...params };
      refunds.push(refund);
      return { status: 200, body: refund };
    }
    return refusal(404, "Unrecognized request URL");
  }

  function serve(request: IncomingMessage, bytes: Buffer, response: ServerResponse): void {
    const body = bytes.toString();
    const { method = "", headers } = request;
    const [path = ""] = (request.url ?? "").split("?");
    const [, hosted] = /^\/c\/pay\/(\w+)$/.exec(path) ?? [];
    if (hosted) {
      serveHostedPage(method, hosted, response);
      return;
    }
    const key = headers["idempotency-key"];
    const idempotencyKey = typeof key === "string" ? key : null;
    const params = nested(body);
    requests.push({ method, path, params, idempotencyKey, authorization: headers.authorization ?? "" });
    const failure = failures.shift();
    if (failure === "hang") return;
    const reply =
      typeof failure === "object"
        ? refusal(failure.status, failure.message ?? "ordered", failure.type)
        : replyOnce(idempotencyKey, body, () => answer(method, path, params));
    if (failure === "cut") response.destroy();
    else send(response, reply);
  }

  /** The page on which a payer pays: one button. */
  function serveHostedPage(method: string, sessionId: string, response: ServerResponse): void {
    if (method === "POST") {
      paidByHand.push(pay(sessionId));
      response.writeHead(303, { Location: successUrls.get(sessionId) }).end();
    } else {
      response.writeHead(200, { "Content-Type": "text/html" });
      response.end(`<!doctype html><title>Pay</title><form method="post"><button>Pay by card</button></form>`);
    }
  }

  /** The same key gets the same reply, and only for the same parameters. */
  function replyOnce(key: string | null, params: string, make: () => Reply): Reply {
    const before = key === null ? undefined : replies.get(key);
    if (before && before.params !== params)
      return refusal(
        400,
        "Keys for idempotent requests can only be used with the same parameters",
        "idempotency_error",
      );
    const reply = before ?? { params, ...make() };
    if (key !== null) replies.set(key, reply);
    return reply;
  }

  const server = await startHttpDouble(serve);
  url = server.url;

  const event: StripeDouble["event"] = (type, object, more = {}) => ({
    id: id("evt"),
    object: "event",
    type,
    created: Math.floor(Date.now() / 1000),
    livemode: false,
    data: { object },
    ...more,
  });
  const sign: StripeDouble["sign"] = (body, { secret = webhookSecret, at: instant = new Date() } = {}) => {
    const t = Math.floor(instant.getTime() / 1000);
    return `t=${t},v1=${createHmac("sha256", secret).update(`${t}.${body}`).digest("hex")}`;
  };

  function pay(sessionId: string, more: Record<string, unknown> = {}): StripeEvent {
    const session = sessions.get(sessionId);
    if (!session) throw new Error(`no such session: ${sessionId}`);
    Object.assign(session, { status: "complete", payment_status: "paid", payment_intent: id("pi"), ...more });
    return event("checkout.session.completed", { ...session });
  }

  return {
    url,
    webhookSecret,
    requests,
    sessions,
    refunds,
    fail: (...next) => void failures.push(...next),
    event,
    sign,
    deliver(serviceUrl, message, options = {}) {
      const body = JSON.stringify(message);
      return fetch(`${serviceUrl}/api/payments/stripe/webhook`, {
        method: "POST",
        headers: { "Content-Type": "application/json; charset=utf-8", "Stripe-Signature": sign(body, options) },
        body,
      });
    },
    paidByHand,
    pay,
    close: server.close,
  };
}

const refusal = (status: number, message: string, type = "invalid_request_error") => ({
  status,
  body: { error: { type, message } },
});

function send(response: ServerResponse, { status, body }: { status: number; body: object }): void {
  response.writeHead(status, { "Content-Type": "application/json", "Request-Id": id("req") });
  response.end(JSON.stringify(body));
}
