import type { Warned } from "./orders.ts";
import { path, type Transport } from "./transport.ts";

/** A test order after a simulated payment or step, and the webhook events that it caused. */
export type SandboxStep = { orderCode: string; status: string; firedEvents: string[]; requestId: string } & Warned;

/** The test clock of the firm. */
export type TestClock = {
  /** `advancing`: the work that fell due is still running. */
  status: "ready" | "advancing";
  /** The time that the clock shows; it continues from there. */
  testTime: string;
  /** The real time, which dates new objects, evidence and webhooks. */
  realTime: string;
  advancedSeconds: number;
  requestId: string;
} & Warned;

const clockOf = ({ json }: Pick<Transport, "json">) => ({
  get: (): Promise<TestClock> => json("GET", "/api/partner/sandbox/clock"),

  /**
   * Advances the test clock: everything that falls due for the firm's test objects runs. Poll `get` until the clock is
   * `ready`.
   * @param leap how many seconds, or a test time later than the clock's own (ISO 8601)
   */
  advance: (
    leap: { advanceSeconds: number; to?: undefined } | { to: string; advanceSeconds?: undefined },
  ): Promise<TestClock> => json("POST", "/api/partner/sandbox/clock", { body: leap }),

  /** Returns to real time. Work that already ran is not undone, and dates that the clock moved stay moved. */
  reset: (): Promise<TestClock> => json("DELETE", "/api/partner/sandbox/clock"),
});

/** The outcome of a sandbox payment. */
export type SandboxOutcome = "success" | "decline" | "cancel" | "delayed";

/** Calls for test keys and test orders only. */
export const sandboxOf = ({ json }: Pick<Transport, "json">) => ({
  /** Simulates the client's payment, successful or failed. */
  checkout: (
    orderCode: string,
    outcome: SandboxOutcome = "success",
  ): Promise<SandboxStep & { outcome: SandboxOutcome; checkoutUrl: string }> =>
    json("POST", path`/api/partner/sandbox/orders/${orderCode}/checkout`, { body: { outcome } }),

  /** Advances the order to the named milestone, or to the next one. */
  advance: (
    orderCode: string,
    event: "payment.cleared" | "signature.completed" | "shipment.delivered" | null = null,
  ): Promise<SandboxStep> => json("POST", path`/api/partner/sandbox/orders/${orderCode}/advance`, { body: { event } }),

  clock: clockOf({ json }),
});
