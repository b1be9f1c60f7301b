import type { Tx } from "../../platform/database/database.ts";
import { sql } from "../../platform/database/sql.ts";
import { ServiceError } from "../../platform/errors.ts";
import type { EnvelopeDeps } from "../lifecycle/deps.ts";
import type { Envelope, Signer } from "../records/envelope.ts";
import { requireTrailRoom } from "../records/trail.ts";
import { codeText } from "../texts/words.ts";
import type { CodeOutcome } from "./ceremony.ts";

const minuteMs = 60_000;
const dayMs = 24 * 3_600_000;
/** To one number, for whichever order. */
const mostADay = 10;

/** A text message that may be sent now. */
export type TextToSend = { signerId: number; codeId: string; to: string; text: string; at: Date };

/**
 * Takes a number's place for a text message: one a minute, and ten a day.
 * @throws ServiceError `rate_limited`
 */
export async function takeText(
  tx: Tx,
  envelope: Envelope,
  signer: Signer,
  { codeId, code, at }: { codeId: string; code: string; at: Date },
): Promise<TextToSend> {
  const to = signer.phone;
  if (to === null) throw new ServiceError("conflict", "There is no number to send a code to.");
  if (envelope.endedAt === null) await requireTrailRoom(tx, envelope.id, signer.n);
  const ago = (ms: number) => new Date(at.getTime() - ms);
  // Who asks for the same number waits for this transaction.
  await tx.query(sql`SELECT pg_advisory_xact_lock(hashtextextended(${to}, 0))`);
  await tx.query(sql`DELETE FROM signing_texts WHERE sent_at <= ${ago(dayMs)}`);
  const [sent] = await tx.query<{ lately: number; today: number }>(sql`
    SELECT (count(*) FILTER (WHERE sent_at > ${ago(minuteMs)}))::int AS lately, count(*)::int AS today
    FROM signing_texts WHERE phone = ${to}`);
  if (sent && sent.lately > 0)
    throw new ServiceError("rate_limited", "A code was sent a moment ago. Ask again in a minute.");
  if (sent && sent.today >= mostADay)
    throw new ServiceError("rate_limited", "Too many codes were sent to this number today. Ask again tomorrow.");
  await tx.query(sql`INSERT INTO signing_texts (phone, sent_at) VALUES (${to}, ${at})`);
  const text = codeText(code, envelope.partnerName, signer.language);
  return { signerId: signer.id, codeId, to, text, at };
}

/** Sends it. What was certainly not sent takes no place, and another may be asked for at once. */
export async function textCode({ db, texts, log }: EnvelopeDeps, message: TextToSend): Promise<CodeOutcome> {
  const { signerId, codeId, to, text, at } = message;
  const outcome = texts === null ? "away" : await texts.send({ to, text });
  if (outcome === "sent" || outcome === "unknown") return "texted";
  log.warn({ signer: signerId, outcome }, "a code was not sent by text message");
  await db.transaction(async (tx) => {
    await tx.query(sql`
      UPDATE envelope_signers SET code_id = NULL, code_sent_at = NULL WHERE id = ${signerId} AND code_id = ${codeId}`);
    await tx.query(sql`DELETE FROM signing_texts WHERE phone = ${to} AND sent_at = ${at}`);
  });
  return outcome;
}
