import { createHmac } from "node:crypto";
import { auditLine } from "../../../kernel/audit/audit.ts";
import type { Session } from "../../../kernel/identity/identity.ts";
import { minuteMs } from "../../../kernel/platform/clock.ts";
import type { Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { invalid, ServiceError } from "../../../kernel/platform/errors.ts";
import { newUuid } from "../../../kernel/platform/ids.ts";
import { enqueue } from "../../../kernel/platform/jobs/jobs.ts";
import { defineMail, type MailDeps } from "../../../kernel/platform/mail/mail-jobs.ts";
import type { RowMac } from "../../../kernel/platform/row-mac.ts";
import { deriveKey, type SecretBytes } from "../../../kernel/platform/secrets.ts";
import { digitsIn } from "../../../kernel/platform/text.ts";
import { withPasskey, withRecoveryCode } from "../passkeys/authentication.ts";
import type { PasskeyDeps } from "../passkeys/ceremony.ts";
import { isOperator } from "../passkeys/store.ts";
import { deleteSession } from "../sessions/store.ts";
import { confirmSession } from "../sessions/writes.ts";

export type ConfirmationDeps = PasskeyDeps & { secrets: SecretBytes };

/** The queue of mails with a code; payload `{codeId}`. */
const confirmationMailQueue = "confirmation-mail";

const codeMs = 10 * minuteMs;
const betweenCodesMs = minuteMs;
// A code has a million values. With five tries in a session, a guesser succeeds in one of 200,000 sessions.
const wrongCodesAllowed = 5;

/**
 * The six digits of a code, derived from its id, session and expiry. If an attacker moves a code's row to another
 * session or extends it, the derived code no longer equals the mailed one.
 */
function confirmationCodes(secrets: SecretBytes): (code: OpenCode) => string {
  const key = deriveKey(secrets, "confirmation-code");
  return ({ codeId, sessionId, expiresAt }) => {
    const bound = `${codeId} ${sessionId} ${expiresAt.toISOString()}`;
    const random = createHmac("sha256", key).update(bound).digest().readUIntBE(0, 6);
    return String(random % 1_000_000).padStart(6, "0");
  };
}

/**
 * Mails a code to the person of the session, unless the session has an open code.
 * @param again true to replace an open code by a new one, at most once a minute
 */
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
    const isPut = await putCode(tx, { sessionId: session.id, codeId, at, expiresAt }, replaceable);
    if (isPut) await enqueue(tx, confirmationMailQueue, { codeId });
  });
}

/**
 * The proof that a person presents: an authenticator's response, a recovery code or a mailed code. Both kinds of codes
 * are in `code`.
 */
export type Shown = { passkey: string } | { code: string };

/**
 * Confirms that the session's person makes this request. A person with passkeys uses a passkey or a recovery code. A
 * person without passkeys uses a mailed code.
 * @throws ServiceError for a proof that is not accepted; the fifth wrong mailed code ends the session
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
  const code = digitsIn(typed);
  const codeOf = confirmationCodes(secrets);
  const isRight = await db.transaction(async (tx) => {
    const at = clock();
    const open = await lockCode(tx, session.id, at);
    if (!open) return false;
    if (code !== codeOf(open)) {
      await countWrong(tx, session.id);
      if (open.wrong + 1 >= wrongCodesAllowed) await deleteSession(tx, session.userId, session.id, at);
      return false;
    }
    await deleteCode(tx, session.id);
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

/** Mails codes. Skips codes that have expired or were used or replaced. */
export const confirmationMail = defineMail({
  queue: confirmationMailQueue,
  // A code expires after 10 minutes, so later attempts are pointless.
  maxAttempts: 10,
  load: ({ codeId }: { codeId: string }, { db, clock }: MailDeps) => selectCodeToMail(db, codeId, clock()),
  write: ({ email, isOperator: atConsole, ...open }, { codeId }, { secrets, baseUrl }) => ({
    id: `confirmation:${codeId}`,
    to: email,
    subject: "Your confirmation code",
    greeting: "Hello,",
    lines: [
      "A browser that is signed in to SignSealShip with this email address is about to change something that matters, and we ask you to confirm it. The code works once, within 10 minutes, and only in that browser.",
    ],
    code: confirmationCodes(secrets)(open),
    link: {
      label: "See where you are signed in",
      url: `${baseUrl}/${atConsole ? "operator" : "dashboard"}/security#sessions`,
    },
    caution: "If it is not you who is signed in, give the code to nobody, and end that session.",
  }),
});

type OpenCode = { sessionId: string; codeId: string; expiresAt: Date };
type NewCode = OpenCode & { at: Date };

/**
 * Stores a new code for the session. Replaces an earlier code only if the earlier one was created at `replaceable` or
 * before.
 * @returns true if the new code was stored
 */
async function putCode(tx: Tx, { sessionId, codeId, at, expiresAt }: NewCode, replaceable: Date): Promise<boolean> {
  const put = await tx.query(
    sql`INSERT INTO confirmation_codes (session_id, code_id, created_at, expires_at)
     VALUES (${sessionId}, ${codeId}, ${at}, ${expiresAt})
     ON CONFLICT (session_id) DO UPDATE
       SET code_id = excluded.code_id, created_at = excluded.created_at, expires_at = excluded.expires_at
       WHERE confirmation_codes.created_at <= ${replaceable}
     RETURNING session_id`,
  );
  return put.length === 1;
}

/** An open code and the email address to which it is mailed; undefined for a code that is not open. */
async function selectCodeToMail(
  db: Sql,
  codeId: string,
  now: Date,
): Promise<(OpenCode & { email: string; isOperator: boolean }) | undefined> {
  const [found] = await db.query<OpenCode & { email: string; isOperator: boolean }>(
    sql`SELECT u.email, ${isOperator} AS "isOperator", c.session_id AS "sessionId", c.code_id AS "codeId", c.expires_at AS "expiresAt" FROM confirmation_codes c JOIN sessions s ON s.id = c.session_id JOIN users u ON u.id = s.user_id
     WHERE c.code_id = ${codeId} AND c.expires_at > ${now}`,
  );
  return found;
}

/** The open code of a session, locked until the transaction ends. */
async function lockCode(tx: Tx, sessionId: string, now: Date) {
  const [found] = await tx.query<OpenCode & { wrong: number }>(
    sql`SELECT session_id AS "sessionId", code_id AS "codeId", expires_at AS "expiresAt", wrong FROM confirmation_codes
     WHERE session_id = ${sessionId} AND expires_at > ${now} FOR NO KEY UPDATE`,
  );
  return found;
}

const countWrong = (tx: Tx, sessionId: string) =>
  tx.query(sql`UPDATE confirmation_codes SET wrong = wrong + 1 WHERE session_id = ${sessionId}`);

/** Deletes the session's code, with its count of wrong attempts. */
const deleteCode = (tx: Tx, sessionId: string) =>
  tx.query(sql`DELETE FROM confirmation_codes WHERE session_id = ${sessionId}`);
