import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { temporaryFolder } from "@signsealship/testing/temporary-folder";
import { StartupError } from "../../../src/kernel/platform/errors.ts";
import { dueBefore, readRetention } from "../../../src/kernel/retention/retention.ts";

const shipped = new URL("../../../data/retention.yaml", import.meta.url).pathname;
const folder = temporaryFolder();

const text = readFileSync(shipped, "utf8");

function planOf(content: string) {
  const path = join(folder.path, "retention.yaml");
  writeFileSync(path, content);
  return readRetention(path);
}

test("the shipped plan deletes test data after 30 days, and keeps live evidence", () => {
  const { test: ofTest, live } = readRetention(shipped);
  assert.deepEqual(ofTest, { orderDocuments: 30, proofPassports: 30, closingPassports: 30 });
  assert.deepEqual([live.proofPassports, live.closingPassports], ["none", "none"]);
});

test("a plan may keep all data", () => {
  assert.equal(planOf(text.replaceAll(/: \d+/g, ": none")).live.finishedOrders, "none");
});

test("a plan that breaks a rule is refused by the entry's name", () => {
  const refused = (content: string, message: RegExp) =>
    assert.throws(
      () => planOf(content),
      (error) => error instanceof StartupError && message.test(error.message),
    );
  refused(text.replace("unpaidOrders: 90", "unpaidOrders: 6"), /^RETENTION .*: live\.unpaidOrders /);
  refused(text.replace("unpaidOrders: 90", "unpaidOrders: soon"), /live\.unpaidOrders/);
  refused(text.replace("webhookDeliveries: 90", ""), /webhookDeliveries|required/);
  refused(`${text}\nelse: 1`, /: else is not a known entry$/);
  refused("[", /^RETENTION /);
  assert.throws(() => readRetention(join(folder.path, "none.yaml")), /^StartupError: RETENTION .*ENOENT/);
});

test("data that are kept forever are never due", () => {
  const now = new Date("2026-03-31T00:00:00Z");
  assert.deepEqual(dueBefore(30, now), new Date("2026-03-01T00:00:00Z"));
  assert.equal(dueBefore("none", now), null);
});
