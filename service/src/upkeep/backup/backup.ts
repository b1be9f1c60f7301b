import type { Sql } from "../../kernel/platform/database/database.ts";
import { sql } from "../../kernel/platform/database/sql.ts";
import type { Metrics } from "../../kernel/platform/metrics.ts";

export { type Held, readHeld, readLastLine, release } from "./held.ts";
export { type BackupReport, makeBackup, recordBackup } from "./make.ts";
export { type RestoreReport, restoreBackup } from "./restore.ts";
export { writeRestoredLine } from "./restored-line.ts";

/**
 * Gauge: for each kind of backup (made by the command, or recorded by another program), the Unix time of the last one
 * on any node; no value before the first.
 */
export function backupMetrics(metrics: Metrics, db: Sql): void {
  metrics.gauge(
    "backup_last_success_time_seconds",
    "When a backup of the database last succeeded, made by the command or recorded by another program.",
    "kind",
    async () => {
      const rows = await db.query<{ kind: string; at: Date }>(sql`
        SELECT kind, max(finished_at) AS at FROM backups WHERE kind <> 'restored' GROUP BY kind`);
      return new Map(rows.map(({ kind, at }) => [kind, at.getTime() / 1000]));
    },
  );
}
