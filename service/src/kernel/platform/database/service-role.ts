import { hash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Database, type Sql, sessionTimeouts, type Tx } from "./database.ts";
import { sql } from "./sql.ts";

/** The role that the service works as, where there is one of this name: it may read and write, and of some tables only add. */
export const serviceRole = "signsealship_service";

/** Tables of which rows are added and never removed, with the columns that may change. */
export type AppendOnly = { readonly [table: string]: readonly string[] };

export type Rights = { sha256: string; appendOnly: AppendOnly };

// Only the owner writes these, with migrations.
const readOnly: ReadonlySet<string> = new Set([
  "schema_migrations",
  "schema_fence",
  "service_rights",
  "row_mac_backfill",
]);

/** @param migrations the folder of the migrations, which the list is next to */
export async function readRights(migrations: string): Promise<Rights> {
  const text = await readFile(join(migrations, "append-only.json"), "utf8");
  return { sha256: hash("sha256", text), appendOnly: JSON.parse(text) as AppendOnly };
}

const hasServiceRole = sql`to_regrole(${serviceRole}) IS NOT NULL`;

/** Whether the service's role has the rights of this list, or there is no such role. Of a migrated database. */
export async function hasRights(db: Sql, { sha256 }: Rights): Promise<boolean> {
  const [found] = await db.query<{ ok: boolean }>(sql`
    SELECT NOT ${hasServiceRole} OR EXISTS (SELECT FROM service_rights WHERE sha256 = ${sha256}) AS ok`);
  return found?.ok === true;
}

/** Gives the service's role, where there is one, its rights and no others. Run as the owner, after the migrations. */
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

/** Functions that make or fill large objects: space that no table lists. Everybody may call them by default. */
export const largeObjectFunctions = [
  "lo_creat(integer)",
  "lo_create(oid)",
  "lo_from_bytea(oid, bytea)",
  "lo_import(text)",
  "lo_import(text, oid)",
  "lo_put(oid, bigint, bytea)",
] as const;

// Only a superuser may revoke them: on an operator's server `docs/operating.md`, "Two roles", tells to.
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

// One number for all nodes: ALTER ROLE of two at once fails.
const timeoutsLock = 7_246_002;

/**
 * Gives the role that the service works as its timeouts, as defaults in this database; those that an operator has set stay.
 * Behind a pooler a single statement has no others.
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

// More than a node's share of a pooler's sessions. What is left, the pooler renews after its own time.
const mostEnded = 20;

/**
 * Ends the sessions that the pooler had open before, one after another, each by a statement in itself: none that works for another
 * connection is ended.
 */
async function endSessionsWithout(db: Database, timeouts: readonly string[]): Promise<void> {
  for (let ended = 0; ended < mostEnded; ended++) {
    const missing = await missingTimeouts(db);
    if (!missing.some((name) => timeouts.includes(name))) return;
    // It ends without an answer.
    await db.query(sql`SELECT pg_terminate_backend(pg_backend_pid())`).catch(() => {});
  }
}

/** The timeouts that a session of the pool has not: a statement in it may wait for ever. */
export const missingTimeouts = async (db: Sql): Promise<string[]> => {
  const rows = await db.query<{ name: string }>(sql`
    SELECT name FROM pg_settings WHERE name = ANY (${Object.keys(sessionTimeouts())}::text[]) AND setting = '0' ORDER BY name`);
  return rows.map(({ name }) => name);
};
