import type { Environment } from "../identity/identity.ts";
import type { Sql, Tx } from "../platform/database/database.ts";
import { sql } from "../platform/database/sql.ts";
import { isUuid } from "../platform/text.ts";
import type { OperatorRole } from "./roles.ts";

/** The operator whose session it is; undefined for anybody else's, and for one who is active no more. */
export async function selectOperatorOfSession(db: Sql, sessionId: string) {
  const [found] = await db.query<{
    name: string;
    roles: OperatorRole[];
    environment: Environment;
    signedInAt: Date;
  }>(
    sql`SELECT o.name, o.roles, s.console_environment AS environment, s.created_at AS "signedInAt"
     FROM sessions s JOIN operators o ON o.user_id = s.user_id WHERE s.id = ${sessionId} AND o.active`,
  );
  return found;
}

export const updateConsoleEnvironment = (db: Sql, sessionId: string, environment: Environment) =>
  db.query(sql`UPDATE sessions SET console_environment = ${environment} WHERE id = ${sessionId}`);

export type OperatorRow = { id: string; email: string; name: string; roles: OperatorRole[]; active: boolean };

const columns = sql`o.user_id AS id, u.email, o.name, o.roles, o.active`;
const people = sql`operators o JOIN users u ON u.id = o.user_id`;

export type ListedOperator = OperatorRow & { addedAt: Date; passkeys: number; lastSignIn: Date | null };

/** All there ever were, the active first, by name. */
export const selectOperators = (db: Sql) =>
  db.query<ListedOperator>(
    sql`SELECT ${columns}, o.added_at AS "addedAt",
       (SELECT count(*) FROM passkeys k WHERE k.user_id = o.user_id) AS passkeys,
       (SELECT max(s.created_at) FROM sessions s WHERE s.user_id = o.user_id) AS "lastSignIn"
     FROM ${people} ORDER BY o.active DESC, lower(o.name), u.email LIMIT 1000`,
  );

export async function selectOperator(db: Sql, id: string): Promise<OperatorRow | undefined> {
  const [found] = await db.query<OperatorRow>(sql`SELECT ${columns} FROM ${people} WHERE o.user_id = ${id}`);
  return found;
}

export async function selectOperatorByEmail(db: Sql, email: string): Promise<OperatorRow | undefined> {
  const [found] = await db.query<OperatorRow>(sql`SELECT ${columns} FROM ${people} WHERE u.email = ${email}`);
  return found;
}

/** Until the transaction ends nobody else changes who operates the service. */
export const lockOperators = (tx: Tx) => tx.query(sql`SELECT pg_advisory_xact_lock(hashtextextended('operators', 0))`);

export const selectActiveAdmins = (db: Sql) =>
  db.query<{ id: string; email: string }>(
    sql`SELECT o.user_id AS id, u.email FROM ${people} WHERE o.active AND 'admin' = ANY (o.roles) ORDER BY o.added_at`,
  );

export type NewOperator = Pick<OperatorRow, "id" | "name" | "roles"> & { at: Date };

/** @returns false when the person is one already, or was one */
export async function insertOperator(tx: Tx, { id, name, roles, at }: NewOperator): Promise<boolean> {
  const inserted = await tx.query(
    sql`INSERT INTO operators (user_id, name, roles, added_at) VALUES (${id}, ${name}, ${roles}, ${at})
     ON CONFLICT (user_id) DO NOTHING RETURNING 1`,
  );
  return inserted.length === 1;
}

export const updateOperator = (tx: Tx, id: string, { name, roles, active }: Omit<OperatorRow, "id" | "email">) =>
  tx.query(sql`UPDATE operators SET name = ${name}, roles = ${roles}, active = ${active} WHERE user_id = ${id}`);

/** The names behind `operator:ID`, of those among the actors who are or were operators. */
export async function selectNamesOfActors(db: Sql, actors: readonly string[]): Promise<Map<string, string>> {
  const ids = [
    ...new Set(actors.filter((actor) => actor.startsWith("operator:")).map((actor) => actor.slice(9))),
  ].filter(isUuid);
  if (ids.length === 0) return new Map();
  const rows = await db.query<{ id: string; name: string }>(
    sql`SELECT user_id AS id, name FROM operators WHERE user_id = ANY (${ids}::uuid[])`,
  );
  return new Map(rows.map(({ id, name }) => [`operator:${id}`, name]));
}
