import { type Days, deletedMessage, type RetentionPlan } from "../../retention/retention.ts";

const inDays = (days: number): string => `${days} days`;

/** The one sentence about documents of test; null when they are kept. */
const ofTest = (what: string, days: Days, since: string): string | null =>
  days === "none" ? null : `${what} are deleted ${inDays(days)} after ${since}. Their hashes stay on record.`;

/** What an order's page says of its documents. */
export function orderRetention(
  { test }: RetentionPlan,
  order: { environment: string; documentsDeletedAt: Date | null },
): string | null {
  if (order.documentsDeletedAt)
    return `${deletedMessage("The document of this order", order.documentsDeletedAt)} Its hash stays on record.`;
  return order.environment === "test" ? ofTest("Test documents", test.orderDocuments, "the last change") : null;
}

/** What a room's page says of the documents in it. */
export function roomRetention({ test }: RetentionPlan, environment: string): string | null {
  return environment === "test"
    ? ofTest(
        "Test documents, and the certificates of test closing passports,",
        test.closingPassports,
        "the last change",
      )
    : null;
}

/** What the page of a proof passport says of its sealed PDF. */
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

/** What the place to seal says of what is kept. */
export const sealingRetention = ({ test, live }: RetentionPlan, environment: string): string | null => {
  const days = environment === "test" ? test.proofPassports : live.proofPassports;
  return days === "none"
    ? null
    : `${environment === "test" ? "Test documents" : "Sealed PDFs"} are deleted after ${inDays(days)}.`;
};
