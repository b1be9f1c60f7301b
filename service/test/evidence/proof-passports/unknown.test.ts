import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { type Harness, openHarness } from "@signsealship/testing/harness";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { newPartner, type Service } from "@signsealship/testing/service";
import type { Database } from "../../../src/kernel/platform/database/database.ts";
import { sql } from "../../../src/kernel/platform/database/sql.ts";
import { type Caller, type SealAnswer, seal } from "./seal-document.ts";

let harness: Harness;
let service: Service;
let db: Database;
let owner: Caller & { partnerId: string };

before(async () => {
  harness = await openHarness();
  ({ service, db } = harness);
  owner = { ...(await newPartner(service, { live: true })), baseUrl: service.baseUrl };
});
after(() => harness.close());

const changing = new Set(["date", "request-id"]);

/** Status, headers and body of a response, without the parts that differ between any two responses. */
async function answer(path: string, headers: Record<string, string> = {}): Promise<string> {
  const response = await fetch(service.baseUrl + path, { headers });
  const kept = [...response.headers].filter(([name]) => !changing.has(name));
  return JSON.stringify([response.status, kept, await response.text()]);
}

const code = (verifyCode: string, more = "") => `/api/passport/verify/${verifyCode}${more}`;
const nobody = "a".repeat(26);

test("a passport that is malformed, unknown, another firm's or of the other environment gives the same 404", async () => {
  const { passportId } = await seal(owner, makePdf());
  const { key: testKey } = await service.cli("key", "issue", owner.partnerId, "--test");
  const other = await newPartner(service, { live: true });
  const unknown = await answer(`/api/passport/${randomUUID()}`, owner.headers);
  assert.match(unknown, /^\[404,.*\{\\"error\\":\\"No such passport\.\\"\}"\]$/);
  const asked: [string, Record<string, string>][] = [
    [`/api/passport/${passportId}`, other.headers],
    [`/api/passport/${passportId}`, { Authorization: `Bearer ${testKey}` }],
    [`/api/passport/${passportId.slice(1)}`, owner.headers],
    [`/api/passport/${passportId}0`, owner.headers],
    ["/api/passport/%27%20OR%201=1", owner.headers],
    ["/api/passport/%00", owner.headers],
    ["/api/passport/seal", owner.headers],
  ];
  for (const [path, headers] of asked) assert.equal(await answer(path, headers), unknown, path);
  assert.match(await answer(`/api/passport/${passportId}`, owner.headers), /^\[200/);
});

test("a verify code that is malformed or unknown gives the same 404, byte for byte", async () => {
  const { verifyCode } = await seal(owner, makePdf());
  const unknown = await answer(code(nobody));
  assert.match(unknown, /^\[404,.*"\{\\"verdict\\":\\"unknown\\"\}"\]$/);
  const malformed = [
    "x",
    verifyCode.toUpperCase(),
    `${verifyCode}a`,
    verifyCode.slice(1),
    "b".repeat(5_000),
    "%00",
    "%F0%9F%98%80",
    "..%2F..",
    "1".repeat(26),
  ];
  for (const each of [...malformed, nobody]) {
    for (const more of ["", "/document", "/evidence"]) {
      // A request for the document of an unknown code is rejected before any caching header is set.
      assert.equal(await answer(code(each, more)), unknown, each.slice(0, 40) + more);
    }
  }
  assert.equal(await answer(code(verifyCode, "/else")), unknown);
});

const stored = async ({ passportId }: SealAnswer): Promise<string> => {
  const [row] = await db.query<{ key: string }>(sql`SELECT blob_key AS key FROM passports WHERE id = ${passportId}`);
  return join(service.dataDir, "blobs", row?.key ?? "");
};

test("a document whose artifact is lost, altered or another's gives a 404, and its evidence omits it", async () => {
  const unknown = await answer(code(nobody));
  // Seals different documents, because the same document sealed twice within a second gives the same bytes.
  const [lost, altered, later, swapped, other] = await Promise.all([
    seal(owner, makePdf({ text: "lost" })),
    seal(owner, makePdf({ text: "altered" })),
    seal(owner, makePdf({ text: "altered after a download" })),
    seal(owner, makePdf({ text: "swapped" })),
    seal(owner, makePdf({ text: "other" })),
  ]);
  rmSync(await stored(lost));
  assert.match(await answer(code(later.verifyCode, "/document")), /^\[200/);
  for (const path of [await stored(altered), await stored(later)]) {
    const bytes = readFileSync(path);
    bytes[100] = (bytes[100] ?? 0) ^ 1;
    writeFileSync(path, bytes);
  }
  copyFileSync(await stored(other), await stored(swapped));
  for (const { verifyCode } of [lost, altered, later, swapped]) {
    assert.equal(await answer(code(verifyCode, "/document")), unknown);
    const evidence = await fetch(service.baseUrl + code(verifyCode, "/evidence"));
    assert.equal(evidence.status, 200);
    const zip = Buffer.from(await evidence.arrayBuffer());
    assert.ok(zip.includes("README.txt") && !zip.includes("%PDF-"));
  }
  assert.match(await answer(code(other.verifyCode, "/document")), /^\[200/);
});

test("a row that was altered outside the service is not accepted", async () => {
  const changes = [
    sql`sealed_sha256 = repeat('0', 64)`,
    sql`doc_sha256 = repeat('0', 64)`,
    sql`environment = 'test'`,
    sql`created_at = created_at - interval '1 year'`,
    sql`blob_key = (SELECT max(other.blob_key) FROM passports other WHERE other.id <> passports.id)`,
    sql`rfc3161_authority = 'https://freetsa.org/tsr', rfc3161_at = '2019-01-02', rfc3161_token = 'x'`,
    sql`row_mac = decode(repeat('00', 32), 'hex')`,
  ];
  const unknown = await answer(code(nobody));
  for (const change of changes) {
    const { passportId, verifyCode } = await seal(owner, makePdf());
    assert.match(await answer(code(verifyCode)), /^\[200/);
    await db.query(sql`UPDATE passports SET ${change} WHERE id = ${passportId}`);
    for (const more of ["", "/document", "/evidence"])
      assert.equal(await answer(code(verifyCode, more)), unknown, change.text);
  }
});

test("with KEEP_SEALED=off nothing is stored, and the document gives a 404", async () => {
  await service.stop();
  service = await service.restart({ KEEP_SEALED: "off" });
  harness.service = service;
  owner.baseUrl = service.baseUrl;
  const blobs = () => readdirSync(join(service.dataDir, "blobs"), { recursive: true }).length;
  const were = blobs();
  const { verifyCode, docSha256 } = await seal(owner, makePdf());
  assert.equal(blobs(), were);
  const body = (await (await fetch(service.baseUrl + code(verifyCode))).json()) as Record<string, unknown>;
  assert.deepEqual([body["verdict"], body["docSha256"], body["certificateAvailable"]], ["verified", docSha256, false]);
  assert.equal(await answer(code(verifyCode, "/document")), await answer(code(nobody)));
  const zip = Buffer.from(await (await fetch(service.baseUrl + code(verifyCode, "/evidence"))).arrayBuffer());
  assert.ok(zip.includes("not kept by the service"));
});
