import type { Sql } from "../platform/database/database.ts";
import type { ReceiptContent } from "../receipts/receipts.ts";
import { attemptsOf, findAttempt } from "./store.ts";

/** What the certificate of a fax's transmission says. */
export async function faxCertificate(db: Sql, orderId: number, attemptId: number): Promise<ReceiptContent | null> {
  const fax = await findAttempt(db, attemptId);
  if (!fax || fax.orderId !== orderId || fax.state !== "delivered") return null;
  const attempts = await attemptsOf(db, orderId);
  const { pages, seconds, startedAt, endedAt, createdAt } = fax;
  const told = fax.eventId === null ? "Telnyx’s answer when it was asked" : "the attached event, which Telnyx signed";
  return {
    title: "Fax transmission certificate",
    sentence: `By ${told}, the receiving machine confirmed the pages of this fax. That a person read them nobody can say.`,
    rows: [
      ["To", fax.faxTo],
      ["From", fax.faxFrom],
      ["Pages confirmed", pages === null ? "not told" : String(pages)],
      ["Pages sent, with the cover sheet", fax.sentPages === null ? "not known" : String(fax.sentPages)],
      ["Began", instant(startedAt ?? createdAt)],
      ["Ended", endedAt ? instant(endedAt) : "not told"],
      ["Duration of the call", seconds === null ? "not told" : `${seconds} seconds`],
      ["Attempt", `${fax.attempt} of ${attempts.length}`],
      ["SHA-256 of the document", fax.documentSha256 ?? "not known"],
      ["SHA-256 of the file that was faxed", fax.sentSha256 ?? "not known"],
      ["Fax at Telnyx", fax.faxId ?? ""],
    ],
    events: fax.eventId === null ? [] : [fax.eventId],
  };
}

const instant = (at: Date): string => `${at.toISOString().slice(0, 19).replace("T", " ")} UTC`;
