import type { Tx } from "../platform/database/database.ts";
import { enqueue } from "../platform/jobs/jobs.ts";

/** The queue of receipts to make; payload `{orderId, kind, subject}`. */
export const receiptQueue = "receipt";

export const receiptKinds = ["delivery_receipt", "mail_receipt", "fax_certificate"] as const;
export type ReceiptKind = (typeof receiptKinds)[number];

/** What a receipt is about: the label's, letter's or fax's row. */
export type ReceiptOf = { orderId: number; kind: ReceiptKind; subject: number };

/** Has a receipt made, by a job, once. */
export const enqueueReceipt = (tx: Tx, of: ReceiptOf): Promise<void> => enqueue(tx, receiptQueue, of);
