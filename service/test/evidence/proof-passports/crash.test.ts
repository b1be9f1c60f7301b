import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, test } from "node:test";
import { databaseOf } from "@signsealship/testing/database";
import { startCalendar } from "@signsealship/testing/doubles/calendar";
import { forTests } from "@signsealship/testing/for-tests";
import { repeats } from "@signsealship/testing/inputs/fuzz";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { newPartner, ownProcess, startService, temporaryFolder } from "@signsealship/testing/service";
import { sql } from "../../../src/kernel/platform/database/sql.ts";
import { bytesOf, fileForm, postSeal, type SealAnswer } from "./seal-document.ts";

const folder = temporaryFolder();
const seals = repeats(100, 60, 200);
// The service is killed when the number of acknowledged seals reaches one of these, and once more at the end.
const killAfter = [30, 75, 140].slice(0, repeats(2, 1, 3));

after(() => service?.stop());
const calendar = await forTests(startCalendar());
let service = await startService({
  DATA_DIR: folder.path,
  RATE_LIMITS: "off",
  OTS_CALENDARS: calendar.url,
  ...ownProcess,
});
const { headers } = await newPartner(service);

type Acknowledged = SealAnswer & { document: Buffer };

/**
 * Seals documents, six at a time. Kills the service once this many are acknowledged, while other requests are in
 * progress.
 */
async function sealUntilKilled(from: number, until: number, acknowledged: Acknowledged[]): Promise<void> {
  let next = from;
  let killed = false;
  const worker = async () => {
    while (!killed) {
      const document = makePdf({ bytes: 50_000, text: `Document ${next++}` });
      const response = await postSeal({ baseUrl: service.baseUrl, headers }, fileForm(document)).catch(() => null);
      const answer = (await response?.json().catch(() => null)) as SealAnswer | null;
      if (response?.status === 200 && answer) acknowledged.push({ ...answer, document });
      if (acknowledged.length >= until && !killed) {
        killed = true;
        await service.kill();
      }
    }
  };
  await Promise.all(Array.from({ length: 6 }, worker));
}

test(`kill -9 during ${seals} seals: acknowledged documents verify and download, and nothing incomplete is visible`, async () => {
  const acknowledged: Acknowledged[] = [];
  for (const [round, until] of [...killAfter, seals].entries()) {
    await sealUntilKilled(round * 1000, until, acknowledged);
    service = await service.restart();
  }
  assert.ok(acknowledged.length >= seals);
  for (const { document, verifyCode, docSha256, sealedSha256 } of acknowledged) {
    const url = `${service.baseUrl}/api/passport/verify/${verifyCode}`;
    const { verdict, ...said } = (await (await fetch(url)).json()) as Record<string, unknown>;
    assert.deepEqual([verdict, said["docSha256"], said["sealedSha256"]], ["verified_test", docSha256, sealedSha256]);
    const sealed = await bytesOf(await fetch(`${url}/document`));
    assert.equal(createHash("sha256").update(sealed).digest("hex"), sealedSha256);
    assert.deepEqual(sealed.subarray(0, document.length), document);
  }
  const db = await databaseOf(folder.path);
  try {
    const rows = await db.query<{ code: string; events: number; audits: number; anchors: number }>(sql`
      SELECT verify_code AS "code@proof", (SELECT count(*) FROM events WHERE event_id = passports.id::text) AS events,
        (SELECT count(*) FROM audit_log WHERE detail->>'passportId' = passports.id::text) AS audits,
        (SELECT count(*) FROM passport_anchors WHERE passport_id = passports.id) AS anchors
      FROM passports`);
    assert.ok(rows.length >= acknowledged.length);
    const known = new Set(rows.map(({ code }) => code));
    assert.ok(acknowledged.every(({ verifyCode }) => known.has(verifyCode)));
    // Passports that were committed but not acknowledged must be complete as well.
    for (const { code, events, audits, anchors } of rows) {
      assert.deepEqual([events, audits, anchors], [1, 1, 1]);
      assert.equal((await fetch(`${service.baseUrl}/api/passport/verify/${code}/document`)).status, 200);
    }
    const [events] = await db.query<{ count: number }>(sql`
      SELECT count(*) FROM events WHERE topic = 'passport.sealed'`);
    assert.equal(events?.count, rows.length);
  } finally {
    await db.close();
  }
});
