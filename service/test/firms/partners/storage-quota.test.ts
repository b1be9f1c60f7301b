import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { databaseOfRunning } from "@signsealship/testing/database";
import { minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { rowMacOf } from "@signsealship/testing/row-mac";
import { newPartner, startService, temporaryFolder } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import { sql } from "../../../src/kernel/platform/database/sql.ts";
import { markMembers } from "../../../src/kernel/retention/retention.ts";

const folder = temporaryFolder();
// A PDF with a long comment after its end. Three such files exceed the quota of two megabytes.
const document = Buffer.concat([makePdf(), Buffer.from(`\n%${"x".repeat(800_000)}\n`)]);

const limits = join(folder.path, "limits.yaml");
const tiers = ["trial: 2000000", "PartnerLink: none", "ProOffice: none", "ClosingDesk: none"].map((each) => {
  const [tier, storedBytes] = each.split(": ");
  return `${tier}: {deliveriesPerHostPerMinute: none, waitingUploads: 8, storedBytes: ${storedBytes}}`;
});
writeFileSync(limits, `tiers: {${tiers.join(", ")}}`);
let service = await startService({ DATA_DIR: join(folder.path, "data"), LIMITS: limits });
after(() => service.stop());

const place = (headers: Record<string, string>) =>
  fetch(`${service.baseUrl}/api/partner/orders`, { method: "POST", headers, body: orderForm(minimal, document) });

test("a firm can store as many bytes as its tier allows, also after a restart; another firm and another tier are not affected", async () => {
  const trial = await newPartner(service);
  const keyed = { ...trial.headers, "Idempotency-Key": "the-second-order" };
  assert.equal((await place(trial.headers)).status, 201);
  assert.equal((await place(keyed)).status, 201);
  const refused = async () => {
    const answer = await place(trial.headers);
    assert.equal(answer.status, 400);
    assert.deepEqual(await answer.json(), { error: "Your trial tier allows 2 MB of stored documents." });
  };
  await refused();
  assert.equal((await place(keyed)).status, 201);
  await service.stop();
  service = await service.restart();
  await refused();
  assert.equal((await place((await newPartner(service)).headers)).status, 201);
  const paying = await newPartner(service, { tier: "PartnerLink" });
  for (let n = 0; n < 3; n++) assert.equal((await place(paying.headers)).status, 201);
});

test("sealed PDFs and certificates of passports count, too, and deleted ones do not", async () => {
  const trial = await newPartner(service);
  const seal = () => {
    const body = new FormData();
    body.set("file", new Blob([new Uint8Array(document)]), "deed.pdf");
    return fetch(`${service.baseUrl}/api/passport/seal`, { method: "POST", headers: trial.headers, body });
  };
  for (let n = 0; n < 2; n++) assert.equal((await seal()).status, 200);
  const refused = await seal();
  assert.equal(refused.status, 400);
  assert.deepEqual(await refused.json(), { error: "Your trial tier allows 2 MB of stored documents." });
  assert.equal((await place(trial.headers)).status, 400);

  const db = databaseOfRunning(service.dataDir);
  const { partnerId } = trial;
  const stored = await db.query<{ bytes: number }>(sql`SELECT bytes FROM passports WHERE partner_id = ${partnerId}`);
  for (const { bytes } of stored) assert.ok(bytes > document.length);
  const restart = async () => {
    await service.stop();
    service = await service.restart();
  };
  const [passport] = await db.query<{ blobKey: string }>(sql`
    SELECT blob_key AS "blobKey" FROM passports WHERE partner_id = ${partnerId} LIMIT 1`);
  assert.ok(passport);
  const mark = { ...passport, rule: "test.proofPassports", deletedAt: new Date() };
  const write = (mac: Buffer) =>
    db.query(sql`
      INSERT INTO deleted_blobs (blob_key, rule, deleted_at, row_mac)
      VALUES (${mark.blobKey}, ${mark.rule}, ${mark.deletedAt}, ${mac})`);
  await write(Buffer.alloc(36));
  const refusals = () => db.query(sql`SELECT FROM refused_marks`);
  await restart();
  await until(async () => (await refusals()).length === 1);
  await restart();
  assert.equal((await place(trial.headers)).status, 400, "a forged mark of deletion gives no room");
  await write((await rowMacOf(service.dataDir)).of("deleted_blobs", markMembers(mark)));
  await db.close();
  await restart();
  assert.equal((await place(trial.headers)).status, 201);
  assert.equal((await place(trial.headers)).status, 400);
});
