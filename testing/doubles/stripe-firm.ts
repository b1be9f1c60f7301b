import { newId, type Params, type Reply, refusal, type StripeObject } from "./stripe-values.ts";

/** The bank's answer when a saved payment method is charged. */
export type MethodOutcome =
  | "succeeded"
  | "processing"
  | "authentication_required"
  | "card_declined"
  | "expired_card"
  | "insufficient_funds"
  | "mandate_invalid";

/** The way in which an owner completes a hosted setup page. */
export type FinishedSetup = { type?: "card" | "us_bank_account"; isVerifying?: boolean };

/** Firms as the processor's customers, their saved payment methods, and payments without a hosted page. */
export type FirmObjects = {
  customers: StripeObject[];
  setups: Map<string, StripeObject>;
  methods: Map<string, StripeObject>;
  intents: Map<string, StripeObject>;
  /** The result of charging each listed payment method. Charging any other method succeeds. */
  outcomes: Map<string, MethodOutcome>;
  /** The debits whose money the bank is already moving, so that they can't be canceled. */
  moving: Set<string>;
  createSetup: (params: Params, hostedPages: string) => Reply;
  /** Answers a request about firms' payment methods; undefined for any other request. */
  answer: (method: string, path: string, params: Params) => Reply | undefined;
  /** @returns the setup intent */
  finishSetup: (sessionId: string, finished?: FinishedSetup) => StripeObject;
  /** Simulates that the verification of a bank account succeeded or failed. */
  verify: (setupIntent: string, isRight: boolean) => StripeObject;
  /** Simulates a bank that renews a card. @returns the card, which keeps its id */
  renew: (method: string, card: { last4: string; exp_month: number; exp_year: number }) => StripeObject;
  /** Simulates the bank's answer to a debit. */
  bankAnswers: (paymentIntent: string, outcome: "succeeded" | "failed") => StripeObject;
};

const declines: Readonly<Record<string, { code: string; decline_code?: string }>> = {
  mandate_invalid: { code: "payment_intent_mandate_invalid" },
  authentication_required: { code: "authentication_required", decline_code: "authentication_required" },
  card_declined: { code: "card_declined", decline_code: "generic_decline" },
  expired_card: { code: "expired_card", decline_code: "expired_card" },
  insufficient_funds: { code: "card_declined", decline_code: "insufficient_funds" },
};

const missingCustomer: Reply = {
  status: 400,
  body: {
    error: {
      type: "invalid_request_error",
      code: "resource_missing",
      param: "customer",
      message: "No such customer",
    },
  },
};

const tooSmall: Reply = {
  status: 400,
  body: {
    error: {
      type: "invalid_request_error",
      code: "amount_too_small",
      param: "amount",
      message: "Amount must be at least 50 cents",
    },
  },
};

type Deps = { sessions: Map<string, StripeObject>; livemode: () => boolean };

export function createFirmObjects({ sessions, livemode }: Deps): FirmObjects {
  const customers: StripeObject[] = [];
  const [setups, methods, intents] = [0, 1, 2].map(() => new Map<string, StripeObject>()) as [
    Map<string, StripeObject>,
    Map<string, StripeObject>,
    Map<string, StripeObject>,
  ];
  const outcomes = new Map<string, MethodOutcome>();

  const isKnown = (customer: unknown): boolean => customers.some(({ id }) => id === customer);

  function createSetup(params: Params, hostedPages: string): Reply {
    if (!isKnown(params["customer"])) return missingCustomer;
    const { setup_intent_data: data } = params;
    const metadata = typeof data === "object" ? (data["metadata"] ?? {}) : {};
    const id = newId("cs");
    const intent = { id: newId("seti"), object: "setup_intent", status: "requires_payment_method", metadata };
    setups.set(intent.id, { ...intent, payment_method: null, customer: params["customer"] });
    const session = {
      id,
      object: "checkout.session",
      mode: "setup",
      status: "open",
      payment_status: "no_payment_required",
      url: `${hostedPages}/${id}`,
      setup_intent: intent.id,
      customer: params["customer"],
      payment_intent: null,
      metadata: params["metadata"] ?? {},
      livemode: livemode(),
    };
    sessions.set(id, session);
    return { status: 200, body: session };
  }

  const setupOf = (id: string): StripeObject => {
    const found = setups.get(id);
    if (!found) throw new Error(`no such setup: ${id}`);
    return found;
  };

  function finishSetup(sessionId: string, { type = "card", isVerifying = false }: FinishedSetup = {}): StripeObject {
    const session = sessions.get(sessionId);
    const setup = setupOf(String(session?.["setup_intent"]));
    const id = newId("pm");
    const details =
      type === "card"
        ? { card: { brand: "visa", last4: "4242", exp_month: 4, exp_year: 2031 } }
        : { us_bank_account: { bank_name: "STRIPE TEST BANK", last4: "6789" } };
    methods.set(id, { id, object: "payment_method", type, customer: setup["customer"], ...details });
    Object.assign(session ?? {}, { status: "complete", url: null });
    return Object.assign(setup, { status: isVerifying ? "requires_action" : "succeeded", payment_method: id });
  }

  const verify = (setupIntent: string, isRight: boolean): StripeObject =>
    Object.assign(setupOf(setupIntent), { status: isRight ? "succeeded" : "requires_payment_method" });

  function renew(id: string, card: { last4: string; exp_month: number; exp_year: number }): StripeObject {
    const method = methods.get(id);
    if (!method) throw new Error(`no such card: ${id}`);
    const { card: earlier } = method;
    return Object.assign(method, { card: { ...(earlier as object | undefined), ...card } });
  }

  const newIntent = (params: Params, amount: number): StripeObject => {
    const intent = {
      id: newId("pi"),
      object: "payment_intent",
      amount,
      currency: params["currency"],
      customer: params["customer"],
      metadata: params["metadata"] ?? {},
      payment_method: null,
      last_payment_error: null,
      created: Math.floor(Date.now() / 1000),
      livemode: livemode(),
      amount_received: 0,
      status: "requires_payment_method",
    };
    intents.set(intent.id, intent);
    return intent;
  };

  function charge(params: Params): Reply {
    const amount = Number(params["amount"]);
    if (!(amount >= 50)) return tooSmall;
    if (!isKnown(params["customer"])) return missingCustomer;
    // A payment that is created without confirmation waits until somebody pays it.
    if (params["confirm"] === undefined && params["payment_method"] === undefined)
      return { status: 200, body: { ...newIntent(params, amount) } };
    const method = methods.get(String(params["payment_method"]));
    if (!method || method["customer"] !== params["customer"])
      return refusal(400, "The PaymentMethod does not belong to the Customer");
    if (params["off_session"] !== "true" || params["confirm"] !== "true") return refusal(400, "a parameter is missing");
    const intent = newIntent(params, amount);
    Object.assign(intent, { payment_method: params["payment_method"], status: "processing" });
    const outcome = outcomes.get(String(params["payment_method"])) ?? "succeeded";
    const decline = declines[outcome];
    if (decline) {
      const error = { type: "card_error", message: "Your card was declined.", ...decline };
      Object.assign(intent, { status: "requires_payment_method", last_payment_error: error });
      return { status: 402, body: { error: { ...error, payment_intent: intent } } };
    }
    if (outcome === "succeeded") Object.assign(intent, { status: outcome, amount_received: amount });
    return { status: 200, body: { ...intent } };
  }

  function bankAnswers(paymentIntent: string, outcome: "succeeded" | "failed"): StripeObject {
    const intent = intents.get(paymentIntent);
    if (intent?.["status"] !== "processing") throw new Error(`no debit is under way: ${paymentIntent}`);
    const failed = { status: "requires_payment_method", last_payment_error: { code: "insufficient_funds" } };
    const paid = { status: "succeeded", amount_received: intent["amount"] };
    return Object.assign(intent, outcome === "succeeded" ? paid : failed);
  }

  const moving = new Set<string>();

  function cancel(intent: StripeObject): Reply {
    const { id, status } = intent;
    if (status === "succeeded" || status === "canceled" || moving.has(String(id)))
      return refusal(400, `You cannot cancel this PaymentIntent because it has a status of ${status}.`);
    return { status: 200, body: { ...Object.assign(intent, { status: "canceled" }) } };
  }

  function answer(verb: string, path: string, params: Params): Reply | undefined {
    const asked = `${verb} ${path}`;
    if (asked === "POST /v1/customers") {
      const customer = { id: newId("cus"), object: "customer", name: params["name"], metadata: params["metadata"] };
      customers.push(customer);
      return { status: 200, body: customer };
    }
    if (asked === "POST /v1/payment_intents") return charge(params);
    if (asked === "GET /v1/payment_intents") {
      if (!isKnown(params["customer"])) return missingCustomer;
      const data = [...intents.values()].filter((each) => each["customer"] === params["customer"]).reverse();
      return { status: 200, body: { object: "list", data, has_more: false, url: path } };
    }
    const [, setupId] = /^GET \/v1\/setup_intents\/(\w+)$/.exec(asked) ?? [];
    const setup = setups.get(setupId ?? "");
    if (setup)
      return {
        status: 200,
        body: { ...setup, payment_method: methods.get(String(setup["payment_method"])) ?? null },
      };
    const [, detached] = /^POST \/v1\/payment_methods\/([\w-]+)\/detach$/.exec(asked) ?? [];
    const method = methods.get(detached ?? "");
    if (method?.["customer"]) return { status: 200, body: Object.assign(method, { customer: null }) };
    if (method) return refusal(400, "The payment method is not attached to a customer");
    const [, canceled] = /^POST \/v1\/payment_intents\/(\w+)\/cancel$/.exec(asked) ?? [];
    const toCancel = intents.get(canceled ?? "");
    if (toCancel) return cancel(toCancel);
    const [, intentId] = /^GET \/v1\/payment_intents\/(\w+)$/.exec(asked) ?? [];
    const intent = intents.get(intentId ?? "");
    return intent && { status: 200, body: { ...intent } };
  }

  const objects = { customers, setups, methods, intents, outcomes, moving };
  return { ...objects, createSetup, answer, finishSetup, verify, renew, bankAnswers };
}
