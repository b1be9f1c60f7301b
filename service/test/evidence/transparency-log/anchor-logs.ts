import { parseDetached } from "@signsealship/evidence/ots";
import type { Harness } from "@signsealship/testing/harness";
import { until } from "@signsealship/testing/until";
import { openAnchoring } from "../../../src/evidence/anchoring/anchoring.ts";
import { anchorRoots } from "../../../src/evidence/transparency-log/transparency-log.ts";
import { dayMs } from "../../../src/kernel/platform/clock.ts";
import { openLog } from "../../../src/kernel/platform/logs.ts";
import { createMetrics } from "../../../src/kernel/platform/metrics.ts";

let days = 0;

/**
 * Anchors the newest state of each log with a calendar. Each call advances the clock by two days. The reason: a node
 * waits an hour between anchors of the live log, and a day between those of the test log.
 */
export async function anchorLogs(harness: Pick<Harness, "db" | "rowMac">, calendarUrl: string): Promise<void> {
  const log = openLog("silent");
  days += 2;
  const clock = () => new Date(Date.now() + days * dayMs);
  const parts = { ...harness, fetch, clock, log, metrics: createMetrics() };
  const { calendars } = openAnchoring({ ...parts, calendars: [calendarUrl] });
  await anchorRoots({ db: harness.db, clock, log, intervalMs: 3_600_000, stampers: new Map(), calendars });
}

/** Anchors until the URL returns an `.ots` proof, and returns the proof's digest in hex. */
export const digestOfOts = (
  get: () => Promise<Response>,
  anchor: () => Promise<void>,
): Promise<{ digest: string; headers: Headers }> =>
  until(async () => {
    await anchor();
    const answer = await get();
    if (answer.status !== 200) return null;
    const { digest } = parseDetached(new Uint8Array(await answer.arrayBuffer()));
    return { digest: Buffer.from(digest).toString("hex"), headers: answer.headers };
  });
