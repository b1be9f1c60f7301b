import type { JsonObject } from "@signsealship/evidence/manifest";
import { hourMs, minuteMs } from "../../../kernel/platform/clock.ts";
import type { Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import { newSecret, newUuid } from "../../../kernel/platform/ids.ts";
import { enqueue } from "../../../kernel/platform/jobs/jobs.ts";
import type { RowMac } from "../../../kernel/platform/row-mac.ts";
import { isCodeUnder, type SecretBytes, tokenSha256 } from "../../../kernel/platform/secrets.ts";
import { slowHashHolds } from "../../../kernel/platform/slow-hash.ts";
import { openTask } from "../../../kernel/tasks/tasks.ts";
import { lockOrder, verifiedSigner } from "../../../orders/order/order.ts";
import { signingMailQueue } from "../lifecycle/issue-link.ts";
import { closeUnlocking } from "../lifecycle/unlock.ts";
import { mayNotRequestCode, putCode } from "../records/code-requests.ts";
import type { EnvelopeDeps } from "../records/deps.ts";
import { identifyEmbed } from "../records/embeds.ts";
import { type Envelope, isLocked, type Signer, updateSigner } from "../records/envelope.ts";
import { beginSession, updatePerson } from "../records/sessions.ts";
import { identifySitting } from "../records/sittings.ts";
import { appendToTrail, requireTrailRoom, type TrailEvent } from "../records/trail.ts";
import type { CodeOutcome, Link } from "./ceremony.ts";
import { clientDetail } from "./client-detail.ts";
import { isEntryOf, longCode, signingCode } from "./codes.ts";
import { follow, followLocked, type Linked, requireState } from "./links.ts";
import { reserveText, type TextToSend, textCode } from "./text-code.ts";
import type { Client } from "./view.ts";

type IdentifyDeps = Pick<EnvelopeDeps, "db" | "clock" | "log" | "rowMac" | "reach"> & { secrets: SecretBytes };

const codeMs = 10 * minuteMs;
const sessionMs = 12 * hourMs;
const failuresAllowed = 5;
/**
 * The most wrong access codes that may be entered on the page of the mailed entry link. After that, the signer gets no
 * entry link. The firm must unlock the signer, unless the envelope has ended.
 */
const failuresByMail = 3;

/**
 * Sends a code by mail or text message to a signer who is identified by codes, at most one code a minute. A signer with
 * an access code gets only an entry link, and only while wrong codes have locked the link. A mail with a code also
 * contains an entry link. While wrong codes have locked the link, the page refuses six digits. The signer then opens
 * the mail's entry link, or types the long code of a text message.
 * @throws ServiceError
 */
export async function sendCode(deps: IdentifyDeps, link: Link, client: Client): Promise<CodeOutcome> {
  const { db, clock, rowMac } = deps;
  const text = await db.transaction(async (tx): Promise<TextToSend | null> => {
    const linked = await followLocked(tx, link, clock);
    const { signer, envelope, at } = linked;
    const locked = isLocked(signer, envelope, at);
    if (locked && !canSendWayIn(linked)) requireOpen(linked);
    requireState(linked, "identify", "locked");
    if (signer.auth === "access_code" && !locked)
      throw new ServiceError("conflict", "This link asks for an access code.");
    const codeId = newUuid();
    await putCode(tx, signer, envelope, codeId, at);
    // Only live orders send text messages. The signers of test orders are invented, so their phone numbers may be those
    // of strangers. The text message of a test order is stored with the test mails.
    if (signer.auth === "text_code" && envelope.environment === "live") {
      const code = locked ? longCode(deps.secrets, codeId) : signingCode(deps.secrets, codeId);
      return reserveText(deps.reach, tx, { envelope, signer }, { codeId, code, at });
    }
    await tell(tx, rowMac, envelope, "code_sent", at, { signer: signer.n, client: clientDetail(client) });
    await enqueue(tx, signingMailQueue, {
      signerId: signer.id,
      moment: signer.auth === "access_code" ? "way_in" : "code",
      codeId,
    });
    return null;
  });
  if (text === null) return "mailed";
  const outcome = await textCode(deps, text);
  if (outcome !== "texted") return outcome;
  await db.transaction(async (tx) => {
    const { envelope, signer, at } = await followLocked(tx, link, clock);
    const detail = { client: clientDetail(client), method: signer.auth, signer: signer.n };
    await tell(tx, rowMac, envelope, "code_sent", at, detail);
  });
  return outcome;
}

/**
 * Verifies a code. The fifth wrong code locks the link for a day. For a signer with an access code, the lock lasts
 * longer while the envelope is open (`isLocked`): until somebody unlocks the link, or the signer enters by the entry
 * link.
 * @returns the session for the browser; null for a wrong or expired code
 */
export async function identify(
  deps: IdentifyDeps,
  link: Link,
  typed: string,
  client: Client,
): Promise<AccessSession | null> {
  const { db, clock, rowMac } = deps;
  const seen = await follow(db, link, clock);
  requireOpen(seen);
  // Hashing a typed access code is slow, so it is compared before any row is locked.
  const tried = await tryAccessCode(db, seen.signer, typed);
  return db.transaction(async (tx) => {
    // The fifth wrong code opens a task to unlock the link. The task belongs to the order. A transaction that locks an
    // order and its envelope locks the order first.
    await lockOrder(tx, seen.envelope.orderCode);
    const linked = await followLocked(tx, link, clock);
    requireOpen(linked);
    const { signer, envelope, at } = linked;
    const detail = { signer: signer.n, method: signer.auth, client: clientDetail(client) };
    if (!(await isRight(deps, tx, linked, typed, tried))) {
      const failures = (signer.lockedAt === null ? signer.failures : 0) + 1;
      const locks = failures >= failuresAllowed;
      await updatePerson(tx, signer.id, sql`failures = ${failures}, locked_at = ${locks ? at : null}`);
      if (locks) await openUnlocking(tx, envelope, signer, at);
      else if (signer.lockedAt !== null)
        await closeUnlocking(tx, signer.id, { at, by: "system", outcome: "the lock expired" });
      await tell(tx, rowMac, envelope, locks ? "locked" : "code_failed", at, detail);
      return null;
    }
    return begin(tx, deps, linked, client);
  });
}

/** True if a signer whose link is locked can still get an entry link. False after too many wrong access codes. */
export const canSendWayIn = ({ signer }: Linked): boolean =>
  signer.auth !== "access_code" || signer.failures < failuresAllowed + failuresByMail;

/**
 * Admits a browser that has the entry link from the mail with the signer's last code. Also admits one in which the long
 * code from a text message was entered.
 *
 * A signer with an access code can use the entry link only while the signing link is locked. The page of the entry link
 * then requires the access code as well. Wrong access codes on this page have a count of their own. So strangers who
 * have only the signing link can't use up those tries.
 * @returns null when the link or code is invalid or expired, and for a wrong access code
 */
export async function enter(
  deps: IdentifyDeps,
  link: Link,
  entry: string,
  client: Client,
  accessCode = "",
): Promise<AccessSession | null> {
  const { db, clock, rowMac } = deps;
  const seen = await follow(db, link, clock);
  // The slow hash of the access code is computed only for a browser that has the mailed entry link.
  const hasWayIn = await isWayIn(deps, db, seen, entry);
  const tried = hasWayIn ? await tryAccessCode(db, seen.signer, accessCode) : null;
  return db.transaction(async (tx) => {
    // Orders are always locked before their envelopes.
    await lockOrder(tx, seen.envelope.orderCode);
    const linked = await followLocked(tx, link, clock);
    const { signer, envelope, at } = linked;
    requireState(linked, "identify", "locked");
    if (!(await isWayIn(deps, tx, linked, entry))) return null;
    if (signer.auth !== "access_code") return begin(tx, deps, linked, client);
    if (!isLocked(signer, envelope, at) || !canSendWayIn(linked)) return null;
    if (await isRight(deps, tx, linked, accessCode, tried)) return begin(tx, deps, linked, client);
    await updatePerson(tx, signer.id, sql`failures = ${signer.failures + 1}`);
    const detail = { signer: signer.n, method: signer.auth, client: clientDetail(client) };
    await tell(tx, rowMac, envelope, "code_failed", at, detail);
    return null;
  });
}

async function isWayIn(deps: IdentifyDeps, db: Sql, linked: Linked, entry: string): Promise<boolean> {
  const codeId = await openCode(db, linked);
  return codeId !== null && isEntryOf(deps.secrets, linked.signer, codeId, entry);
}

/** The session of a browser in which the signer has passed the access step. */
export type AccessSession = { session: string; expiresAt: Date };

async function begin(
  tx: Tx,
  { rowMac }: IdentifyDeps,
  { envelope, signer, embed, sitting, place, bySession, at }: Linked,
  client: Client,
): Promise<AccessSession> {
  if (envelope.endedAt === null) await requireTrailRoom(tx, envelope.id, signer.n);
  const session = newSecret();
  const expiresAt = new Date(at.getTime() + sessionMs);
  await updatePerson(
    tx,
    signer.id,
    sql`failures = 0, locked_at = NULL, code_id = NULL, codes_of_day = 0, codes_requested = 0`,
  );
  const own = sql`session_sha256 = ${tokenSha256(session)}, session_expires_at = ${expiresAt}`;
  // A frame has no cookie, and a device is passed on to others. So the access step is recorded for the frame or the
  // turn itself. The session of the mailed link stays unchanged.
  if (embed) await identifyEmbed(tx, embed.id, at);
  else if (sitting) await identifySitting(tx, sitting.id, at);
  else if (bySession && place) await beginSession(tx, place.id, { session, expiresAt, at });
  else await updateSigner(tx, signer.id, own);
  const detail = { signer: signer.n, method: signer.auth, client: clientDetail(client) };
  await tell(tx, rowMac, envelope, "code_ok", at, detail);
  if (signer.lockedAt !== null) await closeUnlocking(tx, signer.id, { at, by: "system", outcome: "identified" });
  return { session, expiresAt };
}

/**
 * Requires that the signer can enter a code now.
 * @throws ServiceError `conflict` in any state other than `identify`, such as `locked`. In the state `identify`,
 * `rate_limited` when wrong codes have locked the link of a completed envelope
 */
function requireOpen(linked: Linked): void {
  requireState(linked, "identify");
  if (isLocked(linked.signer, linked.envelope, linked.at))
    throw new ServiceError("rate_limited", "Too many wrong codes were entered. Try again tomorrow.");
}

type Codes = { codeId: string | null; sentAt: Date | null; accessCodeHash: string | null };

async function findCodes(db: Sql, { id }: Pick<Signer, "id">): Promise<Codes | undefined> {
  const [codes] = await db.query<Codes>(sql`
    SELECT code_id AS "codeId", code_sent_at AS "sentAt", access_code_hash AS "accessCodeHash", ${verifiedSigner}
    FROM envelope_signers s WHERE id = ${id}`);
  return codes;
}

/**
 * Compares a typed access code with the signer's stored hash.
 * @returns the stored hash, if the typed access code matches it; otherwise null
 */
async function tryAccessCode(db: Sql, signer: Signer, typed: string): Promise<string | null> {
  if (signer.auth !== "access_code") return null;
  const hash = (await findCodes(db, signer))?.accessCodeHash;
  return hash && (await slowHashHolds(hash, typed.trim())) ? hash : null;
}

/**
 * True if the typed code is the signer's current code.
 * @param tried the stored hash that the typed access code matched before the signer's row was locked; null for none
 */
async function isRight(
  { secrets }: IdentifyDeps,
  tx: Tx,
  linked: Linked,
  typed: string,
  tried: string | null,
): Promise<boolean> {
  const { signer } = linked;
  if (signer.auth === "access_code") return tried !== null && (await findCodes(tx, signer))?.accessCodeHash === tried;
  const codeId = await openCode(tx, linked);
  return codeId !== null && isCodeUnder(secrets, (key) => signingCode(key, codeId), typed);
}

/**
 * Returns the id of the signer's last code; null if there is none, or it has expired and another one can be requested.
 */
async function openCode(tx: Sql, { signer, envelope, at }: Linked): Promise<string | null> {
  const codes = await findCodes(tx, signer);
  const isFresh = !!codes?.sentAt && codes.sentAt.getTime() > at.getTime() - codeMs;
  // A stranger may have requested all codes of the day. No further code can be sent then, so the last one stays valid.
  return isFresh || mayNotRequestCode(signer, envelope, at) ? (codes?.codeId ?? null) : null;
}

/**
 * Opens a task to unlock the link. After the envelope's end every lock expires by itself, so no task is opened then.
 */
async function openUnlocking(
  tx: Tx,
  { orderId, environment, endedAt }: Envelope,
  { n }: { n: number },
  at: Date,
): Promise<void> {
  if (endedAt !== null) return;
  await openTask(tx, { kind: "signer_locked", at, environment, orderId, subject: String(n) });
}

/**
 * Appends to the trail, unless the envelope has ended. The trail of a completed envelope is certified and must stay
 * unchanged.
 */
async function tell(
  tx: Tx,
  rowMac: RowMac,
  envelope: Envelope,
  event: TrailEvent,
  at: Date,
  detail: JsonObject & { signer: number },
): Promise<void> {
  if (envelope.endedAt !== null) return;
  await appendToTrail(tx, rowMac, envelope, event, at, detail);
}
