import assert from "node:assert/strict";
import { test } from "node:test";
import { linkHolder, newestFirst } from "../../../src/signing/envelopes/lifecycle/notarized.ts";

const at = new Date("2026-06-01T12:00:00Z");
const ann = { name: "Ann", email: "ann@example.com" };

test("the mail about a notarized document has the person's link of the newest envelope, whatever the place among its signers", () => {
  const earlier = { ...ann, id: 1, n: 2, envelopeId: 10, issuedAt: at };
  const newer = { ...ann, id: 2, n: 1, envelopeId: 11, issuedAt: at };
  const rows = [newer, earlier];
  assert.equal(linkHolder(ann, newestFirst([11, 10], rows))?.id, 2);
  const unsent = { ...newer, issuedAt: null };
  assert.equal(linkHolder(ann, newestFirst([11, 10], [unsent, earlier]))?.id, 1);
  assert.equal(linkHolder({ ...ann, email: "other@example.com" }, rows), undefined);
});
