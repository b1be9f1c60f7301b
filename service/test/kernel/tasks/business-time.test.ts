import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { temporaryFolder } from "@signsealship/testing/service";
import { addBusinessHours, dayIn, noonIn } from "../../../src/kernel/tasks/business-time.ts";
import { arrivalDue, dueAgain, readTaskTimes } from "../../../src/kernel/tasks/due.ts";

const { calendar } = readTaskTimes();
const after = (from: string, hours: number) => addBusinessHours(new Date(from), hours, calendar).toISOString();

test("the day of an instant, and noon of a day, are those of the zone", () => {
  assert.equal(dayIn(new Date("2026-11-24T04:59:00Z"), calendar.zone), "2026-11-23");
  assert.equal(dayIn(new Date("2026-11-24T05:00:00Z"), calendar.zone), "2026-11-24");
  assert.equal(noonIn("2026-11-23", calendar.zone).toISOString(), "2026-11-23T17:00:00.000Z");
  assert.equal(noonIn("2026-07-01", calendar.zone).toISOString(), "2026-07-01T16:00:00.000Z");
});

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
  test("need a calendar that has that many within 370 days", () => {
    assert.throws(
      () => addBusinessHours(new Date(), 1, { ...calendar, days: new Set() }),
      /^RangeError: the calendar has fewer than 1 business hours in 370 days$/,
    );
    const short = { ...calendar, closes: calendar.opens + 1 };
    assert.ok(addBusinessHours(new Date(), 1, short) > new Date());
    assert.throws(
      () => addBusinessHours(new Date(), 5, short),
      /^RangeError: the calendar has fewer than 5 business hours in 370 days$/,
    );
  });
});

test("a file of task times whose calendar has too few hours for a task is refused, by the name of the task", () => {
  const folder = temporaryFolder();
  const write = (closes: string): string => {
    const path = join(folder.path, "task-times.yaml");
    const text = readFileSync(new URL("../../../data/task-times.yaml", import.meta.url), "utf8");
    writeFileSync(path, text.replace('closes: "17:00"', `closes: "${closes}"`));
    return path;
  };
  assert.equal(readTaskTimes(write("10:00")).calendar.closes, 600);
  assert.throws(
    () => readTaskTimes(write("09:01")),
    /^StartupError: task times .*: hours\.envelope_stuck is too long: the calendar has fewer than 8 business hours in 370 days$/,
  );
  folder.remove();
});

test("a parcel should have arrived two business days after the days that its carrier's service takes", () => {
  const thursday = new Date("2026-12-03T14:00:00Z");
  const dueAfter = (carrier: string) => arrivalDue(carrier, thursday).toISOString().slice(0, 10);
  assert.equal(dueAfter("FedEx Priority Overnight"), "2026-12-07");
  assert.equal(dueAfter("UPS 2nd Day Air"), "2026-12-08");
  assert.equal(dueAfter("USPS Priority Mail"), "2026-12-09");
  assert.equal(dueAfter("USPS"), "2026-12-09");
  assert.equal(dueAgain(thursday).toISOString().slice(0, 10), "2026-12-04");
});
