import assert from "node:assert/strict";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { openHarness } from "@signsealship/testing/harness";
import { anchoring } from "./anchoring.ts";
import { carried, fsck, type Measured } from "./log-figures.ts";

test("fails the budget of the carried checkpoint when a PDF carries none, or one that is too large", () => {
  const holds = (...sizes: number[]) => carried(sizes.map((pdfBytes) => ({ pdfBytes }))).holds;
  assert.equal(holds(300, 400), true);
  assert.equal(holds(300, 401), false);
  assert.equal(holds(300, 0), false);
  assert.equal(holds(0), false);
});

test("fails the budget of fsck when the program is not built", async () => {
  const nothing = { service: { baseUrl: "http://127.0.0.1:9" } } as Measured;
  const { name, holds } = await fsck(nothing, 7, "/nowhere/fsck");
  assert.match(name, /^tessera's fsck of 7 entries/);
  assert.equal(holds, false);
});

test("counts the requests of a day to each source", async () => {
  const { db } = await forTests(openHarness());
  const results = await anchoring(db, 5_000_000, 5);
  assert.deepEqual(
    results.map(({ ours, other, holds }) => [ours, other, holds]),
    Array(2).fill([5, 24, true]),
  );
});
