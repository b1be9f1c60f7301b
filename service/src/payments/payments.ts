export { type CheckoutDeps, checkoutUrl, takesPayment } from "./checkout/checkout.ts";
export { checkoutRoute } from "./checkout/route.ts";
export { paymentJobs } from "./jobs.ts";
export { isTestModeKey, openProcessor, type Processor } from "./processor/processor.ts";
export { type SandboxOutcome, sandboxPayment } from "./sandbox.ts";
export { heldPayments, type PaymentRow, paymentsOf } from "./store.ts";
export { resolveUnapplied, type UnappliedPayment, unappliedPayments } from "./unapplied.ts";
export { processorWebhook } from "./webhook-route.ts";
