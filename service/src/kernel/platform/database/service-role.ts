import { hash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Database, type Sql, sessionTimeouts, type Tx } from "./database.ts";
import { sql } from "./sql.ts";

/**
 * The role that the service uses, if the database has a role of this name. It can read and write most tables, can only
 * read some, and in the append-only tables can only insert rows and update certain columns.
 */
export const serviceRole = "signsealship_service";

/** Tables from which the service's role can't remove rows, with the columns that it may change. */
type AppendOnly = { readonly [table: string]: readonly string[] };

export type Rights = { sha256: string; appendOnly: AppendOnly };

// Tables that the service's role may only read. Migrations write them as the owner.
const readOnly: ReadonlySet<string> = new Set([
  "schema_migrations",
  "schema_fence",
  "service_rights",
  "row_mac_backfill",
]);

/**
 * Reads the rights of the service's role.
 * @param migrations the folder of the migrations, which also contains append-only.json
 */
export async function readRights(migrations: string): Promise<Rights> {
  const text = await readFile(join(migrations, "append-only.json"), "utf8");
  return { sha256: hash("sha256", text), appendOnly: JSON.parse(text) as AppendOnly };
}

const hasServiceRole = sql`to_regrole(${serviceRole}) IS NOT NULL`;

/**
 * True if the service's role has the rights that this release's append-only.json gives, or if the role doesn't exist.
 * Call this after the migrations.
 */
export async function hasRights(db: Sql, { sha256 }: Rights): Promise<boolean> {
  const [found] = await db.query<{ ok: boolean }>(sql`
    SELECT NOT ${hasServiceRole} OR EXISTS (SELECT FROM service_rights WHERE sha256 = ${sha256}) AS ok`);
  return found?.ok === true;
}

/**
 * If the service's role exists, grants it exactly the rights that it needs and revokes all others. Runs as the owner,
 * after the migrations.
 */
export async function grantRights(tx: Tx, { sha256, appendOnly }: Rights): Promise<void> {
  const [role] = await tx.query<{ there: boolean }>(sql`SELECT ${hasServiceRole} AS there`);
  if (!role?.there) return;
  const tables = await tx.query<{ name: string; quoted: string }>(sql`
    SELECT relname AS name, oid::regclass::text AS quoted FROM pg_class
    WHERE relkind IN ('r', 'p') AND relnamespace = current_schema()::regnamespace
      AND pg_has_role(current_user, relowner, 'USAGE')`);
  await tx.script(tables.map(({ name, quoted }) => grantsOn(quoted, name, appendOnly)).join("\n"));
  await tx.script(refuseLargeObjects);
  await tx.query(sql`DELETE FROM service_rights`);
  await tx.query(sql`INSERT INTO service_rights (sha256) VALUES (${sha256})`);
}

/**
 * Functions that create or fill large objects. The service's role must not call them, because it could fill the disk
 * outside of the service's tables. By default every role may call most of them.
 */
export const largeObjectFunctions = [
  "lo_creat(integer)",
  "lo_create(oid)",
  "lo_from_bytea(oid, bytea)",
  "lo_import(text)",
  "lo_import(text, oid)",
  "lo_put(oid, bigint, bytea)",
] as const;

// Revokes the rights to large objects, if the current role is a superuser. For an operator's own server, see
// `docs/operating.md`, "Two roles".
const refuseLargeObjects = `DO $$ BEGIN
  IF (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN
    REVOKE EXECUTE ON FUNCTION ${largeObjectFunctions.join(", ")} FROM PUBLIC, ${serviceRole};
  END IF;
END $$;`;

function grantsOn(table: string, name: string, appendOnly: AppendOnly): string {
  const grant = (rights: string) => `GRANT ${rights} ON ${table} TO ${serviceRole};`;
  const revoke = `REVOKE ALL ON ${table} FROM ${serviceRole};`;
  if (readOnly.has(name)) return revoke + grant("SELECT");
  const changing = appendOnly[name];
  if (changing === undefined) return revoke + grant("SELECT, INSERT, UPDATE, DELETE");
  const update = changing.length > 0 ? `, UPDATE (${changing.join(", ")})` : "";
  return revoke + grant(`SELECT, INSERT${update}`);
}

// The number of the advisory lock around ALTER ROLE, which fails when two nodes run it at once.
const timeoutsLock = 7_246_002;

/**
 * Makes the service's time limits the defaults of its role in this database, unless the operator has set others. Behind
 * a pooler, single statements have no other time limits.
 */
export async function keepRoleTimeouts(db: Database): Promise<void> {
  const added = await db.transaction(async (tx) => {
    await tx.query(sql`SELECT pg_advisory_xact_lock(${timeoutsLock})`);
    const defaults = await tx.query<{ setting: string }>(sql`
      SELECT unnest(setconfig) AS setting FROM pg_db_role_setting
      WHERE setrole = to_regrole(quote_ident(current_user))
        AND setdatabase = (SELECT oid FROM pg_database WHERE datname = current_database())`);
    const present = new Set(defaults.map(({ setting }) => setting.split("=")[0]));
    const missing = Object.entries(sessionTimeouts()).filter(([name]) => !present.has(name));
    const [names] = await tx.query<{ database: string }>(sql`SELECT quote_ident(current_database()) AS database`);
    for (const [name, ms] of missing)
      await tx.script(`ALTER ROLE CURRENT_USER IN DATABASE ${names?.database} SET ${name} = ${ms}`);
    return missing.map(([name]) => name);
  });
  if (added.length > 0) await endSessionsWithout(db, added);
}

// The most sessions to end: more than a pooler usually has for one node. The pooler replaces any remaining ones when
// they reach their maximum age.
const maxEnded = 20;

/**
 * Ends the sessions that the pooler opened before the time limits were set. Each session is told to end itself, so that
 * no other connection's session can be hit.
 */
async function endSessionsWithout(db: Database, timeouts: readonly string[]): Promise<void> {
  for (let ended = 0; ended < maxEnded; ended++) {
    const missing = await missingTimeouts(db);
    if (!missing.some((name) => timeouts.includes(name))) return;
    // The session ends before it responds, so this query always fails.
    await db.query(sql`SELECT pg_terminate_backend(pg_backend_pid())`).catch(() => {});
  }
}

/** The time-outs that are not set in a session of the pool. Without them a statement may wait forever. */
export const missingTimeouts = async (db: Sql): Promise<string[]> => {
  const rows = await db.query<{ name: string }>(sql`
    SELECT name FROM pg_settings WHERE name = ANY (${Object.keys(sessionTimeouts())}::text[]) AND setting = '0' ORDER BY name`);
  return rows.map(({ name }) => name);
};
