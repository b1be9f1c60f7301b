import type { Environment } from "../../kernel/identity/identity.ts";
import type { Sql, Tx } from "../../kernel/platform/database/database.ts";
import { type Statement, sql } from "../../kernel/platform/database/sql.ts";
import { newUuid } from "../../kernel/platform/ids.ts";
import type { MacTable } from "../../kernel/platform/protected-data.ts";
import { isRevoked, revocationRow } from "../../kernel/platform/revocations.ts";
import type { Members, RowMac } from "../../kernel/platform/row-mac.ts";
import { isUuid } from "../../kernel/platform/text.ts";
import { fromPasskeys, fromSessions, joinUser } from "../members/members.ts";
import type { OperatorRole } from "./roles.ts";

const operatorTable = "operators";

/** Fields of an operator that the row's MAC covers, with the person's email address. */
type OperatorFacts = OperatorRow & {
  /** Changes with every update, so that a restored earlier row is recognized. */
  version: string;
  /**
   * The time from which the operator may decide on others' requests and on money; it may be past. Null without a wait.
   */
  decidesFrom: Date | null;
};

const operatorMembers = ({ id, email, name, roles, active, version, decidesFrom }: OperatorFacts): Members => ({
  id,
  version,
  email,
  name,
  roles: roles.join(),
  active,
  // The MAC covers `decidesFrom` only when there is a wait. So MACs that were written before this column existed stay
  // valid.
  ...(decidesFrom !== null && { decidesFrom }),
});

const operatorColumns = sql`o.user_id AS id, u.email, o.name, o.roles, o.active, o.version,
  o.decides_from AS "decidesFrom", o.row_mac AS mac`;

type WithMac = OperatorFacts & { mac: Buffer | null };

const vouchesFor = (rowMac: RowMac, row: WithMac): boolean =>
  rowMac.holds(operatorTable, operatorMembers(row), row.mac);

/**
 * The operator of a session; undefined for a session of anybody else, for an inactive operator, and for a row whose MAC
 * is invalid.
 */
export async function selectOperatorOfSession(db: Sql, rowMac: RowMac, sessionId: string, now: Date) {
  const [found] = await db.query<WithMac & { environment: Environment; signedInAt: Date }>(
    sql`SELECT ${operatorColumns}, s.console_environment AS environment, s.created_at AS "signedInAt"
     ${fromSessions} JOIN operators o ON o.user_id = s.user_id ${joinUser(sql`o.user_id`)}
     WHERE s.id = ${sessionId} AND o.active AND NOT ${isRevoked(now, sql`o.version::text`)}`,
  );
  if (!found || !vouchesFor(rowMac, found)) return undefined;
  const { name, roles, environment, signedInAt, decidesFrom } = found;
  return { name, roles, environment, signedInAt, decidesFrom };
}

export type OperatorRow = { id: string; email: string; name: string; roles: OperatorRole[]; active: boolean };

const columns = sql`o.user_id AS id, u.email, o.name, o.roles, o.active`;
const people = sql`operators o ${joinUser(sql`o.user_id`)}`;

export type ListedOperator = OperatorRow & { addedAt: Date; passkeys: number; lastSignIn: Date | null };

/** Present and former operators, active first, by name; at most 1000. */
export const selectOperators = (db: Sql) =>
  db.query<ListedOperator>(
    sql`SELECT ${columns}, o.added_at AS "addedAt",
       (SELECT count(*) ${fromPasskeys} WHERE k.user_id = o.user_id) AS passkeys,
       (SELECT max(s.created_at) ${fromSessions} WHERE s.user_id = o.user_id) AS "lastSignIn"
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

/** Serializes, until the transaction ends, changes to operators. */
export const lockOperators = (tx: Tx) => tx.query(sql`SELECT pg_advisory_xact_lock(hashtextextended('operators', 0))`);

/** The active operators with a role, the first to be added first. */
export const selectActive = (db: Sql, role: OperatorRole) =>
  db.query<{ id: string; name: string; email: string }>(
    sql`SELECT o.user_id AS id, o.name, u.email FROM ${people} WHERE o.active AND ${role} = ANY (o.roles) ORDER BY o.added_at`,
  );

/** SQL expression: the name of an operator, who may have left; null for no operator. */
export const operatorName = (id: Statement): Statement => sql`(SELECT o.name FROM operators o WHERE o.user_id = ${id})`;

export type NewOperator = Pick<OperatorFacts, "id" | "email" | "name" | "roles" | "decidesFrom"> & { at: Date };

/** Stores a new operator. @returns false for a person who is or was an operator */
export async function insertOperator(tx: Tx, rowMac: RowMac, { at, ...row }: NewOperator): Promise<boolean> {
  const facts = { ...row, active: true, version: newUuid() };
  const { id, name, roles, version, decidesFrom } = facts;
  const inserted = await tx.query(
    sql`INSERT INTO operators (user_id, name, roles, added_at, decides_from, version, row_mac)
     VALUES (${id}, ${name}, ${roles}, ${at}, ${decidesFrom}, ${version}, ${rowMac.of(operatorTable, operatorMembers(facts))})
     ON CONFLICT (user_id) DO NOTHING RETURNING 1`,
  );
  return inserted.length === 1;
}

/** A change of an operator. If `decidesFrom` is undefined, the stored time stays unchanged. */
export type OperatorUpdate = { after: OperatorRow; at: Date; decidesFrom: Date | null | undefined };

/**
 * Changes an operator; the caller must have locked the operators. An attacker who restores the earlier row gains
 * nothing, because the version of that row is revoked.
 * @returns false for an unknown operator, and for a row whose MAC is invalid or whose version is revoked; such a row
 * gets no new MAC
 */
export async function updateOperator(
  tx: Tx,
  rowMac: RowMac,
  { after, at, decidesFrom }: OperatorUpdate,
): Promise<boolean> {
  const { id, name, roles, active } = after;
  const [before] = await tx.query<WithMac>(sql`
    SELECT ${operatorColumns} FROM ${people} WHERE o.user_id = ${id} AND NOT ${isRevoked(at, sql`o.version::text`)}`);
  if (!before || !vouchesFor(rowMac, before)) return false;
  const wait = decidesFrom === undefined ? before.decidesFrom : decidesFrom;
  const facts = { ...after, email: before.email, version: newUuid(), decidesFrom: wait };
  await tx.query(sql`
    WITH revoked AS (${revocationRow("operator", before.version, at)})
    UPDATE operators SET name = ${name}, roles = ${roles}, active = ${active}, decides_from = ${wait}, version = ${facts.version},
      row_mac = ${rowMac.of(operatorTable, operatorMembers(facts))} WHERE user_id = ${id}`);
  return true;
}

const operatorRows: MacTable<OperatorFacts> = {
  table: sql`operators`,
  key: sql`user_id`,
  keyInRows: sql`o.user_id`,
  mac: sql`o.row_mac`,
  rows: sql`SELECT o.user_id AS key, ${operatorColumns} FROM ${people}`,
  members: operatorMembers,
  backfill: { set: "people" },
};

export const protectedTables = [operatorRows];

/** The names of the actors `operator:ID` who are or were operators. */
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
