import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { partsForm, partsIndex } from "./parts/parts.ts";
import { wholeVectors } from "./whole-vectors.ts";

const folder = new URL("../../../../../packages/evidence/vectors/whole/", import.meta.url);

test("the vectors of whole files equal those that make.ts writes, byte for byte", async () => {
  const differing: string[] = [];
  for (const [name, bytes] of await wholeVectors()) {
    if (Buffer.compare(readFileSync(new URL(name, folder)), bytes) !== 0) differing.push(name);
  }
  assert.deepEqual(differing, []);
});

test("the vectors of parts equal those that make.ts writes, byte for byte", () => {
  const index = readFileSync(new URL("../parts/index.json", folder));
  assert.equal(Buffer.compare(index, partsIndex()), 0);
  assert.equal(Buffer.compare(readFileSync(new URL("../parts/form.pdf", folder)), partsForm()), 0);
});
