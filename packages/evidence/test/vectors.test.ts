import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { createWebCrypto } from "../src/webcrypto.ts";
import { partChecks } from "./part-checks.ts";
import { manifests, namesIn, ots, plainChecks } from "./plain-vectors.ts";
import { testEach } from "./vector-cases.ts";

test("the indexes name every vector file and nothing else", () => {
  assert.deepEqual(namesIn("ots/accept/").toSorted(), Object.keys(ots.accept).toSorted());
  assert.deepEqual(namesIn("ots/reject/").toSorted(), Object.keys(ots.reject).toSorted());
  assert.deepEqual(namesIn("manifest/reject/").toSorted(), Object.keys(manifests.reject).toSorted());
  assert.equal(namesIn("manifest/chain/").length, manifests.chain.length);
});

test("docs/evidence-format.md states how many cases each index has", () => {
  const read = (path: string) => readFileSync(new URL(path, import.meta.url), "utf8");
  const indexOf = (folder: string) => JSON.parse(read(`../vectors/${folder}/index.json`));
  const lines = JSON.parse(read("../vectors/log/entries.json"));
  const count = (members: object) => Object.keys(members).length;
  const listed = ["x509", "cms", "rfc3161", "seals", "whole", "parts"];
  const expected = {
    ...Object.fromEntries(listed.map((folder) => [folder, `${count(indexOf(folder))}`])),
    ots: `${count(ots.accept)} + ${count(ots.reject)}`,
    log: `${count(lines.accept)} + ${count(lines.reject)}, ${count(indexOf("log"))}`,
    manifest: `${manifests.chain.length} + ${count(manifests.reject)} + ${namesIn("manifest/canonical/").length}`,
  };
  const rows = read("../../../docs/evidence-format.md").matchAll(/^\| `(\w+)` \| .* \| ([\d+, ]+) \|$/gm);
  const stated = [...rows].map(([, folder, cases]) => [folder, cases] as const);
  assert.deepEqual(Object.fromEntries(stated.filter(([folder = ""]) => folder in expected)), expected);
});

testEach(plainChecks());
testEach(partChecks(createWebCrypto(crypto.subtle)));
