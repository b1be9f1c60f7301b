import { setTimeout as delay } from "node:timers/promises";
import type { Database, Sql } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import type { Log } from "../../../kernel/platform/logs.ts";
import { createFailureRuns } from "./failure-runs.ts";

/** The outcome of a delivery. */
type Outcome = {
  seq: number;
  webhookId: string;
  /** True if the webhook's count of failures was above zero when the delivery was claimed. */
  isFailing: boolean;
  statusCode: number | null;
  durationMs: number | null;
  reason: string | null;
  completedAt: Date;
  /** The encrypted request and response; null when no POST was tried. */
  exchange: Buffer | null;
};

/** A lease to release before its end. `leasedUntil` identifies the lease. `untried`: true if nothing was sent. */
type Release = { seq: number; leasedUntil: Date; untried: boolean };

// The statement finds unfinished rows by `completed_at`, because a condition on `state` would read all pending rows.
const completeDeliveries = (db: Sql, done: readonly Outcome[]) =>
  db.query(sql`
UPDATE webhook_deliveries AS delivery
SET state = CASE WHEN done.reason IS NULL THEN 'delivered' ELSE 'failed' END, last_status_code = done.status_code,
  duration_ms = done.duration_ms, reason = done.reason, completed_at = done.completed_at, leased_until = NULL,
  exchange = done.exchange
FROM unnest(${done.map(({ seq }) => seq)}::bigint[], ${done.map(({ statusCode }) => statusCode)}::int[],
  ${done.map(({ durationMs }) => durationMs)}::int[], ${done.map(({ reason }) => reason)}::text[],
  ${done.map(({ completedAt }) => completedAt)}::timestamptz[], ${done.map(({ exchange }) => exchange)}::bytea[])
  AS done (seq, status_code, duration_ms, reason, completed_at, exchange)
WHERE delivery.seq = done.seq AND delivery.completed_at IS NULL`);

/** Releases leases early. Skips a delivery that was leased again or completed since then. */
const releaseDeliveries = (db: Sql, released: readonly Release[]) =>
  db.query(sql`
UPDATE webhook_deliveries AS delivery SET leased_until = NULL, attempts = attempts - back.untried::int
FROM unnest(${released.map(({ seq }) => seq)}::bigint[], ${released.map(({ untried }) => untried)}::bool[],
  ${released.map(({ leasedUntil }) => leasedUntil)}::timestamptz[]) AS back (seq, untried, leased_until)
WHERE delivery.seq = back.seq AND delivery.leased_until = back.leased_until AND delivery.completed_at IS NULL`);

export type OutcomeWriter = {
  complete: (outcome: Outcome) => void;
  release: (release: Release) => void;
  /** Writes the collected outcomes now. Resolves when the write has succeeded or failed. */
  finish: () => Promise<void>;
};

const retryMs = 1_000;

/**
 * Writes outcomes, many in one statement.
 * @param gatherMs how long outcomes are collected first
 */
export function createOutcomeWriter({ db, log }: { db: Database; log: Log }, gatherMs: number): OutcomeWriter {
  const failureRuns = createFailureRuns({ db, log });
  let completed: Outcome[] = [];
  let released: Release[] = [];
  let writing: Promise<void> | null = null;
  let finishing = false;

  async function writeBatch(): Promise<void> {
    let done = completed;
    const back = released;
    completed = [];
    released = [];
    try {
      if (done.length > 0) {
        await completeDeliveries(db, done);
        failureRuns.note(done);
        done = [];
      }
      if (back.length > 0) await releaseDeliveries(db, back);
    } catch (error) {
      log.error({ err: error }, "outcomes of deliveries could not be written");
      // While stopping, the writer drops outcomes that can't be written. Their deliveries are sent again when the
      // leases end.
      if (finishing) return;
      completed = [...done, ...completed];
      released = [...back, ...released];
      await delay(retryMs);
    }
  }

  async function write(): Promise<void> {
    while (completed.length + released.length > 0) {
      if (!finishing) await delay(gatherMs);
      await writeBatch();
    }
    writing = null;
  }

  const begin = () => {
    writing ??= write();
  };
  return {
    complete(outcome) {
      completed.push(outcome);
      begin();
    },
    release(release) {
      released.push(release);
      begin();
    },
    async finish() {
      finishing = true;
      await writing;
      await failureRuns.finish();
    },
  };
}
