import assert from "node:assert/strict";
import { test } from "node:test";
import { indexOfText, lastIndexOfText, searchWholeFile } from "../../src/pdf/search.ts";
import { randomFrom } from "../mutate.ts";
import { bytesOf } from "../seal/signed-pdf.ts";

const texts = ["startxref", "/ByteRange", "/Contents /ByteRange[", "%PDF-", "abb", "baa", "aba", "b"];

test("finds the results of a plain search, from either end and within limits", () => {
  const random = randomFrom(3);
  for (let round = 0; round < 5000; round++) {
    const text = texts[round % texts.length] ?? "";
    let hay = "";
    while (hay.length < 60) hay += random(4) === 0 ? text : text.slice(random(text.length), 1 + random(text.length));
    const [from, to] = [random(20), 40 + random(20)];
    const inside = hay.slice(from, to);
    const [first, last] = [inside.indexOf(text), inside.lastIndexOf(text)];
    assert.equal(indexOfText(bytesOf(hay), text, from, to), first < 0 ? -1 : first + from, hay);
    assert.equal(lastIndexOfText(bytesOf(hay), text, to, from), last < 0 ? -1 : last + from, hay);
  }
});

for (const [text, pieces] of [
  ["obj", ["o", "j", "b", "ob", "bj"]],
  ["/ByteRange", ["/", "ByteRa", "/ByteRang", "yteRange", "B"]],
] as const)
  test(`finds ${text} near and far, within limits, in a part of a buffer`, () => {
    const random = randomFrom(4);
    const search = searchWholeFile(text);
    for (let round = 0; round < 2000; round++) {
      const gaps = [600, 600, 4].map((max) => (pieces[random(pieces.length)] ?? "").repeat(random(max)));
      const hay = gaps.join(text);
      const part = bytesOf(text + hay + text).subarray(text.length, text.length + hay.length);
      const [from, to] = [random(hay.length), random(hay.length + 1)];
      const found = hay.slice(0, to).indexOf(text, from);
      assert.equal(search(part, from, Math.max(from, to)), found, `${from} ${to} ${hay}`);
    }
  });

test("reads no byte more than a few times, whatever the text repeats", () => {
  for (const text of texts) {
    for (const unit of [text.slice(0, -1), text.slice(1), text.charAt(0), text.at(-1) ?? "", text.slice(0, 5)]) {
      const hay = bytesOf(unit.repeat(Math.ceil(10_000 / Math.max(1, unit.length))));
      let looks = 0;
      const counted = new Proxy(hay, {
        get(target, key) {
          looks++;
          return Reflect.get(target, key);
        },
      });
      indexOfText(counted, text, 0, hay.length);
      lastIndexOfText(counted, text, hay.length, 0);
      assert.ok(looks <= 6 * hay.length, `${text} in ${unit}: ${looks}`);
    }
  }
});

test("refuses a text in which every character occurs twice", () => {
  assert.throws(() => indexOfText(new Uint8Array(9), "abab", 0, 9), RangeError);
});
