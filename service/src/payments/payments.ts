export { type CheckoutDeps, checkoutUrl } from "./checkout.ts";
export { checkoutRoute } from "./checkout-route.ts";
export { paymentJobs } from "./payment-jobs.ts";
export { isTestModeKey, openProcessor, type Processor } from "./processor.ts";
export { type SandboxOutcome, sandboxPayment } from "./sandbox-payment.ts";
export { processorWebhook } from "./webhook-route.ts";
