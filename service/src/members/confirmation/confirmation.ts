import { createHmac } from "node:crypto";
import { auditLine } from "../../audit/audit.ts";
import type { Session } from "../../identity/identity.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Database } from "../../platform/database.ts";
import { ServiceError } from "../../platform/errors.ts";
import { newUuid } from "../../platform/ids.ts";
import { enqueue } from "../../platform/jobs/jobs.ts";
import { deriveKey, type SecretBytes } from "../../platform/secrets.ts";
import { deleteSession } from "../sessions/store.ts";
import * as store from "./store.ts";

export type ConfirmationDeps = { db: Database; clock: Clock; secrets: SecretBytes };

/** The queue of mails that carry a code; the payload is `{codeId}`. */
export const confirmationMailQueue = "confirmation-mail";

const codeMs = 10 * 60_000;
const betweenCodesMs = 60_000;
// With a million codes, who guesses is right once in 200,000 sessions.
const wrongCodesAllowed = 5;

/** The six digits of a code, made anew from its id. */
export function confirmationCodes(secrets: SecretBytes): (codeId: string) => string {
  const key = deriveKey(secrets, "confirmation-code");
  return (codeId) => {
    const random = createHmac("sha256", key).update(codeId).digest().readUIntBE(0, 6);
    return String(random % 1_000_000).padStart(6, "0");
  };
}

/** Has a code mailed to the person of a session, unless one is open. @param again whether another one is wished: one a minute */
export async function sendCode({ db, clock }: ConfirmationDeps, session: Session, again: boolean): Promise<void> {
  const at = clock();
  const codeId = newUuid();
  const expiresAt = new Date(at.getTime() + codeMs);
  const replaceable = new Date(at.getTime() - (again ? betweenCodesMs : codeMs));
  await db.transaction(async (tx) => {
    const isPut = await store.putCode(tx, { sessionId: session.id, codeId, at, expiresAt }, replaceable);
    if (isPut) await enqueue(tx, confirmationMailQueue, { codeId });
  });
}

/**
 * Confirms by the mailed code that the person of the session asks.
 * @throws ServiceError when it is another code, or none is open; the fifth wrong one ends the session.
 */
export async function confirmByCode(
  { db, clock, secrets }: ConfirmationDeps,
  { id: sessionId, userId, principal }: Session,
  typed: string,
): Promise<void> {
  const code = typed.replaceAll(/\D/g, "");
  const codeOf = confirmationCodes(secrets);
  const isRight = await db.transaction(async (tx) => {
    const at = clock();
    const open = await store.lockCode(tx, sessionId, at);
    if (!open) return false;
    if (code !== codeOf(open.codeId)) {
      await store.countWrong(tx, sessionId);
      if (open.wrong + 1 >= wrongCodesAllowed) await deleteSession(tx, userId, sessionId, at);
      return false;
    }
    await store.deleteCode(tx, sessionId);
    await store.updateConfirmed(tx, sessionId, at);
    const line = { at, action: "session.confirmed", actor: `member:${userId}`, partnerId: principal?.partnerId };
    await tx.query(auditLine({ ...line, detail: { sessionId, by: "code" } }));
    return true;
  });
  if (!isRight)
    throw new ServiceError(
      "confirmation_required",
      "This code is not right, or it has expired. Check the latest email.",
    );
}
