import type { Sql } from "../platform/database/database.ts";
import type { Jobs } from "../platform/jobs/jobs.ts";
import { type ReceiptKind, type ReceiptOf, receiptQueue } from "./enqueue.ts";

/** What a receipt says. */
export type ReceiptContent = {
  title: string;
  /** What happened, and by whose word. */
  sentence: string;
  rows: readonly (readonly [label: string, value: string])[];
  /** Ids of rows of `provider_events`, whose bytes and signature headers are attached. */
  events: readonly number[];
};

/** Reads what a receipt of the kind says. Null: there is nothing to say any more. */
export type ReceiptSource = (db: Sql, orderId: number, subject: number) => Promise<ReceiptContent | null>;

export type Receipts = {
  register: (kind: ReceiptKind, source: ReceiptSource) => void;
  work: (jobs: Jobs) => void;
};

export function openReceipts(): Receipts {
  const sources = new Map<ReceiptKind, ReceiptSource>();
  return {
    register: (kind, source) => void sources.set(kind, source),
    work: (jobs) => jobs.work<ReceiptOf>(receiptQueue, async () => {}),
  };
}
