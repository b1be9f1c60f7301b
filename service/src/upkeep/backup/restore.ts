import { existsSync } from "node:fs";
import { mkdir, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { haltRestored } from "../../evidence/transparency-log/transparency-log.ts";
import { endWitnessing } from "../../evidence/witness/witness.ts";
import { deleteAllSessions } from "../../firms/members/members.ts";
import type { LastLine } from "../../kernel/audit/audit.ts";
import type { Clock } from "../../kernel/platform/clock.ts";
import { openUnfinishedRestore, prepareDataFolder, unfinishedRestore } from "../../kernel/platform/data-folder.ts";
import { type Database, openDatabase } from "../../kernel/platform/database/database.ts";
import { migrate } from "../../kernel/platform/database/migrations.ts";
import { sql, unionAll } from "../../kernel/platform/database/sql.ts";
import { syncFolder } from "../../kernel/platform/durable-file.ts";
import { StartupError } from "../../kernel/platform/errors.ts";
import { openEmbeddedPostgres, ownCluster } from "../../kernel/platform/postgres/embedded.ts";
import { notDeleted } from "../../kernel/retention/retention.ts";
import { blobTables } from "../protected-data.ts";
import { copyVerified, readManifest, requireEmpty, treeOf } from "./files.ts";
import { type Held, hold, readLastLine } from "./held.ts";
import { type BackupFacts, backupFormat, keysFormat } from "./make.ts";
import { leaveRestoredLine, restoredLineFile } from "./restored-line.ts";

type RestoreDeps = {
  clock: Clock;
  dataDir: string;
  /** The folder of blobs; null when they are in an external store. */
  blobFolder: string | null;
  /** The folder of the database migrations. */
  migrations: string;
  schema: number;
  /** The application name of connections to PostgreSQL. */
  nodeName: string;
};

export type RestoreReport = {
  dataDir: string;
  facts: BackupFacts;
  /** The last line of the audit log in the restored database. */
  lastAuditLine: LastLine | null;
  held: Held;
  sessionsEnded: number;
  /**
   * Blobs that rows refer to, but that are missing and not marked as deleted. Always empty with an external store,
   * which is not checked.
   */
  missingBlobs: string[];
};

/**
 * Creates a data folder from a backup. The folder must be empty; without `keys`, it may contain the keys. Work that was
 * in progress when the backup was made is held until a person releases or discards it.
 * @throws StartupError for a folder that is not empty, for a backup with blobs and an external store, and for a backup
 * that is incomplete, altered or from a newer release. Files that were restored until then are deleted
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
  const hadBlobFolder = blobFolder !== null && existsSync(blobFolder);
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
    for (const restored of ["postgres", ...(keys === null ? [] : ["keys"])])
      await rm(join(dataDir, restored), { recursive: true, force: true });
    if (blobFolder !== null) await deleteBlobs(blobFolder, hadBlobFolder);
    for (const file of [unfinishedRestore(dataDir), restoredLineFile(dataDir)]) await rm(file, { force: true });
    throw error;
  }
}

/** Deletes the blobs, but not a folder that existed before: it can be a mount point or have permissions of its own. */
async function deleteBlobs(folder: string, existedBefore: boolean): Promise<void> {
  const restored = existedBefore ? (await readdir(folder)).map((name) => join(folder, name)) : [folder];
  for (const path of restored) await rm(path, { recursive: true, force: true });
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

/**
 * Starts PostgreSQL, which recovers the copied cluster. Then holds jobs and deliveries that may have run after the
 * backup. Deletes sessions and links that may have ended after the backup. Halts the transparency logs, and ends
 * witnessing.
 */
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
      // Deletes sessions, sign-in links and confirmation codes. Otherwise, those that ended or were used after the
      // backup would be valid again.
      const sessionsEnded = await deleteAllSessions(tx);
      const at = clock();
      await tx.query(sql`INSERT INTO backups (kind, finished_at) VALUES ('restored', ${at})`);
      await haltRestored(tx, at);
      await endWitnessing(tx, at);
      const detail = { backupStartedAt: facts.startedAt, backupEndedAt: facts.endedAt, ...held };
      await leaveRestoredLine(dataDir, { at: at.toISOString(), detail });
      return { held, sessionsEnded };
    });
    return { dataDir, facts, lastAuditLine, held, sessionsEnded, missingBlobs };
  } finally {
    await db.close();
    await server.release();
  }
}

async function missingOf(db: Database, blobFolder: string): Promise<string[]> {
  const keys = unionAll(blobTables.map(({ table }) => sql`SELECT blob_key FROM ${table}`));
  const named = await db.query<{ key: string }>(sql`
    SELECT DISTINCT blob_key AS key FROM (${keys}) AS named
    WHERE blob_key IS NOT NULL AND ${notDeleted(sql`named.blob_key`)}`);
  return named.map(({ key }) => key).filter((key) => !existsSync(join(blobFolder, key)));
}
