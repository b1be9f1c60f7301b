export { enqueueReceipt, type ReceiptKind } from "./enqueue.ts";
export { openReceipts, type ReceiptContent, type ReceiptSource, type Receipts } from "./open.ts";
