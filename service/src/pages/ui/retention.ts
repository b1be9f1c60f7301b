import { deletedMessage, type RetentionPlan } from "../../kernel/retention/retention.ts";
import { plainTime } from "./format.ts";
import type { Html } from "./render.ts";
import { en, type Words } from "./words/en/en.ts";

const inDays = (days: number): string => `${days} days`;

/**
 * The sentence on an order's page about the retention of its documents: when they were deleted, or when those of a test
 * order will be. Null if the documents of the order are kept.
 */
export function orderRetention(
  { test }: RetentionPlan,
  order: { environment: string; documentsDeletedAt: Date | null },
  { retention, language }: Pick<Words, "retention" | "language"> = en,
): Html | string | null {
  if (order.documentsDeletedAt) return retention.orderDeleted(plainTime(order.documentsDeletedAt, language));
  return order.environment === "test" && test.orderDocuments !== "none"
    ? retention.ofTestOrder(test.orderDocuments)
    : null;
}

/**
 * The sentence on a room's page about the retention of its documents. Null for a live room, and if test certificates
 * are kept.
 */
export function roomRetention(
  { test }: RetentionPlan,
  environment: string,
  { retention }: Pick<Words, "retention"> = en,
): string | null {
  return environment === "test" && test.closingPassports !== "none"
    ? retention.ofTestRoom(test.closingPassports)
    : null;
}

/**
 * The sentence on the page of a proof passport about its sealed PDF: when the PDF was deleted, or when it will be. Null
 * for a PDF that the plan never deletes, and for a PDF that this service did not keep.
 */
export function proofRetention(
  { test, live }: RetentionPlan,
  record: { environment: string; documentKept: boolean; deletedAt: Date | null },
): string | null {
  if (record.deletedAt)
    return `${deletedMessage("The sealed PDF", record.deletedAt)} Its hashes, seal and time stamps stay on record, and verify your own copy.`;
  const days = record.environment === "test" ? test.proofPassports : live.proofPassports;
  return record.documentKept && days !== "none"
    ? `The sealed PDF is deleted ${inDays(days)} after it was sealed.`
    : null;
}

/** The sentence on the sealing page about the retention of documents. Null if they are not deleted. */
export const sealingRetention = ({ test, live }: RetentionPlan, environment: string): string | null => {
  const days = environment === "test" ? test.proofPassports : live.proofPassports;
  return days === "none"
    ? null
    : `${environment === "test" ? "Test documents" : "Sealed PDFs"} are deleted after ${inDays(days)}.`;
};
