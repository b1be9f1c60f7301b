import type { Sql } from "../service/src/kernel/platform/database/database.ts";
import { sql } from "../service/src/kernel/platform/database/sql.ts";
import { mentionsIn, type Ownership } from "./table-owners.ts";

/**
 * A write that the database makes by itself: a change of the table `from` also writes the table `to`. `by` is the
 * trigger's function or the foreign key. `to` is null if the function computes the table's name.
 */
export type DatabaseWrite = { by: string; from: string; to: string | null };

/**
 * `writes`: the writes that triggers and foreign keys make. `callable`: other functions that write tables. Neither a
 * trigger nor another function calls them, so only the service's SQL can.
 */
export type DatabaseWrites = { writes: DatabaseWrite[]; callable: string[] };

type CatalogFunction = { name: string; body: string; triggerTables: string[] };

/** Reads from the catalog of a migrated database which tables its triggers, functions and foreign keys write. */
export async function readDatabaseWrites(db: Sql, tables: ReadonlySet<string>): Promise<DatabaseWrites> {
  const functions = await db.query<CatalogFunction>(sql`
    SELECT p.proname AS name, coalesce(nullif(p.prosrc, ''), pg_get_function_sqlbody(p.oid), '') AS body,
      ARRAY(SELECT DISTINCT relname::text FROM pg_trigger JOIN pg_class c ON c.oid = tgrelid
        WHERE tgfoid = p.oid AND NOT tgisinternal ORDER BY 1) AS "triggerTables"
    FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang
    WHERE p.pronamespace = 'public'::regnamespace AND l.lanname IN ('sql', 'plpgsql')
      AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = p.oid AND deptype = 'e')
    ORDER BY name`);
  const byForeignKey = await db.query<DatabaseWrite>(sql`
    SELECT conname AS by, whole.relname AS "from", part.relname AS "to"
    FROM pg_constraint k JOIN pg_class whole ON whole.oid = k.confrelid JOIN pg_class part ON part.oid = k.conrelid
    WHERE k.contype = 'f' AND (k.confdeltype IN ('c', 'n', 'd') OR k.confupdtype IN ('c', 'n', 'd'))
    ORDER BY conname`);
  const byTrigger = functions.flatMap(({ name, triggerTables }) =>
    triggerTables.flatMap((from) => writtenBy(name).map((to) => ({ by: name, from, to }))),
  );
  const isCalled = ({ name }: CatalogFunction) => functions.some(({ body }) => calls(body, name));
  const callable = functions.filter((each) => each.triggerTables.length === 0 && !isCalled(each));
  return {
    writes: [...byTrigger, ...byForeignKey],
    callable: callable.map(({ name }) => name).filter((name) => writtenBy(name).length > 0),
  };

  /** The tables that a function writes, by itself or through the functions that it calls. */
  function writtenBy(name: string): (string | null)[] {
    const body = functions.find((each) => each.name === name)?.body ?? "";
    const called = functions.filter((each) => each.name !== name && calls(body, each.name));
    return [...new Set([...writtenIn(body, tables), ...called.flatMap((each) => writtenBy(each.name))])];
  }
}

const calls = (body: string, name: string): boolean => new RegExp(`\\b${name}\\(`).test(body);

const executed = /\bEXECUTE\s+(?:format\(\s*)?(?:'((?:[^']|'')*)')?/gi;

/**
 * The tables that a function's body writes, including by statements in `EXECUTE format('...')`, where `%I.` stands for
 * the schema. The result contains null if the body executes a statement whose text it computes in another way.
 */
function writtenIn(body: string, tables: ReadonlySet<string>): (string | null)[] {
  const statements = [...body.matchAll(executed)].map(([, text]) => text?.replace(/%I\./g, "").replace(/%[IsL]/g, "$"));
  const mentions = [body, ...statements.filter((text) => text !== undefined)].flatMap((text) =>
    mentionsIn(text, tables),
  );
  const isDynamic = statements.includes(undefined);
  return [...mentions.filter(({ isWrite }) => isWrite).map(({ table }) => table), ...(isDynamic ? [null] : [])];
}

/**
 * Lists problems, as sentences: writes from one feature's table to another feature's table without a stated reason, and
 * reasons that no write needs any more.
 */
export function unlistedWrites(
  { writes, callable }: DatabaseWrites,
  { tables, triggers, functions }: Pick<Ownership, "tables"> & DatabaseWriteRules,
): string[] {
  const crossing = writes.filter(({ from, to }) => to === null || tables[from]?.owner !== tables[to]?.owner);
  const unlisted = crossing.filter(({ from, to }) => to === null || !triggers[from]?.[to]);
  const isUsed = (table: string, other: string) => crossing.some(({ from, to }) => from === table && to === other);
  return [
    ...unlisted.map(
      ({ by, from, to }) => `${by}: a change of ${from} writes ${to ?? "a table that an expression names"}`,
    ),
    ...callable.filter((name) => !functions[name]).map((name) => `${name}: writes for its callers`),
    ...Object.entries(triggers).flatMap(([from, targets]) =>
      Object.keys(targets)
        .filter((to) => !isUsed(from, to))
        .map((to) => `${from}: its changes do not write ${to}`),
    ),
    ...Object.keys(functions)
      .filter((name) => !callable.includes(name))
      .map((name) => `${name}: does not write for its callers`),
  ];
}

/** The writes of other owners' tables that the database may make, each with its reason. */
export type DatabaseWriteRules = {
  /** For each table, the tables of other owners that its triggers and foreign keys write. */
  triggers: Record<string, Record<string, string>>;
  /** Functions that write tables when an SQL statement calls them, each with the reason. */
  functions: Record<string, string>;
};
