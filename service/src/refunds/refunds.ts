/** Refunds by two persons: one asks, another approves, and only then is the order in RefundPending. */
export { approveRefund, refuseRefund } from "./decide.ts";
export { previewRefund, type RefundPreview } from "./preview.ts";
export { listRefunds, type RefundRequest, refundOf, requestRefund, withdrawRefund } from "./request.ts";
export type { Held, RefundDeps } from "./rules.ts";
