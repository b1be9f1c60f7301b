import assert from "node:assert/strict";
import { test } from "node:test";
import { wholeFile } from "@signsealship/testing/blobs";
import { forTests } from "@signsealship/testing/for-tests";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { needs } from "@signsealship/testing/tools/tools";
import { askPyHanko } from "../../../../../packages/evidence/test/pdf/changes/oracles/pyhanko-oracle.ts";
import type { Link } from "../../../../src/signing/envelopes/envelopes.ts";
import { formWith } from "../pdf/made-forms.ts";
import { browser, consentText, openCeremonyService } from "./ceremony-service.ts";

const running = await forTests(openCeremonyService());

const jane = { name: "Jane", email: "jane-placed@example.com" };
const bob = { name: "Bob", email: "bob-placed@example.com" };

/** Signs by the link. @returns the fields that its signer saw */
async function signedBy(link: Link, text: string) {
  const { ceremony } = running;
  await ceremony.opened(link, browser);
  await ceremony.consent(link, consentText, browser);
  const { document, fields } = await ceremony.view(link);
  const typed = fields.filter(({ kind }) => kind === "text").map(({ name }) => [name, "4B"] as const);
  const request = {
    revision: document?.revision ?? 0,
    mark: { kind: "typed", text } as const,
    values: new Map(typed),
  };
  const before = await wholeFile((await ceremony.document(link)).file);
  const done = await ceremony.sign(link, request, browser);
  assert.equal(done.outcome, "signed");
  return { fields, before, completed: done.outcome === "signed" && done.completed };
}

test("a signer sees the fields that the order requested, at their places", async () => {
  const at = { signer: 1, page: 2, x: 72, y: 500, width: 180, height: 40, label: null, required: true };
  const asked = [
    { ...at, kind: "signature" },
    { ...at, kind: "text", x: 72.5, y: 560.25, width: 100.125, height: 20, label: "Unit", required: false },
  ];
  await running.order([jane], { fields: JSON.stringify(asked) }, makePdf({ pages: 2 }));
  const { fields, completed } = await signedBy(await running.linkOf(jane.email), "Jane");
  assert.ok(completed);
  assert.deepEqual(
    fields.map(({ kind, page, left, top, width, height, label, required }) => ({
      kind,
      signer: 1,
      page,
      x: left,
      y: top,
      width,
      height,
      label,
      required,
    })),
    asked,
  );
});

test("a signer learns of the page that is added for signatures without a place, and of none if each has one", async () => {
  const place = { kind: "signature", signer: 1, page: 2, x: 72, y: 500, width: 180, height: 40 };
  for (const [fields, pages, hasSignaturePage] of [
    [{ fields: JSON.stringify([place]) }, 2, false],
    [{}, 3, true],
  ] as const) {
    const email = `signer-of-${pages}@example.com`;
    await running.order([{ ...jane, email }], fields, makePdf({ pages: 2 }));
    const { document } = await running.ceremony.view(await running.linkOf(email));
    assert.deepEqual([document?.pages, document?.hasSignaturePage], [pages, hasSignaturePage]);
  }
});

test(
  "two people sign the own fields of a certified document, although nothing can be prepared in it",
  needs("pyhanko"),
  async () => {
    const empty = formWith([
      { name: "seller", rect: "72 600 252 640" },
      { name: "buyer", rect: "72 500 252 540" },
    ]);
    const [certified] = askPyHanko([{ pdf: empty, make: [["certify", 2]] }]);
    const people = [
      { ...jane, email: "seller@example.com" },
      { ...bob, email: "buyer@example.com" },
    ];
    await running.order(people, {}, Buffer.from(certified?.pdf ?? []));
    await signedBy(await running.linkOf("seller@example.com"), "Jane");
    const { before: bytes, fields, completed } = await signedBy(await running.linkOf("buyer@example.com"), "Bob");
    assert.ok(completed);
    assert.deepEqual(
      fields.map(({ name, left, top }) => [name, left, top]),
      [["buyer", 72, 252]],
    );
    const [answer] = askPyHanko([{ judge: bytes }]);
    assert.deepEqual(
      answer?.signatures?.map(({ permitted }) => permitted),
      [true, true],
    );
  },
);
