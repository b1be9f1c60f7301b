/** Sealed receipts of what providers said of a parcel, a letter or a fax. */
export type { ReceiptContent, ReceiptSource } from "./content.ts";
export { enqueueReceipt, type ReceiptKind } from "./enqueue.ts";
export { openReceipts, type Receipts } from "./open.ts";
