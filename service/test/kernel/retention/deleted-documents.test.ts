import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { markDeleted, rowMacOf } from "@signsealship/testing/row-mac";
import { needs } from "@signsealship/testing/tools/tools";
import { until } from "@signsealship/testing/until";
import { sql } from "../../../src/kernel/platform/database/sql.ts";
import { sealRoom, verify } from "../../closing/closing-passports/seal-room.ts";
import { openRoomsService } from "../../closing/rooms/rooms-service.ts";

const day = 24 * 3600;
const get = (path: string, accept = "application/json") =>
  fetch(running.service.baseUrl + path, { headers: { Accept: accept }, redirect: "manual" });
const json = async (path: string) => {
  const answer = await get(path);
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
};
const page = async (path: string) => (await get(path, "text/html")).text();

/**
 * The tests share one object of each kind, and restart the service with its clock ahead. The harness stops only the
 * first service, so the last one is stopped here.
 */
after(async () => {
  await running.service.stop();
});
const running = await forTests(openRoomsService());
let firm = await running.partner("ClosingDesk");
const order = await firm.order({ svc_sign: "true" });
const room = await firm.room();
await firm.ok("POST", `/api/rooms/${room}/orders`, { orderCode: order });
const version = await sealRoom(firm, room);
const form = new FormData();
form.set("file", new Blob([new Uint8Array(makePdf())]), "deed.pdf");
const passport = await firm.ok("POST", "/api/passport/seal", form);

const blobsIn = (): string[] =>
  readdirSync(join(running.service.dataDir, "blobs"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name);

async function days(ahead: number): Promise<void> {
  await running.service.stop();
  running.service = await running.service.restart({ NODE_ENV: "test", TIME_TRAVEL: String(ahead * day) });
  firm = firm.at(running.service);
}

test("pages of test orders state when their documents are deleted, and doctor lists the next deletions", async () => {
  assert.equal(blobsIn().length, 3);
  assert.match(await page(`/orders/${order}`), /Test documents are deleted 30 days after the last change/);
  assert.match(await page(`/rooms/${room}`), /Test documents, .*are deleted 30 days after the last change/);
  assert.match(await page(`/verify/${passport.verifyCode}`), /The sealed PDF is deleted 30 days after it was sealed/);
  assert.match(await page(`/v/room/${version.verifyCode}`), /are deleted 30 days after the last change/);
  type Doctor = { checks: { name: string; result: string; detail: string }[] };
  const { checks } = await running.service.cli<Doctor>("doctor").catch((error: Error) => assert.fail(error.message));
  const finding = checks.find(({ name }) => name === "retention");
  assert.match(finding?.detail ?? "", /retention\.yaml: 0 documents are due; next by test\.\w+ on \d{4}-\d\d-\d\d$/);
});

test("after 30 days the stored files of test are gone, and every address says so and still verifies", async () => {
  await days(31);
  await until(() => blobsIn().length === 0);
  const proof = await json(`/api/passport/verify/${passport.verifyCode}`);
  assert.equal(proof.status, 200);
  assert.equal(proof.body["verdict"], "verified_test");
  assert.equal(proof.body["docSha256"], passport.docSha256);
  assert.equal(proof.body["certificateAvailable"], false);
  assert.match(String(proof.body["certificateDeletedAtUtc"]), /^\d{4}-\d\d-\d\dT/);

  const document = await json(`/api/passport/verify/${passport.verifyCode}/document`);
  assert.equal(document.status, 404);
  assert.equal(document.body["verdict"], "unknown");
  assert.match(
    String(document.body["deleted"]),
    /^The sealed PDF was deleted on \d{4}-\d\d-\d\d, as the retention plan says\.$/,
  );

  const closing = await verify(running.service.baseUrl, version.verifyCode);
  assert.deepEqual([closing.chainOk, closing.manifestSha256], [true, version.manifestSha256]);
  const certificate = await json(`/api/verify/room/${version.verifyCode}/pdf`);
  assert.equal(certificate.status, 404);
  assert.match(String(certificate.body["deleted"]), /^The certificate was deleted on /);

  assert.match(
    await page(`/verify/${passport.verifyCode}`),
    /The sealed PDF was deleted on .* Ask the firm that had it sealed/,
  );
  const closingPage = await page(`/v/room/${version.verifyCode}`);
  assert.match(closingPage, /The certificate was deleted on .* Check your own copy/);
  assert.doesNotMatch(closingPage, /passport failed/);
  assert.match(await page(`/orders/${order}`), /The document of this order was deleted on .* Its hash stays on record/);
});

test("the evidence of a deleted PDF says so, and verifies", needs("unzip"), async () => {
  const zip = Buffer.from(await (await get(`/api/passport/verify/${passport.verifyCode}/evidence`)).arrayBuffer());
  const path = join(running.service.dataDir, "evidence.zip");
  writeFileSync(path, zip);
  const names = execFileSync("unzip", ["-Z1", path], { encoding: "utf8" });
  assert.doesNotMatch(names, /sealed\.pdf$/m);
  assert.match(
    execFileSync("unzip", ["-p", path, "README.txt"], { encoding: "utf8" }),
    /The sealed PDF was deleted on /,
  );
});

test("the chain of a room continues: its next version names no deleted document", async () => {
  const second = await sealRoom(firm, room);
  assert.equal(second.prevManifestSha256, version.manifestSha256);
  const { chainOk, manifest } = await verify(running.service.baseUrl, second.verifyCode);
  assert.equal(chainOk, true);
  assert.deepEqual(Object.keys(manifest.documents[0] ?? {}), ["label", "orderCode", "statusAtSnapshot"]);
});

test("a test order continues in the sandbox without its document", async () => {
  await firm.ok("POST", `/api/partner/sandbox/orders/${order}/checkout`, {});
  const { status } = await firm.ok<{ status: string }>("POST", `/api/partner/sandbox/orders/${order}/advance`, {});
  assert.equal(status, "EsignComplete");
});

test("an order whose document was deleted is not payable", async () => {
  const unpaid = await firm.order();
  const rowMac = await rowMacOf(running.service.dataDir);
  await markDeleted({ db: running.db, rowMac }, unpaid, "live.unpaidOrders");
  const { status, body } = await firm.call("POST", `/api/partner/orders/${unpaid}/checkout`);
  assert.equal(status, 409, JSON.stringify(body));
  assert.match(JSON.stringify(body), /The document of this order was deleted on/);
});

test("a mark of deletion that the plan did not write is ignored", async () => {
  const code = await firm.order({ svc_sign: "true" });
  const itsRoom = await firm.room();
  await firm.ok("POST", `/api/rooms/${itsRoom}/orders`, { orderCode: code });
  const closing = await sealRoom(firm, itsRoom);
  const form = new FormData();
  form.set("file", new Blob([new Uint8Array(makePdf({ pages: 2 }))]), "deed.pdf");
  const sealed = await firm.ok<{ verifyCode: string; passportId: string }>("POST", "/api/passport/seal", form);
  const addresses = [
    `/orders/${code}`,
    `/verify/${sealed.verifyCode}`,
    `/api/passport/verify/${sealed.verifyCode}`,
    `/v/room/${closing.verifyCode}`,
  ];
  // Forges a mark of deletion with the genuine MAC of another mark.
  await running.db.query(sql`
    INSERT INTO deleted_blobs (blob_key, rule, deleted_at, row_mac)
    SELECT blob_key, 'live.unpaidOrders', now(), (SELECT row_mac FROM deleted_blobs ORDER BY deleted_at LIMIT 1) FROM (
      SELECT blob_key FROM documents UNION SELECT blob_key FROM passports UNION SELECT blob_key FROM closing_passports
    ) AS every WHERE blob_key IS NOT NULL AND NOT EXISTS (SELECT FROM deleted_blobs d WHERE d.blob_key = every.blob_key)`);
  for (const address of addresses) {
    const answer = await get(address, "text/html, application/json");
    assert.equal(answer.status, 200, address);
    assert.doesNotMatch(await answer.text(), /was deleted on/, address);
  }
  const { manifest } = await verify(running.service.baseUrl, (await sealRoom(firm, itsRoom)).verifyCode);
  assert.ok("originalSha256" in (manifest.documents[0] ?? {}), "the next closing passport names the document");
  const file = await get(`/api/passport/verify/${sealed.verifyCode}/document`, "*/*");
  assert.deepEqual([file.status, file.headers.get("content-type")], [200, "application/pdf"]);
  const { documents } = await firm.ok<{ documents: { deletedAt?: unknown }[] }>(
    "GET",
    `/api/partner/orders/${code}/documents`,
  );
  assert.equal(
    documents.every(({ deletedAt }) => deletedAt === undefined || deletedAt === null),
    true,
  );
  const checkout = await firm.call("POST", `/api/partner/orders/${code}/checkout`);
  assert.doesNotMatch(JSON.stringify(checkout.body), /was deleted on/);
});
