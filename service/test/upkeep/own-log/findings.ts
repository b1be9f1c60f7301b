import type { Harness } from "@signsealship/testing/harness";
import { until } from "@signsealship/testing/until";
import { monitorAnswer } from "@signsealship/verifier";
import type { Database } from "../../../src/kernel/platform/database/database.ts";
import { sql } from "../../../src/kernel/platform/database/sql.ts";
import { openOwnLog } from "../../../src/upkeep/own-log/own-log.ts";

/** Waits until each line is in its log's tree, and a checkpoint covers the whole tree of each log. */
export const settled = (db: Database) =>
  until(async () => {
    const [waits] = await db.query<{ some: boolean }>(sql`
      SELECT EXISTS (SELECT FROM log_entries) OR EXISTS (SELECT FROM log_trees t
        WHERE NOT EXISTS (SELECT FROM log_checkpoints c WHERE c.log = t.log AND c.size = t.size)) AS some`);
    return waits?.some === false;
  });

/** The findings of `monitor --own` in the test log an hour later, when every line must be in the log. */
export async function findingsOf({ service, db, rowMac }: Pick<Harness, "service" | "db" | "rowMac">) {
  await settled(db);
  const clock = () => new Date(Date.now() + 3_600_000);
  const answer = await monitorAnswer(`${service.baseUrl}/log/test`, {
    key: null,
    state: null,
    with: [],
    isFull: true,
    fetch,
    now: clock,
    policy: null,
    quorumWait: { seconds: 0 },
    own: (origin) => openOwnLog({ db, rowMac, clock }, origin),
  });
  return (answer.json as { findings: string[] }).findings;
}
