import assert from "node:assert/strict";
import { test } from "node:test";
import { membersIn, textIn } from "../../../src/kernel/platform/json.ts";

test("only an object has members", () => {
  assert.deepEqual(membersIn({ id: 1 }), { id: 1 });
  for (const value of [undefined, null, "text", 1, true, [{ id: 1 }]]) assert.deepEqual(membersIn(value), {});
});

test("a text has at least one character, and at most as many as the caller reads", () => {
  assert.equal(textIn("abc", 3), "abc");
  assert.equal(textIn("abcd".repeat(1000)), "abcd".repeat(1000));
  assert.equal(textIn("abcd", 3), null);
  for (const value of [undefined, null, "", 1, ["abc"]]) assert.equal(textIn(value), null);
});
