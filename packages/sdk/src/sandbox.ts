import type { Warned } from "./orders.ts";
import { path, type Transport } from "./transport.ts";

/** A test order after a step. */
export type SandboxStep = { orderCode: string; status: string; firedEvents: string[]; requestId: string } & Warned;

/** The test clock of the firm. */
export type TestClock = {
  /** `advancing`: what came due is happening. */
  status: "ready" | "advancing";
  /** What the clock shows; it goes on from there. */
  testTime: string;
  /** What new objects, evidence and webhooks are dated with. */
  realTime: string;
  advancedSeconds: number;
  requestId: string;
} & Warned;

const clockOf = ({ json }: Pick<Transport, "json">) => ({
  get: (): Promise<TestClock> => json("GET", "/api/partner/sandbox/clock"),

  /**
   * What comes due of the firm's test objects happens as if so much time had gone by. Ask with `get` until the clock is `ready`.
   * @param leap by so many seconds, or to a test time that is later than the clock's own (ISO 8601)
   */
  advance: (
    leap: { advanceSeconds: number; to?: undefined } | { to: string; advanceSeconds?: undefined },
  ): Promise<TestClock> => json("POST", "/api/partner/sandbox/clock", { body: leap }),

  /** Back to real time. What happened has happened, and what came nearer stays there. */
  reset: (): Promise<TestClock> => json("DELETE", "/api/partner/sandbox/clock"),
});

/** How a payment in the sandbox ends. */
export type SandboxOutcome = "success" | "decline" | "cancel" | "delayed";

/** For test keys and test orders. */
export const sandboxOf = ({ json }: Pick<Transport, "json">) => ({
  /** Pays, or fails to, as a client would. */
  checkout: (
    orderCode: string,
    outcome: SandboxOutcome = "success",
  ): Promise<SandboxStep & { outcome: SandboxOutcome; checkoutUrl: string }> =>
    json("POST", path`/api/partner/sandbox/orders/${orderCode}/checkout`, { body: { outcome } }),

  /** Walks on to the milestone, or to the next one. */
  advance: (
    orderCode: string,
    event: "payment.cleared" | "signature.completed" | "shipment.delivered" | null = null,
  ): Promise<SandboxStep> => json("POST", path`/api/partner/sandbox/orders/${orderCode}/advance`, { body: { event } }),

  clock: clockOf({ json }),
});
