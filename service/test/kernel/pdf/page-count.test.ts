import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { describe, test } from "node:test";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { zooBytes, zooFiles } from "@signsealship/testing/inputs/zoo";
import { needs } from "@signsealship/testing/tools/tools";
import fc from "fast-check";
import { pageCount } from "../../../src/kernel/pdf/pages/page-count.ts";

describe("pageCount", () => {
  test("counts the pages of generated documents", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 300 }), (pages) => {
        assert.equal(pageCount(makePdf({ pages })), pages);
      }),
      { numRuns: 30 },
    );
  });

  test("agrees with pdfinfo on every sealable file of the zoo", needs("poppler"), () => {
    for (const { name, expected, path } of zooFiles()) {
      if (expected !== "sealed") continue;
      // Poppler treats cross-reference fields of 8 bytes as damage, but the standard allows them.
      if (name === "xref-stream-widths-888.pdf") continue;
      // Poppler does not open a document without a trailer.
      if (name === "broken-truncated-table.pdf") continue;
      const counted = /^Pages:\s+(\d+)/m.exec(execFileSync("pdfinfo", [path], { encoding: "latin1", stdio: "pipe" }));
      assert.equal(pageCount(zooBytes(name)), Number(counted?.[1]), name);
    }
  });

  test("is null for a document that is unreadable, encrypted or without pages", () => {
    for (const name of ["broken-text", "broken-truncated", "encrypted-aes-256", "no-pages-kids", "cycle-pages"]) {
      assert.equal(pageCount(zooBytes(`${name}.pdf`)), null, name);
    }
    assert.equal(pageCount(makePdf({ bytes: 3000 }), 2999), null);
  });

  test("is null when the root states another number than its tree contains", () => {
    const honest = makePdf({ pages: 30 });
    const lie = Buffer.from(honest.toString("latin1").replace("/Count 30", "/Count 10"), "latin1");
    assert.equal(pageCount(honest), 30);
    assert.equal(pageCount(lie), null);
  });
});
