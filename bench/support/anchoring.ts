import { parseCheckpoint } from "@signsealship/evidence/log";
import type { Calendars } from "../../service/src/evidence/anchoring/anchoring.ts";
import { anchorRoots } from "../../service/src/evidence/transparency-log/transparency-log.ts";
import { dayMs } from "../../service/src/kernel/platform/clock.ts";
import type { Database } from "../../service/src/kernel/platform/database/database.ts";
import { sql } from "../../service/src/kernel/platform/database/sql.ts";
import { openLog } from "../../service/src/kernel/platform/logs.ts";
import { atMost, type Result } from "../result.ts";
import { published, queueEntries } from "./filled-log.ts";

const authority = "https://tsa.bench.example";

/**
 * Simulates a day of anchoring the test log. Counts the requests to a time-stamping authority and to the calendars, at
 * most 24 each.
 *
 * The log grows `looks` times. After each growth, two nodes call `anchorRoots` at once. The configured interval makes
 * an anchor of the test log due once an hour.
 * @throws Error when the day's last state is still not anchored at the end of the day
 */
export async function anchoring(db: Database, firstEntry: number, looks = 72): Promise<Result[]> {
  const begun = Date.now() + 2 * dayMs;
  let now = begun;
  const { node, requests } = anchoringNode(db, () => new Date(now));
  let size = 0;
  for (let look = 0; look < looks; look++) {
    now = begun + (look * dayMs) / looks;
    await queueEntries(db, firstEntry + look * 100, 100);
    size = await published(db);
    await Promise.all([node(), node()]);
  }
  const { stamps, calendars } = requests();
  now = begun + dayMs;
  await node();
  const [last] = await db.query<{ size: number }>(sql`
    SELECT max(size) AS size FROM log_anchors WHERE log = 'test' AND source = ${authority} AND proof IS NOT NULL`);
  if (last?.size !== size) throw new Error("the last state of the day is not anchored");
  const most = (name: string, count: number) => atMost(`${name} in a day, against 24`, [count], [24], "requests", 1);
  return [most("requests to a time-stamping authority", stamps), most("requests to the calendars", calendars)];
}

/** A node whose authority and calendars accept every request. The result counts the requests about the test log. */
function anchoringNode(db: Database, clock: () => Date) {
  const origins: string[] = [];
  const stamp = async (message: Uint8Array) => {
    origins.push(parseCheckpoint(Buffer.from(message).toString()).origin);
    return { token: Buffer.from("token"), authority, genTime: clock() };
  };
  const roots: string[] = [];
  const calendars: Calendars = {
    submit: async (digest) => {
      roots.push(Buffer.from(digest).toString("base64"));
      const at = clock();
      return {
        proof: Buffer.from("proof"),
        calendar: "",
        submittedAt: at,
        nextUpgradeAt: new Date(at.getTime() + 9 * dayMs),
      };
    },
    upgrade: async () => {
      throw new Error("no proof is due within the day");
    },
  };
  const deps = { db, clock, log: openLog("silent"), intervalMs: dayMs / 24 / 24, calendars };
  const stampers = new Map([[authority, stamp]]);
  return {
    node: () => anchorRoots({ ...deps, stampers }),
    requests: () => {
      const isOfTest = (origin: string) => origin.endsWith("/log/test");
      // A request to a calendar does not name its log. But each anchored state of the live log causes one request to
      // the authority and one to the calendars. So both totals contain `others` requests about the live log.
      const others = origins.filter((origin) => !isOfTest(origin)).length;
      return { stamps: origins.length - others, calendars: roots.length - others };
    },
  };
}
