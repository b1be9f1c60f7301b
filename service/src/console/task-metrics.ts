import type { Clock } from "../platform/clock.ts";
import type { Sql } from "../platform/database/database.ts";
import type { Metrics } from "../platform/metrics.ts";
import { type QueueCount, queueCounts, type TaskKind, taskKinds } from "../tasks/tasks.ts";

/** Gauges of the live tasks that are open, and of those that are overdue, by kind. */
export function taskMetrics(metrics: Metrics, { db, clock }: { db: Sql; clock: Clock }): void {
  const kinds = Object.keys(taskKinds) as TaskKind[];
  const read = (figure: (count: QueueCount) => number) => async () => {
    const counts = await queueCounts(db, "live", kinds, clock());
    return new Map(counts.map((count) => [count.kind, figure(count)]));
  };
  metrics.gauge(
    "tasks_open",
    "Live tasks of people that are open.",
    "kind",
    read(({ open }) => open),
  );
  metrics.gauge(
    "tasks_overdue",
    "Live tasks of people that are overdue.",
    "kind",
    read(({ overdue }) => overdue),
  );
}
