import type { Environment } from "../../../kernel/identity/identity.ts";
import type { Tx } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import type { RowMac } from "../../../kernel/platform/row-mac.ts";
import { type SessionFacts, sessionColumns, sessionMembers, sessionTable, vouchesFor, type WithMac } from "./facts.ts";
import { hasNotEnded } from "./store.ts";

export type NewSession = {
  id: string;
  tokenSha256: Buffer;
  /** The person; null for a session that began with a link from the command line. */
  userId: string | null;
  environment: Environment;
  device: string;
  at: Date;
  expiresAt: Date;
  factorDue: boolean;
};

export function insertSession(tx: Tx, rowMac: RowMac, { id, at, environment, device, ...session }: NewSession) {
  const facts = { ...session, sessionId: id, createdAt: at, confirmedAt: at, passkeyAt: null };
  return tx.query(
    sql`INSERT INTO sessions (id, token_sha256, user_id, environment, device, created_at, last_seen_at,
       confirmed_at, expires_at, factor_due, row_mac)
     VALUES (${id}, ${session.tokenSha256}, ${session.userId}, ${environment}, ${device}, ${at}, ${at}, ${at},
       ${session.expiresAt}, ${session.factorDue}, ${rowMac.of(sessionTable, sessionMembers(facts))})`,
  );
}

/** Locks a session until the transaction ends; undefined if it was ended (not if it expired) or has an invalid MAC. */
async function lockSession(tx: Tx, rowMac: RowMac, sessionId: string, now: Date): Promise<SessionFacts | undefined> {
  const [row] = await tx.query<WithMac>(
    sql`SELECT ${sessionColumns} FROM sessions s WHERE id = ${sessionId} AND ${hasNotEnded(now)} FOR NO KEY UPDATE`,
  );
  return row && vouchesFor(rowMac, row) ? row : undefined;
}

type Completed = { sessionId: string; tokenSha256: Buffer; at: Date; expiresAt: Date; passkeyAt: Date | null };

/** Completes a session under a new token. @returns false when it has ended or is already complete */
export async function completeSession(tx: Tx, rowMac: RowMac, completed: Completed): Promise<boolean> {
  const { sessionId, tokenSha256, at, expiresAt, passkeyAt } = completed;
  const due = await lockSession(tx, rowMac, sessionId, at);
  if (!due?.factorDue) return false;
  const facts = { ...due, ...completed, createdAt: at, confirmedAt: at, factorDue: false };
  await tx.query(
    sql`UPDATE sessions SET factor_due = false, token_sha256 = ${tokenSha256}, created_at = ${at}, last_seen_at = ${at},
       confirmed_at = ${at}, passkey_at = ${passkeyAt}, expires_at = ${expiresAt},
       row_mac = ${rowMac.of(sessionTable, sessionMembers(facts))}
     WHERE id = ${sessionId}`,
  );
  return true;
}

/**
 * Records a recent proof in a session.
 * @param passkeyAt when the passkey was used; null when the proof was not a passkey
 * @returns false for an ended session
 */
export async function confirmSession(
  tx: Tx,
  rowMac: RowMac,
  { sessionId, at, passkeyAt }: { sessionId: string; at: Date; passkeyAt: Date | null },
): Promise<boolean> {
  const before = await lockSession(tx, rowMac, sessionId, at);
  if (!before) return false;
  const facts = { ...before, confirmedAt: at, passkeyAt: passkeyAt ?? before.passkeyAt };
  await tx.query(
    sql`UPDATE sessions SET confirmed_at = ${at}, passkey_at = ${facts.passkeyAt},
       row_mac = ${rowMac.of(sessionTable, sessionMembers(facts))} WHERE id = ${sessionId}`,
  );
  return true;
}

/**
 * Suspends a session while another person uses the device. The session grants no access until a passkey or a recovery
 * code completes it, or until `resumeSession`.
 * @returns false for a session that has ended or whose second factor is due already
 */
export const suspendSession = (tx: Tx, rowMac: RowMac, sessionId: string, at: Date): Promise<boolean> =>
  setFactorDue(tx, rowMac, { sessionId, at, factorDue: true });

/**
 * Resumes a suspended session. Of its proofs, only the sign-in itself still counts as a recent proof. The caller must
 * know that the session was suspended: a session that was never completed looks the same.
 * @returns false for a session that has ended, and for one whose second factor is not due
 */
export const resumeSession = (tx: Tx, rowMac: RowMac, sessionId: string, at: Date): Promise<boolean> =>
  setFactorDue(tx, rowMac, { sessionId, at, factorDue: false });

async function setFactorDue(
  tx: Tx,
  rowMac: RowMac,
  { sessionId, at, factorDue }: { sessionId: string; at: Date; factorDue: boolean },
): Promise<boolean> {
  const before = await lockSession(tx, rowMac, sessionId, at);
  if (!before || before.factorDue === factorDue) return false;
  const facts = { ...before, factorDue, confirmedAt: before.createdAt, passkeyAt: null };
  await tx.query(
    sql`UPDATE sessions SET factor_due = ${factorDue}, confirmed_at = created_at, passkey_at = NULL, last_seen_at = ${at},
       row_mac = ${rowMac.of(sessionTable, sessionMembers(facts))} WHERE id = ${sessionId}`,
  );
  return true;
}
