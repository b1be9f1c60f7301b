import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { percentage, percentages, percentText } from "../../../../../src/pages/dashboard/analytics/charts/shares.ts";

const parts = fc.array(fc.oneof(fc.nat(9), fc.nat(1_000_000)), { minLength: 1, maxLength: 8 });
const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);

test("the percentages of a whole sum to 100, each less than one away from the exact one", () => {
  assert.deepEqual(percentages([1, 1, 1]), [34, 33, 33]);
  fc.assert(
    fc.property(parts, (parts) => {
      const total = sum(parts);
      fc.pre(total > 0);
      const shown = percentages(parts);
      assert.equal(sum(shown), 100);
      shown.forEach((percent, at) => {
        assert.ok(Math.abs(percent - ((parts[at] ?? 0) / total) * 100) < 1);
      });
    }),
  );
});

test("without orders all shares are 0", () => {
  assert.deepEqual(percentages([0, 0]), [0, 0]);
  assert.equal(percentage(0, 0), 0);
  assert.equal(percentText(0, 0, 0), "0%");
});

test("a positive share is never shown as 0%, and a partial one never as 100%", () => {
  assert.equal(percentText(0, 1, 1_000_000), "<1%");
  assert.equal(percentText(100, 999_999, 1_000_000), ">99%");
  fc.assert(
    fc.property(parts, (parts) => {
      const total = sum(parts);
      percentages(parts).forEach((percent, at) => {
        const part = parts[at] ?? 0;
        for (const text of [percentText(percent, part, total), percentText(percentage(part, total), part, total)]) {
          assert.equal(text === "0%", part === 0);
          assert.equal(text === "100%", part === total && total > 0);
        }
      });
    }),
  );
});
