import assert from "node:assert/strict";
import { test } from "node:test";
import { fieldTexts, openUnlocked } from "@signsealship/evidence/pdf";
import { forTests } from "@signsealship/testing/for-tests";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { sql } from "../../../src/kernel/platform/database/sql.ts";
import { openMembersService } from "../../firms/members/members-service.ts";
import { newMember } from "../../firms/members/signed-in-member.ts";

const running = await forTests(openMembersService());
const path = "/dashboard/places/preview";

async function member() {
  const { key } = await running.newPartner();
  const { headers } = await newMember(running.service, running.somebody(), key);
  return headers;
}

type Sent = { document?: Buffer; fields?: object[] | string; signers?: object[] | string; title?: string };
type Answer = { tail: string; pages: string[]; error?: string };

const jane = { name: "Jane Roe", email: "jane@example.com" };
const john = { name: "Juan Roe", email: "juan@example.com", language: "es", routing: 2 };
const at = { page: 1, x: 72, width: 150, height: 30 };
const signatures = [
  { ...at, kind: "signature", signer: 1, y: 100 },
  { ...at, kind: "signature", signer: 2, y: 200 },
];

async function ask(
  headers: Record<string, string>,
  { document = makePdf(), fields = "", signers = [jane], title = "" }: Sent,
) {
  const form = new FormData();
  const text = (value: object[] | string) => (typeof value === "string" ? value : JSON.stringify(value));
  form.set("fields", text(fields));
  form.set("signers", text(signers));
  form.set("title", title);
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
  const texts = fieldTexts(await openUnlocked(Buffer.concat([document, Buffer.from(body.tail, "base64")])));
  assert.equal([...texts].filter(([name]) => name.startsWith("SignSealShip-")).length, 3);
  assert.ok([...texts.values()].includes("4B"));
  const [first = "", second = ""] = body.pages;
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
  const config = JSON.parse(/id="signing-config">(.*?)<\/script>/.exec(body.pages[1] ?? "")?.[1] ?? "{}");
  assert.equal(config.pages, 2);
  assert.deepEqual(
    config.fields.map(({ kind, page }: { kind: string; page: number }) => [kind, page]),
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
    [{ fields: signatures.slice(0, 1), signers: [jane, john] }, /^Each signer needs a signature on the pages\.$/],
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

test("nobody without a session gets a preview", async () => {
  assert.notEqual((await ask({}, {})).status, 200);
});
