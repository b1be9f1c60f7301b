import { X509Certificate } from "node:crypto";
import type { Clock } from "../platform/clock.ts";
import type { Database, Tx } from "../platform/database/database.ts";
import { sql } from "../platform/database/sql.ts";
import { closeTasks, openTask, type TaskKind } from "../tasks/tasks.ts";

/** A certificate that the service signs with: what it is for, and the PEM of it. */
export type SigningCertificate = { name: string; pem: string };

export type ServiceTaskDeps = { db: Database; clock: Clock; certificates: readonly SigningCertificate[] };

const warnMs = 60 * 24 * 3_600_000;

/** Opens what the service itself needs of a person, and closes what it needs no more: jobs that failed for good, certificates that expire. */
export async function openServiceTasks({ db, clock, certificates }: ServiceTaskDeps): Promise<void> {
  const at = clock();
  await db.transaction(async (tx) => {
    const failed = await tx.query<{ queue: string; count: number }>(
      sql`SELECT queue, count(*)::int AS count FROM jobs WHERE failed_at IS NOT NULL GROUP BY queue`,
    );
    await keepOpen(tx, at, "job_dead", new Map(failed.map(({ queue, count }) => [queue, jobsText(queue, count)])));
    await keepOpen(tx, at, "key_expiry", new Map(certificates.flatMap((each) => expiring(each, at))));
  });
}

const jobsText = (queue: string, count: number): string =>
  count === 1 ? `1 job of the queue ${queue} failed for good.` : `${count} jobs of the queue ${queue} failed for good.`;

function expiring({ name, pem }: SigningCertificate, at: Date): [string, string][] {
  const { validToDate } = new X509Certificate(pem);
  if (validToDate.getTime() - at.getTime() > warnMs) return [];
  const day = validToDate.toISOString().slice(0, 10);
  // A new certificate has a date of its own, and so a task of its own.
  return [[`${name} ${day}`, `The certificate of the ${name} expires on ${day}.`]];
}

/** Of each subject one task is open; a task whose subject is gone is done. A subject that was finished by word while it is still so stays finished. */
async function keepOpen(tx: Tx, at: Date, kind: TaskKind, reasons: ReadonlyMap<string, string>): Promise<void> {
  const rows = await tx.query<{ subject: string; isOpen: boolean }>(sql`
    SELECT subject, bool_or(state IN ('open', 'claimed')) AS "isOpen" FROM tasks WHERE kind = ${kind} AND order_id IS NULL
      AND (state IN ('open', 'claimed') OR (state = 'done' AND ended_by <> 'system')) GROUP BY subject`);
  const known = new Set(rows.map(({ subject }) => subject));
  for (const [subject, reason] of reasons)
    if (!known.has(subject)) await tx.query(openTask({ kind, at, environment: "live", subject, reason }));
  for (const { subject, isOpen } of rows)
    if (isOpen && !reasons.has(subject))
      await tx.query(closeTasks({ kinds: [kind], subject }, { state: "done", at, by: "system", outcome: "settled" }));
}
