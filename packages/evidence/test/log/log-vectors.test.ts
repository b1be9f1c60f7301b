import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { testEach } from "../vector-cases.ts";
import { logChecks } from "./log-vectors.ts";
import { carriedVectors } from "./vectors/carried.ts";
import { fileVectors } from "./vectors/files.ts";
import { retractionVectors } from "./vectors/retractions.ts";
import { signedVectors } from "./vectors/signed.ts";
import { treeVectors } from "./vectors/trees.ts";
import { witnessVectors } from "./vectors/witnesses.ts";

test("the vectors are equal to those that make-vectors writes", () => {
  const written = JSON.parse(readFileSync(new URL("../../vectors/log/index.json", import.meta.url), "utf8"));
  assert.deepEqual(
    JSON.parse(
      JSON.stringify([
        ...signedVectors,
        ...retractionVectors,
        ...witnessVectors,
        ...treeVectors,
        ...fileVectors,
        ...carriedVectors,
      ]),
    ),
    written,
  );
});

testEach(logChecks());
