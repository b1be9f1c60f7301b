import assert from "node:assert/strict";
import { test } from "node:test";
import {
  count,
  counted,
  duration,
  lastDays,
  shortCount,
} from "../../../../../src/pages/dashboard/analytics/charts/words.ts";

test("a time is written in the unit that fits it", () => {
  const said: [hours: number, text: string][] = [
    [0, "under a minute"],
    [1 / 60, "1 minute"],
    [0.2, "12 minutes"],
    [1, "1 hour"],
    [26.75, "26.8 hours"],
    [48, "2 days"],
    [98.4, "4.1 days"],
    [8784, "366 days"],
  ];
  for (const [hours, text] of said) assert.equal(duration(hours), text);
});

test("a count is written in full, and rounded only when there is no room for five digits", () => {
  assert.equal(count(1_000_000), "1,000,000");
  assert.equal(counted(1, "order"), "1 order");
  assert.equal(counted(2_000, "order"), "2,000 orders");
  assert.equal(shortCount(9_999), "9,999");
  assert.equal(shortCount(12_345), "12.3K");
  assert.equal(shortCount(1_000_000), "1M");
});

test("the window is written in days", () => {
  assert.equal(lastDays(1), "the last day");
  assert.equal(lastDays(366), "the last 366 days");
});
