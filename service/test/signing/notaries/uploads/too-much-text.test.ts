import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { before, describe, test } from "node:test";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { tooMuchText } from "../../../../src/kernel/pdf/text-cost.ts";
import { run as build } from "../../../../src/signing/notaries/signing/build-task.ts";
import { textOf } from "../../../../src/signing/notaries/uploads/text.ts";
import { placeProblem } from "../../../../src/signing/notaries/uploads/visible-place.ts";

describe("of a document with more text than is read", () => {
  let costly: Buffer;
  let sha256: string;
  before(() => {
    costly = makePdf({ content: `BT ${"() Tj ".repeat(3_500_000)} ET` });
    sha256 = createHash("sha256").update(costly).digest("hex");
    assert.ok(tooMuchText(costly));
  });

  test("the check of an upload reports that its places can't be read, and finds no text", async () => {
    assert.equal(await placeProblem(makePdf(), costly), "Where the additions show can't be read.");
    assert.equal(await placeProblem(costly, makePdf()), "Where the additions show can't be read.");
    assert.equal(await textOf(costly, sha256), null);
  });

  test("the notary's signature is invisible, and is made", async () => {
    const draws = [{ reserve: 8_000, padding: 0 }];
    const said = { name: "Nora Ames", reason: "Acknowledgment", location: "FL", lines: ["Nora Ames"] };
    const output = await build(costly, {
      ...said,
      block: null,
      seal: null,
      docSha256: sha256,
      at: new Date(0),
      actSha256: sha256,
      draws,
    });
    assert.ok("tail" in output, JSON.stringify(output));
    assert.equal(output.isVisible, false);
  });
});
