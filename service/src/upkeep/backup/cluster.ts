import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { lastLine } from "../../kernel/audit/audit.ts";
import { longStatements, type Tx } from "../../kernel/platform/database/database.ts";
import type { AsOwner } from "../../kernel/platform/database/migrations.ts";
import { sql } from "../../kernel/platform/database/sql.ts";
import { StartupError } from "../../kernel/platform/errors.ts";
import { copyHashed, type StoredFile, treeOf } from "./files.ts";

/**
 * Files that the copy of the running cluster leaves out (PostgreSQL, section 25.3.3). PostgreSQL recreates most of them
 * at each start. `copyLog` copies the WAL afterwards, and `writeLabels` writes the `backup_label`.
 */
const emptied =
  /^(?:pg_wal|pg_replslot|pg_dynshmem|pg_notify|pg_serial|pg_snapshots|pg_stat_tmp|pg_subtrans)\/.*|^postmaster\.(?:pid|opts)$|^(?:backup_label|tablespace_map)|(?:^|\/)(?:pg_internal\.init|pgsql_tmp)/;
const control = "global/pg_control";

export type ClusterCopy = {
  files: StoredFile[];
  /** The folders in the copy. PostgreSQL doesn't start when one of them is missing, even an empty one. */
  folders: string[];
  lastAuditLine: { id: number; at: string } | null;
};

/**
 * Copies the running cluster like `pg_basebackup`, which the service does not ship. At a restore, PostgreSQL recovers
 * the copy from the WAL written during the copy.
 */
export function copyCluster(asOwner: AsOwner, cluster: string, to: string): Promise<ClusterCopy> {
  return asOwner((owner) =>
    owner.transaction(async (tx) => {
      await tx.script("SET LOCAL idle_in_transaction_session_timeout = 0");
      // A temporary replication slot keeps PostgreSQL from removing the WAL that the copy needs. The slot ends with the
      // connection.
      await tx.query(sql`SELECT pg_create_physical_replication_slot(${`backup_${process.pid}`}, true, true)`);
      await tx.query(sql`SELECT pg_backup_start('signsealship', true)`);
      const copied = await copyFiles(cluster, to);
      const lastAuditLine = await lastLine(tx);
      const stopped = await stopBackup(tx);
      const labels = await writeLabels(to, stopped);
      const [, first = ""] = /^START WAL LOCATION: .* \(file ([0-9A-F]{24})\)$/m.exec(stopped.label) ?? [];
      const log = await copyLog(cluster, to, first, stopped.last);
      return {
        ...copied,
        files: [...copied.files, ...labels, ...log],
        lastAuditLine,
      };
    }, longStatements),
  );
}

async function copyFiles(cluster: string, to: string): Promise<{ files: StoredFile[]; folders: string[] }> {
  const files: StoredFile[] = [];
  const folders: string[] = [];
  const copy = async (path: string) => {
    const copied = await copyHashed(join(cluster, path), join(to, path));
    if (copied) files.push({ path, ...copied });
  };
  for await (const { path, isFolder } of treeOf(cluster)) {
    // PostgreSQL doesn't start if a replication slot's folder has no state file. So the copy also leaves out the
    // subfolders of the folders that it empties.
    if (emptied.test(path)) continue;
    if (isFolder) {
      await mkdir(join(to, path), { recursive: true, mode: 0o700 });
      folders.push(path);
    } else if (path !== control) await copy(path);
  }
  // The control file is copied last, as by pg_basebackup. PostgreSQL may be writing it, so it is read until two reads
  // are equal.
  await untilStable(join(cluster, control));
  await copy(control);
  return { files, folders };
}

async function untilStable(path: string): Promise<void> {
  for (let before = await readFile(path); ; ) {
    const now = await readFile(path);
    if (now.equals(before)) return;
    before = now;
  }
}

type Stopped = { label: string; tablespaces: string; last: string };

async function stopBackup(tx: Tx): Promise<Stopped> {
  const [row] = await tx.query<Stopped>(sql`
    SELECT labelfile AS label, spcmapfile AS tablespaces, pg_walfile_name(lsn - 1) AS last FROM pg_backup_stop(false)`);
  if (!row) throw new StartupError("the database did not end the backup");
  return row;
}

async function writeLabels(to: string, { label, tablespaces }: Stopped): Promise<StoredFile[]> {
  if (tablespaces !== "")
    throw new StartupError("the database has tablespaces of its own: back it up by pg_basebackup");
  await writeFile(join(to, "backup_label.new"), label, { mode: 0o600, flush: true });
  const copied = await copyHashed(join(to, "backup_label.new"), join(to, "backup_label"));
  return copied ? [{ path: "backup_label", ...copied }] : [];
}

const segment = /^[0-9A-F]{24}$/;

/**
 * Copies the WAL segments from the copy's start to its end, and all timeline history files. At the end of the copy
 * PostgreSQL switched to a new segment, so all of these segments are complete.
 */
async function copyLog(cluster: string, to: string, first: string, last: string): Promise<StoredFile[]> {
  const names = (await readdir(join(cluster, "pg_wal"))).filter(
    (name) => name.endsWith(".history") || (segment.test(name) && name >= first && name <= last),
  );
  if (!names.includes(first) || !names.includes(last))
    throw new StartupError(`the database's log from ${first} to ${last} is not whole`);
  const files: StoredFile[] = [];
  for (const name of names.sort()) {
    const path = `pg_wal/${name}`;
    const copied = await copyHashed(join(cluster, path), join(to, path));
    if (!copied) throw new StartupError(`the database's log ${name} went away`);
    files.push({ path, ...copied });
  }
  return files;
}
