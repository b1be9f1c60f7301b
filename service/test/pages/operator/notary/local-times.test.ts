import assert from "node:assert/strict";
import { test } from "node:test";
import { inLocal, inUtc, localText } from "../../../../src/pages/operator/notary/local-times.ts";

const zone = "America/Chicago";
const typed = { started_at: "2026-01-31T09:05", ended_at: "2026-07-01T09:05", notes: "2026-01-31T09:05" };
const names = ["started_at", "ended_at"];

test("reads typed times in the notary's zone, in winter and in summer, and shows them so again", () => {
  const read = inUtc(typed, names, zone);
  assert.deepEqual(read, {
    started_at: "2026-01-31T15:05:00.000Z",
    ended_at: "2026-07-01T14:05:00.000Z",
    notes: "2026-01-31T09:05",
  });
  const stored = { started_at: "2026-01-31T15:05", ended_at: "2026-07-01T14:05", notes: "" };
  assert.deepEqual(inLocal(stored, names, zone), { ...stored, started_at: typed.started_at, ended_at: typed.ended_at });
  assert.equal(localText(new Date("2026-01-31T15:05:40Z"), zone), typed.started_at);
});

test("takes the first of an hour that there is twice, and refuses one that there is not", () => {
  assert.equal(inUtc({ when: "2026-11-01T01:30" }, ["when"], zone)["when"], "2026-11-01T06:30:00.000Z");
  assert.throws(
    () => inUtc({ when: "2026-03-08T02:30" }, ["when"], zone),
    /^ServiceError: when must be a time that exists in America\/Chicago\.$/,
  );
});

test("leaves UTC, and what is not a time, to the desk", () => {
  for (const text of ["2026-01-31T09:05Z", "noon", "", "2026-13-45T10:00", "2026-02-30T10:00", "2026-01-31T25:00"])
    assert.equal(inUtc({ when: text }, ["when"], zone)["when"], text);
  assert.deepEqual(inUtc(typed, names, "UTC"), typed);
});
