import type { Sql, Tx } from "../../platform/database/database.ts";
import { sql } from "../../platform/database/sql.ts";
import type { KnownCredential } from "./verify-task.ts";

/** `add` makes a passkey, `show` uses one. */
export type Purpose = "add" | "show";

export type Challenge = { sessionId: string; purpose: Purpose; challenge: string; expiresAt: Date };

export const putChallenge = (db: Sql, { sessionId, purpose, challenge, expiresAt }: Challenge) =>
  db.query(
    sql`INSERT INTO passkey_challenges (session_id, purpose, challenge, expires_at)
     VALUES (${sessionId}, ${purpose}, ${challenge}, ${expiresAt})
     ON CONFLICT (session_id, purpose) DO UPDATE
       SET challenge = excluded.challenge, expires_at = excluded.expires_at`,
  );

/** Takes a session's challenge away; undefined when there is none, or it has expired. */
export async function takeChallenge(
  db: Sql,
  sessionId: string,
  purpose: Purpose,
  now: Date,
): Promise<string | undefined> {
  const [taken] = await db.query<{ challenge: string; expiresAt: Date }>(
    sql`DELETE FROM passkey_challenges WHERE session_id = ${sessionId} AND purpose = ${purpose}
     RETURNING challenge, expires_at AS "expiresAt"`,
  );
  return taken && taken.expiresAt > now ? taken.challenge : undefined;
}

export type Passkey = { id: string; name: string; createdAt: Date; lastUsedAt: Date | null };

/** A person's passkeys, the oldest first. */
export const selectPasskeys = (db: Sql, userId: string) =>
  db.query<Passkey>(
    sql`SELECT id, name, created_at AS "createdAt", last_used_at AS "lastUsedAt"
     FROM passkeys WHERE user_id = ${userId} ORDER BY created_at, id`,
  );

/** What a browser is told of them, to find the authenticators. */
export const selectDescriptors = (db: Sql, userId: string) =>
  db.query<{ id: string; transports: string[] }>(
    sql`SELECT credential_id AS id, transports FROM passkeys WHERE user_id = ${userId} ORDER BY created_at, id`,
  );

export type StoredCredential = KnownCredential & { id: string };

/** A credential of this person; undefined for anybody else's. */
export async function findCredential(db: Sql, userId: string, credentialId: string) {
  const [found] = await db.query<StoredCredential>(
    sql`SELECT id, credential_id AS "credentialId", public_key AS "publicKey", counter::float8 AS counter,
       backup_eligible AS "backupEligible"
     FROM passkeys WHERE user_id = ${userId} AND credential_id = ${credentialId}`,
  );
  return found;
}

/** Until the transaction ends nobody else changes this person's passkeys. */
export const lockUser = (tx: Tx, userId: string) => tx.query(sql`SELECT FROM users WHERE id = ${userId} FOR UPDATE`);

export type NewPasskey = KnownCredential & {
  id: string;
  userId: string;
  transports: readonly string[];
  name: string;
  at: Date;
};

/** @returns false when somebody has this credential already */
export async function insertPasskey(tx: Tx, key: NewPasskey): Promise<boolean> {
  const inserted = await tx.query(
    sql`INSERT INTO passkeys
       (id, user_id, credential_id, public_key, counter, backup_eligible, transports, name, created_at)
     VALUES (${key.id}, ${key.userId}, ${key.credentialId}, ${Buffer.from(key.publicKey)}, ${key.counter},
       ${key.backupEligible}, ${key.transports}, ${key.name}, ${key.at})
     ON CONFLICT (credential_id) DO NOTHING RETURNING id`,
  );
  return inserted.length === 1;
}

/** Notes a use, unless the credential was removed, or used with a counter as high, in the meantime. @returns whether it did */
export async function noteUse(tx: Tx, id: string, counter: number, at: Date): Promise<boolean> {
  const noted = await tx.query(
    sql`UPDATE passkeys SET counter = ${counter}, last_used_at = ${at}
     WHERE id = ${id} AND (counter < ${counter} OR (counter = 0 AND ${counter}::bigint = 0)) RETURNING id`,
  );
  return noted.length === 1;
}

export async function deletePasskey(tx: Tx, userId: string, id: string): Promise<{ name: string } | undefined> {
  const [deleted] = await tx.query<{ name: string }>(
    sql`DELETE FROM passkeys WHERE id = ${id} AND user_id = ${userId} RETURNING name`,
  );
  return deleted;
}

/** @returns how many there were */
export async function deletePasskeys(tx: Tx, userId: string): Promise<number> {
  return (await tx.query(sql`DELETE FROM passkeys WHERE user_id = ${userId} RETURNING id`)).length;
}

export async function countCodes(db: Sql, userId: string): Promise<number> {
  const [row] = await db.query<{ count: number }>(
    sql`SELECT count(*) AS count FROM recovery_codes WHERE user_id = ${userId}`,
  );
  return row?.count ?? 0;
}

/** New codes in the place of all there were; none for an empty list. */
export async function replaceCodes(tx: Tx, userId: string, hashes: readonly Buffer[]): Promise<void> {
  await tx.query(sql`DELETE FROM recovery_codes WHERE user_id = ${userId}`);
  await tx.query(sql`INSERT INTO recovery_codes (user_id, code_sha256) SELECT ${userId}, unnest(${hashes}::bytea[])`);
}

/** Uses a code up. @returns whether there was one */
export async function takeCode(tx: Tx, userId: string, codeSha256: Buffer): Promise<boolean> {
  const taken = await tx.query(
    sql`DELETE FROM recovery_codes WHERE user_id = ${userId} AND code_sha256 = ${codeSha256} RETURNING user_id`,
  );
  return taken.length === 1;
}

export async function findAddress(db: Sql, userId: string): Promise<{ email: string } | undefined> {
  const [found] = await db.query<{ email: string }>(sql`SELECT email FROM users WHERE id = ${userId}`);
  return found;
}
