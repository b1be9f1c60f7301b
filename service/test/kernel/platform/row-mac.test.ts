import assert from "node:assert/strict";
import { test } from "node:test";
import { AlteredRecordError } from "../../../src/kernel/platform/errors.ts";
import type { Log } from "../../../src/kernel/platform/logs.ts";
import { openRowMac, reportUnvouched } from "../../../src/kernel/platform/row-mac.ts";
import { secretBytes } from "../../../src/kernel/platform/secrets.ts";

const rows = openRowMac(secretBytes(Buffer.alloc(32, 7)));
const at = new Date(Date.UTC(2026, 0, 2, 3, 4, 5, 6));
const members = { id: "a", sha256: "b", version: 1, kept: true, at, none: null };

test("a MAC is valid only for the same table and members", () => {
  const mac = rows.of("t", members);
  assert.equal(mac.length, 36);
  assert.ok(rows.holds("t", members, mac));
  assert.ok(rows.holds("t", { ...members, at: new Date(at) }, mac));
  const others = [
    { ...members, id: "b", sha256: "a" },
    { ...members, version: "1" },
    { ...members, kept: "true" },
    { ...members, none: "" },
    { ...members, none: "null" },
    { ...members, at: at.getTime() },
    { ...members, at: new Date(at.getTime() + 1) },
    { ...members, more: null },
    { id: "a" },
  ];
  for (const other of others) assert.equal(rows.holds("t", other, mac), false, JSON.stringify(other));
  assert.equal(rows.holds("u", members, mac), false);
});

test("a missing, short or altered MAC, and one of another key, is not valid", () => {
  const mac = rows.of("t", members);
  assert.equal(rows.holds("t", members, null), false);
  assert.equal(rows.holds("t", members, new Uint8Array()), false);
  assert.equal(rows.holds("t", members, mac.subarray(0, 35)), false);
  for (const at of [0, 4, 35]) {
    const altered = Buffer.from(mac);
    altered[at] = (altered[at] ?? 0) ^ 1;
    assert.equal(rows.holds("t", members, altered), false);
  }
  const other = openRowMac(secretBytes(Buffer.alloc(32, 8)));
  assert.equal(other.holds("t", members, mac), false);
  // The first four bytes of a MAC are the id of its key.
  assert.notDeepEqual(other.of("t", members).subarray(0, 4), mac.subarray(0, 4));
});

test("refuses an altered row, and one with the MAC of a missing key", () => {
  const mac = rows.of("t", members);
  rows.verify("t", members, mac);
  const altered = { code: "unavailable", message: /^The list of order 012345… is not what the service wrote/ };
  const named = { altered: () => new AlteredRecordError(`the list of order ${"0123456789".repeat(4)}`) };
  for (const invalid of [null, mac.subarray(0, 35)])
    assert.throws(() => rows.verify("t", members, invalid, named), altered);
  assert.throws(() => rows.verify("t", { ...members, id: "b" }, mac, named), altered);
  const other = openRowMac(secretBytes(Buffer.alloc(32, 8)));
  assert.throws(() => other.verify("t", members, mac, named), altered);
});

test("reports a row with an invalid MAC once an hour, without a complete code, and counts it", () => {
  let now = Date.UTC(2026, 0, 2, 3, 59);
  const lines: object[] = [];
  const counted: string[] = [];
  const log = { error: (line: object) => lines.push(line) } as unknown as Log;
  const report = reportUnvouched(
    () => new Date(now),
    log,
    (table) => counted.push(table),
  );
  const reporting = openRowMac(secretBytes(Buffer.alloc(32, 7)), () => {}, report);
  const row = { orderCode: "0123456789abcdef01234567", kind: "sealed", sha256: "b" };
  const read = () => reporting.holds("documents", row, null);
  for (let n = 0; n < 3; n++) read();
  assert.deepEqual(lines, [{ table: "documents", row: "orderCode=012345… kind=sealed" }]);
  reporting.holds("documents", { ...row, kind: "original" }, null);
  assert.deepEqual(counted, ["documents", "documents"]);
  now += 60_000;
  read();
  assert.equal(counted.length, 3);
  reporting.holds("documents", row, reporting.of("documents", row));
  assert.equal(counted.length, 3);
});
