import { auditLine } from "../../../kernel/audit/audit.ts";
import type { Session } from "../../../kernel/identity/identity.ts";
import type { Tx } from "../../../kernel/platform/database/database.ts";
import { invalid, ServiceError } from "../../../kernel/platform/errors.ts";
import { newUuid } from "../../../kernel/platform/ids.ts";
import { requireRecentProof } from "../../../kernel/platform/recent-proof.ts";
import { isPlainText, isUuid } from "../../../kernel/platform/text.ts";
import { endOtherSessions } from "../sessions/store.ts";
import { answerOf, handleOf, newChallenge, type PasskeyDeps, relyingParty, verifyAnswer } from "./ceremony.ts";
import { mailFactorChange } from "./mail.ts";
import { newRecoveryCodes } from "./recovery-codes.ts";
import * as store from "./store.ts";

const maxPasskeys = 20;
const maxNameLength = 60;
/** The accepted COSE algorithms (RFC 9053): EdDSA, ES256, RS256. */
const algorithms = [-8, -7, -257];
const allowedTransports = new Set(["usb", "nfc", "ble", "smart-card", "hybrid", "internal"]);

/** A person's passkeys, oldest first, and the number of remaining recovery codes. */
export async function listPasskeys({ db }: Pick<PasskeyDeps, "db">, { userId }: Session) {
  const [passkeys, codesLeft] = await Promise.all([store.selectPasskeys(db, userId), store.countCodes(db, userId)]);
  return { passkeys, codesLeft };
}

/** The creation options (WebAuthn level 3, section 5.4). @throws ServiceError without a recent proof or a host name */
export async function creationOptions(deps: PasskeyDeps, session: Session) {
  requireRecentProof(session.proof, deps.clock());
  const { userId, email } = session;
  const rp = relyingParty(deps);
  const excluded = await store.selectDescriptors(deps.db, userId);
  return {
    challenge: await newChallenge(deps, session.id, "add"),
    rp,
    user: { id: handleOf(userId), name: email, displayName: email },
    pubKeyCredParams: algorithms.map((alg) => ({ type: "public-key", alg })),
    timeout: 300_000,
    attestation: "none",
    authenticatorSelection: { residentKey: "preferred", userVerification: "required" },
    excludeCredentials: excluded.map((each) => ({ type: "public-key", ...each })),
  };
}

/**
 * Adds a new passkey and signs the person's other browsers out.
 * @returns recovery codes with the first passkey, otherwise null
 * @throws ServiceError for a bad name, too many passkeys, a passkey that is in use already, and a response that is not
 * accepted. Also without a recent proof
 */
export async function addPasskey(
  deps: PasskeyDeps,
  session: Session,
  { name, answer: text }: { name: string; answer: string },
): Promise<string[] | null> {
  const { db, clock, random, rowMac } = deps;
  requireRecentProof(session.proof, clock());
  const { id: sessionId, userId } = session;
  const checkedName = requireName(name);
  const answer = answerOf(text);
  const credential = await verifyAnswer(deps, { sessionId, userId, purpose: "add", answer, current: null });
  const transports = transportsOf(answer.response.transports);
  return db.transaction(async (tx) => {
    const at = clock();
    await store.lockUser(tx, userId);
    const { length } = await store.selectPasskeys(tx, userId);
    if (length >= maxPasskeys) throw invalid(`At most ${maxPasskeys} passkeys are kept. Remove one first.`);
    const row = { ...credential, id: newUuid(), userId, transports, name: checkedName, at };
    if (!(await store.insertPasskey(tx, rowMac, row))) throw invalid("This passkey is in use already.");
    await changed(tx, session, { action: "passkey.added", mailed: "added", detail: { passkeyId: row.id }, at });
    return length === 0 ? newRecoveryCodes(tx, { rowMac, random }, userId, at) : null;
  });
}

function requireName(text: string): string {
  const name = text.trim();
  if (name.length < 1 || name.length > maxNameLength || !isPlainText(name))
    throw invalid(`The name must have 1 to ${maxNameLength} characters.`);
  return name;
}

const transportsOf = (sent: unknown): string[] =>
  Array.isArray(sent) ? [...allowedTransports].filter((each) => sent.includes(each)) : [];

/**
 * Removes a passkey and signs other browsers out. With the last passkey the recovery codes are deleted too.
 * @throws ServiceError for an unknown passkey, and without a recent proof
 */
export async function removePasskey({ db, clock, rowMac }: PasskeyDeps, session: Session, id: string): Promise<void> {
  const { userId, proof } = session;
  requireRecentProof(proof, clock());
  await db.transaction(async (tx) => {
    const at = clock();
    await store.lockUser(tx, userId);
    if (!isUuid(id) || (await store.deletePasskeys(tx, userId, at, id)) === 0)
      throw new ServiceError("not_found", "No such passkey.");
    if ((await store.selectPasskeys(tx, userId)).length === 0)
      await store.replaceCodes(tx, rowMac, { userId, at, hashes: [] });
    await changed(tx, session, { action: "passkey.removed", mailed: "removed", detail: { passkeyId: id }, at });
  });
}

type Change = { action: string; mailed: "added" | "removed"; detail: object; at: Date };

async function changed(tx: Tx, session: Session, { action, mailed, detail, at }: Change): Promise<void> {
  const { id, userId, principal } = session;
  await endOtherSessions(tx, userId, id, at);
  await tx.query(auditLine({ at, action, actor: `member:${userId}`, partnerId: principal?.partnerId, detail }));
  await mailFactorChange(tx, userId, mailed, at);
}

/** Creates ten new recovery codes. @throws ServiceError without a recent proof, and for a person without a passkey */
export async function renewRecoveryCodes(
  { db, clock, random, rowMac }: PasskeyDeps,
  session: Session,
): Promise<string[]> {
  const { userId, proof, principal } = session;
  requireRecentProof(proof, clock());
  return db.transaction(async (tx) => {
    const at = clock();
    await store.lockUser(tx, userId);
    if ((await store.selectPasskeys(tx, userId)).length === 0)
      throw new ServiceError("conflict", "Add a passkey first.");
    const line = { at, action: "recovery_codes.renewed", actor: `member:${userId}`, partnerId: principal?.partnerId };
    await tx.query(auditLine({ ...line, detail: {} }));
    await mailFactorChange(tx, userId, "new-codes", at);
    return newRecoveryCodes(tx, { rowMac, random }, userId, at);
  });
}
