import { mkdir, stat } from "node:fs/promises";
import { join, relative } from "node:path";
import type { Clock } from "../../kernel/platform/clock.ts";
import type { Database } from "../../kernel/platform/database/database.ts";
import type { AsOwner } from "../../kernel/platform/database/migrations.ts";
import { sql } from "../../kernel/platform/database/sql.ts";
import { StartupError } from "../../kernel/platform/errors.ts";
import { recordedKeys } from "../secrets-rotation/recorded-keys.ts";
import { type ClusterCopy, copyCluster } from "./cluster.ts";
import { copyHashed, openDraft, requireEmpty, type StoredFile, treeOf, writeManifest } from "./files.ts";

export const backupFormat = "signsealship backup 1";
export const keysFormat = "signsealship keys 1";

type BackupDeps = {
  db: Database;
  asOwner: AsOwner;
  clock: Clock;
  dataDir: string;
  /** The folder of blobs; null when they are in an external store. */
  blobFolder: string | null;
  version: string;
  schema: number;
};

/** The backup's manifest. */
export type BackupFacts = {
  format: string;
  /**
   * The backup's database contains everything that was committed up to some moment between `startedAt` and `endedAt`.
   */
  startedAt: string;
  endedAt: string;
  release: string;
  schema: number;
  lastAuditLine: ClusterCopy["lastAuditLine"];
  /** Ids of the keys in SECRETS_KEY and SECRETS_KEYS_OLD that the backup needs. */
  secretsKeys: string[];
  blobs: number | null;
  keys: boolean;
  clusterFolders: string[];
};

export type BackupReport = { folder: string; keys: string | null; facts: BackupFacts; files: number; bytes: number };

const isWithin = (inner: string, outer: string): boolean => !relative(outer, inner).startsWith("..");

/**
 * Backs up the embedded database, and the blobs if they are in a folder, while the service runs. The folder gets its
 * final name when the backup is complete.
 * @param keys a separate folder for the keys; null leaves them out
 * @throws StartupError for a folder that is not empty, for one that is inside the data folder or another folder of the
 * backup, and when the backup is complete but could not be recorded
 */
export async function makeBackup(deps: BackupDeps, folder: string, keys: string | null): Promise<BackupReport> {
  const { dataDir } = deps;
  if (isWithin(folder, dataDir))
    throw new StartupError(`${folder} is inside of DATA_DIR ${dataDir}: name a folder elsewhere`);
  if (keys !== null) {
    if (isWithin(keys, folder) || isWithin(folder, keys) || isWithin(keys, dataDir))
      throw new StartupError(`--keys ${keys} is not separate from the backup and the data: name a folder elsewhere`);
    await requireEmpty(keys);
  }
  const drafts: Awaited<ReturnType<typeof openDraft>>[] = [];
  const open = async (path: string): Promise<string> => {
    const draft = await openDraft(path);
    drafts.push(draft);
    return draft.path;
  };
  let report: BackupReport;
  try {
    const to = await open(folder);
    const { facts, files } = await fill(deps, to, keys !== null);
    await writeManifest(to, facts, files);
    if (keys !== null) await backUpKeys(dataDir, await open(keys), facts);
    for (const draft of drafts) await draft.finish();
    report = { folder, keys, facts, files: files.length, bytes: files.reduce((sum, { bytes }) => sum + bytes, 0) };
  } catch (error) {
    // A backup that failed leaves nothing, so that nobody relies on a part of it. Above all, no copied keys stay.
    await Promise.allSettled(drafts.map((draft) => draft.discard()));
    throw error;
  }
  await recordBackup(deps, "made").catch((cause: unknown) => {
    throw new StartupError(`The backup in ${folder} is complete, but could not be recorded: run \`backup record\``, {
      cause,
    });
  });
  return report;
}

/** Records, for monitoring, that a backup succeeded. Another program may have made it. */
export async function recordBackup(
  { db, clock }: { db: Database; clock: Clock },
  kind: "made" | "recorded",
): Promise<Date> {
  const at = clock();
  await db.query(sql`INSERT INTO backups (kind, finished_at) VALUES (${kind}, ${at})`);
  return at;
}

async function fill(
  { db, asOwner, clock, dataDir, blobFolder, version, schema }: BackupDeps,
  to: string,
  keys: boolean,
): Promise<{ facts: BackupFacts; files: StoredFile[] }> {
  const startedAt = clock().toISOString();
  // Blobs are copied twice: before and after the database. A blob can be deleted while the database is copied, and the
  // copy may still refer to it. The first pass saves such a blob.
  const blobs = new Map<string, Copied>();
  if (blobFolder) await copyBlobs(blobFolder, join(to, "blobs"), blobs);
  await mkdir(join(to, "database"), { mode: 0o700 });
  const cluster = await copyCluster(asOwner, join(dataDir, "postgres/cluster"), join(to, "database"));
  if (blobFolder) await copyBlobs(blobFolder, join(to, "blobs"), blobs);
  const secretsKeys = await recordedKeys(db);
  const files = [
    ...cluster.files.map((file) => ({ ...file, path: `database/${file.path}` })),
    ...[...blobs].map(([path, { bytes, sha256 }]) => ({ path: `blobs/${path}`, bytes, sha256 })),
  ];
  const facts: BackupFacts = {
    format: backupFormat,
    startedAt,
    endedAt: clock().toISOString(),
    release: version,
    schema,
    lastAuditLine: cluster.lastAuditLine,
    secretsKeys,
    blobs: blobFolder ? blobs.size : null,
    keys,
    clusterFolders: cluster.folders,
  };
  return { facts, files };
}

type Copied = Omit<StoredFile, "path"> & { stamp: string };

// Matches the names of unfinished blobs and of the store's probe file.
const noBlob = /\.tmp$|^probe\.\d+$/;

/** Copies the blobs that are not in `copied`, and those that changed after an earlier pass copied them. */
async function copyBlobs(from: string, to: string, copied: Map<string, Copied>): Promise<void> {
  await mkdir(to, { recursive: true, mode: 0o700 });
  if ((await stampOf(from)) === null) return;
  for await (const { path, isFolder } of treeOf(from)) {
    if (isFolder || noBlob.test(path)) continue;
    const stamp = await stampOf(join(from, path));
    if (stamp === null || copied.get(path)?.stamp === stamp) continue;
    const copy = await copyHashed(join(from, path), join(to, path));
    if (copy) copied.set(path, { ...copy, stamp });
  }
}

async function stampOf(path: string): Promise<string | null> {
  try {
    const { ino, size, mtimeNs } = await stat(path, { bigint: true });
    return `${ino} ${size} ${mtimeNs}`;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

async function backUpKeys(dataDir: string, to: string, { startedAt, secretsKeys }: BackupFacts): Promise<void> {
  const files: StoredFile[] = [];
  for await (const { path, isFolder } of treeOf(join(dataDir, "keys"))) {
    if (isFolder) continue;
    const copied = await copyHashed(join(dataDir, "keys", path), join(to, "keys", path));
    if (copied) files.push({ path: `keys/${path}`, ...copied });
  }
  await writeManifest(to, { format: keysFormat, startedAt, secretsKeys }, files);
}
