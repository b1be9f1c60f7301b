import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { openDatabase } from "../service/src/kernel/platform/database/database.ts";
import { migrate } from "../service/src/kernel/platform/database/migrations.ts";
import { sql } from "../service/src/kernel/platform/database/sql.ts";
import { postgresBinaries } from "../service/src/kernel/platform/postgres/binaries.ts";
import { openEmbeddedPostgres } from "../service/src/kernel/platform/postgres/embedded.ts";

const cache = fileURLToPath(new URL("../node_modules/.cache", import.meta.url));
const service = fileURLToPath(new URL("../service", import.meta.url));
const migrations = join(service, "migrations");
// The source files that determine a cluster's schema and privileges. If one changes, the cached template is not used.
const makers = [
  fileURLToPath(import.meta.url),
  migrations,
  join(service, "src/kernel/platform/postgres"),
  join(service, "src/kernel/platform/database/service-role.ts"),
];

const filesOf = (path: string): string[] =>
  statSync(path).isDirectory()
    ? readdirSync(path)
        .sort()
        .map((name) => join(path, name))
    : [path];

/** The template's name depends on the schema's sources, the release of PostgreSQL, and the user who runs the tests. */
async function templateName(): Promise<string> {
  const { postgres } = await postgresBinaries();
  const hash = createHash("sha256").update(`${postgres} ${process.getuid?.()}`);
  hash.update(readFileSync(join(postgres, "../../../package.json")));
  for (const file of makers.flatMap(filesOf)) hash.update(basename(file)).update(readFileSync(file));
  return `database-${hash.digest("hex").slice(0, 16)}`;
}

/** Creates a migrated cluster as a first start does, and stores it in the cache. */
async function makeTemplate(template: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "sss-template-"));
  const server = await openEmbeddedPostgres(folder);
  const owner = openDatabase(server.owner, () => {});
  const from = join(folder, "postgres");
  try {
    // Test data need not survive a power failure. These settings are written before the first checkpoint, so that the
    // last file of the write-ahead log is sparse.
    appendFileSync(join(from, "cluster/postgresql.conf"), "fsync = off\nwal_init_zero = off\nwal_recycle = off\n");
    await owner.query(sql`SELECT pg_reload_conf()`);
    await migrate({ db: owner, asOwner: (work) => work(owner), folder: migrations });
    // Makes the template, and so each copy, half as large. No test needs the database `template0` or the first files of
    // the write-ahead log.
    await owner.query(sql`UPDATE pg_database SET datistemplate = false WHERE datname = 'template0'`);
    await owner.query(sql`DROP DATABASE template0`);
    await owner.query(sql`SELECT pg_switch_wal()`);
  } finally {
    // A running server would keep the test process from exiting.
    await owner.close();
    await server.release();
  }
  mkdirSync(cache, { recursive: true });
  const made = mkdtempSync(join(cache, "making-"));
  mkdirSync(join(made, "postgres"));
  execFileSync("cp", ["-a", join(from, "cluster"), join(from, "pgpass"), join(made, "postgres")]);
  rmSync(folder, { recursive: true });
  try {
    renameSync(join(made, "postgres"), template);
  } catch {
    // Another test process stored the same template first, so this one is not needed.
  }
  rmSync(made, { recursive: true, force: true });
}

let template: Promise<string> | undefined;

async function preparedTemplate(): Promise<string> {
  const path = join(cache, await templateName());
  if (!existsSync(path)) await makeTemplate(path);
  return path;
}

/**
 * Copies a migrated database with its passwords into a data folder that has no database. So the first start needs
 * neither initdb nor migrations.
 */
export async function prepareDatabase(dataDir: string): Promise<void> {
  const folder = join(dataDir, "postgres");
  if (existsSync(folder)) return;
  template ??= preparedTemplate();
  const from = await template;
  mkdirSync(dataDir, { recursive: true });
  execFileSync("cp", ["-a", from, folder]);
}
