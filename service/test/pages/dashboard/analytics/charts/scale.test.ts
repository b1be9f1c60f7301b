import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { across, columns, lengthOf, ticks } from "../../../../../src/pages/dashboard/analytics/charts/scale.ts";

const amount = fc.oneof(fc.nat(1000), fc.nat(), fc.double({ min: 0, max: 1e12, noNaN: true }));

test("a scale has few round numbers from 0 on, and covers the maximum with its last step", () => {
  assert.deepEqual(ticks(64), [0, 20, 40, 60, 80]);
  assert.deepEqual(ticks(80), [0, 20, 40, 60, 80]);
  assert.deepEqual(ticks(3), [0, 1, 2, 3]);
  assert.deepEqual(ticks(1_000_000), [0, 500_000, 1_000_000]);
  fc.assert(
    fc.property(amount, (max) => {
      const scale = ticks(max);
      const [first, step = 0] = scale;
      assert.equal(first, 0);
      assert.match(String(step), /^[125]0*$/);
      assert.ok(scale.length >= 2 && scale.length <= 5);
      assert.ok(scale.every((value, at) => value === at * step));
      assert.ok((scale.at(-1) ?? 0) >= max);
      assert.ok(max === 0 || (scale.at(-2) ?? 0) < max);
    }),
  );
});

test("a scale for zero has one step, and steps are whole", () => {
  assert.deepEqual(ticks(0), [0, 1]);
  assert.deepEqual(ticks(0.2), [0, 1]);
});

test("no bar is negative or leaves its place, and a larger value is never drawn shorter", () => {
  const value = fc.double({ min: -1e9, max: 1e12, noNaN: true });
  const extent = fc.double({ min: 0.1, max: 2000, noNaN: true });
  const sliver = fc.double({ min: 0, max: 10, noNaN: true });
  fc.assert(
    fc.property(value, value, amount, extent, sliver, (one, other, max, extent, sliver) => {
      const [shorter, longer] = [Math.min(one, other), Math.max(one, other)].map((value) =>
        lengthOf(value, max, extent, sliver),
      );
      assert.ok(shorter !== undefined && longer !== undefined);
      assert.ok(shorter >= 0 && longer <= extent && shorter <= longer);
    }),
  );
});

test("zero has no bar, the maximum the longest, and the smallest value a visible bar", () => {
  assert.equal(lengthOf(0, 10, 200, 2), 0);
  assert.equal(lengthOf(5, 0, 200, 2), 0);
  assert.equal(lengthOf(5, 10, 200, 2), 100);
  assert.equal(lengthOf(10, 10, 200, 2), 200);
  assert.equal(lengthOf(1, 1_000_000, 200, 2), 2);
});

test("columns are evenly spaced, and never touch", () => {
  const place = fc.record({
    from: fc.double({ min: 0, max: 50, noNaN: true }),
    to: fc.double({ min: 60, max: 100, noNaN: true }),
    widest: fc.double({ min: 1, max: 20, noNaN: true }),
  });
  fc.assert(
    fc.property(fc.nat(60), place, (count, place) => {
      const drawn = columns(count, place);
      assert.equal(drawn.length, count);
      drawn.forEach(({ x, width, center }, at) => {
        assert.ok(width > 0 && width <= place.widest);
        assert.ok(x >= place.from && x + width <= place.to + 1e-9);
        assert.ok(Math.abs(x + width / 2 - center) < 1e-9);
        const before = drawn[at - 1];
        assert.ok(!before || before.x + before.width < x);
      });
    }),
  );
});

test("a coordinate is written with two decimals at most", () => {
  assert.equal(across(33.33333), "33.33%");
  assert.equal(across(100), "100%");
});
