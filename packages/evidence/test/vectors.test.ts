import assert from "node:assert/strict";
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

testEach(plainChecks());
testEach(partChecks(createWebCrypto(crypto.subtle)));
