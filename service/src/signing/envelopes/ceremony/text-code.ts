import { dayMs, minuteMs } from "../../../kernel/platform/clock.ts";
import type { Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import type { EnvelopeDeps, Reach } from "../records/deps.ts";
import { type Envelope, isLocked, type Signer } from "../records/envelope.ts";
import { updatePerson } from "../records/sessions.ts";
import { codeText } from "../texts/texts.ts";
import type { CodeOutcome } from "./ceremony.ts";

/**
 * Daily limits against SMS pumping (fraudsters earn by receiving texts). A signer rarely needs more than two texts. Ten
 * a day per number suffice for people who mistype, 50 per order for many signers, 300 per firm for a busy day. The
 * total of 2,000 costs some twenty dollars.
 */
const maxADay = { toNumber: 10, ofOrder: 50, ofFirm: 300, ofAll: 2_000 };

/**
 * Additional texts for a number whose signer's link is locked. They contain the long code, which works despite the
 * lock.
 */
const moreToLocked = 3;

/** A text message that was reserved within the limits and may be sent now. */
export type TextToSend = { signerId: number; codeId: string; to: string; text: string; at: Date };

type Counts = { lately: number } & Record<keyof typeof maxADay, number>;

/**
 * Reserves a text message within the limits: one a minute for a number, and the daily limits above.
 * @throws ServiceError `rate_limited`; `conflict` when text messages are not sent to the number
 */
export async function reserveText(
  { texts }: Pick<Reach, "texts">,
  tx: Tx,
  { envelope, signer }: { envelope: Envelope; signer: Signer },
  { codeId, code, at }: { codeId: string; code: string; at: Date },
): Promise<TextToSend> {
  const to = signer.phone;
  if (to === null) throw new ServiceError("conflict", "There is no number to send a code to.");
  if (texts && !texts.reaches(to))
    throw new ServiceError("conflict", "No codes are sent to numbers of this country. Ask the sender for another way.");
  const { orderId, partnerId } = envelope;
  const ago = (ms: number) => new Date(at.getTime() - ms);
  // Serializes reservations until the transaction ends, so that concurrent requests can't exceed the limits.
  await tx.query(sql`SELECT pg_advisory_xact_lock(hashtextextended('signing_texts', 0))`);
  const [sent] = await tx.query<Counts>(sql`
    SELECT (count(*) FILTER (WHERE phone = ${to} AND sent_at > ${ago(minuteMs)}))::int AS lately,
      (count(*) FILTER (WHERE phone = ${to}))::int AS "toNumber",
      (count(*) FILTER (WHERE order_id = ${orderId}))::int AS "ofOrder",
      (count(*) FILTER (WHERE partner_id = ${partnerId}))::int AS "ofFirm", count(*)::int AS "ofAll"
    FROM signing_texts WHERE sent_at > ${ago(dayMs)}`);
  if (sent) requireRoom(sent, isLocked(signer, envelope, at));
  await tx.query(sql`
    INSERT INTO signing_texts (phone, order_id, partner_id, sent_at) VALUES (${to}, ${orderId}, ${partnerId}, ${at})`);
  const text = codeText(code, envelope.partnerName, signer.language);
  return { signerId: signer.id, codeId, to, text, at };
}

/**
 * Requires that the limits allow one more text message.
 * @param more true if wrong codes have locked the signer's link. The number then gets additional texts, because a
 * stranger may have used up the regular ones
 */
function requireRoom(sent: Counts, more: boolean): void {
  if (sent.lately > 0) throw new ServiceError("rate_limited", "A code was sent a moment ago. Ask again in a minute.");
  const refuse = (scope: string) => {
    throw new ServiceError("rate_limited", `Too many codes were sent ${scope} today. Ask again tomorrow.`);
  };
  if (sent.toNumber >= maxADay.toNumber + (more ? moreToLocked : 0)) refuse("to this number");
  if (sent.ofOrder >= maxADay.ofOrder) refuse("for this document");
  if (sent.ofFirm >= maxADay.ofFirm) refuse("for the sender");
  if (sent.ofAll >= maxADay.ofAll) refuse("by text message");
}

/** Deletes the records of sent texts, with their phone numbers, after a day. */
export const sweepTexts = (db: Sql, now: Date) =>
  db.query(sql`DELETE FROM signing_texts WHERE sent_at <= ${new Date(now.getTime() - dayMs)}`);

/**
 * Sends a text message. Counts it as sent if its outcome is unknown. If it was not sent, deletes the code. If no
 * provider can send now, also undoes the reservation. If the number rejects texts, the reservation stays, because the
 * attempt costs money as well.
 */
export async function textCode(
  { db, reach, log }: Pick<EnvelopeDeps, "db" | "reach" | "log">,
  message: TextToSend,
): Promise<CodeOutcome> {
  const { signerId, codeId, to, text, at } = message;
  const outcome = reach.texts === null ? "away" : await reach.texts.send({ to, text });
  if (outcome === "sent" || outcome === "unknown") return "texted";
  log.warn({ signer: signerId, outcome }, "a code was not sent by text message");
  await db.transaction(async (tx) => {
    await updatePerson(tx, signerId, sql`code_id = NULL, code_sent_at = NULL`, sql`code_id = ${codeId}`);
    if (outcome === "away") await tx.query(sql`DELETE FROM signing_texts WHERE phone = ${to} AND sent_at = ${at}`);
  });
  return outcome;
}
