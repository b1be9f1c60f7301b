import type { Warned } from "./order-types.ts";
import { path, type Transport } from "./transport.ts";

/** A test order after a simulated payment or step, and the webhook events that it caused. */
export type SandboxStep = { orderCode: string; status: string; firedEvents: string[]; requestId: string } & Warned;

/** The test clock of the firm. */
export type TestClock = {
  /** `ready`, or `advancing` while the work that became due is still in progress. */
  status: "ready" | "advancing";
  /** The time that the clock shows. The clock continues from this time. */
  testTime: string;
  /** The real time. New objects, evidence and webhooks get this time. */
  realTime: string;
  advancedSeconds: number;
  requestId: string;
} & Warned;

const sandbox = "/api/partner/sandbox/";
const clock = `${sandbox}clock`;

const clockOf = ({ json }: Pick<Transport, "json">) => ({
  get: (): Promise<TestClock> => json("GET", clock),

  /**
   * Advances the test clock, and performs everything that becomes due for the firm's test objects. Poll `get` until the
   * clock is `ready`.
   * @param leap how many seconds to advance, or a test time later than the clock's own (ISO 8601)
   */
  advance: (
    leap: { advanceSeconds: number; to?: undefined } | { to: string; advanceSeconds?: undefined },
  ): Promise<TestClock> => json("POST", clock, { body: leap }),

  /** Resets the clock to real time. Work that was done stays done, and dates that the clock moved stay moved. */
  reset: (): Promise<TestClock> => json("DELETE", clock),
});

/** A test card or a test bank account. Its name describes the result of a charge. */
export type TestMethod =
  | "card"
  | "card_declined"
  | "card_needs_authentication"
  | "card_dispute_won"
  | "card_dispute_lost"
  | "bank"
  | "bank_insufficient_funds"
  | "bank_returned"
  | "bank_no_answer";

/** The test method that the firm's test orders are charged to. */
export type TestPaymentMethod = {
  methodId: string;
  method: TestMethod;
  kind: "card" | "bank";
  last4: string | null;
  /** The effect of a charge, in words. */
  behavior: string;
  requestId: string;
} & Warned;

/** The outcome of a sandbox payment. */
export type SandboxOutcome = "success" | "decline" | "cancel" | "delayed";

/** The test orders of a room after one simulated payment, and the webhook events that it caused. */
export type SandboxRoomCheckout = {
  roomCode: string;
  outcome: SandboxOutcome;
  checkoutUrl: string;
  payBy: "client" | "firm";
  orders: { orderCode: string; totalCents: number; status: string }[];
  totalCents: number;
  firedEvents: string[];
  requestId: string;
} & Warned;

/** The calls of the sandbox. They accept only test keys and test orders. */
export const sandboxOf = ({ json }: Pick<Transport, "json">) => ({
  /** Simulates the client's payment of an order, with the given outcome. */
  checkout: (
    orderCode: string,
    outcome: SandboxOutcome = "success",
  ): Promise<SandboxStep & { outcome: SandboxOutcome; checkoutUrl: string }> =>
    json("POST", sandbox + path`orders/${orderCode}/checkout`, { body: { outcome } }),

  /**
   * Simulates one payment for all payable orders of a room that have the same payer. Without `payBy`, this payer is the
   * client or, if the client pays none of the orders, your firm.
   */
  roomCheckout: (
    roomCode: string,
    outcome: SandboxOutcome = "success",
    payBy?: "client" | "firm",
  ): Promise<SandboxRoomCheckout> =>
    json("POST", sandbox + path`rooms/${roomCode}/checkout`, { body: { outcome, pay_by: payBy } }),

  /** Advances the order to the named milestone, or to the next one. */
  advance: (
    orderCode: string,
    event: "payment.cleared" | "signature.completed" | "shipment.delivered" | null = null,
  ): Promise<SandboxStep> => json("POST", sandbox + path`orders/${orderCode}/advance`, { body: { event } }),

  /**
   * Stores a test card or a test bank account, which pays test orders with `pay_by: "firm"`. The limits, in US cents,
   * restrict the charges that this key may make. Without them, the key's limits stay unchanged.
   */
  paymentMethod: (
    method: TestMethod = "card",
    limits: { perOrderCents: number; perMonthCents: number } | null = null,
  ): Promise<TestPaymentMethod> => json("POST", "/api/partner/sandbox/billing/method", { body: { method, ...limits } }),

  clock: clockOf({ json }),
});
