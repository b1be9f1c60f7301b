import assert from "node:assert/strict";
import { test } from "node:test";
import { fieldTexts, openUnlocked } from "@signsealship/evidence/pdf";
import { forTests } from "@signsealship/testing/for-tests";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { namedFields } from "../../../../src/kernel/pdf/named-fields.ts";
import { lookUpPdf } from "../../../../src/kernel/pdf/xref/lookup.ts";
import { sql } from "../../../../src/kernel/platform/database/sql.ts";
import { openMembersService } from "../../../firms/members/members-service.ts";
import { newMember } from "../../../firms/members/signed-in-member.ts";

const running = await forTests(openMembersService());
const path = "/dashboard/places/preview";

async function member() {
  const { key } = await running.newPartner();
  const { headers } = await newMember(running.service, running.somebody(), key);
  return headers;
}

type Sent = {
  document?: Buffer;
  fields?: object[] | string;
  signers?: object[] | string;
  title?: string;
  notarized?: "on";
};
type Answer = { revisions: string[]; pages: { html: string; revision: number }[]; error?: string };

const jane = { name: "Jane Roe", email: "jane@example.com" };
const john = { name: "Juan Roe", email: "juan@example.com", language: "es", routing: 2 };
const at = { page: 1, x: 72, width: 150, height: 30 };
const signatures = [
  { ...at, kind: "signature", signer: 1, y: 100 },
  { ...at, kind: "signature", signer: 2, y: 200 },
];

async function ask(
  headers: Record<string, string>,
  { document = makePdf(), fields = "", signers = [jane], title = "", notarized }: Sent,
) {
  const form = new FormData();
  const text = (value: object[] | string) => (typeof value === "string" ? value : JSON.stringify(value));
  form.set("fields", text(fields));
  form.set("signers", text(signers));
  form.set("title", title);
  if (notarized) form.set("notarized", notarized);
  form.set("document", new Blob([new Uint8Array(document)], { type: "application/pdf" }), "x.pdf");
  const answer = await fetch(running.service.baseUrl + path, {
    method: "POST",
    redirect: "manual",
    headers: { ...headers, Accept: "application/json" },
    body: form,
  });
  const body = await answer.text();
  return { status: answer.status, body: (body.startsWith("{") ? JSON.parse(body) : {}) as Answer };
}

/** The document with the revisions that a signer's page gets. */
const documentOf = (document: Buffer, { revisions, pages }: Answer, signer: number) =>
  Buffer.concat([
    document,
    ...revisions.slice(0, pages[signer - 1]?.revision).map((each) => Buffer.from(each, "base64")),
  ]);

type Config = {
  pages: number;
  fields: { name: string; kind: string; page: number; label: string }[];
  referenced: object[];
};
const configOf = ({ pages }: Answer, signer: number): Config =>
  JSON.parse(/id="signing-config">(.*?)<\/script>/.exec(pages[signer - 1]?.html ?? "")?.[1] ?? "{}");

/** The texts in the document's fields, without the empty ones. */
const textsOf = async (bytes: Buffer) => [...fieldTexts(await openUnlocked(bytes)).values()].filter(Boolean);

test("the preview has the prepared fields of all signers, and a page for each in their language; nothing is stored", async () => {
  const headers = await member();
  const stored = () =>
    running.db.query(sql`SELECT (SELECT count(*) FROM documents) AS d, (SELECT count(*) FROM orders) AS o`);
  const before = await stored();
  const document = makePdf();
  const fields = [
    ...signatures,
    { ...at, kind: "text", signer: 2, y: 300, label: "Unit <b>", value: "4B", read_only: true },
  ];
  const { status, body } = await ask(headers, { document, fields, signers: [jane, john], title: "Deed & more" });
  assert.equal(status, 200, JSON.stringify(body));
  const texts = fieldTexts(await openUnlocked(documentOf(document, body, 1)));
  assert.equal([...texts].filter(([name]) => name.startsWith("SignSealShip-")).length, 3);
  assert.ok([...texts.values()].includes("4B"));
  const [first = "", second = ""] = body.pages.map(({ html }) => html);
  assert.match(first, /<html lang="en"/);
  assert.match(second, /<html lang="es"/);
  assert.match(first, /<h1>Deed &amp; more<\/h1>/);
  assert.match(first, /id="sign-form"/);
  assert.match(first, /signing-preview\.[0-9a-f]+\.js/);
  assert.doesNotMatch(first, /\/assets\/sign\.[0-9a-f]/);
  assert.doesNotMatch(first, /<b>/);
  assert.deepEqual(await stored(), before);
});

test("without fields, the document's own places and the page that would be added are shown", async () => {
  const { body } = await ask(await member(), { signers: [jane, john] });
  const config = configOf(body, 2);
  assert.equal(config.pages, 2);
  assert.deepEqual(
    config.fields.map(({ kind, page }) => [kind, page]),
    [
      ["signature", 2],
      ["date", 2],
    ],
  );
});

test("the preview refuses what an order refuses, in the words of the form", async () => {
  const headers = await member();
  for (const [sent, message] of [
    [{ document: Buffer.from("no PDF") }, /must be a PDF/],
    [{ signers: "[]" }, /signers must be a JSON array/],
    [{ signers: [{ ...jane, language: "xx" }] }, /language must be/],
    [
      { fields: signatures.slice(0, 1), signers: [jane, john] },
      /^Each signer needs a signature on the pages\. Juan Roe has none\.$/,
    ],
    [{ fields: [{ ...at, kind: "signature", signer: 1, y: 780 }] }, /^“signature” on page 1: lies outside page 1/],
    [
      { fields: [{ ...at, kind: "signature", signer: 1, y: 100, page: 9 }] },
      /is on page 9 of a document with one page/,
    ],
  ] as const) {
    const { status, body } = await ask(headers, sent as Sent);
    assert.equal(status, 400);
    assert.match(body.error ?? "", message);
  }
});

const lease = [
  ...signatures,
  { ...at, kind: "text", signer: 1, y: 260, height: 18, label: "Unit" },
  { ...at, kind: "text", signer: 1, y: 290, height: 18, label: "Parking", required: false },
  { ...at, kind: "number", signer: 1, y: 320, height: 18, label: "Rent", id: "rent" },
  { ...at, kind: "number", signer: 2, y: 350, height: 18, label: "Yearly", formula: "rent * 12" },
];

test("a later signer's page shows the document as earlier signers leave it: with the values that the sender tried, and examples", async () => {
  const headers = await member();
  const document = makePdf();
  const { body } = await ask(headers, { document, fields: lease, signers: [jane, john] });
  assert.deepEqual(
    body.pages.map(({ revision }) => revision),
    [1, 2],
  );
  assert.deepEqual(await textsOf(documentOf(document, body, 1)), [], "nobody has signed before Jane");
  assert.deepEqual(await textsOf(documentOf(document, body, 2)), ["Example", "1"]);
  assert.match(JSON.stringify(configOf(body, 2).referenced), /"texts":\["1"\]/);
  const signedOn = (n: number) => body.pages[n - 1]?.html.match(/<li class="done"/g)?.length ?? 0;
  assert.deepEqual([signedOn(1), signedOn(2)], [0, 1], "the list of signers says who has signed");

  const nameOf = (label: string) => configOf(body, 1).fields.find((each) => each.label === label)?.name ?? "";
  const tried = { [nameOf("Unit")]: "4B", [nameOf("Parking")]: "P-9", [nameOf("Rent")]: "1,000", unknown: "ignored" };
  const after = await ask(headers, { document, fields: lease, signers: [{ ...jane, tried }, john] });
  assert.deepEqual(await textsOf(documentOf(document, after.body, 2)), ["4B", "P-9", "1,000"]);
  assert.match(JSON.stringify(configOf(after.body, 2).referenced), /"texts":\["1,000"\]/);
});

test("signers of one turn see nothing of each other", async () => {
  const { body } = await ask(await member(), { fields: lease.slice(0, 4), signers: [jane, { ...john, routing: 1 }] });
  assert.equal(body.revisions.length, 1);
  assert.deepEqual(
    body.pages.map(({ revision }) => revision),
    [1, 1],
  );
});

test("where a notary signs afterwards, the notary's block is in the document, and belongs to no signer", async () => {
  const headers = await member();
  const document = makePdf();
  const blocks = (bytes: Buffer) => namedFields(lookUpPdf(bytes)).filter(({ type }) => type === "Sig").length;
  for (const [notarized, expected] of [
    [undefined, 1],
    ["on", 2],
  ] as const) {
    const { body } = await ask(headers, { document, fields: signatures.slice(0, 1), ...(notarized && { notarized }) });
    assert.equal(blocks(documentOf(document, body, 1)), expected);
    assert.equal(configOf(body, 1).fields.length, 1);
  }
});

test("entries that no page sends are refused", async () => {
  const headers = await member();
  for (const tried of [[], "x", { a: 1 }, { a: "x".repeat(501) }, { a: "two\nlines" }]) {
    const { status, body } = await ask(headers, { signers: [{ ...jane, tried }] });
    assert.equal(status, 400);
    assert.match(body.error ?? "", /tried must be an object of texts/);
  }
});

test("nobody without a session gets a preview", async () => {
  assert.notEqual((await ask({}, {})).status, 200);
});
