/**
 * Stops nodes of older releases from writing to a newer schema. Triggers in PostgreSQL reject their writes
 * (docs/decisions/upgrades.md).
 */
import { StartupError } from "../errors.ts";
import type { Log } from "../logs.ts";
import { createLoop } from "../work/loop.ts";
import type { Sql, Tx } from "./database.ts";
import { sql } from "./sql.ts";

/** The beginning of the application name of every node's connections. */
export const nodePrefix = "signsealship schema ";

/**
 * The application name of a node's connections, with the schema version of its release. Releases from before this fence
 * use only `signsealship`, which sorts before all these names.
 */
export const nodeName = (schema: number): string => `${nodePrefix}${String(schema).padStart(4, "0")}`;

/** The lowest schema version whose nodes may write. */
export async function readFence(db: Sql): Promise<number> {
  const [row] = await db.query<{ minimum: number }>(sql`SELECT minimum FROM schema_fence`);
  return row?.minimum ?? 0;
}

/**
 * Blocks new writes until the caller's transaction ends, and first waits for the end of transactions that have already
 * written. Otherwise an older node could add rows that the migration's changes of data would miss.
 */
export async function stopWriters(tx: Tx): Promise<void> {
  const tables = await ownTables(tx);
  if (tables.length > 0) await tx.script(`LOCK TABLE ${tables.join(", ")} IN SHARE ROW EXCLUSIVE MODE`);
}

/**
 * Raises the lowest schema version whose nodes may write, and adds the fence's trigger to every table. Runs as the
 * owner of the tables, in the transaction of the migrations.
 */
export async function raiseFence(tx: Tx, minimum: number): Promise<void> {
  if ((await readFence(tx)) < minimum || !(await hasFunction(tx))) await tx.script(fenceAt(minimum));
  await tx.query(sql`UPDATE schema_fence SET minimum = ${minimum} WHERE minimum < ${minimum}`);
  const unfenced = await ownTables(
    tx,
    sql`AND NOT EXISTS (
    SELECT FROM pg_trigger WHERE tgrelid = pg_class.oid AND tgname = 'schema_fence')`,
  );
  await tx.script(unfenced.map(triggerOn).join("\n"));
}

const ownTables = async (tx: Tx, further = sql``): Promise<string[]> => {
  const tables = await tx.query<{ quoted: string }>(sql`
    SELECT oid::regclass::text AS quoted FROM pg_class
    WHERE relkind IN ('r', 'p') AND NOT relispartition AND relnamespace = current_schema()::regnamespace
      AND pg_has_role(current_user, relowner, 'USAGE') ${further}
    ORDER BY 1`);
  return tables.map(({ quoted }) => quoted);
};

async function hasFunction(tx: Tx): Promise<boolean> {
  const [found] = await tx.query<{ there: boolean }>(sql`
    SELECT to_regprocedure('refuse_older_nodes()') IS NOT NULL AS there`);
  return found?.there === true;
}

const triggerOn = (table: string): string =>
  `CREATE TRIGGER schema_fence BEFORE INSERT OR UPDATE OR DELETE ON ${table} FOR EACH STATEMENT EXECUTE FUNCTION refuse_older_nodes();`;

/**
 * The function that the triggers call. It contains the schema number as a constant, and takes 5 microseconds for each
 * statement. A WHEN clause in the trigger would take 25, because PostgreSQL compiles it each time. The function raises
 * read_only_sql_transaction, to which older releases respond with a 503.
 */
const fenceAt = (minimum: number): string => `
CREATE OR REPLACE FUNCTION refuse_older_nodes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF current_setting('application_name') COLLATE "C" >= 'signsealship'
     AND current_setting('application_name') COLLATE "C" < '${nodeName(minimum)}' THEN
    RAISE EXCEPTION 'the database is of a newer release (schema ${minimum} or newer is needed to write)'
      USING ERRCODE = 'read_only_sql_transaction';
  END IF;
  RETURN NULL;
END $$;`;

export const outdated = (minimum: number, schema: number): StartupError =>
  new StartupError(
    `the database is of a newer release (it needs schema ${minimum}; this one knows ${schema}): start that release, or restore an older backup`,
  );

/** Detects when a newer release has raised the fence above this node's schema. This node may no longer write then. */
export type SchemaWatch = {
  start: () => void;
  stop: () => Promise<void>;
  isOutdated: () => boolean;
  /** Resolves once this node is outdated. The value is the error with which the process should end. */
  outdated: Promise<StartupError>;
};

const lookMs = 1_000;

export function watchSchema(db: Sql, schema: number, log: Log): SchemaWatch {
  const { promise, resolve } = Promise.withResolvers<StartupError>();
  let isOutdated = false;
  async function look(): Promise<number> {
    const minimum = await readFence(db);
    if (minimum > schema && !isOutdated) {
      isOutdated = true;
      resolve(outdated(minimum, schema));
    }
    return lookMs;
  }
  const loop = createLoop({ name: "schema of the database", log, turn: look, maxPauseMs: lookMs });
  return { start: loop.start, stop: loop.stop, isOutdated: () => isOutdated, outdated: promise };
}
