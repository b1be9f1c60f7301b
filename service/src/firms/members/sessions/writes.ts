import type { Environment } from "../../identity/identity.ts";
import type { Tx } from "../../platform/database/database.ts";
import { sql } from "../../platform/database/sql.ts";
import type { RowMac } from "../../platform/row-mac.ts";
import { type SessionFacts, sessionColumns, sessionMembers, sessionTable, vouchesFor, type WithMac } from "./facts.ts";
import { hasNotEnded } from "./store.ts";

export type NewSession = {
  id: string;
  tokenSha256: Buffer;
  /** Null for the operator. */
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

/** The session, which nobody else changes until the transaction ends; undefined for one whose row does not hold, or that ended. */
async function lockSession(tx: Tx, rowMac: RowMac, sessionId: string, now: Date): Promise<SessionFacts | undefined> {
  const [row] = await tx.query<WithMac>(
    sql`SELECT ${sessionColumns} FROM sessions s WHERE id = ${sessionId} AND ${hasNotEnded(now)} FOR UPDATE`,
  );
  return row && vouchesFor(rowMac, row) ? row : undefined;
}

type Completed = { sessionId: string; tokenSha256: Buffer; at: Date; expiresAt: Date; passkeyAt: Date | null };

/** Makes a session whole, under a new token. @returns false when it has ended, or is whole already */
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
 * Notes that the person of a session has shown to be the one who asks.
 * @param passkeyAt when a passkey was shown; null where something else was
 * @returns false for a session that has ended
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
