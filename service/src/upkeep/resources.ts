import { availableParallelism } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Config } from "../kernel/config/config.ts";
import { type BlobBackend, openBlobs } from "../kernel/platform/blobs/blobs.ts";
import { folderBackend } from "../kernel/platform/blobs/folder.ts";
import { clockAhead, systemClock } from "../kernel/platform/clock.ts";
import { prepareDataFolder, requireWholeFolder } from "../kernel/platform/data-folder.ts";
import { type Database, openDatabase } from "../kernel/platform/database/database.ts";
import { type AsOwner, latestSchema, migrate } from "../kernel/platform/database/migrations.ts";
import { nodeName } from "../kernel/platform/database/schema-fence.ts";
import { keepRoleTimeouts } from "../kernel/platform/database/service-role.ts";
import { sql } from "../kernel/platform/database/sql.ts";
import { StartupError } from "../kernel/platform/errors.ts";
import type { Log } from "../kernel/platform/logs.ts";
import type { Metrics } from "../kernel/platform/metrics.ts";
import { openEmbeddedPostgres } from "../kernel/platform/postgres/embedded.ts";
import { systemRandom } from "../kernel/platform/random.ts";
import { mergeRevocations, revocationsFile } from "../kernel/platform/revocations.ts";
import { openRowMac, reportUnvouched } from "../kernel/platform/row-mac.ts";
import { openSealedTexts } from "../kernel/platform/sealed-text.ts";
import { createWorkerPool, type WorkerPool } from "../kernel/platform/workers/pool.ts";
import type { Resources } from "../kernel/resources.ts";
import { writeRestoredLine } from "./backup/backup.ts";
import { fillRowMacs } from "./row-macs.ts";
import { sealTexts } from "./sealed-texts.ts";
import { openRecordedKeys } from "./secrets-rotation/recorded-keys.ts";

/** The root folder of the checkout. */
export const root = fileURLToPath(new URL("../../..", import.meta.url));

export const migrations = join(root, "service/migrations");

type Connected = { db: Database; asOwner: AsOwner; close: () => Promise<void> };

/** The reason for a failed connection, without the URL, because the URL contains the password. */
function reasonOf(error: Error): string {
  const { code = "", message } = (error.cause ?? error) as NodeJS.ErrnoException;
  if (/^unsupported startup parameter/.test(message))
    return `it is a pooler (${message}); set DATABASE_LISTEN_URL to the server itself`;
  if (/^prepared statement /.test(message)) return `${message}; see 'Behind PgBouncer' in docs/operating.md`;
  return /^E[A-Z]+$/.test(code) ? code : message || "connection refused";
}

/**
 * Removes another application name from the URL. The database reads the node's schema version from the application
 * name, to reject writes by older releases.
 */
const unnamed = (url: string): string => url.replace(/([?&])application_name=[^&#]*/gi, "$1");

async function connect(config: Config, log: Log, schema: number): Promise<Connected> {
  const onIdleError = (error: Error) => log.warn({ err: error }, "an idle database connection broke");
  const named = { application_name: nodeName(schema) };
  const poolSize = config.databasePoolSize;
  if (config.databaseUrl !== null) {
    const to = (url: string) => ({ connectionString: unnamed(url), ...named });
    const direct = config.databaseListenUrl === null ? null : to(config.databaseListenUrl);
    const db = openDatabase(to(config.databaseUrl), onIdleError, { poolSize, direct });
    try {
      await db.query(sql`SELECT 1`);
      if (direct) await keepRoleTimeouts(db);
    } catch (error) {
      await db.close();
      throw new StartupError(`DATABASE_URL does not answer: ${reasonOf(error as Error)}`);
    }
    // On an external server the service always works as the user in DATABASE_URL.
    return { db, asOwner: (work) => work(db), close: db.close };
  }
  const server = await openEmbeddedPostgres(config.dataDir);
  const db = openDatabase({ ...server.connection, ...named }, onIdleError, { poolSize });
  return {
    db,
    async asOwner(work) {
      const owner = openDatabase({ ...server.owner, ...named }, onIdleError, { poolSize: 1 });
      return work(owner).finally(owner.close);
    },
    async close() {
      await db.close();
      await server.release();
    },
  };
}

/**
 * Opens the data folder, the database (migrated), the secrets and the blobs.
 * @param countUnvouched is called at most once an hour for each row whose MAC is invalid
 * @throws StartupError with a message of one line; nothing stays open then
 */
export async function openResources(
  config: Config,
  log: Log,
  countUnvouched: (table: string) => void = () => {},
): Promise<Resources> {
  prepareDataFolder(config.dataDir);
  requireWholeFolder(config.dataDir);
  const schema = await latestSchema(migrations);
  const { db, close, ...connected } = await connect(config, log, schema);
  try {
    await migrate({ db, asOwner: connected.asOwner, folder: migrations });
    const clock = config.timeTravelSeconds === 0 ? systemClock : clockAhead(config.timeTravelSeconds);
    const secrets = await openRecordedKeys(db, config, clock());
    const texts = openSealedTexts(secrets);
    db.useSealedTexts(texts);
    const blobs = openBlobs(await blobBackend(config), secrets, clock);
    const rowMac = openRowMac(
      secrets,
      (keyId) => log.error({ keyId }, "a row is under a key that is neither SECRETS_KEY nor in SECRETS_KEYS_OLD"),
      reportUnvouched(clock, log, countUnvouched),
    );
    db.useRowMac(rowMac);
    const asOwner: AsOwner = (work) =>
      connected.asOwner((owner) => {
        owner.useSealedTexts(texts);
        owner.useRowMac(rowMac);
        return work(owner);
      });
    // Must be first. While a row's code is stored as plain text, a constraint refuses every change of the row, even a
    // new MAC.
    await sealTexts({ db, asOwner, log }, texts);
    await fillRowMacs({ db, asOwner, rowMac, secrets, clock, log }, config.dataDir);
    await writeRestoredLine(db, config.dataDir);
    await mergeRevocations({ db, rowMac }, revocationsFile(config.dataDir));
    return { config, log, clock, random: systemRandom, db, schema, asOwner, secrets, rowMac, blobs, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function blobBackend({ blobUrl }: Config): Promise<BlobBackend> {
  if (blobUrl.startsWith("file:")) return folderBackend(blobUrl.slice("file:".length));
  const { s3Backend } = await import("../kernel/platform/blobs/s3.ts");
  return s3Backend(blobUrl);
}

/** At least two threads, so that one firm can't occupy all of them. */
const workerThreads = Math.max(2, Math.min(availableParallelism(), 4));
const workerHeapMb = 512;
/**
 * When the process uses more memory than this, worker tasks that use a lot of it are killed. docs/operating.md states
 * the memory that the service needs.
 */
const processMb = 2_048;

export function openWorkers(log: Log, metrics: Metrics): WorkerPool {
  const killed = metrics.counter("worker_tasks_killed_total", "Tasks that were beyond their bounds.", ["task", "why"]);
  return createWorkerPool({
    size: workerThreads,
    heapMb: workerHeapMb,
    processMb,
    onKilled(task, why) {
      log.warn({ task, why }, "a task of a worker was killed");
      killed.inc({ task, why });
    },
  });
}
