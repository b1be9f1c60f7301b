import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { checkFinished } from "../../../src/delivery/paper/finished/check.ts";

const given = makePdf({ pages: 2, text: "Deed" });
const sha256 = createHash("sha256").update(given).digest("hex");

async function report(bytes: Buffer, pages: number | null = 2) {
  const { checks } = await checkFinished(bytes, {
    latest: { bytes: given.length, sha256, pages },
    tsaRoots: "",
    at: new Date("2026-06-01T00:00:00Z"),
  });
  return Object.fromEntries(checks.map(({ name, state, why }) => [name, `${state}: ${why}`]));
}

test("a scan can be accepted, with the points to check named", async () => {
  const said = await report(makePdf({ pages: 1, text: "Scan" }));
  assert.match(said["can_be_sealed"] ?? "", /^holds/);
  assert.match(said["our_document"] ?? "", /^warns: It is another file/);
  assert.match(said["pages"] ?? "", /^warns: It has 1 page, and the order’s document 2\./);
  assert.match(said["signatures"] ?? "", /^warns: It has no digital signature/);
  assert.equal(said["changes"], undefined);
  assert.match((await report(makePdf({ pages: 1 }), null))["pages"] ?? "", /^holds/);
});

test("refuses the order’s own document, even with added bytes that change nothing", async () => {
  assert.match((await report(given))["our_document"] ?? "", /^fails/);
  const padded = Buffer.concat([given, Buffer.from("\n% nothing\n")]);
  assert.match((await report(padded))["changes"] ?? "", /^fails: Nothing was added/);
});

test("refuses a file that can’t be sealed, and asks a person about one whose pages can’t be counted", async () => {
  assert.match((await report(Buffer.from("a letter")))["can_be_sealed"] ?? "", /^fails/);
  const odd = Buffer.from(makePdf({ pages: 3 }).toString("latin1").replace("/Count 3", "/Count 4"), "latin1");
  assert.match((await report(odd))["pages"] ?? "", /^warns: Its pages can’t be counted/);
});

test("asks a person about content of a document that may be invisible, and is silent when there is none", async () => {
  const open = makePdf({ pageEntries: "/AA << /O << /S /JavaScript /JS (app.alert) >> >>" });
  assert.equal(
    (await report(open))["unseen"],
    'warns: The document has actions that can change what a reader shows: "JavaScript".',
  );
  const stamp = makePdf({ pageEntries: "/Annots [<< /Subtype /Stamp /F 36 /Rect [1 1 90 90] >>]" });
  assert.match((await report(stamp))["unseen"] ?? "", /^warns: Look at it as it is printed: page 1 has an annotation/);
  assert.equal((await report(makePdf()))["unseen"], undefined);
});
