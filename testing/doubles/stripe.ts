import { createHmac, randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { startHttpDouble } from "./http-double.ts";
import type { BalanceObjects } from "./stripe-balance.ts";
import type { FinishedSetup, FirmObjects } from "./stripe-firm.ts";
import { createStripeObjects, readParams, type WebhookEndpoint } from "./stripe-objects.ts";
import { newId, type Params, type Reply, refusal } from "./stripe-values.ts";

export type StripeRequest = {
  method: string;
  path: string;
  params: Params;
  idempotencyKey: string | null;
  authorization: string;
};

/**
 * A prepared failure: an error; a connection that is cut once the work is done; `mute`: the work is done without an
 * answer; `hang`: neither work nor an answer; `late`: the connection is cut, and the work is done at `arriveLate`.
 */
export type Failure =
  | { status: number; type?: string; message?: string; code?: string; param?: string }
  | "cut"
  | "mute"
  | "hang"
  | "late";

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
  url: string;
  webhookSecret: string;
  /** The settings with which a service uses the double, with a key of this mode. */
  settings: (mode: "live" | "test") => Record<string, string>;
  account: string;
  requests: StripeRequest[];
  sessions: Map<string, Record<string, unknown>>;
  refunds: Record<string, unknown>[];
  /** Customers, their saved methods, and the charges of those methods. */
  firm: FirmObjects;
  /** The processor's own books. */
  balance: BalanceObjects;
  /** The URLs that receive events, as the account's owner has chosen. */
  webhookEndpoints: WebhookEndpoint[];
  /** Simulates a bank that demands a payment back. @returns the event */
  dispute: (...about: Parameters<BalanceObjects["dispute"]>) => StripeEvent;
  /** Simulates the bank's decision about a dispute. @returns the event */
  endDispute: (...about: Parameters<BalanceObjects["endDispute"]>) => StripeEvent;
  /** Simulates a refund that the payer's bank returns. @returns the event */
  failRefund: (id: string) => StripeEvent;
  /**
   * Simulates an owner who completes a hosted setup page.
   * @returns the event about the page's session and, if the setup succeeded, the event about its setup intent
   */
  finishSetup: (sessionId: string, finished?: FinishedSetup) => StripeEvent[];
  /** Simulates a bank that renews a card. @returns the event */
  renewCard: (...about: Parameters<FirmObjects["renew"]>) => StripeEvent;
  /** The event about the present state of a payment intent that was charged to a saved payment method. */
  chargeEvent: (paymentIntent: string) => StripeEvent;
  /** Makes all idempotency keys expire, as the processor does after a day. */
  forgetKeys: () => void;
  /** Prepares failures for the next requests, one each. */
  fail: (...failures: Failure[]) => void;
  /** Prepares a failure for the next request of a method and path, such as `POST /v1/refunds`. */
  failAt: (asked: string, failure: Failure) => void;
  /** Handles the requests that were prepared to be late, as if the network had delivered them only now. */
  arriveLate: () => void;
  /** Drops the prepared failures that no request has met yet. */
  recover: () => void;
  /** Answers this many requests, and leaves the next one without an answer. */
  hangAfter: (answered: number) => void;
  /** Creates an event about the object, in the processor's format. */
  event: (type: string, object: Record<string, unknown>, more?: Partial<StripeEvent>) => StripeEvent;
  /** The value of `Stripe-Signature` over a body. */
  sign: (body: string, options?: { secret?: string; at?: Date }) => string;
  /** Sends a signed event to a service's webhook. */
  deliver: (serviceUrl: string, event: StripeEvent, options?: { secret?: string; at?: Date }) => Promise<Response>;
  /**
   * The events of payers' actions on hosted pages. As with the real service, the browser returns before the event is
   * delivered.
   */
  paidByPayers: StripeEvent[];
  /** The id of the session whose hosted page has this URL. */
  sessionOf: (url: string) => string;
  /** Simulates a payer who pays on a session's hosted page. @returns the event */
  pay: (sessionId: string, more?: Record<string, unknown>) => StripeEvent;
  /**
   * Simulates a payer who chooses bank debit: the session completes, and the money arrives later or the debit fails.
   * @returns the event
   */
  payByBank: (sessionId: string) => StripeEvent;
  /** Simulates a partial refund of an intent by a person at the processor. @returns the events */
  refundByHand: (paymentIntent: string, amount: number) => StripeEvent[];
  /** The events of a refund: about the refund, and about its charge. */
  refundEvents: (refund: Record<string, unknown>) => StripeEvent[];
  /** Simulates the bank's later answer to a payment by bank debit. @returns the event */
  bankAnswers: (sessionId: string, outcome: "succeeded" | "failed") => StripeEvent;
  close: () => Promise<void>;
};

/**
 * A double of the payment processor, in its wire protocol with idempotency keys: checkout sessions, refunds, saved
 * payment methods, disputes and the processor's books. Its webhooks are signed as the processor signs them. It records
 * requests and fails on demand.
 */
export async function startStripe(): Promise<StripeDouble> {
  const webhookSecret = `whsec_${randomBytes(16).toString("hex")}`;
  const account = `acct_${randomBytes(8).toString("hex")}`;
  const requests: StripeRequest[] = [];
  const failures: (Failure | null)[] = [];
  const failuresAt = new Map<string, Failure>();
  const paidByPayers: StripeEvent[] = [];
  const late: (() => void)[] = [];
  const { replyOnce, forgetKeys } = createReplies();
  let url = "";
  // The mode of the key of the latest request. As with the real service, it becomes the mode of a new object. Each new
  // event has the present value.
  let livemode = false;
  const { sessions, refunds, firm, balance, webhookEndpoints, answer, successUrl } = createStripeObjects(
    () => `${url}/c/pay`,
    () => livemode,
  );

  function serve(request: IncomingMessage, bytes: Buffer, response: ServerResponse): void {
    const body = bytes.toString();
    const { method = "", headers } = request;
    const [path = "", query = ""] = (request.url ?? "").split("?");
    const [, hosted] = /^\/c\/pay\/(\w+)$/.exec(path) ?? [];
    if (hosted) {
      serveHostedPage(method, hosted, response);
      return;
    }
    // A service may request its account at any time. So such requests are not recorded, and get no prepared failure.
    // Restricted keys may not read the account.
    if (path === "/v1/account") {
      const isRestricted = headers.authorization?.startsWith("Bearer rk_");
      const forbidden = { status: 403, body: { error: { message: "The key may not read the account." } } };
      send(response, isRestricted ? forbidden : { status: 200, body: { id: account, object: "account" } });
      return;
    }
    const key = headers["idempotency-key"];
    const idempotencyKey = typeof key === "string" ? key : null;
    const params = readParams(method === "GET" ? query : body);
    const { authorization = "" } = headers;
    livemode = authorization.startsWith("Bearer sk_live_");
    requests.push({ method, path, params, idempotencyKey, authorization });
    const asked = `${method} ${path}`;
    const failure = failuresAt.get(asked) ?? failures.shift();
    failuresAt.delete(asked);
    if (failure === "hang") return;
    if (failure === "late") {
      late.push(() => void replyOnce(idempotencyKey, body, () => answer(method, path, params)));
      response.destroy();
      return;
    }
    const reply =
      typeof failure === "object" && failure !== null
        ? refused(failure)
        : replyOnce(idempotencyKey, body, () => answer(method, path, params));
    if (failure === "cut") response.destroy();
    else if (failure !== "mute") send(response, reply);
  }

  /** Serves the hosted payment page, which has only one button. */
  function serveHostedPage(method: string, sessionId: string, response: ServerResponse): void {
    if (sessions.get(sessionId)?.["status"] !== "open") {
      response
        .writeHead(410, { "Content-Type": "text/html" })
        .end("<!doctype html><title>This page has expired</title>");
    } else if (method === "POST") {
      if (sessions.get(sessionId)?.["mode"] === "setup") paidByPayers.push(...finishSetup(sessionId));
      else paidByPayers.push(pay(sessionId));
      response.writeHead(303, { Location: successUrl(sessionId) }).end();
    } else {
      response.writeHead(200, { "Content-Type": "text/html" });
      response.end(`<!doctype html><title>Pay</title><form method="post"><button>Pay by card</button></form>`);
    }
  }

  function pay(sessionId: string, more: Record<string, unknown> = {}): StripeEvent {
    const session = sessions.get(sessionId);
    if (!session) throw new Error(`no such session: ${sessionId}`);
    const isFree = session["amount_total"] === 0;
    const paid = isFree
      ? { payment_status: "no_payment_required" }
      : { payment_status: "paid", payment_intent: newId("pi") };
    Object.assign(session, { status: "complete", ...paid, ...more });
    if (session["payment_status"] === "paid") balance.settleCharge(String(session["payment_intent"]));
    return event("checkout.session.completed", { ...session });
  }

  function bankAnswers(sessionId: string, outcome: "succeeded" | "failed"): StripeEvent {
    const session = sessions.get(sessionId);
    if (session?.["status"] !== "complete") throw new Error(`nobody paid by ${sessionId}`);
    Object.assign(session, { payment_status: outcome === "succeeded" ? "paid" : "unpaid" });
    if (outcome === "succeeded") balance.settleCharge(String(session["payment_intent"]));
    return event(`checkout.session.async_payment_${outcome}`, { ...session });
  }

  function refundEvents(refund: Record<string, unknown>): StripeEvent[] {
    const { payment_intent: intent } = refund;
    const charged = firm.intents.get(String(intent)) ?? {};
    const session = [...sessions.values()].find((each) => each["payment_intent"] === intent) ?? {
      ...charged,
      amount_total: charged["amount_received"],
    };
    const given = refunds.filter((each) => each["payment_intent"] === intent && each["status"] !== "failed");
    const amount_refunded = given.reduce((sum, each) => sum + Number(each["amount"]), 0);
    const { amount_total: amount, currency, metadata } = session;
    const refunded = amount_refunded === amount;
    const charge = { payment_intent: intent, amount, amount_refunded, currency, metadata, refunded };
    return [event("refund.updated", { ...refund }), event("charge.refunded", charge)];
  }

  function refundByHand(paymentIntent: string, amount: number): StripeEvent[] {
    const { body } = answer("POST", "/v1/refunds", { payment_intent: paymentIntent, amount: String(amount) });
    return refundEvents({ ...body, amount });
  }

  function finishSetup(sessionId: string, finished?: FinishedSetup): StripeEvent[] {
    const setup = firm.finishSetup(sessionId, finished);
    const completed = event("checkout.session.completed", { ...sessions.get(sessionId) });
    return setup["status"] === "succeeded" ? [event("setup_intent.succeeded", { ...setup }), completed] : [completed];
  }

  function chargeEvent(paymentIntent: string): StripeEvent {
    const intent = firm.intents.get(paymentIntent);
    if (!intent) throw new Error(`no such payment: ${paymentIntent}`);
    const { status } = intent;
    if (status === "succeeded") balance.settleCharge(paymentIntent);
    const kind = ["succeeded", "processing", "canceled"].includes(String(status)) ? status : "payment_failed";
    return event(`payment_intent.${kind}`, { ...intent });
  }

  const event: StripeDouble["event"] = (type, object, more = {}) => ({
    id: newId("evt"),
    object: "event",
    type,
    created: Math.floor(Date.now() / 1000),
    livemode,
    data: { object },
    ...more,
  });

  const sign: StripeDouble["sign"] = (body, { secret = webhookSecret, at = new Date() } = {}) => {
    const t = Math.floor(at.getTime() / 1000);
    return `t=${t},v1=${createHmac("sha256", secret).update(`${t}.${body}`).digest("hex")}`;
  };

  const server = await startHttpDouble(serve);
  url = server.url;
  return {
    url,
    webhookSecret,
    settings: (mode) => ({
      STRIPE_SECRET_KEY: `sk_${mode}_double`,
      STRIPE_WEBHOOK_SECRET: webhookSecret,
      STRIPE_API_BASE: url,
    }),
    account,
    requests,
    sessions,
    refunds,
    firm,
    balance,
    webhookEndpoints,
    dispute: (...about) => event("charge.dispute.created", { ...balance.dispute(...about) }),
    endDispute: (...about) => event("charge.dispute.closed", { ...balance.endDispute(...about) }),
    failRefund: (id) => event("refund.failed", { ...balance.failRefund(id) }),
    finishSetup,
    renewCard: (...about) => event("payment_method.automatically_updated", { ...firm.renew(...about) }),
    chargeEvent,
    forgetKeys,
    fail: (...next) => void failures.push(...next),
    failAt: (asked, failure) => void failuresAt.set(asked, failure),
    arriveLate: () => {
      for (const arrive of late.splice(0)) arrive();
    },
    recover: () => {
      failures.splice(0);
      failuresAt.clear();
    },
    hangAfter: (answered) => void failures.push(...Array.from({ length: answered }, () => null), "hang"),
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
    paidByPayers,
    sessionOf: (page) => page.split("/").at(-1) ?? "",
    pay,
    payByBank: (sessionId) => pay(sessionId, { payment_status: "unpaid" }),
    bankAnswers,
    refundByHand,
    refundEvents,
    close: server.close,
  };
}

/** Caches replies: requests with the same idempotency key and the same parameters get the same reply. */
function createReplies() {
  const replies = new Map<string, Reply & { params: string }>();
  const replyOnce = (key: string | null, params: string, make: () => Reply): Reply => {
    const before = key === null ? undefined : replies.get(key);
    if (before && before.params !== params) {
      const message = "Keys for idempotent requests can only be used with the same parameters";
      return refusal(400, message, "idempotency_error");
    }
    // A repeated request gets the first answer, even if its object has changed since.
    const reply = before ?? { params, ...structuredClone(make()) };
    if (key !== null) replies.set(key, reply);
    return reply;
  };
  return { replyOnce, forgetKeys: () => replies.clear() };
}

function refused({ status, message = "ordered", type, ...more }: Exclude<Failure, string>): Reply {
  const { body } = refusal(status, message, type);
  return { status, body: { error: { ...(body as { error: object }).error, ...more } } };
}

function send(response: ServerResponse, { status, body }: Reply): void {
  response.writeHead(status, { "Content-Type": "application/json", "Request-Id": newId("req") });
  response.end(JSON.stringify(body));
}
