import assert from "node:assert/strict";
import { test } from "node:test";
import { derFromBer } from "../../src/asn1/ber.ts";

const hex = (text: string) => Uint8Array.from(Buffer.from(text.replaceAll(" ", ""), "hex"));
const der = (text: string) => Buffer.from(derFromBer(hex(text)).der).toString("hex");

test("writes indefinite lengths, long lengths and octet strings in parts as DER", () => {
  assert.equal(der("3080 0201 01 0000"), "3003020101");
  assert.equal(der("3081 03 020101"), "3003020101");
  assert.equal(der("2480 0401 61 0402 6263 0000"), "0403616263");
  assert.equal(der("30 80 a0 80 24 04 0400 0400 0000 0000"), "3004a0020400");
  assert.equal(der("3003020101"), "3003020101");
});

test("leaves the bytes after the value alone", () => {
  assert.equal(derFromBer(hex("3080 0201 01 0000 0000")).end, 7);
});

test("refuses values that are cut off, malformed or nested too deeply", () => {
  for (const text of [
    "",
    "30",
    "3080",
    "3080 020101 00",
    "3005 020101",
    "0480 0000",
    "2403 020101",
    "0000",
    "1f01 00",
  ]) {
    assert.throws(() => derFromBer(hex(text)), { name: "EvidenceError" }, text);
  }
  assert.throws(() => derFromBer(hex("3080".repeat(60))), { name: "EvidenceError" });
});
