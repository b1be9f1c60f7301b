import assert from "node:assert/strict";
import { verifyOts } from "@signsealship/evidence/ots";
import { type CalendarDouble, type FakeBlock, startCalendar } from "@signsealship/testing/doubles/calendar";
import { startTsa, type TsaDouble } from "@signsealship/testing/doubles/tsa";
import { type Harness, openHarness } from "@signsealship/testing/harness";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { newPartner, type Service } from "@signsealship/testing/service";
import { testsNeeding } from "@signsealship/testing/tools/tools";
import { type Anchoring, openAnchoring } from "../../../src/evidence/anchoring/anchoring.ts";
import type { Database } from "../../../src/kernel/platform/database/database.ts";
import { sql } from "../../../src/kernel/platform/database/sql.ts";
import { openLog } from "../../../src/kernel/platform/logs.ts";
import { createMetrics } from "../../../src/kernel/platform/metrics.ts";
import { type Caller, type SealAnswer, seal } from "./seal-document.ts";

const { after, before, test } = testsNeeding("openssl");

let tsa: TsaDouble;
let calendars: CalendarDouble[];
let harness: Harness;
let service: Service;
let caller: Caller;
let db: Database;

before(async () => {
  tsa = await startTsa();
  calendars = await Promise.all([startCalendar(), startCalendar()]);
  harness = await openHarness({
    TSA_URLS: tsa.url,
    OTS_CALENDARS: calendars.map(({ url }) => url).join(","),
  });
  ({ service, db } = harness);
  caller = { ...(await newPartner(service)), baseUrl: service.baseUrl };
});
after(async () => {
  await harness.close();
  await Promise.all([tsa, ...calendars].map((double) => double.close()));
});

const metric = async (line: RegExp): Promise<boolean> =>
  line.test(await (await fetch(`${service.baseUrl}/metrics`)).text());

type AnchorRow = { status: string; proof: Buffer; height: number | null; looks: number };
async function anchorOf({ passportId }: SealAnswer): Promise<AnchorRow | undefined> {
  const [row] = await db.query<AnchorRow>(sql`
    SELECT status, proof, block_height AS height, looks FROM passport_anchors WHERE passport_id = ${passportId}`);
  return row;
}

/** Opens the anchoring of another node, with its own metrics. */
function node(): { anchoring: Anchoring; metrics: ReturnType<typeof createMetrics> } {
  const metrics = createMetrics();
  const urls = calendars.map(({ url }) => url);
  const log = openLog("silent");
  return {
    anchoring: openAnchoring({ ...harness, calendars: urls, fetch, clock: () => new Date(), log, metrics }),
    metrics,
  };
}
const later = (minutes: number) => new Date(Date.now() + minutes * 60_000);

test("failing calendars leave openTimestamps null, and the seal succeeds", async () => {
  for (const calendar of calendars) calendar.order("server-error");
  const answer = await seal(caller, makePdf());
  assert.equal(answer.timestamps.openTimestamps, null);
  assert.notEqual(answer.timestamps.rfc3161, null);
  assert.equal(await anchorOf(answer), undefined);
  for (const calendar of calendars) calendar.order("proper");
});

test("one calendar of two is enough", async () => {
  calendars[0]?.order("garbage");
  const { timestamps } = await seal(caller, makePdf());
  assert.equal(timestamps.openTimestamps?.calendar, calendars[1]?.url);
  calendars[0]?.order("proper");
});

const confirmedBy = async (answer: SealAnswer, row: AnchorRow, blocks: readonly FakeBlock[]) => {
  const headers = new Map(blocks.map(({ height, header }) => [height, header]));
  const claims = await verifyOts({ proof: row.proof, digest: Buffer.from(answer.sealedSha256, "hex"), headers });
  return claims.filter(({ name }) => name === "ots.bitcoin").map(({ state }) => state);
};

test("a proof is polled when it is due, and confirmed by the first block that contains it", async () => {
  const answer = await seal(caller, makePdf());
  const first = await anchorOf(answer);
  assert.equal(first?.status, "pending");
  const { anchoring } = node();
  await anchoring.upgradePending(new Date());
  assert.equal((await anchorOf(answer))?.looks, 0);
  await anchoring.upgradePending(later(11));
  const waiting = await anchorOf(answer);
  assert.deepEqual([waiting?.status, waiting?.looks], ["pending", 1]);
  assert.deepEqual(waiting?.proof, first?.proof);
  const block = calendars[0]?.mine();
  await anchoring.upgradePending(later(60));
  const settled = await anchorOf(answer);
  assert.ok(settled && block);
  assert.deepEqual([settled.status, settled.height], ["confirmed", block.height]);
  assert.deepEqual(await confirmedBy(answer, settled, [block]), ["holds"]);
  const evidence = Buffer.from(
    await (await fetch(`${service.baseUrl}/api/passport/verify/${answer.verifyCode}/evidence`)).arrayBuffer(),
  );
  assert.ok(evidence.includes(settled.proof) && evidence.includes('"status": "confirmed"'));
});

test("a calendar that forgets is reported, and the proof stays unchanged", async () => {
  const answer = await seal(caller, makePdf());
  const before = await anchorOf(answer);
  for (const calendar of calendars) calendar.order("forgets");
  const { anchoring, metrics } = node();
  await anchoring.upgradePending(later(60));
  for (const calendar of calendars) calendar.order("proper");
  const after = await anchorOf(answer);
  assert.equal(after?.status, "pending");
  assert.deepEqual(after?.proof, before?.proof);
  assert.match(await metrics.render(), /calendar_answers_total\{calendar="[^"]+",outcome="forgotten"\} [1-9]/);
});

test("many concurrent nodes poll each proof once", async () => {
  const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => seal(caller, makePdf({ text: `many ${n}` }))));
  const now = later(120);
  const looked = await Promise.all(Array.from({ length: 5 }, () => node().anchoring.upgradePending(now)));
  assert.ok(looked.reduce((sum, each) => sum + each) >= answers.length);
  for (const answer of answers) assert.equal((await anchorOf(answer))?.looks, 1);
});

test("a proof that a dead node had claimed is polled again", async () => {
  const answer = await seal(caller, makePdf());
  // Simulates a node that claimed the proof for ten minutes and then crashed.
  await db.query(sql`
    UPDATE passport_anchors SET next_look_at = ${later(10)}, looks = 1 WHERE passport_id = ${answer.passportId}`);
  const block = calendars[1]?.mine();
  await node().anchoring.upgradePending(later(9));
  assert.equal((await anchorOf(answer))?.status, "pending");
  await node().anchoring.upgradePending(later(11));
  const row = await anchorOf(answer);
  assert.deepEqual([row?.status, row?.height], ["confirmed", block?.height]);
});

test("an authority with bad answers gives rfc3161 null; after three failures it is skipped", async () => {
  for (const mode of ["garbage", "replay", "hang-up"] as const) {
    tsa.order(mode);
    const { timestamps, verifyCode } = await seal(caller, makePdf());
    assert.equal(timestamps.rfc3161, null, mode);
    assert.equal((await fetch(`${service.baseUrl}/api/passport/verify/${verifyCode}/document`)).status, 200);
  }
  tsa.order("proper");
  const asked = tsa.requestCount();
  assert.equal((await seal(caller, makePdf())).timestamps.rfc3161, null);
  assert.equal(tsa.requestCount(), asked);
  assert.ok(await metric(/timestamp_refusals_total\{authority="[^"]+",failed="transport"\} 1/));
});
