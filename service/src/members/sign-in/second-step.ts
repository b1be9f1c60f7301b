import { auditLine } from "../../audit/audit.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Sql, Tx } from "../../platform/database/database.ts";
import type { RowMac } from "../../platform/row-mac.ts";
import { withPasskey, withRecoveryCode } from "../passkeys/authentication.ts";
import type { PasskeyDeps } from "../passkeys/ceremony.ts";
import { completeSession } from "../sessions/sessions.ts";
import { findDueSession } from "../sessions/store.ts";
import { cookieNames, cookieOf, tokenSha256 } from "../sessions/tokens.ts";
import { findMembership } from "../store.ts";

/** A session that a mailed link began, and that opens nothing before its person has shown a second factor. */
export type DueSession = { id: string; userId: string; email: string };

/** The one of a `Cookie` header; null when there is none, or it has expired. */
export async function dueSessionOf(
  { db, clock, rowMac }: { db: Sql; clock: Clock; rowMac: RowMac },
  cookie: string | undefined,
): Promise<DueSession | null> {
  const token = cookieOf(cookie, cookieNames.session);
  return token === undefined ? null : findDueSession(db, rowMac, tokenSha256(token), clock());
}

/** Signs in by a passkey. @param text what the browser sends @returns the session's new token @throws ServiceError */
export const signInByPasskey = (deps: PasskeyDeps, due: DueSession, text: string): Promise<string> =>
  withPasskey(deps, due, text, (tx, at) => finish(tx, deps, due, { at, by: "passkey" }));

/** Signs in by a recovery code, for who has lost the passkey. @returns the session's new token @throws ServiceError */
export const signInByRecoveryCode = (deps: PasskeyDeps, due: DueSession, typed: string): Promise<string> =>
  withRecoveryCode(deps, due, typed, (tx, at) => finish(tx, deps, due, { at, by: "recovery code" }));

async function finish(
  tx: Tx,
  { rowMac }: PasskeyDeps,
  { id: sessionId, userId }: DueSession,
  { at, by }: { at: Date; by: "passkey" | "recovery code" },
): Promise<string> {
  const token = await completeSession(tx, rowMac, { sessionId, at, passkeyAt: by === "passkey" ? at : null });
  const partnerId = (await findMembership(tx, rowMac, userId, at))?.partnerId;
  await tx.query(auditLine({ at, action: "session.begun", actor: `member:${userId}`, partnerId, detail: { by } }));
  return token;
}
