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
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openDatabase } from "../service/src/platform/database.ts";
import { migrate } from "../service/src/platform/migrations.ts";
import { postgresBinaries } from "../service/src/platform/postgres/binaries.ts";
import { openEmbeddedPostgres } from "../service/src/platform/postgres/embedded.ts";

const cache = fileURLToPath(new URL("../node_modules/.cache", import.meta.url));
const migrations = fileURLToPath(new URL("../service/migrations", import.meta.url));

/** Another schema, release of PostgreSQL or account needs another template. */
async function templateName(): Promise<string> {
  const { postgres } = await postgresBinaries();
  const hash = createHash("sha256").update(`${postgres} ${process.getuid?.()}`);
  hash.update(readFileSync(join(postgres, "../../../package.json")));
  for (const name of readdirSync(migrations).sort()) hash.update(name).update(readFileSync(join(migrations, name)));
  return `database-${hash.digest("hex").slice(0, 16)}`;
}

/** Makes a migrated cluster as a first start would, and gives it a place in the cache. */
async function makeTemplate(template: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "sss-template-"));
  const server = await openEmbeddedPostgres(folder);
  const db = openDatabase(server.connection, () => {});
  await migrate(db, migrations);
  await db.close();
  await server.release();
  const cluster = join(folder, "postgres/cluster");
  // Nothing of a test has to outlive a power cut.
  appendFileSync(join(cluster, "postgresql.conf"), "fsync = off\n");
  mkdirSync(cache, { recursive: true });
  const made = mkdtempSync(join(cache, "making-"));
  execFileSync("cp", ["-a", cluster, made]);
  rmSync(folder, { recursive: true });
  try {
    renameSync(join(made, "cluster"), template);
  } catch {
    // Another test process was first.
  }
  rmSync(made, { recursive: true, force: true });
}

let template: Promise<string> | undefined;

async function preparedTemplate(): Promise<string> {
  const path = join(cache, await templateName());
  if (!existsSync(path)) await makeTemplate(path);
  return path;
}

/** Puts a migrated database into a data folder that has none, in place of initdb and migrations at the first start. */
export async function prepareDatabase(dataDir: string): Promise<void> {
  const folder = join(dataDir, "postgres");
  if (existsSync(folder)) return;
  template ??= preparedTemplate();
  const from = await template;
  mkdirSync(folder, { recursive: true });
  execFileSync("cp", ["-a", from, join(folder, "cluster")]);
}
