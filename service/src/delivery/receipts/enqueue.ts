import type { Tx } from "../../kernel/platform/database/database.ts";
import { enqueue } from "../../kernel/platform/jobs/jobs.ts";

/** The queue of receipts; payload `{orderId, kind, subject}`. */
export const receiptQueue = "receipt";

const receiptKinds = ["delivery_receipt", "mail_receipt", "fax_certificate"] as const;
export type ReceiptKind = (typeof receiptKinds)[number];

/** `subject` is the row id of the label, letter or fax that the receipt is about. */
export type ReceiptOf = { orderId: number; kind: ReceiptKind; subject: number };

/** Queues a receipt. A repeated call for the same subject makes no second receipt. */
export const enqueueReceipt = (tx: Tx, of: ReceiptOf): Promise<void> => enqueue(tx, receiptQueue, of);
