import { auditLine } from "../../../kernel/audit/audit.ts";
import type { Tx } from "../../../kernel/platform/database/database.ts";
import { type Statement, sql } from "../../../kernel/platform/database/sql.ts";
import { invalid, ServiceError } from "../../../kernel/platform/errors.ts";
import { enqueue } from "../../../kernel/platform/jobs/jobs.ts";
import type { RowMac } from "../../../kernel/platform/row-mac.ts";
import { isCode } from "../../../kernel/platform/text.ts";
import {
  accessCodeHashOf,
  correctionsOf,
  currentEmail,
  lockOrders,
  lockOwnOrder,
  type OrderSigner,
  orderNotFound,
  parseReplacement,
  readSigning,
  recordCorrection,
  replaceSigner as replaceInOrder,
  signersOf,
} from "../../../orders/order/order.ts";
import type { EnvelopeDeps } from "../records/deps.ts";
import { findOpenEnvelope, findSigners, type Signer, updateSigner } from "../records/envelope.ts";
import { endAccess, leaveSession } from "../records/sessions.ts";
import { findSigning } from "../records/signing.ts";
import { appendToTrail } from "../records/trail.ts";
import { changeSigner, type LockedSigner, type SignerRequest } from "./change-signer.ts";
import { issueLink, signingMailQueue } from "./issue-link.ts";
import { type Further, isSame, lockFurther } from "./same-person.ts";
import { closeUnlocking } from "./unlock.ts";

type Person = Pick<OrderSigner, "name" | "email" | "phone" | "language" | "auth" | "accessCodeHash">;
type Named = Pick<Person, "name" | "email">;

/**
 * Replaces the former signer among the participants of the closing rooms that contain these orders. A room keeps the
 * former signer if that person still signs there, or waits for other documents. If the firm had chosen the former
 * signer to receive these orders' final documents, the new signer receives them. `closing/deliveries` implements this.
 */
export type ReplaceInRooms = (
  tx: Tx,
  orderIds: readonly number[],
  people: { former: Named; person: Named },
  by: { actor: string; partnerId: string; at: Date },
) => Promise<void>;

/** The dependencies of a signer's replacement. */
type ReplaceSignerDeps = { envelopes: EnvelopeDeps; replaceInRooms: ReplaceInRooms };

/**
 * Replaces a signer by another person. The earlier signer's link stops opening the document at once. Without `others`,
 * a session's link still opens that signer's other documents. The new link is mailed when it is the new signer's turn.
 *
 * @param body `{name, email, language?, auth?, phone?, access_code?}`
 * @param request `others`: further orders in which the earlier signer is replaced, too. Skips orders that the earlier
 * signer has signed, and orders in which the new signer already signs
 * @throws ServiceError
 */
export async function replaceSigner(deps: ReplaceSignerDeps, request: SignerRequest, body: unknown): Promise<void> {
  for (let tried = 0; tried < tries; tried++) {
    const defaults = await defaultsOf(deps.envelopes, request);
    if (await replaceBy(deps, request, parseReplacement(body, defaults), defaults)) return;
  }
  throw new ServiceError("conflict", "This signer was changed at the same time. Try again.");
}

/**
 * The most attempts to replace a signer. An attempt fails if the signer was changed at the same time, because the new
 * signer inherits defaults from the signer's row.
 */
const tries = 3;

/**
 * Replaces a signer, if the defaults that the new signer inherits are still the current ones.
 * @returns false when the current signer's defaults have changed since `defaults` was read
 */
async function replaceBy(
  { envelopes, replaceInRooms }: ReplaceSignerDeps,
  request: SignerRequest,
  { accessCode, ...named }: ReturnType<typeof parseReplacement>,
  defaults: Defaults,
): Promise<boolean> {
  const { texts, links } = envelopes.reach;
  if (named.auth === "text_code" && texts === null)
    throw invalid("signer.auth must not be text_code: this service sends no text messages.");
  if (named.auth === "text_code" && !texts?.reaches(named.phone ?? ""))
    throw invalid("signer.phone must be a number of a country that this service sends text messages to.");
  const accessCodeHash = await accessCodeHashOf(envelopes.rowMac, request.owner, { ...named, accessCode });
  const person = { ...named, accessCodeHash };
  // `isOpen` was read without a lock. If it is true, only `changeSigner` is called. If `replaceForNextRound` were
  // called first, a later request could replace the signer before this one does.
  const isNamed = defaults.isOpen
    ? null
    : await replaceForNextRound({ envelopes, replaceInRooms }, request, person, defaults);
  if (isNamed !== null) return isNamed;
  let isReplaced = false;
  await changeSigner(envelopes, request, async (tx, locked) => {
    const { signer, signers, at } = locked;
    if (signer.auth !== defaults.auth || signer.language !== defaults.language) return;
    isReplaced = true;
    if (signers.some((other) => other.n !== signer.n && isSame(other, person)))
      throw invalid("signer must be another person than those who sign already.");
    const further = await furtherOf(tx, envelopes, request, { former: signer, person });
    const all = [locked, ...further.open];
    // A request that names other orders ends the link of the person's signing session, for all its documents. Otherwise
    // the signer only leaves the session.
    const ids = all.map((each) => each.signer.id);
    if (request.others) await endAccess(tx, links, ids);
    const [left] = request.others ? [] : await leaveSession(tx, signer.id);
    for (const each of all) await replaceIn(tx, envelopes, { ...each, at }, person, request.actor);
    for (const each of further.next) await replaceInNext(tx, envelopes, each, person, { actor: request.actor, at });
    const orderIds = [...all.map(({ envelope }) => envelope.orderId), ...further.next.map(({ order }) => order.id)];
    const by = { actor: request.actor, partnerId: request.owner.partnerId, at };
    await replaceInRooms(tx, orderIds, { former: signer, person }, by);
    if (signer.issuedAt !== null && signer.email.toLowerCase() !== person.email.toLowerCase())
      await tellFormer(tx, signer, left?.sessionId, at);
  });
  return isReplaced;
}

const furtherOf = (
  tx: Tx,
  { clock, rowMac }: EnvelopeDeps,
  { others = [] }: SignerRequest,
  people: { former: Named; person: Person },
): Promise<Further> => {
  const readSigners = async (orderId: number) => signersOf(await readSigning(tx, rowMac, orderId));
  return lockFurther(tx, { clock, readSigners }, others, people);
};

/** Replaces the signer in an open envelope, and mails the new person a link if it is that person's turn. */
async function replaceIn(
  tx: Tx,
  deps: EnvelopeDeps,
  locked: LockedSigner,
  person: Person,
  actor: string,
): Promise<void> {
  const { envelope, signer, at } = locked;
  await putInPlace(deps.rowMac, tx, locked, person);
  const { name, email, language, auth } = person;
  await appendToTrail(tx, deps.rowMac, envelope, "replaced", at, {
    by: actor,
    before: { email: signer.email, name: signer.name },
    now: { auth, email, language, name },
    signer: signer.n,
  });
  const { partnerId, orderId } = envelope;
  // An earlier correction may apply to the new person's name and address. Mails would then go to the corrected address.
  // This record cancels that correction.
  if (currentEmail(await correctionsOf(tx, orderId), person) !== email)
    await recordReplacement(tx, { id: orderId, partnerId }, { n: signer.n, before: signer, person }, { actor, at });
  if (signer.lockedAt !== null) await closeUnlocking(tx, signer.id, { at, by: actor, outcome: "replaced" });
  const detail = { signer: signer.n };
  await tx.query(auditLine({ at, action: "signer.replaced", actor, partnerId, orderId, detail }));
  if (signer.issuedAt !== null) await issueLink(tx, deps, envelope, signer, { at, actor });
}

/** Replaces signer `n` of an order without an open envelope, so that the next envelope names the new person. */
async function replaceInNext(
  tx: Tx,
  { rowMac }: Pick<EnvelopeDeps, "rowMac">,
  { order, n }: Further["next"][number],
  person: Person,
  { actor, at }: { actor: string; at: Date },
): Promise<void> {
  const before = signersOf(await readSigning(tx, rowMac, order.id))[n - 1];
  if (!before) throw new ServiceError("not_found", "No such signer.");
  await replaceInOrder(tx, rowMac, order.id, n, person);
  await recordReplacement(tx, order, { n, before, person }, { actor, at });
}

const recordReplacement = (
  tx: Tx,
  order: { id: number; partnerId: string },
  { n, before, person: { name, email, language, auth } }: { n: number; before: Named; person: Person },
  by: { actor: string; at: Date },
) =>
  recordCorrection(tx, order, {
    kind: "signer",
    before: { signer: n, name: before.name, email: before.email },
    after: { signer: n, name, email, language, auth },
    ...by,
  });

/**
 * Replaces a signer while no envelope is open: the last one ended without all signatures, or the next one is being
 * prepared. The next envelope then names the new person.
 * @returns null when an envelope is open, or no envelope will follow; false when the signer's defaults have changed
 */
async function replaceForNextRound(
  { envelopes, replaceInRooms }: ReplaceSignerDeps,
  request: SignerRequest,
  person: Person,
  defaults: Defaults,
): Promise<boolean | null> {
  const { db, clock, rowMac, reach } = envelopes;
  const { owner, orderCode, n, actor, others = [] } = request;
  return db.transaction(async (tx) => {
    if (others.length > 0) await lockOrders(tx, [orderCode, ...others].filter(isCode));
    const order = await lockOwnOrder(tx, owner, orderCode);
    if (!["EsignPending", "EsignDeclined", "EsignExpired"].includes(order.status)) return null;
    if (await findOpenEnvelope(tx, order.id)) return null;
    const at = clock();
    const signers = signersOf(await readSigning(tx, rowMac, order.id));
    const before = signers[n - 1];
    if (!before) throw new ServiceError("not_found", "No such signer.");
    if (before.auth !== defaults.auth || before.language !== defaults.language) return false;
    if (signers.some((other, index) => index !== n - 1 && isSame(other, person)))
      throw invalid("signer must be another person than those who sign already.");
    // The former signer may have signed earlier, in an envelope whose signatures no longer count. If the address was
    // corrected after that signature, rooms have the corrected address.
    const inRooms = { name: before.name, email: currentEmail(await correctionsOf(tx, order.id), before) };
    const further = await furtherOf(tx, envelopes, request, { former: before, person });
    await endAccess(
      tx,
      reach.links,
      further.open.map((each) => each.signer.id),
    );
    for (const each of further.open) await replaceIn(tx, envelopes, { ...each, at }, person, actor);
    const next = [{ order, n }, ...further.next];
    for (const each of next) await replaceInNext(tx, envelopes, each, person, { actor, at });
    const orderIds = [...further.open.map(({ envelope }) => envelope.orderId), ...next.map((each) => each.order.id)];
    await replaceInRooms(tx, orderIds, { former: inRooms, person }, { actor, partnerId: owner.partnerId, at });
    return true;
  });
}

/** The defaults that a new signer inherits. `isOpen` is true if an envelope was open when they were read. */
type Defaults = Pick<Signer, "auth" | "language"> & { isOpen: boolean };

/**
 * Reads the current signer's access step and language, which a new signer inherits. While no envelope is open, the
 * order stores them.
 */
async function defaultsOf({ db }: EnvelopeDeps, { owner, orderCode, n }: SignerRequest): Promise<Defaults> {
  const found = isCode(orderCode) ? await findSigning(db, orderCode, owner) : undefined;
  if (!found) throw orderNotFound();
  const isOpen = found.envelope !== null && found.envelope.endedAt === null;
  const opened = isOpen && found.envelope ? await findSigners(db, found.envelope.id) : signersOf(found.order);
  const { auth, language } = opened[n - 1] ?? ({ auth: "link", language: "en" } as const);
  return { auth, language, isOpen };
}

/**
 * Changes the data in a signer's row. Deletes everything that depends on the earlier link: codes, consent, prepared
 * acts.
 */
export async function resetSigner(tx: Tx, signerId: number, set: Statement): Promise<void> {
  await updateSigner(
    tx,
    signerId,
    sql`${set}, opened_at = NULL, code_id = NULL, code_sent_at = NULL, codes_requested = 0, codes_of_day = 0,
      codes_day_at = NULL, failures = 0, locked_at = NULL, session_sha256 = NULL, session_expires_at = NULL, consent = NULL,
      proposal = NULL, reminded_at = NULL`,
  );
  await tx.query(sql`DELETE FROM prepared_acts WHERE signer_id = ${signerId}`);
}

/** Updates both the envelope and the order, so that a reissued envelope goes to the same people. */
async function putInPlace(rowMac: RowMac, tx: Tx, { envelope, signer }: LockedSigner, person: Person): Promise<void> {
  const { name, email, phone, language, auth, accessCodeHash } = person;
  await resetSigner(
    tx,
    signer.id,
    sql`name = ${name}, email = ${email}, phone = ${phone}, language = ${language}, auth = ${auth}, access_code_hash = ${accessCodeHash}`,
  );
  await replaceInOrder(tx, rowMac, envelope.orderId, signer.n, { name, email, language, auth, accessCodeHash, phone });
}

const tellFormer = (tx: Tx, { id, email, language }: Signer, sessionId: string | undefined, at: Date) =>
  enqueue(tx, signingMailQueue, {
    signerId: id,
    moment: "replaced",
    former: { email, language, ...(sessionId !== undefined && { sessionId }) },
    at: at.toISOString(),
  });
