import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { examplePdf } from "../../../../../testing/inputs/order-form.ts";
import { makePdf } from "../../../../../testing/inputs/pdf-maker.ts";
import { planLetter } from "../../../../src/delivery/shipping/letters/fit.ts";
import { run } from "../../../../src/delivery/shipping/letters/pages-task.ts";
import { jane } from "./jane.ts";

const plan = (pdf: Buffer, to = jane, from = jane) => planLetter(run(pdf), to, from);
const misfitOf = (...args: Parameters<typeof plan>): string => {
  const planned = plan(...args);
  return "misfit" in planned ? planned.misfit : assert.fail("it fits");
};

describe("what Lob can print", () => {
  test("is a document of letter size, with one page on each sheet if possible", () => {
    assert.deepEqual(plan(makePdf({ pages: 2 })), { pages: 2, doubleSided: false });
    assert.deepEqual(plan(makePdf({ pages: 59 })), { pages: 59, doubleSided: false });
    assert.deepEqual(plan(makePdf({ pages: 60 })), { pages: 60, doubleSided: true });
    assert.deepEqual(plan(makePdf({ pages: 118 })), { pages: 118, doubleSided: true });
  });

  test("has no more than sixty sheets, including the one for the address", () => {
    assert.match(misfitOf(makePdf({ pages: 119 })), /119 pages; a letter of Lob has room for 118/);
  });

  test("is no page of another size, whichever box states it", () => {
    assert.match(misfitOf(examplePdf), /Page 1 is 8\.26 x 11\.69 inches/);
    const sized = (pageEntries: string) => makePdf({ pageEntries });
    for (const [entries, size] of [
      ["/MediaBox [0 0 792 612]", "11 x 8\\.5"],
      ["/Rotate 90", "11 x 8\\.5"],
      ["/CropBox [0 0 612 396]", "8\\.5 x 5\\.5"],
      ["/UserUnit 2", "17 x 22"],
      ["/MediaBox [0 0 612 1008]", "8\\.5 x 14"],
    ] as const)
      assert.match(misfitOf(sized(entries)), new RegExp(`Page 1 is ${size} inches`), entries);
    for (const entries of ["/MediaBox [0 0 792 612] /Rotate 270", "/MediaBox [0 0 306 396] /UserUnit 2", "/Rotate 180"])
      assert.deepEqual(plan(sized(entries)), { pages: 1, doubleSided: false }, entries);
  });

  test("goes between addresses in the United States that it can print", () => {
    const pdf = makePdf();
    assert.match(misfitOf(pdf, { ...jane, postal: "SW1A 1AA" }), /recipient’s address is not in the United States/);
    assert.match(misfitOf(pdf, jane, { ...jane, state: "Ontario" }), /sender’s address is not in the United States/);
    assert.match(misfitOf(pdf, { ...jane, name: "J".repeat(41) }), /longer than the 40 characters/);
    assert.match(misfitOf(pdf, { ...jane, line1: "L".repeat(65) }), /longer than the 64 characters/);
  });

  test("is no document that is unreadable", () => {
    assert.match(misfitOf(Buffer.from("no PDF")), /can’t be measured/);
  });
});
