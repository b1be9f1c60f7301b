import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { type ChainedEvent, chainStart, checkChain, parseChain } from "@signsealship/sdk";

const page = readFileSync(join(import.meta.dirname, "../../../docs/webhook-chain.md"), "utf8");
const [, vectors = ""] = /```json\n(.*?)```/s.exec(page) ?? [];
const events = JSON.parse(vectors) as ChainedEvent[];
const [first, second, third] = events;
assert.ok(first && second && third);

test("the chain of the documentation verifies, from its start and from any position", async () => {
  assert.deepEqual(await checkChain(events), {
    last: { position: third.position, head: third.head },
    fault: null,
  });
  assert.equal((await checkChain([third], second)).fault, null);
  assert.deepEqual(await checkChain([]), { last: chainStart, fault: null });
});

test("a missing event is detected as a gap, and a changed event or history is detected", async () => {
  assert.deepEqual((await checkChain([first, third])).fault, { reason: "gap", position: 2 });
  assert.deepEqual((await checkChain([first, first])).fault, { reason: "gap", position: 2 });
  const changed = await checkChain([first, { ...second, id: `${second.id}0` }, third]);
  assert.deepEqual(changed, {
    last: { position: 1, head: first.head },
    fault: { reason: "head", position: 2 },
  });
  assert.equal((await checkChain([second], { ...first, head: third.head })).fault?.reason, "head");
});

test("the header is read in its own form only", () => {
  assert.deepEqual(parseChain(`n=42; head=${first.head}`), { position: 42, head: first.head });
  assert.deepEqual(parseChain(`n=42; head=${first.head}; later=1`)?.position, 42);
  for (const header of [
    null,
    "",
    "n=1",
    `n=0; head=${first.head}`,
    `n=01; head=${first.head}`,
    `n=1; head=${first.head}0`,
  ])
    assert.equal(parseChain(header), null);
});
