import { hash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { StartupError } from "../errors.ts";
import { type Database, longStatements, type Sql, type Tx } from "./database.ts";
import { outdated, raiseFence, readFence, stopWriters } from "./schema-fence.ts";
import { grantRights, hasRights, type Rights, readRights } from "./service-role.ts";
import { sql } from "./sql.ts";
import { hasSqlState, sqlState } from "./sql-errors.ts";

type Migration = {
  version: number;
  name: string;
  script: string;
  sha256: string;
  /** True if nodes of earlier releases must stop writing once this migration has run. */
  stopsOlder: boolean;
};
type Applied = { version: number; sha256: string };

// The number of the advisory lock for migrations. The node that gets the lock migrates; the others wait, and then find
// nothing to do.
const advisoryLock = 7_246_001;
/**
 * The baseline: one file with the combined result of the migrations up to `version`. `sha256` is the hash of the last
 * of these migrations. A database that ran them one by one has recorded this hash, and skips the baseline. An older
 * database must first be upgraded with `commit`, the last commit that contains those migrations.
 */
export const baseline = {
  version: 69,
  sha256: "65323ac10b0f4e8fbc5089a08223063be26e81ddce20f3f1fcf0dee1f46b0541",
  commit: "a234af1b93166500d15ce181781d85427c90b5f8",
};
/**
 * The migrations whose files changed after a release, with the hash of the earlier file. Both files lead to the same
 * schema. The earlier 0185 also filled its new table, and blocked writes meanwhile. Now 0187 and a daily task fill it.
 */
const replacedFiles: ReadonlyMap<number, string> = new Map([
  [185, "430ae7f4db7b689099fc80612fbc201496100800a1246c184aa26b2eb61cabbc"],
]);
// Migrations up to this one have no `-- Older nodes:` line, and never stop older nodes.
const lastUnfenced = 74;
/**
 * The first line of a migration that doesn't break nodes of older releases, which may continue to write. All other
 * migrations above `lastUnfenced` begin with `-- Older nodes: stop.`
 */
const onlyExpands = "-- Older nodes: go on.\n";

async function readMigrations(folder: string): Promise<Migration[]> {
  const files = (await readdir(folder)).filter((file) => /^\d{4}_.*\.sql$/.test(file)).sort();
  return Promise.all(
    files.map(async (name) => {
      const script = await readFile(join(folder, name), "utf8");
      const sha256 = hash("sha256", script);
      const version = Number(name.slice(0, 4));
      return { version, name, script, sha256, stopsOlder: version > lastUnfenced && !script.startsWith(onlyExpands) };
    }),
  );
}

const applied = (db: Sql) => db.query<Applied>(sql`SELECT version, sha256 FROM schema_migrations ORDER BY version`);

const latest = (migrations: readonly Migration[]): number => migrations.at(-1)?.version ?? 0;

/** The number of the newest migration of this release. */
export const latestSchema = async (folder: string): Promise<number> => latest(await readMigrations(folder));

/**
 * True if a newer release has migrated the database, but this release may still write.
 * @throws StartupError when this release must not write
 */
async function isOfNewer(db: Sql, migrations: Migration[], done: Applied[]): Promise<boolean> {
  const own = latest(migrations);
  if (!done.some(({ version }) => version > own)) return false;
  const minimum = await readFence(db);
  if (minimum > own) throw outdated(minimum, own);
  return true;
}

function pending(migrations: Migration[], done: Applied[]): Migration[] {
  requireBaseline(done);
  const byVersion = new Map(migrations.map((migration) => [migration.version, migration]));
  for (const { version, sha256 } of done) {
    const migration = byVersion.get(version);
    const isSquashed = version === baseline.version && sha256 === baseline.sha256;
    const isEarlierFile = sha256 === replacedFiles.get(version);
    if (migration && migration.sha256 !== sha256 && !isSquashed && !isEarlierFile)
      throw new StartupError(`migration ${migration.name} differs from the one that this database was made with`);
  }
  const versions = new Set(done.map((row) => row.version));
  return migrations.filter((migration) => !versions.has(migration.version));
}

/**
 * Refuses a database from before the baseline, because its migration files no longer exist.
 * @throws StartupError
 */
function requireBaseline(done: Applied[]): void {
  const newest = done.at(-1);
  if (!newest || done.some(({ version }) => version === baseline.version)) return;
  throw new StartupError(
    `the database has schema ${newest.version}, and this release upgrades schema ${baseline.version} or newer: back up, start commit ${baseline.commit} of SignSealShip once on the same data, then start this release`,
  );
}

export type Schema = {
  /** A handle with the role that the service normally uses. */
  db: Sql;
  /** Runs work that requires the owner of the tables. */
  asOwner: AsOwner;
  /** The folder of the migration files. */
  folder: string;
};

/** Runs `work` on a connection with the role that owns the tables. The service itself normally uses another role. */
export type AsOwner = <T>(work: (owner: Database) => Promise<T>) => Promise<T>;

/**
 * Applies all pending migrations in one transaction, or none, and updates the rights of the service's role. Never
 * downgrades.
 * @throws StartupError when a newer release has stopped this release from writing, or when the newer release lacks one
 * of this release's migrations. Also for a database from before the baseline, for an applied migration that differs
 * from its file, and for a role without the rights to migrate.
 */
export async function migrate({ db, asOwner, folder }: Schema): Promise<void> {
  const [migrations, rights] = await Promise.all([readMigrations(folder), readRights(folder)]);
  if (await isReadable(db)) {
    const done = await applied(db);
    const isCurrent = pending(migrations, done).length === 0;
    // If a newer release has migrated the database, the rights stay as they are: that release grants rights that this
    // one doesn't know.
    if ((await isOfNewer(db, migrations, done)) && isCurrent) return;
    if (isCurrent && (await hasRights(db, rights))) return;
  }
  await asOwner((owner) => owner.transaction((tx) => bringUpToDate(tx, migrations, rights), longStatements)).catch(
    (error) => {
      if (!hasSqlState(error, sqlState.insufficientPrivilege)) throw error;
      throw new StartupError(
        `the database is not of this release, and its role may not change that (${error.message}): run a command, such as doctor, once with the owner's DATABASE_URL`,
        { cause: error },
      );
    },
  );
}

/**
 * True if the current role may read the list of applied migrations. The service's role gets this right only after the
 * first migrations.
 */
async function isReadable(db: Sql): Promise<boolean> {
  const [found] = await db.query<{ readable: boolean | null }>(sql`
    SELECT has_table_privilege(to_regclass('schema_migrations'), 'SELECT') AS readable`);
  return found?.readable === true;
}

async function bringUpToDate(tx: Tx, migrations: Migration[], rights: Rights): Promise<void> {
  // Another node may be running a long migration, so wait longer than the usual 5 s.
  await tx.script("SET LOCAL lock_timeout = '10min'");
  await tx.query(sql`SELECT pg_advisory_xact_lock(${advisoryLock})`);
  await tx.query(sql`
    CREATE TABLE IF NOT EXISTS schema_migrations (
      version int PRIMARY KEY, name text NOT NULL, sha256 text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now()
    )`);
  const done = await applied(tx);
  const missing = pending(migrations, done);
  if (await isOfNewer(tx, migrations, done)) {
    if (missing[0])
      throw new StartupError(`the database is of a newer release, which does not know ${missing[0].name}`);
    return;
  }
  if (missing.some(({ stopsOlder }) => stopsOlder)) await stopWriters(tx);
  for (const { version, name, sha256, script } of missing) {
    await tx.script(script);
    await tx.query(sql`
      INSERT INTO schema_migrations (version, name, sha256) VALUES (${version}, ${name}, ${sha256})`);
  }
  await raiseFence(tx, migrations.findLast(({ stopsOlder }) => stopsOlder)?.version ?? 0);
  await grantRights(tx, rights);
}
