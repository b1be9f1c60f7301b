import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { longMonth, shortMonth, withoutGaps } from "../../../../../src/pages/dashboard/analytics/charts/volume.ts";

const volume = (month: string, createdCount = 5) => ({ month, createdCount, completedCount: 2 });

test("months without orders are filled in with zeros, also across the turn of the year", () => {
  assert.deepEqual(withoutGaps([volume("2026-11"), volume("2027-02")]), [
    volume("2026-11"),
    { month: "2026-12", createdCount: 0, completedCount: 0 },
    { month: "2027-01", createdCount: 0, completedCount: 0 },
    volume("2027-02"),
  ]);
});

test("nothing is filled in before the first month or after the last", () => {
  assert.deepEqual(withoutGaps([]), []);
  assert.deepEqual(withoutGaps([volume("2026-03")]), [volume("2026-03")]);
});

test("whichever months are missing, the filled ones follow one another and keep every count", () => {
  const year = Array.from({ length: 14 }, (_, at) => new Date(Date.UTC(2026, at)).toISOString().slice(0, 7));
  fc.assert(
    fc.property(fc.subarray(year, { minLength: 1 }), (months) => {
      const filled = withoutGaps(months.map((month) => volume(month)));
      const from = year.indexOf(months[0] ?? "");
      assert.deepEqual(
        filled.map(({ month }) => month),
        year.slice(from, from + filled.length),
      );
      assert.equal(filled.at(-1)?.month, months.at(-1));
      for (const { month, createdCount } of filled) assert.equal(createdCount, months.includes(month) ? 5 : 0);
    }),
  );
});

test("a month has a short and a long name, whatever the machine's zone", () => {
  assert.equal(shortMonth("2026-03"), "Mar");
  assert.equal(longMonth("2026-03"), "March 2026");
});
