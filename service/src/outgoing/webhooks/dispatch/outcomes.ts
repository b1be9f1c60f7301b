import { setTimeout as delay } from "node:timers/promises";
import type { Database, Sql } from "../../platform/database/database.ts";
import { sql } from "../../platform/database/sql.ts";
import type { Log } from "../../platform/logs.ts";
import { createFailureRuns } from "./failure-runs.ts";

/** What became of a delivery. */
export type Outcome = {
  seq: number;
  webhookId: string;
  /** Whether failures of its webhook had been counted when it was claimed. */
  isFailing: boolean;
  statusCode: number | null;
  durationMs: number | null;
  reason: string | null;
  completedAt: Date;
  /** What was sent and answered, sealed; null when nothing was sent. */
  exchange: Buffer | null;
};

/** A lease that is given back, known by its end; `untried` when nothing was sent. */
export type Release = { seq: number; leasedUntil: Date; untried: boolean };

// Asked by completed_at and not by the state, or all that is pending would be read for the few rows that are meant.
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

/** Gives leases back, so that nobody need wait for their end; never one that ran out and is another node's now. */
const releaseDeliveries = (db: Sql, released: readonly Release[]) =>
  db.query(sql`
UPDATE webhook_deliveries AS delivery SET leased_until = NULL, attempts = attempts - back.untried::int
FROM unnest(${released.map(({ seq }) => seq)}::bigint[], ${released.map(({ untried }) => untried)}::bool[],
  ${released.map(({ leasedUntil }) => leasedUntil)}::timestamptz[]) AS back (seq, untried, leased_until)
WHERE delivery.seq = back.seq AND delivery.leased_until = back.leased_until AND delivery.completed_at IS NULL`);

export type OutcomeWriter = {
  complete: (outcome: Outcome) => void;
  release: (release: Release) => void;
  /** Writes what is gathered without further delay, and resolves when that has been tried. */
  finish: () => Promise<void>;
};

const retryMs = 1_000;

/** Writes outcomes, many by one statement. @param gatherMs how long they are gathered */
export function createOutcomeWriter({ db, log }: { db: Database; log: Log }, gatherMs: number): OutcomeWriter {
  const failureRuns = createFailureRuns({ db, log });
  let completed: Outcome[] = [];
  let released: Release[] = [];
  let writing: Promise<void> | null = null;
  let finishing = false;

  async function writeBatch(): Promise<void> {
    const [done, back] = [completed, released];
    completed = [];
    released = [];
    try {
      if (done.length > 0) {
        await completeDeliveries(db, done);
        failureRuns.note(done);
      }
      if (back.length > 0) await releaseDeliveries(db, back);
    } catch (error) {
      log.error({ err: error }, "outcomes of deliveries could not be written");
      // At the end what is not written is let go: it is sent again when its lease has run out.
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
