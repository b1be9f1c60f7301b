import { existsSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { auditLine } from "../audit/audit.ts";
import type { Clock } from "../platform/clock.ts";
import { openUnfinishedRestore, prepareDataFolder, unfinishedRestore } from "../platform/data-folder.ts";
import { type Database, openDatabase } from "../platform/database/database.ts";
import { migrate } from "../platform/database/migrations.ts";
import { sql } from "../platform/database/sql.ts";
import { syncFolder } from "../platform/durable-file.ts";
import { StartupError } from "../platform/errors.ts";
import { openEmbeddedPostgres, ownCluster } from "../platform/postgres/embedded.ts";
import { copyVerified, readManifest, requireEmpty, treeOf } from "./files.ts";
import { type Held, hold, type LastLine, readLastLine } from "./held.ts";
import { type BackupFacts, backupFormat, keysFormat } from "./make.ts";

type RestoreDeps = {
  clock: Clock;
  dataDir: string;
  /** Null: the blobs are in a store of their own. */
  blobFolder: string | null;
  /** Of the migrations. */
  migrations: string;
  schema: number;
  /** The name that connections give to PostgreSQL. */
  nodeName: string;
};

export type RestoreReport = {
  dataDir: string;
  facts: BackupFacts;
  /** The last line of the audit log that the restored database has. */
  lastAuditLine: LastLine | null;
  held: Held;
  sessionsEnded: number;
  /** Blobs that the database names, and that are neither there nor marked as deleted. */
  missingBlobs: string[];
};

/**
 * Makes a data folder of a backup; at most its keys may be there before. What the backup's service had under way is held.
 * @throws StartupError for a backup that is not whole, was altered or is of a newer release; the folder is then as it was
 */
export async function restoreBackup(deps: RestoreDeps, folder: string, keys: string | null): Promise<RestoreReport> {
  const { dataDir, blobFolder, schema } = deps;
  const backup = { folder, ...(await readManifest<BackupFacts>(folder, backupFormat)) };
  const { facts } = backup;
  if (facts.schema > schema)
    throw new StartupError(`the backup is of a newer release (schema ${facts.schema}; this one knows ${schema})`);
  const ownKeys = keys === null ? null : { folder: keys, ...(await readManifest(keys, keysFormat)) };
  prepareDataFolder(dataDir);
  await requireEmpty(dataDir, keys === null ? ["keys"] : []);
  if (blobFolder !== null) await requireEmpty(blobFolder);
  if (blobFolder === null && facts.blobs !== null)
    throw new StartupError("the backup has blobs, and BLOB_URL names a store of its own: unset BLOB_URL");
  await openUnfinishedRestore(dataDir);
  try {
    if (ownKeys !== null) await copyVerified(ownKeys, "keys", join(dataDir, "keys"));
    if (blobFolder !== null) await copyVerified(backup, "blobs", blobFolder);
    await restoreCluster(dataDir, backup);
    const report = await settle(deps, facts);
    await rm(unfinishedRestore(dataDir));
    await syncFolder(dataDir);
    return report;
  } catch (error) {
    for (const made of ["postgres", ...(keys === null ? [] : ["keys"])])
      await rm(join(dataDir, made), { recursive: true, force: true });
    if (blobFolder !== null) await rm(blobFolder, { recursive: true, force: true });
    await rm(unfinishedRestore(dataDir), { force: true });
    throw error;
  }
}

type Backup = { folder: string; facts: BackupFacts; hashes: Map<string, string> };

async function restoreCluster(dataDir: string, { folder, facts, hashes }: Backup): Promise<void> {
  const cluster = join(dataDir, "postgres/cluster");
  const draft = `${cluster}.restoring`;
  await mkdir(draft, { recursive: true, mode: 0o700 });
  for (const path of facts.clusterFolders) {
    if (path.split("/").includes("..")) throw new StartupError(`${folder} names a folder outside of it: ${path}`);
    await mkdir(join(draft, path), { recursive: true, mode: 0o700 });
  }
  await copyVerified({ folder, hashes }, "database", draft);
  await ownCluster(dataDir, draft);
  for await (const { path, isFolder } of treeOf(draft)) if (isFolder) await syncFolder(join(draft, path));
  await syncFolder(draft);
  await rename(draft, cluster);
  await syncFolder(join(dataDir, "postgres"));
}

/** Has PostgreSQL recover, and takes from the data what would act a second time or open what was closed since. */
async function settle(deps: RestoreDeps, facts: BackupFacts): Promise<RestoreReport> {
  const { clock, dataDir, blobFolder, migrations, nodeName } = deps;
  const server = await openEmbeddedPostgres(dataDir);
  const db = openDatabase({ ...server.owner, application_name: nodeName }, () => {}, { poolSize: 2 });
  try {
    await migrate({ db, asOwner: (work) => work(db), folder: migrations });
    const lastAuditLine = await readLastLine(db);
    const missingBlobs = blobFolder === null ? [] : await missingOf(db, blobFolder);
    const { held, sessionsEnded } = await db.transaction(async (tx) => {
      const held = await hold(tx, new Date(facts.endedAt));
      // A session that was ended after the backup, and a link that was used, would work again.
      await tx.query(sql`DELETE FROM sign_in_links`);
      await tx.query(sql`DELETE FROM confirmation_codes`);
      const ended = await tx.query(sql`DELETE FROM sessions RETURNING 1`);
      const at = clock();
      await tx.query(sql`INSERT INTO backups (kind, finished_at) VALUES ('restored', ${at})`);
      const detail = { backupStartedAt: facts.startedAt, backupEndedAt: facts.endedAt, ...held };
      await tx.query(auditLine({ at, action: "restored", actor: "operator", detail }));
      return { held, sessionsEnded: ended.length };
    });
    return { dataDir, facts, lastAuditLine, held, sessionsEnded, missingBlobs };
  } finally {
    await db.close();
    await server.release();
  }
}

async function missingOf(db: Database, blobFolder: string): Promise<string[]> {
  const named = await db.query<{ key: string }>(sql`
    SELECT DISTINCT blob_key AS key FROM (
      SELECT blob_key FROM documents UNION ALL SELECT blob_key FROM fill_documents
      UNION ALL SELECT blob_key FROM passports UNION ALL SELECT blob_key FROM proof_certificates
      UNION ALL SELECT blob_key FROM closing_passports UNION ALL SELECT blob_key FROM notary_proofs
    ) AS named WHERE blob_key IS NOT NULL AND NOT EXISTS (SELECT FROM deleted_blobs d WHERE d.blob_key = named.blob_key)`);
  return named.map(({ key }) => key).filter((key) => !existsSync(join(blobFolder, key)));
}
