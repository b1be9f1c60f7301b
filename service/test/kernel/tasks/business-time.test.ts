import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { addBusinessHours } from "../../../src/kernel/tasks/business-time.ts";
import { readTaskTimes } from "../../../src/kernel/tasks/due.ts";

const { calendar } = readTaskTimes();
const after = (from: string, hours: number) => addBusinessHours(new Date(from), hours, calendar).toISOString();

describe("business hours", () => {
  test("within a day are hours", () => assert.equal(after("2026-11-23T15:30:00Z", 4), "2026-11-23T19:30:00.000Z"));
  test("continue on the next day when they pass the close", () =>
    assert.equal(after("2026-11-23T20:00:00Z", 4), "2026-11-24T16:00:00.000Z"));
  test("begin at the opening for earlier times", () =>
    assert.equal(after("2026-11-23T07:00:00Z", 1), "2026-11-23T15:00:00.000Z"));
  test("skip weekends and holidays", () => {
    assert.equal(after("2026-11-20T21:30:00Z", 1), "2026-11-23T14:30:00.000Z");
    assert.equal(after("2026-11-25T21:30:00Z", 1), "2026-11-27T14:30:00.000Z");
  });
  test("that end with the day end at the close", () =>
    assert.equal(after("2026-11-23T14:00:00Z", 8), "2026-11-23T22:00:00.000Z"));
  test("follow the zone's clock changes", () => {
    assert.equal(after("2026-10-30T20:00:00Z", 2), "2026-11-02T15:00:00.000Z");
    assert.equal(after("2027-03-12T21:00:00Z", 2), "2027-03-15T14:00:00.000Z");
  });
  test("never end before they begin, and have the requested length", () => {
    for (let hour = 0; hour < 24 * 40; hour += 5) {
      const from = new Date(Date.UTC(2026, 9, 20, hour));
      const [one, two] = [addBusinessHours(from, 3, calendar), addBusinessHours(from, 7, calendar)];
      assert.ok(one > from);
      assert.equal(addBusinessHours(one, 4, calendar).getTime(), two.getTime());
    }
  });
  test("need a business day", () =>
    assert.throws(() => addBusinessHours(new Date(), 1, { ...calendar, days: new Set() }), RangeError));
});
