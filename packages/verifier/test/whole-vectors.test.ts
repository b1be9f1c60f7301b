import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { test } from "node:test";
import { testEach } from "../../evidence/test/vector-cases.ts";
import { wholeCases, wholeFolder } from "../../evidence/test/whole-cases.ts";
import { wholeChecks } from "./whole-checks.ts";

testEach(wholeChecks());

test("the index names every file of the folder of whole files and nothing else", () => {
  const there = readdirSync(wholeFolder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => `${entry.parentPath}/${entry.name}`.slice(wholeFolder.pathname.length).replace(/^\//, ""));
  const named = wholeCases.flatMap(({ files, trust, tsaTrust }) => [
    ...Object.values(files).flat(),
    ...trust,
    ...tsaTrust,
  ]);
  assert.deepEqual(new Set(there), new Set([...named, "index.json"]));
});
