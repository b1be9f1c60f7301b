import { dayMs, minuteMs } from "../../../kernel/platform/clock.ts";
import type { Tx } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import type { Envelope, Signer } from "./envelope.ts";
import { updatePerson } from "./sessions.ts";

/**
 * The most codes that are sent to a signer: in a day, for a link, and after the envelope's end. A stranger with the
 * link may use up these codes, so the last code stays valid until the next one can be sent.
 */
const maxCodes = { aDay: 10, ofLink: 30, afterEnd: 10 };
/**
 * Additional codes after wrong codes have locked the link. Their messages contain an entry link or a long code, which
 * work despite the lock.
 */
const moreOfLocked = { aDay: 3, ofLink: 10 };
const betweenCodesMs = minuteMs;

type Counts = Pick<Signer, "codesRequested" | "codesOfDay" | "codesDayAt" | "lockedAt">;
type Ended = Pick<Envelope, "endedAt">;
type Locked = Pick<Signer, "lockedAt">;

const limitOf = (normal: number, more: number, { lockedAt }: Locked): number => normal + (lockedAt === null ? 0 : more);

/**
 * True if no more codes may be requested for a link. This limit is not per day. A new link, a correct code and the
 * envelope's end each start the count again.
 */
export const areCodesUsedUp = (
  { codesRequested, ...signer }: Pick<Counts, "codesRequested" | "lockedAt">,
  { endedAt }: Ended,
): boolean =>
  codesRequested >= limitOf(endedAt === null ? maxCodes.ofLink : maxCodes.afterEnd, moreOfLocked.ofLink, signer);

const isSameDay = ({ codesDayAt }: Pick<Counts, "codesDayAt">, at: Date): boolean =>
  codesDayAt !== null && codesDayAt.getTime() > at.getTime() - dayMs;

/** True if the limits allow no further code for the signer now. The minute between two codes is not considered. */
export const mayNotRequestCode = (signer: Counts, envelope: Ended, at: Date): boolean =>
  areCodesUsedUp(signer, envelope) ||
  (isSameDay(signer, at) && signer.codesOfDay >= limitOf(maxCodes.aDay, moreOfLocked.aDay, signer));

/**
 * Records a new code, which replaces the earlier one, and counts it. The transaction must have locked the envelope.
 * @throws ServiceError `rate_limited` within a minute of the last code, and beyond the limits for a day or a link
 */
export async function putCode(tx: Tx, signer: Signer, envelope: Envelope, codeId: string, at: Date): Promise<void> {
  if (areCodesUsedUp(signer, envelope))
    throw new ServiceError("rate_limited", "No more codes are sent for this link. The last one stays valid.");
  if (mayNotRequestCode(signer, envelope, at))
    throw new ServiceError("rate_limited", "Too many codes were sent. The last one stays valid; ask again tomorrow.");
  const isToday = isSameDay(signer, at);
  const isPut = await updatePerson(
    tx,
    signer.id,
    sql`code_id = ${codeId}, code_sent_at = ${at}, codes_requested = codes_requested + 1,
      codes_of_day = ${isToday ? signer.codesOfDay + 1 : 1}, codes_day_at = ${isToday ? signer.codesDayAt : at}`,
    sql`(code_sent_at IS NULL OR code_sent_at <= ${new Date(at.getTime() - betweenCodesMs)})`,
  );
  if (!isPut) throw new ServiceError("rate_limited", "A code was sent a moment ago. Ask again in a minute.");
}
