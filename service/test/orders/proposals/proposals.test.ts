import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { signatureForms } from "@signsealship/testing/inputs/signature-forms";
import { newPartner, startService, temporaryFolder } from "@signsealship/testing/service";
import { run } from "../../../src/orders/proposals/propose-task.ts";
import { madeForm } from "../fills/made-form.ts";
import { costlyForm } from "../templates/costly-form.ts";

const folder = temporaryFolder();
const service = await forTests(startService({ DATA_DIR: folder.path, RATE_LIMITS: "off" }));
const partner = await newPartner(service);

type Field = {
  kind: string;
  signer: number | null;
  role: string | null;
  page: number;
  x: number;
  y: number;
  width: number;
  height: number;
  label: string;
  options?: { label: string }[];
};
type Body = { fields: Field[]; state: string; pages: number; error?: string };

const path = "/api/partner/fields/propose";
async function propose(document: Uint8Array | null, more: Record<string, string> = {}) {
  const response = await fetch(`${service.baseUrl}${path}`, {
    method: "POST",
    headers: partner.headers,
    body: orderForm(more, document),
  });
  return { status: response.status, body: (await response.json()) as Body };
}

const formOf = (wanted: string): Buffer => {
  const found = signatureForms().find(({ name }) => name === wanted);
  assert.ok(found, wanted);
  return found.pdf;
};
const example = readFileSync(new URL("../../../../examples/lien-release.pdf", import.meta.url));
const seller = JSON.stringify([{ name: "Seller" }]);
const limits = { pages: 300, milliseconds: 8_000, found: 500 };

test("the places of a document come with their kinds, sizes and signers", async () => {
  const roles = JSON.stringify([{ name: "Buyer" }, { name: "Seller", routing: 2 }]);
  const { status, body } = await propose(formOf("two columns of parties"), { roles });
  assert.equal(status, 200, JSON.stringify(body));
  assert.deepEqual([body.state, body.pages], ["read", 1]);
  assert.deepEqual(
    body.fields.map(({ kind, signer, role, page }) => [kind, signer, role, page]),
    [
      ["signature", 2, "Seller", 1],
      ["signature", 1, "Buyer", 1],
      ["date", 2, "Seller", 1],
      ["date", 1, "Buyer", 1],
    ],
  );
  const [first] = body.fields;
  assert.ok(
    first && first.x >= 95 && first.x < 100 && Math.abs(first.y + first.height - 502) < 1,
    JSON.stringify(first),
  );
});

test("an order takes the places as its fields", async () => {
  const { body } = await propose(example, { roles: seller });
  const fields = body.fields.map(({ kind, signer, page, x, y, width, height }) => {
    assert.equal(signer, 1);
    return { kind, signer, page, x, y, width, height };
  });
  const response = await fetch(`${service.baseUrl}/api/partner/orders`, {
    method: "POST",
    headers: partner.headers,
    body: orderForm(
      {
        ...minimal,
        svc_sign: "true",
        signers: JSON.stringify([{ name: "Sam Roe", email: "sam@example.com" }]),
        fields: JSON.stringify(fields),
      },
      example,
    ),
  });
  assert.equal(response.status, 201, await response.text());
});

test("an order takes a form's own choices as they were proposed", async () => {
  const state = (name: string, x: number) => ({
    entries: `/AS /Off /AP << /N << /${name} 3 0 R /Off 3 0 R >> >>`,
    rect: `${x} 500 ${x + 12} 512`,
  });
  const form = madeForm([
    { entries: "/FT /Ch /Ff 131072 /T (c) /TU (County) /Opt [(Clackamas) (Multnomah)]", rect: "72 600 272 620" },
    { entries: "/FT /Btn /Ff 49152 /T (t) /TU (Title)", kids: [state("Sole", 72), state("Joint", 172)] },
  ]);
  const { body } = await propose(form, { roles: seller });
  assert.deepEqual(
    body.fields.map(({ kind, options }) => [kind, options?.map(({ label }) => label)]),
    [
      ["dropdown", ["Clackamas", "Multnomah"]],
      ["radio", ["Sole", "Joint"]],
    ],
  );
  const fields = body.fields.map(({ kind, signer, page, label, options, ...place }) => ({
    kind,
    signer,
    page,
    label,
    options,
    ...(kind !== "radio" && { x: place.x, y: place.y, width: place.width, height: place.height }),
  }));
  const signature = { kind: "signature", signer: 1, page: 1, x: 72, y: 400, width: 180, height: 36 };
  const response = await fetch(`${service.baseUrl}/api/partner/orders`, {
    method: "POST",
    headers: partner.headers,
    body: orderForm({ ...minimal, svc_sign: "true", fields: JSON.stringify([signature, ...fields]) }, form),
  });
  assert.equal(response.status, 201, await response.text());
});

test("without roles, and where the words name none of them, no signer is guessed", async () => {
  const two = JSON.stringify([{ name: "Tenant" }, { name: "Landlord" }]);
  for (const more of [{}, { roles: two }]) {
    const { body } = await propose(formOf("two columns of parties"), more);
    assert.deepEqual(new Set(body.fields.map(({ signer }) => signer)), new Set([null]));
  }
});

test("a document that can't be searched is refused, and nothing else than a PDF is taken", async () => {
  for (const [document, more, message] of [
    [null, {}, "document must be a PDF."],
    [Buffer.from("text"), {}, "document must be a PDF."],
    [Buffer.from("%PDF-1.7\nnothing else"), {}, "document must be a PDF that opens without a password."],
    [example, { roles: "Seller" }, "roles must be JSON."],
    [example, { roles: "[]" }, "roles must be a JSON array of 1 to 10 objects."],
    [example, { roles: "[{}]" }, "roles[0].name is required."],
  ] as const) {
    const { status, body } = await propose(document, more);
    assert.deepEqual([status, body.error], [400, message]);
  }
  const json = await fetch(`${service.baseUrl}${path}`, {
    method: "POST",
    headers: { ...partner.headers, "Content-Type": "application/json" },
    body: "{}",
  });
  assert.equal(json.status, 400);
  const nobody = await fetch(`${service.baseUrl}${path}`, { method: "POST", body: orderForm({}, example) });
  assert.equal(nobody.status, 401);
});

test("the search ends at each of its limits, and says so", async () => {
  const two = formOf("two columns of parties");
  assert.deepEqual(
    await Promise.all(
      [limits, { ...limits, found: 3 }, { ...limits, pages: 0 }].map(async (each) => {
        const search = await run(two, each);
        return [search?.state, search?.found.length];
      }),
    ),
    [
      ["read", 4],
      ["partly", 3],
      ["partly", 0],
    ],
  );
  const costly = await run(costlyForm(30), { ...limits, milliseconds: 1 });
  assert.deepEqual([costly?.state, costly?.pages], ["partly", 30]);
});

test("pages without words are pictures", async () => {
  const picture =
    "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Count 1/Kids[3 0 R]>>endobj " +
    "3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]>>endobj trailer<</Root 1 0 R>>";
  const search = await run(Buffer.from(picture), limits);
  assert.equal(search?.state, "picture");
});
