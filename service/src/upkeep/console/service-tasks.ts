import { X509Certificate } from "node:crypto";
import { type Clock, dayMs } from "../../kernel/platform/clock.ts";
import type { Database, Tx } from "../../kernel/platform/database/database.ts";
import { sql } from "../../kernel/platform/database/sql.ts";
import { type Marked, marked } from "../../kernel/platform/database/state-mac.ts";
import { closeTasks, openTask, type TaskKind, taskState } from "../../kernel/tasks/tasks.ts";

/** A certificate with which the service signs: its purpose and its PEM. */
export type SigningCertificate = { name: string; pem: string };

export type ServiceTaskDeps = { db: Database; clock: Clock; certificates: readonly SigningCertificate[] };

const warnMs = 60 * dayMs;

/**
 * Opens tasks about the service itself (jobs that failed for good, expiring certificates), and closes those that are no
 * longer needed.
 */
export async function openServiceTasks({ db, clock, certificates }: ServiceTaskDeps): Promise<void> {
  const at = clock();
  await db.transaction(async (tx) => {
    const failed = await tx.query<{ queue: string; count: number; newest: Date }>(sql`
      SELECT queue, count(*)::int AS count, max(failed_at) AS newest FROM jobs WHERE failed_at IS NOT NULL GROUP BY queue`);
    const dead = failed.map(
      ({ queue, count, newest }): Needed => [queue, { reason: jobsText(queue, count), since: newest }],
    );
    await keepOpen(tx, at, "job_dead", new Map(dead));
    await keepOpen(tx, at, "key_expiry", new Map(certificates.flatMap((each) => expiring(each, at))));
  });
}

const jobsText = (queue: string, count: number): string =>
  count === 1 ? `1 job of the queue ${queue} failed for good.` : `${count} jobs of the queue ${queue} failed for good.`;

function expiring({ name, pem }: SigningCertificate, at: Date): Needed[] {
  const { validToDate } = new X509Certificate(pem);
  if (validToDate.getTime() - at.getTime() > warnMs) return [];
  const day = validToDate.toISOString().slice(0, 10);
  // A renewed certificate has another date, and therefore another task.
  return [[`${name} ${day}`, { reason: `The certificate of the ${name} expires on ${day}.`, since: null }]];
}

/** A subject that needs a task, and the time since when; null for always. */
type Needed = [subject: string, needed: { reason: string; since: Date | null }];

/** A closed task whose MAC is not valid is ignored, so its subject gets a new task. */
async function keepOpen(tx: Tx, at: Date, kind: TaskKind, needed: ReadonlyMap<string, Needed[1]>): Promise<void> {
  const rows = await tx.query<{ subject: string; endedAt: Date | null } & Marked>(sql`
    SELECT subject, ended_at AS "endedAt", ${marked(taskState, sql`t`)} FROM tasks t
    WHERE kind = ${kind} AND order_id IS NULL
      AND (state IN ('open', 'claimed') OR (state = 'done' AND ended_by <> 'system'))`);
  const open = new Set(rows.filter(({ endedAt }) => endedAt === null).map(({ subject }) => subject));
  const ended = rows.filter(({ isAuthentic }) => isAuthentic);
  for (const [subject, { reason, since }] of needed) {
    const isSettled = ended.some(
      (row) => row.subject === subject && row.endedAt !== null && (since === null || since <= row.endedAt),
    );
    if (!open.has(subject) && !isSettled) await openTask(tx, { kind, at, environment: "live", subject, reason });
  }
  for (const subject of open)
    if (!needed.has(subject))
      await closeTasks(tx, { kinds: [kind], subject }, { state: "done", at, by: "system", outcome: "settled" });
}

/** The queues with failed jobs that a person must still look at. */
export const queuesToLookAt = async (db: Pick<Database, "query">): Promise<string[]> =>
  (
    await db.query<{ queue: string }>(sql`
      SELECT DISTINCT subject AS queue FROM tasks WHERE kind = 'job_dead' AND state IN ('open', 'claimed')`)
  ).map(({ queue }) => queue);
