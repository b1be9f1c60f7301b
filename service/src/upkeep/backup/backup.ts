import type { Sql } from "../../kernel/platform/database/database.ts";
import { sql } from "../../kernel/platform/database/sql.ts";
import type { Metrics } from "../../kernel/platform/metrics.ts";

export { type Held, readHeld, readLastLine, release } from "./held.ts";
export { type BackupReport, makeBackup, recordBackup } from "./make.ts";
export { type RestoreReport, restoreBackup } from "./restore.ts";
export { writeRestoredLine } from "./restored-line.ts";

/**
 * Gauge: the Unix time of the last backup on any node. It has one value for backups that the command made, and one for
 * backups that were recorded for another program. No value before the first backup.
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
