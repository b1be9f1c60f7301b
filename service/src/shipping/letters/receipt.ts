import type { Sql } from "../../platform/database/database.ts";
import { sql } from "../../platform/database/sql.ts";
import type { MailClass } from "../../providers/providers.ts";
import type { ReceiptSource } from "../../receipts/receipts.ts";
import { mailedAt, stageOf } from "./progress.ts";
import { lettersOfOrder } from "./store.ts";

export const mailClassNames: Readonly<Record<MailClass, string>> = {
  certified: "USPS Certified Mail",
  certified_return_receipt: "USPS Certified Mail with electronic return receipt",
  standard: "USPS First-Class Mail",
};

const sentences: Readonly<Record<MailClass, string>> = {
  certified:
    "The document named below was printed and mailed by Lob, and the United States Postal Service recorded its delivery, as Lob reports.",
  certified_return_receipt:
    "The document named below was printed and mailed by Lob, and the United States Postal Service recorded its delivery, as Lob reports.",
  standard:
    "The document named below was printed and mailed by Lob. First-Class Mail has no proof of delivery: when it was delivered is the carrier’s estimate, as Lob reports it.",
};

/** What the receipt of a delivered letter says. */
export const mailReceipt: ReceiptSource = async (db, orderId, subject) => {
  const letter = (await lettersOfOrder(db, orderId)).find(({ id }) => id === subject);
  const delivered = letter?.progress.delivered;
  // One that came back after all was not delivered.
  if (!delivered || stageOf(letter.progress) !== "delivered") return null;
  const { mailClass, letterId, trackingNumber, docSha256, pages, doubleSided, acceptedAt, progress } = letter;
  const mailed = mailedAt(progress);
  return {
    title: "Receipt of mailing",
    sentence: sentences[mailClass],
    rows: [
      ["Class", mailClassNames[mailClass]],
      ...(trackingNumber === null ? [] : [["Tracking number", trackingNumber] as const]),
      ["Letter at Lob", letterId],
      ["Pages", `${pages}, printed on ${doubleSided ? "both sides" : "one side"}`],
      ["Document SHA-256", docSha256],
      ["Accepted by Lob", acceptedAt.toISOString()],
      ...(mailed === null ? [] : [["Mailed", mailed.toISOString()] as const]),
      [mailClass === "standard" ? "Delivered (estimate)" : "Delivered", delivered.toISOString()],
    ],
    events: await eventsOf(db, letterId),
  };
};

/** Lob's events about the letter, the first first. */
async function eventsOf(db: Sql, letterId: string): Promise<number[]> {
  const rows = await db.query<{ id: number }>(sql`
    SELECT id FROM provider_events WHERE provider = 'lob' AND object_id = ${letterId} AND type LIKE 'letter.%' ORDER BY id`);
  return rows.map(({ id }) => id);
}
