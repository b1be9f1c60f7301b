import { createHmac } from "node:crypto";
import { auditLine } from "../../audit/audit.ts";
import type { Session } from "../../identity/identity.ts";
import type { Tx } from "../../platform/database/database.ts";
import { invalid, ServiceError } from "../../platform/errors.ts";
import { newUuid } from "../../platform/ids.ts";
import { enqueue } from "../../platform/jobs/jobs.ts";
import type { RowMac } from "../../platform/row-mac.ts";
import { deriveKey, type SecretBytes } from "../../platform/secrets.ts";
import { withPasskey, withRecoveryCode } from "../passkeys/authentication.ts";
import type { PasskeyDeps } from "../passkeys/ceremony.ts";
import { deleteSession } from "../sessions/store.ts";
import { confirmSession } from "../sessions/writes.ts";
import * as store from "./store.ts";

export type ConfirmationDeps = PasskeyDeps & { secrets: SecretBytes };

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
export async function sendCode(
  { db, clock }: Pick<ConfirmationDeps, "db" | "clock">,
  session: Session,
  again: boolean,
): Promise<void> {
  const at = clock();
  const codeId = newUuid();
  const expiresAt = new Date(at.getTime() + codeMs);
  const replaceable = new Date(at.getTime() - (again ? betweenCodesMs : codeMs));
  await db.transaction(async (tx) => {
    const isPut = await store.putCode(tx, { sessionId: session.id, codeId, at, expiresAt }, replaceable);
    if (isPut) await enqueue(tx, confirmationMailQueue, { codeId });
  });
}

/** What a person shows: the answer of an authenticator, or a code. */
export type Shown = { passkey: string } | { code: string };

/**
 * Confirms that the person of a session asks: by a passkey, by a recovery code of who has one, or by a mailed code of who has none.
 * @throws ServiceError for what is not accepted; the fifth wrong mailed code ends the session.
 */
export async function confirm(deps: ConfirmationDeps, session: Session, shown: Shown): Promise<void> {
  const by = (how: "passkey" | "recovery code") => (tx: Tx, at: Date) =>
    confirmed(tx, deps.rowMac, session, { at, by: how });
  if ("passkey" in shown) await withPasskey(deps, session, shown.passkey, by("passkey"));
  else if (session.proof.hasPasskey) await withRecoveryCode(deps, session, shown.code, by("recovery code"));
  else await confirmByMailedCode(deps, session, shown.code);
}

async function confirmByMailedCode(
  { db, clock, secrets, rowMac }: ConfirmationDeps,
  session: Session,
  typed: string,
): Promise<void> {
  const code = typed.replaceAll(/\D/g, "");
  const codeOf = confirmationCodes(secrets);
  const isRight = await db.transaction(async (tx) => {
    const at = clock();
    const open = await store.lockCode(tx, session.id, at);
    if (!open) return false;
    if (code !== codeOf(open.codeId)) {
      await store.countWrong(tx, session.id);
      if (open.wrong + 1 >= wrongCodesAllowed) await deleteSession(tx, session.userId, session.id, at);
      return false;
    }
    await store.deleteCode(tx, session.id);
    await confirmed(tx, rowMac, session, { at, by: "code" });
    return true;
  });
  if (!isRight) throw invalid("This code is not right, or it has expired. Check the latest email.");
}

async function confirmed(
  tx: Tx,
  rowMac: RowMac,
  { id: sessionId, userId, principal }: Session,
  { at, by }: { at: Date; by: "passkey" | "recovery code" | "code" },
): Promise<void> {
  if (!(await confirmSession(tx, rowMac, { sessionId, at, passkeyAt: by === "passkey" ? at : null })))
    throw new ServiceError("not_found", "No such session.");
  const line = { at, action: "session.confirmed", actor: `member:${userId}`, partnerId: principal?.partnerId };
  await tx.query(auditLine({ ...line, detail: { sessionId, by } }));
}
