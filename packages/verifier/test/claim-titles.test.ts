import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { claimNames, titleOf } from "../src/cli/claim-titles.ts";

describe("a claim's title", () => {
  test("is plain words for seals, earlier signatures, proofs and the versions of a closing passport", () => {
    for (const [claim, title] of [
      ["whole_file_covered", "The seal covers the whole file"],
      ["later_changes_permitted", "Later changes were permitted ones"],
      ["ots.pending", "A calendar has promised a proof"],
      ["chain.versions", "No version is missing"],
      ["manifest.v12.hash", "Version 12: the manifest has the hash stated"],
      ["certificate.v?.seal", "Version ?: the certificate's seal is genuine"],
    ] as const)
      assert.equal(titleOf(claim), title);
  });

  test("is the claim's name when it has no title", () => {
    for (const claim of ["made_up", "manifest.v1.made_up", "manifest.vx.hash", ""]) assert.equal(titleOf(claim), claim);
  });

  test("exists for each claim of the format, and the format describes every claim", () => {
    const format = readFileSync(new URL("../../../docs/evidence-format.md", import.meta.url), "utf8");
    assert.deepEqual(
      claimNames.filter((name) => !format.includes(`\`${name}\``)),
      [],
    );
  });
});
