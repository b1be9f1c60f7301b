import assert from "node:assert/strict";
import { test } from "node:test";
import { digitsIn, rowIdIn, wholeNumberIn } from "../../../src/kernel/platform/text.ts";

test("reads a whole number within its bounds", () => {
  for (const [text, number] of [
    ["1", 1],
    ["07", 7],
    ["99", 99],
  ] as const)
    assert.equal(wholeNumberIn(text, 1, 99), number);
});

test("refuses a number outside its bounds, more digits than the largest number has, and another text", () => {
  for (const text of [undefined, "", "0", "100", "007", "-1", "+1", "1.5", "1e1", " 1", "1\n", "٣", "0x1"])
    assert.equal(wholeNumberIn(text, 1, 99), undefined, JSON.stringify(text));
});

test("reads the id of a row of at most 15 digits", () => {
  assert.equal(rowIdIn("999999999999999"), 999_999_999_999_999);
  assert.equal(rowIdIn("9999999999999999"), undefined);
});

test("reads the digits of a code as people type them, also in full width", () => {
  for (const typed of ["123456", " 123 456 ", "123-456", "１２３４５６", "１２３　４５６"])
    assert.equal(digitsIn(typed), "123456", typed);
  assert.equal(digitsIn("code"), "");
});
