import type { Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { isRevoked, revocationRow, wasRevoked } from "../../../kernel/platform/revocations.ts";
import type { Members, RowMac } from "../../../kernel/platform/row-mac.ts";
import type { CurrentCredential } from "./verify-task.ts";

/** The purpose of a challenge: `add` creates a passkey, `show` uses an existing one. */
export type Purpose = "add" | "show";

export type Challenge = { sessionId: string; purpose: Purpose; challenge: string; expiresAt: Date };

export const putChallenge = (db: Sql, { sessionId, purpose, challenge, expiresAt }: Challenge) =>
  db.query(
    sql`INSERT INTO passkey_challenges (session_id, purpose, challenge, expires_at)
     VALUES (${sessionId}, ${purpose}, ${challenge}, ${expiresAt})
     ON CONFLICT (session_id, purpose) DO UPDATE
       SET challenge = excluded.challenge, expires_at = excluded.expires_at`,
  );

/** Consumes the session's challenge; undefined when there is none, or it has expired. */
export async function consumeChallenge(
  db: Sql,
  sessionId: string,
  purpose: Purpose,
  now: Date,
): Promise<string | undefined> {
  const [consumed] = await db.query<{ challenge: string; expiresAt: Date }>(
    sql`DELETE FROM passkey_challenges WHERE session_id = ${sessionId} AND purpose = ${purpose}
     RETURNING challenge, expires_at AS "expiresAt"`,
  );
  return consumed && consumed.expiresAt > now ? consumed.challenge : undefined;
}

export type Passkey = { id: string; name: string; createdAt: Date; lastUsedAt: Date | null };

/** A person's passkeys, oldest first. */
export const selectPasskeys = (db: Sql, userId: string) =>
  db.query<Passkey>(
    sql`SELECT id, name, created_at AS "createdAt", last_used_at AS "lastUsedAt"
     FROM passkeys WHERE user_id = ${userId} ORDER BY created_at, id`,
  );

/** The descriptors of the passkeys, by which a browser finds the right authenticator. */
export const selectDescriptors = (db: Sql, userId: string) =>
  db.query<{ id: string; transports: string[] }>(
    sql`SELECT credential_id AS id, transports FROM passkeys WHERE user_id = ${userId} ORDER BY created_at, id`,
  );

/** The FROM clause with which other features read passkeys; their alias is `k`. */
export const fromPasskeys = sql`FROM passkeys k`;

export type StoredCredential = CurrentCredential & { id: string };

const passkeyTable = "passkeys";

/** The fields that the row's MAC covers: the owner and the key, but not the counter. */
export type PasskeyFacts = {
  id: string;
  userId: string;
  credentialId: string;
  publicKey: Uint8Array;
  backupEligible: boolean;
};

export const passkeyMembers = ({ id, userId, credentialId, publicKey, backupEligible }: PasskeyFacts): Members => ({
  id,
  userId,
  credentialId,
  publicKey: Buffer.from(publicKey).toString("hex"),
  backupEligible,
});

export const passkeyColumns = sql`id, user_id AS "userId", credential_id AS "credentialId", public_key AS "publicKey",
  backup_eligible AS "backupEligible", row_mac AS mac`;

/**
 * This person's credential. Undefined for a credential of another person, and for a credential that was removed or has
 * an invalid MAC.
 */
export async function findCredential(
  db: Sql,
  rowMac: RowMac,
  { userId, credentialId, now }: { userId: string; credentialId: string; now: Date },
): Promise<StoredCredential | undefined> {
  const [found] = await db.query<StoredCredential & PasskeyFacts & { mac: Buffer | null }>(
    sql`SELECT ${passkeyColumns}, counter::float8 AS counter FROM passkeys
     WHERE user_id = ${userId} AND credential_id = ${credentialId} AND NOT ${isRevoked(now, sql`passkeys.id::text`)}`,
  );
  return found && rowMac.holds(passkeyTable, passkeyMembers(found), found.mac) ? found : undefined;
}

/** Serializes changes to this person's passkeys until the transaction ends. */
export const lockUser = (tx: Tx, userId: string) =>
  tx.query(sql`SELECT FROM users WHERE id = ${userId} FOR NO KEY UPDATE`);

export type NewPasskey = CurrentCredential & {
  id: string;
  userId: string;
  transports: readonly string[];
  name: string;
  at: Date;
};

/** Stores a new passkey. @returns false when this credential is stored already, for this person or another */
export async function insertPasskey(tx: Tx, rowMac: RowMac, key: NewPasskey): Promise<boolean> {
  const inserted = await tx.query(
    sql`INSERT INTO passkeys
       (id, user_id, credential_id, public_key, counter, backup_eligible, transports, name, created_at, row_mac)
     VALUES (${key.id}, ${key.userId}, ${key.credentialId}, ${Buffer.from(key.publicKey)}, ${key.counter},
       ${key.backupEligible}, ${key.transports}, ${key.name}, ${key.at}, ${rowMac.of(passkeyTable, passkeyMembers(key))})
     ON CONFLICT (credential_id) DO NOTHING RETURNING id`,
  );
  return inserted.length === 1;
}

/**
 * Records a use of a passkey.
 * @returns false if the passkey was removed in the meantime, or was used with an equal or higher counter. An
 * authenticator without a counter always sends 0, which is accepted.
 */
export async function noteUse(tx: Tx, id: string, counter: number, at: Date): Promise<boolean> {
  const noted = await tx.query(
    sql`UPDATE passkeys SET counter = ${counter}, last_used_at = ${at}
     WHERE id = ${id} AND (counter < ${counter} OR (counter = 0 AND ${counter}::bigint = 0)) RETURNING id`,
  );
  return noted.length === 1;
}

/** Deletes one of a person's passkeys, or all. @returns their number */
export async function deletePasskeys(tx: Tx, userId: string, at: Date, id: string | null = null): Promise<number> {
  const deleted = await tx.query(sql`
    WITH deleted AS (DELETE FROM passkeys WHERE user_id = ${userId} AND (${id}::uuid IS NULL OR id = ${id}) RETURNING id)
    ${revocationRow("passkey", sql`id`, at, sql`deleted`)} RETURNING 1`);
  return deleted.length;
}

const recoveryCodeTable = "recovery_codes";

export type RecoveryCodeFacts = { userId: string; codeSha256: Buffer };

export const recoveryCodeMembers = ({ userId, codeSha256 }: RecoveryCodeFacts): Members => ({
  userId,
  code: codeSha256.toString("hex"),
});

export async function countCodes(db: Sql, userId: string): Promise<number> {
  const [row] = await db.query<{ count: number }>(
    sql`SELECT count(*) AS count FROM recovery_codes WHERE user_id = ${userId}`,
  );
  return row?.count ?? 0;
}

/** Replaces all recovery codes of a person; an empty list leaves none. */
export async function replaceCodes(
  tx: Tx,
  rowMac: RowMac,
  { userId, at, hashes }: { userId: string; at: Date; hashes: readonly Buffer[] },
): Promise<void> {
  await tx.query(sql`
    WITH deleted AS (DELETE FROM recovery_codes WHERE user_id = ${userId} RETURNING code_sha256)
    ${revocationRow("recovery code", sql`encode(code_sha256, 'hex')`, at, sql`deleted`)}`);
  const macs = hashes.map((codeSha256) => rowMac.of(recoveryCodeTable, recoveryCodeMembers({ userId, codeSha256 })));
  await tx.query(sql`INSERT INTO recovery_codes (user_id, code_sha256, row_mac)
    SELECT ${userId}, code, mac FROM unnest(${hashes}::bytea[], ${macs}::bytea[]) AS codes (code, mac)`);
}

/**
 * Consumes a recovery code.
 * @returns true if it was a valid code of the person
 */
export async function consumeRecoveryCode(
  tx: Tx,
  rowMac: RowMac,
  { userId, codeSha256, at }: RecoveryCodeFacts & { at: Date },
): Promise<boolean> {
  const code = codeSha256.toString("hex");
  if (await wasRevoked(tx, code, at)) return false;
  const [consumed] = await tx.query<{ mac: Buffer | null }>(
    sql`DELETE FROM recovery_codes WHERE user_id = ${userId} AND code_sha256 = ${codeSha256} RETURNING row_mac AS mac`,
  );
  const facts = recoveryCodeMembers({ userId, codeSha256 });
  if (!consumed || !rowMac.holds(recoveryCodeTable, facts, consumed.mac)) return false;
  await tx.query(revocationRow("recovery code", code, at));
  return true;
}

/**
 * SQL condition: true if the person `u` of a query is an active operator. Operators have a security page in the
 * console.
 */
export const isOperator = sql`EXISTS (SELECT FROM operators o WHERE o.user_id = u.id AND o.active)`;

type Address = { email: string; isOperator: boolean };

export async function findAddress(db: Sql, userId: string): Promise<Address | undefined> {
  const [found] = await db.query<Address>(
    sql`SELECT u.email, ${isOperator} AS "isOperator" FROM users u WHERE u.id = ${userId}`,
  );
  return found;
}
