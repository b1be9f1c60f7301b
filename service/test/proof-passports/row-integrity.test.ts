import assert from "node:assert/strict";
import { test } from "node:test";
import { secretBytes } from "../../src/platform/secrets.ts";
import { createRowIntegrity, type PassportFacts } from "../../src/proof-passports/row-integrity.ts";

const facts: PassportFacts = {
  id: "520ca9b6-d88f-4dd4-940c-01439f503bf8",
  verifyCode: "ak3r63edtv4pa3a7uwos7eunsa",
  partnerId: "6a1c3f10-7b1e-4e3c-9df0-0f3c8a1b2c3d",
  environment: "live",
  docSha256: "a".repeat(64),
  sealedSha256: "b".repeat(64),
  createdAt: new Date("2026-03-04T05:06:07.089Z"),
};
const key = (fill: number) => createRowIntegrity(secretBytes(Buffer.alloc(32, fill)));

test("a row holds under the key that it was written with, and under no other", () => {
  const mac = key(1).macOf(facts);
  assert.ok(key(1).holds(facts, mac));
  assert.ok(!key(2).holds(facts, mac));
});

test("no fact can be changed", () => {
  const changes: Partial<PassportFacts>[] = [
    { id: "620ca9b6-d88f-4dd4-940c-01439f503bf8" },
    { verifyCode: "bk3r63edtv4pa3a7uwos7eunsa" },
    { partnerId: facts.id },
    { environment: "test" },
    { docSha256: "c".repeat(64) },
    { sealedSha256: "c".repeat(64) },
    { docSha256: facts.sealedSha256, sealedSha256: facts.docSha256 },
    { createdAt: new Date("2026-03-04T05:06:07.090Z") },
  ];
  const mac = key(1).macOf(facts);
  for (const change of changes) assert.ok(!key(1).holds({ ...facts, ...change }, mac), JSON.stringify(change));
  for (const other of [Buffer.alloc(32), Buffer.alloc(0), mac.subarray(1)]) assert.ok(!key(1).holds(facts, other));
});

test("rows that were written before hold on", () => {
  assert.equal(key(1).macOf(facts).toString("hex"), "378885bcb54ac81be4d22aef216ab457aa1893095b634c39a2442d6c03973aae");
});
