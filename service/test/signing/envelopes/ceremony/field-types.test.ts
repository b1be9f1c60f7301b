import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { canonicalJson } from "@signsealship/evidence/manifest";
import { fieldTexts, openUnlocked } from "@signsealship/evidence/pdf";
import { verifySignatures } from "@signsealship/evidence/seal";
import { wholeFile } from "@signsealship/testing/blobs";
import { forTests } from "@signsealship/testing/for-tests";
import { temporaryFolder } from "@signsealship/testing/temporary-folder";
import { needs } from "@signsealship/testing/tools/tools";
import { until } from "@signsealship/testing/until";
import { createNodeCrypto } from "@signsealship/verifier/node-crypto";
import { askPyHanko } from "../../../../../packages/evidence/test/pdf/changes/oracles/pyhanko-oracle.ts";
import { isWhatWasAsked } from "../../../../src/pages/signing/browser/check-act.ts";
import type { Link } from "../../../../src/signing/envelopes/envelopes.ts";
import { oneActKey } from "../../../../src/signing/envelopes/signer-authority.ts";
import { mutoolVerdict, pdfsig } from "../../../evidence/seals/pdf/oracles.ts";
import { emptyForm, placesOfEmpty } from "../pdf/made-forms.ts";
import { browser, consentText, openCeremonyService } from "./ceremony-service.ts";

const { path: folder } = await forTests(temporaryFolder());
const running = await forTests(openCeremonyService());

const line = (x: number, y: number) => ({ x, y, width: 150, height: 18 });
const box = (x: number, y: number) => ({ x, y, width: 14, height: 14 });

/** Fields of all nine types for a signer. */
const nineTypes = (signer: number, x: number) => {
  const common = { signer, page: 1 };
  return [
    { ...common, kind: "signature", x, y: 100, width: 180, height: 40 },
    { ...common, kind: "initials", x, y: 150, width: 60, height: 24 },
    { ...common, kind: "date", ...line(x, 190), format: "long" },
    { ...common, kind: "name", ...line(x, 220) },
    { ...common, kind: "text", ...line(x, 250), label: "ZIP", format: "zip_us", help: "Of the property" },
    { ...common, kind: "number", ...line(x, 280), label: "Price", format: { currency: "USD", min: 1 } },
    { ...common, kind: "checkbox", ...box(x, 310), label: "I was told of lead paint", required: true },
    { ...common, kind: "dropdown", ...line(x, 340), label: "Color", options: [{ label: "Red" }, { label: "Blue" }] },
    {
      ...common,
      kind: "radio",
      label: "Title",
      options: [
        { label: "Sole", ...box(x, 370) },
        { label: "Joint", ...box(x + 40, 370) },
      ],
    },
  ];
};
const senders = [
  { kind: "text", signer: 1, page: 1, ...line(72, 420), label: "County", value: "Clackamas", read_only: true },
  { kind: "checkbox", signer: 1, page: 1, ...box(72, 450), label: "Cash", value: true, read_only: true },
  { kind: "text", signer: 1, page: 1, ...line(72, 480), label: "Unit", value: "4b" },
];

let unique = 1;
async function ordered() {
  const people = ["Jane", "Max"].map((name) => ({ name, email: `${name.toLowerCase()}-t${unique++}@example.com` }));
  const fields = [...nineTypes(1, 72), ...nineTypes(2, 330), ...senders];
  const code = await running.order(people, { fields: JSON.stringify(fields) });
  const [jane, max] = [await running.linkOf(people[0]?.email ?? ""), await running.linkOf(people[1]?.email ?? "")];
  for (const link of [jane, max]) await running.ceremony.consent(link, consentText, browser);
  return { code, jane, max };
}

type Answers = Record<string, string>;
const answers: Answers = {
  ZIP: "97201",
  Price: "1250",
  Color: "Blue",
  "I was told of lead paint": "On",
  Joint: "On",
  Unit: "5c",
};

/**
 * Builds a request to sign, and sends nothing. The keys of the answers are the labels of fields, or of a radio's
 * options.
 */
async function request(link: Link, given: Answers, text: string) {
  const { document, fields } = await running.ceremony.view(link);
  const values = new Map(
    fields.flatMap(({ name, option, label }) => {
      const value = given[option ?? label ?? ""];
      return value === undefined ? [] : [[name, value] as const];
    }),
  );
  return { fields, request: { revision: document?.revision ?? 0, mark: { kind: "typed", text } as const, values } };
}

const signBy = async (link: Link, given: Answers, text: string) =>
  running.ceremony.sign(link, (await request(link, given, text)).request, browser);

/**
 * Signs as the page's script does: the service prepares the act, the script checks it against the request, and the
 * browser's key signs it.
 */
async function signByScript(link: Link, given: Answers, text: string) {
  const { fields, request: asked } = await request(link, given, text);
  const key = oneActKey();
  const bytes = await wholeFile((await running.ceremony.document(link)).file);
  const act = await running.ceremony.prepare(link, { ...asked, publicKey: key.publicKey }, browser);
  assert.ok(act.outcome === "prepared");
  const own = new Map(fields.map(({ name, kind }) => [name, kind] as const));
  const options = new Map(
    fields.flatMap(({ name, option }) => (option === undefined ? [] : [[name, option] as const])),
  );
  const { mark, values } = asked;
  const record = canonicalJson(act.record);
  const all = { document: bytes, fields: own, options, values, mark };
  assert.equal(await isWhatWasAsked({ ...act, record }, all), true);
  const renamed = new Map([...options].map(([name]) => [name, "Tenants"]));
  if (options.size > 0) assert.equal(await isWhatWasAsked({ ...act, record }, { ...all, options: renamed }), false);
  const other = new Map([...values].map(([name, value]) => [name, value === "1250" ? "1251" : `${value}.`]));
  assert.equal(await isWhatWasAsked({ ...act, record }, { ...all, values: other }), false);
  const unchecked = new Map([...values].filter(([, value]) => value !== "On"));
  if (unchecked.size < values.size)
    assert.equal(await isWhatWasAsked({ ...act, record }, { ...all, values: unchecked }), false);
  return running.ceremony.complete(link, await key.sign(act.signedAttrs));
}

test(
  "two signers fill in fields of all nine types, with and without a script, and every act is valid for every reader",
  needs("pyhanko", "poppler", "mupdf"),
  async () => {
    const { jane, max, code } = await ordered();
    const shown = await running.ceremony.view(jane);
    assert.deepEqual(
      shown.senderValues.map(({ label, value }) => [label, value]),
      [
        ["County", "Clackamas"],
        ["Cash", "On"],
      ],
    );
    assert.equal(shown.fields.find(({ label }) => label === "Unit")?.value, "4b");
    assert.deepEqual(await signBy(jane, answers, "Jane"), { outcome: "signed", completed: false });
    assert.deepEqual(await signByScript(max, answers, "Max"), { outcome: "signed", completed: true });
    await until(async () => (await running.ceremony.view(jane)).copies.length === 2);
    const sealed = await wholeFile(await running.ceremony.copy(jane, "sealed"));
    const [answer] = askPyHanko([{ judge: sealed }]);
    assert.deepEqual(
      answer?.signatures?.map(({ permitted }) => permitted),
      [true, true, true],
    );
    const path = join(folder, `${code}.pdf`);
    writeFileSync(path, sealed);
    assert.equal((await pdfsig(path)).filter(({ valid }) => valid).length, 3);
    assert.match(await mutoolVerdict(path), /unchanged since signing/);
    for (const { claims } of await verifySignatures(sealed, [], Date.now(), createNodeCrypto()))
      for (const { name, state } of claims) assert.notEqual(state, "fails", name);
    const texts = [...fieldTexts(await openUnlocked(sealed)).values()];
    for (const [value, times] of [
      ["97201", 2],
      ["$1,250.00", 2],
      ["Blue", 2],
      ["Clackamas", 1],
      ["5c", 1],
      ["On", 5],
      ["Off", 2],
    ] as const)
      assert.equal(texts.filter((text) => text === value).length, times, value);
    assert.equal(texts.filter((text) => /^\w+ \d+, \d{4}$/.test(text ?? "")).length, 2, "long dates");
  },
);

test(
  "two signers fill in the document's own fields, and the sealed document holds the values under their own names",
  needs("pyhanko"),
  async () => {
    const people = ["Jane", "Max"].map((name) => ({ name, email: `${name.toLowerCase()}-o${unique++}@example.com` }));
    const own = (name: keyof typeof placesOfEmpty, kind: string, signer: number, more: object = {}) => ({
      kind,
      signer,
      page: 1,
      x: 72,
      y: placesOfEmpty[name],
      width: 150,
      height: 20,
      ...more,
    });
    const sign = (signer: number) => ({
      kind: "signature",
      signer,
      page: 1,
      x: 300,
      y: 500 + signer * 60,
      width: 150,
      height: 40,
    });
    const fields = [
      sign(1),
      own("Buyer Name", "text", 1, { label: "Your name" }),
      own("color", "dropdown", 1, { label: "Color", options: [{ label: "Red" }, { label: "Blue" }] }),
      sign(2),
      own("seller.name", "text", 2, { label: "Seller" }),
    ];
    await running.order(people, { fields: JSON.stringify(fields) }, emptyForm());
    const [jane, max] = [await running.linkOf(people[0]?.email ?? ""), await running.linkOf(people[1]?.email ?? "")];
    for (const link of [jane, max]) await running.ceremony.consent(link, consentText, browser);
    await signBy(jane, { "Your name": "Jane Elizabeth Doe", Color: "Blue" }, "Jane");
    await signByScript(max, { Seller: "Max Roe" }, "Max");
    await until(async () => (await running.ceremony.view(jane)).copies.length === 2);
    const sealed = await wholeFile(await running.ceremony.copy(jane, "sealed"));
    const texts = fieldTexts(await openUnlocked(sealed));
    assert.deepEqual(
      ["Buyer Name", "color", "seller.name"].map((name) => texts.get(name)),
      ["Jane Elizabeth Doe", "Blue", "Max Roe"],
    );
    const [answer] = askPyHanko([{ judge: sealed }]);
    assert.deepEqual(
      answer?.signatures?.map(({ permitted }) => permitted),
      [true, true, true],
    );
  },
);

describe("nobody signs with", () => {
  const cases: readonly [string, Answers, RegExp][] = [
    ["a required box unchecked", { "I was told of lead paint": "Off" }, /I was told of lead paint must be checked/],
    ["a box in a state of no name", { "I was told of lead paint": "Yes" }, /must be checked or not/],
    ["two options of a radio", { Sole: "On" }, /Title takes one choice/],
    ["no option of a required radio", { Joint: "Off" }, /Title must be chosen/],
    ["a choice that is not there", { Color: "Green" }, /Color does not accept this value/],
    ["no choice", { Color: "" }, /Color must be filled in/],
    ["words for a number", { Price: "many" }, /Price does not accept this value/],
    ["a number below its bound", { Price: "0.99" }, /Price does not accept this value/],
    ["a text of another format", { ZIP: "9720" }, /ZIP does not accept this value/],
  ];
  for (const [what, given, message] of cases)
    test(what, async () => {
      const link = await linkOnce();
      await assert.rejects(signBy(link, { ...answers, ...given }, "Jane"), (error) => message.test(String(error)));
      assert.equal((await running.ceremony.view(link)).state, "ready");
    });

  let kept: Promise<Link> | undefined;
  const linkOnce = async (): Promise<Link> => {
    kept ??= ordered().then(({ jane }) => jane);
    return kept;
  };

  test("a value for another signer's field, or for the sender's", async () => {
    const link = await linkOnce();
    const { request: asked } = await request(link, answers, "Jane");
    const values = new Map([...asked.values, ["SignSealShip-0000-2-13-checkbox", "On"]]);
    await assert.rejects(running.ceremony.sign(link, { ...asked, values }, browser), { code: "conflict" });
  });
});

describe("an order is refused", () => {
  const refusal = async (field: object): Promise<string> => {
    const signature = nineTypes(1, 72)[0];
    const people = [{ name: "Jane", email: "jane@example.com" }];
    const error = await running
      .order(people, { fields: JSON.stringify([signature, { signer: 1, page: 1, ...field }]) })
      .then(
        () => assert.fail("not refused"),
        (reason: unknown) => String(reason),
      );
    return error;
  };

  test("with a value that would be too small to read in its place", async () => {
    const field = { kind: "text", ...line(72, 400), value: "x".repeat(120) };
    assert.match(
      await refusal(field),
      /fields\[1\] is too small for a text of 120 characters, which must fit at 6 points/,
    );
  });

  test("with a choice that would be too small to read in its place", async () => {
    const options = [{ label: "A" }, { label: "y".repeat(90) }];
    assert.match(
      await refusal({ kind: "dropdown", ...line(72, 400), options }),
      /fields\[1\] is too small for a text of 90/,
    );
  });

  test("with an option over another's place, named by its element", async () => {
    const options = [
      { label: "A", ...box(72, 400) },
      { label: "B", ...box(74, 402) },
    ];
    assert.match(
      await refusal({ kind: "radio", options }),
      /fields\[1\]\.options\[1\] overlaps fields\[1\]\.options\[0\] by/,
    );
  });

  test("with an option off the page, named by its element", async () => {
    const options = [
      { label: "A", ...box(72, 400) },
      { label: "B", ...box(72, 2000) },
    ];
    assert.match(await refusal({ kind: "radio", options }), /fields\[1\]\.options\[1\] lies outside page 1/);
  });
});
