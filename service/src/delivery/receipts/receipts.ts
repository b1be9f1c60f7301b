import type { Jobs } from "../../kernel/platform/jobs/jobs.ts";
import type { ReceiptSource } from "./content.ts";
import { type ReceiptKind, type ReceiptOf, receiptQueue } from "./enqueue.ts";
import { type MakeDeps, makeReceipt } from "./make.ts";

/** Sealed receipts that certify what a provider reported about a parcel, a letter or a fax. */
export type { ReceiptContent, ReceiptSource } from "./content.ts";
export { enqueueReceipt, type ReceiptKind } from "./enqueue.ts";

export type Receipts = {
  /** Registers the source of one kind of receipts. Must be called at startup, before jobs run. */
  register: (kind: ReceiptKind, source: ReceiptSource) => void;
  work: (jobs: Jobs) => void;
};

export function openReceipts(deps: MakeDeps): Receipts {
  const sources = new Map<ReceiptKind, ReceiptSource>();
  return {
    register: (kind, source) => void sources.set(kind, source),
    work: (jobs) =>
      jobs.work<ReceiptOf>(receiptQueue, async (of) => {
        const source = sources.get(of.kind);
        if (!source) throw new Error(`no source is registered for receipts of the kind ${of.kind}`);
        await makeReceipt(deps, source, of);
      }),
  };
}
