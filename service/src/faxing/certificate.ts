import type { Sql } from "../platform/database/database.ts";
import type { ReceiptContent } from "../receipts/receipts.ts";
import { attemptsOf, findAttempt } from "./store.ts";

/** What the certificate of a fax's transmission says. */
export async function faxCertificate(db: Sql, orderId: number, attemptId: number): Promise<ReceiptContent | null> {
  const fax = await findAttempt(db, attemptId);
  if (!fax || fax.orderId !== orderId || fax.state !== "delivered") return null;
  const attempts = await attemptsOf(db, orderId);
  const { pages, sentPages, seconds, startedAt, endedAt } = fax;
  const told = fax.eventId === null ? "Telnyx’s answer when it was asked" : "the attached event, which Telnyx signed";
  return {
    title: "Fax transmission certificate",
    sentence: `By ${told}, the receiving machine confirmed ${confirmed(pages, sentPages)}. That a person read them nobody can say.`,
    rows: [
      ["To", fax.faxTo],
      ["From", fax.faxFrom],
      ["Pages confirmed", pages === null ? "not told" : String(pages)],
      ["Pages sent, with the cover sheet", sentPages === null ? "not known" : String(sentPages)],
      ["Began", startedAt ? instant(startedAt) : "not told"],
      ["Ended", endedAt ? `${fax.eventId === null ? "asked at " : ""}${instant(endedAt)}` : "not told"],
      ["Duration of the call", seconds === null ? "not told" : `${seconds} seconds`],
      ["Attempt", `${fax.attempt} of ${attempts.length}`],
      ["SHA-256 of the document", fax.documentSha256 ?? "not known"],
      ["SHA-256 of the file that was faxed", fax.sentSha256 ?? "not known"],
      ["Fax at Telnyx", fax.faxId ?? ""],
    ],
    events: fax.eventId === null ? [] : [fax.eventId],
  };
}

/** Never more than was confirmed. */
const confirmed = (pages: number | null, sent: number | null): string =>
  pages === null
    ? "this fax; how many of its pages was not told"
    : sent !== null && pages < sent
      ? `${pages} of the ${sent} pages of this fax, and not the other ${sent - pages}`
      : "the pages of this fax";

const instant = (at: Date): string => `${at.toISOString().slice(0, 19).replace("T", " ")} UTC`;
