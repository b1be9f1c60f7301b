import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Database, longStatements, type Sql } from "./database.ts";
import { StartupError } from "./errors.ts";
import { sql } from "./sql.ts";

type Migration = { version: number; name: string; script: string; sha256: string };
type Applied = { version: number; sha256: string };

// One number for all nodes: the holder migrates, the others wait and then find nothing to do.
const advisoryLock = 7_246_001;

async function readMigrations(folder: string): Promise<Migration[]> {
  const files = (await readdir(folder)).filter((file) => /^\d{4}_.*\.sql$/.test(file)).sort();
  return Promise.all(
    files.map(async (name) => {
      const script = await readFile(join(folder, name), "utf8");
      const sha256 = createHash("sha256").update(script).digest("hex");
      return { version: Number(name.slice(0, 4)), name, script, sha256 };
    }),
  );
}

async function applied(db: Sql): Promise<Applied[]> {
  const [found] = await db.query<{ there: boolean }>(sql`SELECT to_regclass('schema_migrations') IS NOT NULL AS there`);
  return found?.there ? db.query<Applied>(sql`SELECT version, sha256 FROM schema_migrations ORDER BY version`) : [];
}

function pending(migrations: Migration[], done: Applied[]): Migration[] {
  const known = new Map(migrations.map((migration) => [migration.version, migration]));
  for (const { version, sha256 } of done) {
    const migration = known.get(version);
    if (!migration)
      throw new StartupError(
        `the database is of a newer release (schema ${version}; this one knows ${migrations.at(-1)?.version ?? 0}): start that release, or restore an older backup`,
      );
    if (migration.sha256 !== sha256)
      throw new StartupError(`migration ${migration.name} differs from the one that this database was made with`);
  }
  const versions = new Set(done.map((row) => row.version));
  return migrations.filter((migration) => !versions.has(migration.version));
}

/**
 * Brings the schema up to date, forward only, in one transaction: all pending migrations or none.
 * @throws StartupError when the database is of a newer release or was made by other migrations.
 */
export async function migrate(db: Database, folder: string): Promise<void> {
  const migrations = await readMigrations(folder);
  if (pending(migrations, await applied(db)).length === 0) return;
  await db.transaction(async (tx) => {
    // Another node may be busy with a long migration: wait for it rather than fail after the usual 5 s.
    await tx.script("SET LOCAL lock_timeout = '10min'");
    await tx.query(sql`SELECT pg_advisory_xact_lock(${advisoryLock})`);
    await tx.query(sql`
      CREATE TABLE IF NOT EXISTS schema_migrations (
        version int PRIMARY KEY, name text NOT NULL, sha256 text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now()
      )`);
    for (const { version, name, sha256, script } of pending(migrations, await applied(tx))) {
      await tx.script(script);
      await tx.query(sql`
        INSERT INTO schema_migrations (version, name, sha256) VALUES (${version}, ${name}, ${sha256})`);
    }
  }, longStatements);
}
