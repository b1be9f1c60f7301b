import { hash } from "node:crypto";
import { minuteMs } from "../../kernel/platform/clock.ts";
import type { Database, Sql, Tx } from "../../kernel/platform/database/database.ts";
import { type Statement, sql } from "../../kernel/platform/database/sql.ts";
import type { LoggedRows } from "./queue.ts";
import { queueEntry } from "./queue.ts";
import { maxCosignatures } from "./store.ts";
import { environmentOf, type LogName, logs } from "./trees.ts";

/** A cosignature line of a checkpoint. `witness` is NAME+ID of its key. */
export type Cosignature = { witness: string; line: string; cosignedAt: Date };

/**
 * Claims the witnesses that were not asked recently, for one caller until `until`. Ignores an earlier claim that ends
 * more than a day after `until`, because a node with a wrong clock made it.
 * @returns the claimed witnesses, each with the log's size that the witness last confirmed
 */
export const claimWitnesses = (db: Sql, log: LogName, witnesses: readonly string[], now: Date, until: Date) =>
  db.query<{ witness: string; size: number }>(sql`
    INSERT INTO log_witnesses AS w (log, witness, next_at) SELECT ${log}, name, ${until} FROM unnest(${witnesses}::text[]) AS name
    ON CONFLICT (log, witness) DO UPDATE SET next_at = ${until}
      WHERE w.next_at <= ${now} OR w.next_at > ${until}::timestamptz + interval '1 day'
    RETURNING witness, size`);

/**
 * The state of a witness after a request: the log's size according to the witness, and whether the witness fails or
 * contradicts the log.
 */
export type WitnessState = { witness: string; size: number; isFailing: boolean; alarm: string | null };

/**
 * Records the outcome of a request. The alarm about a contradiction stays until the witness cosigns again, even while
 * the witness doesn't respond.
 */
export const updateWitness = (db: Sql, log: LogName, { witness, size, isFailing, alarm }: WitnessState, now: Date) =>
  db.query(sql`
    UPDATE log_witnesses SET size = ${size}, alarm = CASE WHEN ${isFailing} THEN coalesce(${alarm}, alarm) END,
      failing_since = CASE WHEN ${isFailing} THEN coalesce(failing_since, ${now}) END
    WHERE log = ${log} AND witness = ${witness}`);

/**
 * The state of each witness that was ever asked: the log's size according to the witness, when it began to fail, and
 * what it contradicts.
 */
export type AskedWitness = { witness: string; size: number; failingSince: Date | null; alarm: string | null };

export const selectWitnesses = (db: Sql, log: LogName): Promise<AskedWitness[]> =>
  db.query<AskedWitness>(sql`
    SELECT witness, size, failing_since AS "failingSince", alarm FROM log_witnesses WHERE log = ${log} ORDER BY witness`);

export const selectCosignatures = (db: Sql, log: LogName, size: number): Promise<Cosignature[]> =>
  db.query<Cosignature>(sql`
    SELECT witness, line, cosigned_at AS "cosignedAt" FROM log_cosignatures
    WHERE log = ${log} AND size = ${size} ORDER BY cosigned_at, witness LIMIT ${maxCosignatures}`);

const cosignatureLock = 7_246_008;

/** Lets one transaction at a time add cosignatures to a log. */
export const lockCosignatures = (tx: Tx, log: LogName) =>
  tx.query(sql`SELECT pg_advisory_xact_lock(${cosignatureLock}, ${logs.indexOf(environmentOf(log))})`);

export const insertCosignature = (
  tx: Tx,
  log: LogName,
  size: number,
  { witness, line, cosignedAt }: Cosignature,
  isQuorum: boolean,
) =>
  tx.query(sql`
    INSERT INTO log_cosignatures (log, size, witness, line, cosigned_at, is_quorum)
    VALUES (${log}, ${size}, ${witness}, ${line}, ${cosignedAt}, ${isQuorum}) ON CONFLICT DO NOTHING`);

/** The newest checkpoint that has a quorum, and the time when it reached the quorum; undefined without one. */
export async function selectWitnessed(db: Sql, log: LogName): Promise<{ size: number; at: Date } | undefined> {
  const [found] = await db.query<{ size: number; at: Date }>(sql`
    SELECT size, cosigned_at AS at FROM log_cosignatures WHERE log = ${log} AND is_quorum ORDER BY size DESC LIMIT 1`);
  return found;
}

/**
 * The size of the largest checkpoint that a log's readers have seen. `raisedAt`: when they first saw it. Null when they
 * have seen none, or an earlier release recorded the size.
 */
export type SeenSize = { size: number; raisedAt: Date | null };

/**
 * The largest size that readers of a log have seen; undefined for a log about which no witness was asked. A forged row
 * may state a larger size than the newest checkpoint has. Then the newest checkpoint's size is returned instead.
 */
export async function selectPublished(db: Sql, log: LogName): Promise<SeenSize | undefined> {
  const [seen] = await db.query<SeenSize>(sql`
    SELECT least(coalesce(p.size, 0), newest) AS size, raised_at AS "raisedAt"
    FROM (SELECT coalesce(max(size), 0) AS newest FROM log_checkpoints WHERE log = ${log}) AS c
    LEFT JOIN log_published p ON p.log = ${log} WHERE EXISTS (SELECT FROM log_witnesses WHERE log = ${log})`);
  return seen;
}

/**
 * Records the size of a checkpoint that readers are about to see.
 * @returns false when a size that is at least as large was recorded before
 */
export async function raisePublished(db: Sql, log: LogName, size: number, now: Date): Promise<boolean> {
  const raised = await db.query(sql`
    INSERT INTO log_published AS p (log, size, raised_at) VALUES (${log}, ${size}, ${now})
    ON CONFLICT (log) DO UPDATE SET size = excluded.size, raised_at = excluded.raised_at WHERE excluded.size > p.size
    RETURNING size`);
  return raised.length > 0;
}

/** How long readers get the same checkpoint: after its quorum is complete, or while it waits for its quorum. */
export const quorumWaitMs = minuteMs;

/**
 * The size that readers have seen, if it waits for its quorum and became visible at most `quorumWaitMs` ago; else null.
 * For that long, readers get this size. Otherwise, in a busy log, they would see a larger size before any quorum is
 * complete.
 */
export function sizeInWait({ size, raisedAt }: SeenSize, witnessed: { size: number } | undefined, now: Date) {
  const isWaiting = size > (witnessed?.size ?? 0) && raisedAt !== null;
  // The clocks of nodes differ, so `raisedAt` may be in the future.
  return isWaiting && Math.abs(now.getTime() - raisedAt.getTime()) <= quorumWaitMs ? size : null;
}

/** The transparency log's lines for the published policies. */
export const loggedPolicies: LoggedRows = (environment) => sql`
  SELECT 'policy/v1 ' || sha256 AS line, 'policy' AS row, published_at AS at FROM log_policies WHERE log = ${environment}`;

/** Publishes a policy and queues its line. Does nothing when it was published before. */
export const publishPolicy = (db: Database, log: "live", sha256: string, policy: string, at: Date): Promise<void> =>
  db.transaction(async (tx) => {
    const published = await tx.query(sql`
      INSERT INTO log_policies (log, sha256, policy, published_at) VALUES (${log}, ${sha256}, ${policy}, ${at})
      ON CONFLICT DO NOTHING RETURNING log`);
    if (published.length > 0) await tx.query(queueEntry(log, { kind: "policy/v1", sha256 }, at));
  });

/** A published policy by its hash; null for an unknown hash, or for a text that was changed in the database. */
export async function selectPolicy(db: Sql, log: "live", sha256: string): Promise<string | null> {
  const [found] = await db.query<{ policy: string }>(
    sql`SELECT policy FROM log_policies WHERE log = ${log} AND sha256 = ${sha256}`,
  );
  return found && hash("sha256", found.policy) === sha256 ? found.policy : null;
}

/**
 * Gauges for each witness. One is the number of entries that the witness has not seen, in the log where that number is
 * largest. The other is whether the witness contradicts any log.
 */
export const witnessGauges: Statement = sql`
SELECT gauge, w.witness AS label, max(value) AS value FROM log_witnesses w JOIN log_trees t USING (log), LATERAL (VALUES
  ('log_witness_behind', greatest(0, coalesce(t.final_size, t.size) - w.size)::float8),
  ('log_witness_alarm', (alarm IS NOT NULL)::int::float8)
) AS figures (gauge, value) GROUP BY gauge, w.witness`;
