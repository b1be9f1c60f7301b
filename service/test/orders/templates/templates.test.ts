import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { databaseOfRunning } from "@signsealship/testing/database";
import { forTests } from "@signsealship/testing/for-tests";
import { minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { rowMacOf } from "@signsealship/testing/row-mac";
import { newPartner, startService, temporaryFolder } from "@signsealship/testing/service";
import { sql } from "../../../src/kernel/platform/database/sql.ts";
import { markMembers } from "../../../src/kernel/retention/retention.ts";
import { messageFor } from "../../../src/orders/templates/templates.ts";
import { costlyForm } from "./costly-form.ts";

const folder = temporaryFolder();
const service = await forTests(startService({ DATA_DIR: folder.path, RATE_LIMITS: "off" }));
const db = await forTests(databaseOfRunning(folder.path));
const rowMac = await rowMacOf(folder.path);
db.useRowMac(rowMac);
const partner = await newPartner(service, { tier: "ProOffice" });
const other = await newPartner(service);

const words =
  "This purchase agreement is made between the buyer and the seller of the house named below, who agree to the price and to the day of closing";
const agreement = makePdf({ text: words, pages: 2 });
const signature = { kind: "signature", page: 2, x: 72, y: 600, width: 180, height: 40 };
const fields = [
  { ...signature, signer: 1 },
  { ...signature, signer: 2, y: 500 },
  { kind: "text", signer: 1, page: 1, x: 72, y: 300, width: 200, height: 20, label: "Address", required: false },
  {
    kind: "number",
    signer: 1,
    page: 1,
    x: 72,
    y: 340,
    width: 120,
    height: 20,
    label: "Price",
    format: { currency: "USD" },
  },
];
const roles = [
  { name: "Buyer", auth: "access_code" },
  { name: "Seller", routing: 2, language: "es" },
];
const template = {
  name: "Purchase agreement",
  svc_sign: "true",
  roles: JSON.stringify(roles),
  fields: JSON.stringify(fields),
};
const buyer = { name: "Jane Doe", email: "jane@example.com", access_code: "4711" };
const seller = { name: "Sam Roe", email: "sam@example.com" };
const people = JSON.stringify({ Buyer: buyer, Seller: seller });

type Body = {
  templateId: string;
  version: number;
  orderCode: string;
  template?: { templateId: string; version: number };
  templates: { templateId: string; name: string; version: number }[];
  matches: { templateId: string; version: number; likeness: string }[];
  nextCursor: string | null;
  error?: string;
} & Record<string, unknown>;
type Fields = Record<string, string | undefined>;

async function call(method: string, path: string, form?: FormData, headers: Record<string, string> = partner.headers) {
  const response = await fetch(`${service.baseUrl}/api/partner/${path}`, {
    method,
    headers,
    ...(form && { body: form }),
  });
  return {
    status: response.status,
    replayed: response.headers.has("Idempotent-Replayed"),
    body: (await response.json()) as Body,
  };
}

async function made(changes: Fields = {}, document: Uint8Array | null = agreement): Promise<Body> {
  const { status, body } = await call("POST", "templates", orderForm({ ...template, ...changes }, document));
  assert.equal(status, 201, JSON.stringify(body));
  return body;
}

async function refused(path: string, form: FormData): Promise<string> {
  const { status, body } = await call("POST", path, form);
  assert.deepEqual([status, Object.keys(body)], [400, ["error"]], JSON.stringify(body));
  return body.error ?? "";
}

const order = (changes: Fields, document: Uint8Array | null = null) =>
  orderForm({ ...minimal, roles: people, ...changes }, document);

async function placed(changes: Fields, document: Uint8Array | null = null): Promise<Body> {
  const { status, body } = await call("POST", "orders", order(changes, document));
  assert.equal(status, 201, JSON.stringify(body));
  return body;
}

const signingOf = async (orderCode: string) => {
  const { body } = await call("GET", `orders/${orderCode}`);
  const [row] = await db.query<{
    signers: { name: string; routing: number; auth: string; language: string }[];
    fields: { label: string; value?: string }[];
  }>(sql`
    SELECT o.signers, o.signature_fields AS fields FROM orders o
    JOIN order_templates t ON t.order_id = o.id ORDER BY o.id DESC LIMIT 1`);
  return { template: body.template, ...row };
};

test("a template stores roles, fields and services, and returns them unchanged", async () => {
  const { templateId, version } = await made({ message: "Please sign by Friday" });
  assert.equal(version, 1);
  const { body } = await call("GET", `templates/${templateId}`);
  const { requestId: _request, createdAt: _created, documentSha256, documentBytes, ...shown } = body;
  assert.deepEqual(shown, {
    templateId,
    name: "Purchase agreement",
    version: 1,
    roles: [
      { name: "Buyer", routing: 1, auth: "access_code", language: "en" },
      { name: "Seller", routing: 2, auth: "link", language: "es" },
    ],
    services: "Sign",
    pages: 2,
    archivedAt: null,
    docSlug: null,
    shipMethod: null,
    message: "Please sign by Friday",
    fields,
  });
  assert.match(String(documentSha256), /^[0-9a-f]{64}$/);
  assert.equal(documentBytes, agreement.length);
});

test("a template is created once for its Idempotency-Key", async () => {
  const headers = { ...partner.headers, "Idempotency-Key": "template-0001" };
  const first = await call("POST", "templates", orderForm(template, agreement), headers);
  const again = await call("POST", "templates", orderForm(template, agreement), headers);
  assert.deepEqual([again.status, again.replayed, again.body], [201, true, first.body]);
  const another = await call("POST", "templates", orderForm({ ...template, name: "Other" }, agreement), headers);
  assert.equal(another.status, 409);
});

describe("refuses a template", () => {
  const cases: Record<string, [Fields, string, (Uint8Array | null)?]> = {
    "without a name": [{ name: "" }, "name is required."],
    "with a name that is too long": [{ name: "n".repeat(121) }, "name must have at most 120 characters."],
    "without a document": [{}, "document is required: the form as a PDF, or send order.", null],
    "whose document is none": [{}, "document must be a PDF.", Buffer.from("text")],
    "that is signed by nobody": [{ roles: "", fields: "" }, "roles is required when the document is signed."],
    "with two roles of one name": [
      { roles: JSON.stringify([{ name: "Buyer" }, { name: "buyer" }]) },
      "roles[1].name must be unique among the roles.",
    ],
    "with an unknown member of a role": [
      { roles: JSON.stringify([{ name: "Buyer", email: "a@example.com" }, { name: "B" }]) },
      "roles[0] must have no other members than name, routing, auth, language: email is not one of them.",
    ],
    "with a field of no role": [
      { roles: JSON.stringify([{ name: "Buyer" }]) },
      "fields[1].signer must be at most 1, the number of signers.",
    ],
    "with a role that does not sign": [
      { fields: JSON.stringify(fields.slice(0, 1)) },
      "fields must hold a signature for each signer: signer 2 has none.",
    ],
    "with a field beside its page": [
      {
        fields: JSON.stringify([
          { ...signature, signer: 1, x: 500 },
          { ...signature, signer: 2, y: 500 },
        ]),
      },
      "fields[0] lies outside page 2, which is 612 by 792 points.",
    ],
    "with a field on a page that is not there": [
      {
        fields: JSON.stringify([
          { ...signature, signer: 1, page: 3 },
          { ...signature, signer: 2 },
        ]),
      },
      "fields[0] is on page 3 of a document with 2 pages.",
    ],
    "with roles and no signing": [
      { svc_sign: undefined },
      "roles must be left out unless svc_sign is true or the document of doc_slug is signed.",
    ],
    "of an unknown catalog document": [{ doc_slug: "nonsense" }, "doc_slug is not a document of the catalog."],
    "that ships otherwise": [{ svc_ship: "on", ship_method: "pigeon" }, "ship_method must be label or print_mail."],
    "whose message is an address": [
      { message: "Pay at evil.example.com" },
      "message must not contain a web or email address, or characters that hide text: Pay at evil.example.com.",
    ],
    "of an order that is not there": [
      { order: "0".repeat(40) },
      "order is not one of your orders in this environment.",
      null,
    ],
    "of an order and a document": [
      { order: "0".repeat(40) },
      "document and order exclude each other: send one of them.",
    ],
  };
  for (const [name, [changes, message, document = agreement]] of Object.entries(cases))
    test(name, async () => {
      assert.equal(await refused("templates", orderForm({ ...template, ...changes }, document)), message);
    });
});

test("an order assigns the roles to people, and gets the template's document, fields, access steps and turns", async () => {
  const { templateId } = await made();
  const values = JSON.stringify({ Address: "350 Fifth Avenue", Price: 250000 });
  const { orderCode, template: use } = await placed({ template: templateId, values });
  assert.deepEqual(use, { templateId, version: 1 });
  const signing = await signingOf(orderCode);
  assert.deepEqual(signing.template, { templateId, version: 1 });
  assert.deepEqual(
    signing.signers?.map(({ name, routing, auth, language }) => [name, routing, auth, language]),
    [
      ["Jane Doe", 1, "access_code", "en"],
      ["Sam Roe", 2, "link", "es"],
    ],
  );
  assert.deepEqual(
    signing.fields?.flatMap(({ label, value }) => (value === undefined ? [] : [[label, value]])),
    [
      ["Address", "350 Fifth Avenue"],
      ["Price", "$250,000.00"],
    ],
  );
});

test("a template keeps conditions and formulas, and its orders have them", async () => {
  const box = { page: 1, x: 72, y: 400, width: 14, height: 14 };
  const line = { page: 1, x: 72, width: 120, height: 20 };
  const ruled = [
    ...fields,
    { kind: "checkbox", signer: 1, ...box, label: "Financed", id: "financed" },
    ...[
      { kind: "number", signer: 1, ...line, y: 430, label: "Loan", id: "loan" },
      { kind: "number", signer: 2, ...line, y: 460, label: "Points", formula: "loan / 100" },
    ].map((field) => ({ ...field, show_when: { field: "financed", operator: "checked" } })),
  ];
  const { templateId } = await made({ fields: JSON.stringify(ruled) });
  const { body } = await call("GET", `templates/${templateId}`);
  assert.deepEqual(body["fields"], ruled);
  const { orderCode } = await placed({ template: templateId, values: JSON.stringify({ Financed: true }) });
  const signing = (await signingOf(orderCode)) as { fields?: { label: string; showWhen?: object; formula?: string }[] };
  assert.deepEqual(
    signing.fields?.flatMap(({ label, showWhen, formula }) => (showWhen ? [[label, showWhen, formula]] : [])),
    [
      ["Loan", { field: "financed", operator: "checked" }, undefined],
      ["Points", { field: "financed", operator: "checked" }, "loan / 100"],
    ],
  );
  const later = ruled.map((field) => ("formula" in field ? { ...field, signer: 1 } : field));
  const turned = later.map((field) => ("id" in field && field.id === "financed" ? { ...field, signer: 2 } : field));
  assert.match(
    await refused("templates", orderForm({ ...template, fields: JSON.stringify(turned) }, agreement)),
    /fields\[\d\]\.show_when\.field/,
    "a condition may not read a field of a later turn",
  );
});

test("a placed order keeps its version, whatever happens to the template", async () => {
  const { templateId } = await made();
  const { orderCode } = await placed({ template: templateId });
  const added = await call(
    "POST",
    `templates/${templateId}/versions`,
    orderForm({ name: "Purchase agreement 2027" }, null),
  );
  assert.deepEqual([added.status, added.body.version], [201, 2]);
  assert.deepEqual((await call("GET", `orders/${orderCode}`)).body.template, { templateId, version: 1 });
  const latest = (await call("GET", `templates/${templateId}`)).body;
  const first = (await call("GET", `templates/${templateId}/versions/1`)).body;
  assert.deepEqual([latest["name"], first["name"]], ["Purchase agreement 2027", "Purchase agreement"]);
  assert.deepEqual(latest["fields"], first["fields"], "a field that was left out stays");
  assert.equal((await placed({ template: templateId })).template?.version, 2);
  assert.equal((await placed({ template: templateId, template_version: "1" })).template?.version, 1);
  for (const change of [sql`UPDATE template_versions SET content = '{}'`, sql`DELETE FROM template_versions`])
    await assert.rejects(db.query(change), /append-only|permission denied/);
});

test("of two versions that are based on the same one, the second is refused", async () => {
  const { templateId } = await made();
  const add = (name: string) => call("POST", `templates/${templateId}/versions`, orderForm({ name }, null));
  const answers = await Promise.all([add("One"), add("Two"), add("Three")]);
  const statuses = answers.map(({ status }) => status);
  assert.ok(statuses.includes(201) && statuses.every((status) => status === 201 || status === 409), String(statuses));
  const { version } = (await call("GET", `templates/${templateId}`)).body;
  assert.equal(version, 1 + statuses.filter((status) => status === 201).length);
});

describe("refuses an order", () => {
  const cases: Record<string, [Fields, string | RegExp]> = {
    "from an unknown template": [
      { template: "00000000-0000-4000-8000-000000000000" },
      "template is not one of your templates in this environment.",
    ],
    "from a template that is no id": [
      { template: "purchase" },
      "template is not one of your templates in this environment.",
    ],
    "from a version that is not there": [
      { template_version: "9" },
      "template_version must be at most 1, the template's latest.",
    ],
    "from a version that is no number": [{ template_version: "v1" }, "template_version must be a whole number from 1."],
    "with roles and no template": [{ template: "" }, "roles must be left out without template."],
    "with signers besides": [{ signers: "[]" }, "signers must be left out with template: the template decides it."],
    "with fields besides": [{ fields: "[]" }, "fields must be left out with template: the template decides it."],
    "with svc_sign besides": [
      { svc_sign: "false" },
      "svc_sign must be left out with template: the template decides it.",
    ],
    "without people": [{ roles: "" }, "roles is required: it names a person for Buyer, Seller."],
    "whose roles are no JSON": [{ roles: "{" }, "roles must be JSON."],
    "whose roles are a list": [{ roles: "[]" }, "roles must be a JSON object."],
    "without a person for a role": [{ roles: JSON.stringify({ Buyer: buyer }) }, "roles.Seller is required."],
    "with a role that the template lacks": [
      { roles: JSON.stringify({ Buyer: buyer, Seller: seller, Agent: seller }) },
      "roles must name no others than Buyer, Seller: Agent is not one of them.",
    ],
    "with a turn of its own": [
      { roles: JSON.stringify({ Buyer: { ...buyer, routing: 3 }, Seller: seller }) },
      /^roles\.Buyer must have no other members than name, email, phone, access_code, language/,
    ],
    "without the code of a role": [
      { roles: JSON.stringify({ Buyer: { ...buyer, access_code: undefined }, Seller: seller }) },
      "roles.Buyer.access_code is required when auth is access_code.",
    ],
    "with a bad address": [
      { roles: JSON.stringify({ Buyer: buyer, Seller: { ...seller, email: "sam" } }) },
      "roles.Seller.email must be an email address.",
    ],
    "with one person in two roles": [
      { roles: JSON.stringify({ Buyer: buyer, Seller: { ...buyer, access_code: undefined } }) },
      "roles.Seller must be another person than roles.Buyer: give each person once.",
    ],
    "with a value of no field": [
      { values: JSON.stringify({ Rent: "1" }) },
      "values.Rent names no field of the template that takes a value.",
    ],
    "with a value that its field does not take": [
      { values: JSON.stringify({ Price: "much" }) },
      "values.Price must be a number such as 1234.50.",
    ],
    "with values that are no object": [{ values: '"x"' }, "values must be a JSON object."],
  };
  let templateId: string | undefined;
  for (const [name, [changes, message]] of Object.entries(cases))
    test(name, async () => {
      templateId ??= (await made()).templateId;
      const said = await refused("orders", order({ template: templateId, ...changes }));
      if (typeof message === "string") assert.equal(said, message);
      else assert.match(said, message);
    });
});

test("another firm's template looks like an unknown one, and so does a template of the other environment", async () => {
  const { templateId } = await made();
  for (const [method, path] of [
    ["GET", `templates/${templateId}`],
    ["GET", `templates/${templateId}/versions/1`],
    ["POST", `templates/${templateId}/archive`],
    ["POST", `templates/${templateId}/restore`],
  ] as const) {
    const { status, body } = await call(method, path, undefined, other.headers);
    assert.deepEqual([status, body.error], [404, "Template not found."], path);
  }
  const version = await call(
    "POST",
    `templates/${templateId}/versions`,
    orderForm({ name: "Mine" }, null),
    other.headers,
  );
  assert.equal(version.status, 404);
  const { status, body } = await call("POST", "orders", order({ template: templateId }), other.headers);
  assert.deepEqual([status, body.error], [400, "template is not one of your templates in this environment."]);
  assert.deepEqual((await call("GET", "templates", undefined, other.headers)).body.templates, []);
  await db.query(sql`UPDATE templates SET environment = 'live' WHERE id = ${templateId}`);
  assert.equal((await call("GET", `templates/${templateId}`)).status, 404);
  await db.query(sql`UPDATE templates SET environment = 'test' WHERE id = ${templateId}`);
});

test("an archived template places no orders until it is restored, and leaves the list", async () => {
  const { templateId } = await made();
  const listed = async (query = "") =>
    (await call("GET", `templates?limit=100${query}`)).body.templates.some((each) => each.templateId === templateId);
  assert.deepEqual([await listed(), await listed("&archived=true")], [true, false]);
  for (let time = 1; time <= 2; time++)
    assert.equal((await call("POST", `templates/${templateId}/archive`)).status, 200);
  assert.deepEqual([await listed(), await listed("&archived=true")], [false, true]);
  assert.equal(await refused("orders", order({ template: templateId })), "template is archived: it places no orders.");
  const added = await call("POST", `templates/${templateId}/versions`, orderForm({ name: "New" }, null));
  assert.deepEqual([added.status, added.body.error], [409, "This template is archived. Restore it first."]);
  await call("POST", `templates/${templateId}/restore`);
  await placed({ template: templateId });
});

test("a template whose document the retention plan deleted can't be restored, and the refusal says so", async () => {
  const { templateId } = await made({ name: "Deleted" });
  assert.equal((await call("POST", `templates/${templateId}/archive`)).status, 200);
  const [version] = await db.query<{ key: string }>(
    sql`SELECT blob_key AS key FROM template_versions WHERE template_id = ${templateId}`,
  );
  const mark = { blobKey: version?.key ?? "", rule: "archivedTemplates", deletedAt: new Date("2026-05-01T00:00:00Z") };
  await db.query(sql`
    INSERT INTO deleted_blobs (blob_key, rule, deleted_at, row_mac)
    VALUES (${mark.blobKey}, ${mark.rule}, ${mark.deletedAt}, ${rowMac.of("deleted_blobs", markMembers(mark))})`);
  const { body, status } = await call("POST", `templates/${templateId}/restore`);
  const why = "The document of this template was deleted on 2026-05-01, as the retention plan says.";
  assert.deepEqual([status, body.error], [409, why]);
  assert.equal((await call("GET", `templates/${templateId}`)).body.name, "Deleted", "its fields can still be read");
});

test("lists page by page, each template once", async () => {
  const seen: string[] = [];
  let cursor = "";
  do {
    const { body } = await call("GET", `templates?limit=3&cursor=${cursor}`);
    seen.push(...body.templates.map(({ templateId }) => templateId));
    cursor = body.nextCursor ?? "";
  } while (cursor !== "");
  assert.equal(new Set(seen).size, seen.length);
  const foreign = await call("GET", `templates?cursor=${seen[0]}`, undefined, other.headers);
  assert.deepEqual([foreign.status, foreign.body.error], [400, "cursor must be one that this list has returned."]);
  assert.equal((await call("GET", "templates?archived=maybe")).status, 400);
});

describe("a document that comes with the order", () => {
  const dated = makePdf({ text: words.replace("the day of closing", "the 4th day"), pages: 2 });
  const foreign = makePdf({
    text: "This deed of trust is given by the borrower to the trustee for the lender named below and its successors",
    pages: 2,
  });
  const shorter = makePdf({ text: words, pages: 1 });

  test("is accepted when it is the template's form with other entries", async () => {
    const { templateId } = await made({ name: "Own document" });
    await placed({ template: templateId }, agreement);
    await placed({ template: templateId }, dated);
  });

  test("is refused when it is another form, unless the caller allows it", async () => {
    const { templateId } = await made({ name: "Strict" });
    const send = (document: Uint8Array, more: Fields = {}) => order({ template: templateId, ...more }, document);
    assert.equal(
      await refused("orders", send(foreign)),
      "document must be the form of the template: its words or its page sizes differ. Send other_document to use the template all the same.",
    );
    assert.equal(
      await refused("orders", send(shorter)),
      "document must be the form of the template: it has 1 pages, and the template's form has 2. Send other_document to use the template all the same.",
    );
    await placed({ template: templateId, other_document: "true" }, foreign);
  });

  test("is not read when no template has as many pages, however expensive it is", async () => {
    const before = performance.now();
    const { status, body } = await call("POST", "templates/match", orderForm({}, costlyForm(30)));
    assert.deepEqual([status, body.matches], [200, []]);
    assert.ok(performance.now() - before < 2_500, "reading it takes three seconds before it is given up");
  });

  test("is recognized by its words", async () => {
    const { templateId } = await made({ name: "Recognized" });
    const matches = async (document: Uint8Array) =>
      (await call("POST", "templates/match", orderForm({}, document))).body.matches.find(
        (each) => each.templateId === templateId,
      )?.likeness;
    assert.deepEqual(await Promise.all([agreement, dated, foreign, shorter].map(matches)), [
      "same_file",
      "same_form",
      undefined,
      undefined,
    ]);
    assert.equal(await refused("templates/match", orderForm({}, Buffer.from("text"))), "document must be a PDF.");
    assert.equal(await refused("templates/match", orderForm({}, null)), "document must be a PDF.");
  });
});

test("a template is made from an order: its document, its fields, and a role for each of its people", async () => {
  const signers = JSON.stringify([
    { name: "Jane Doe", email: "jane@example.com" },
    { name: "Sam", email: "sam@example.com", routing: 2 },
  ]);
  const { body } = await call(
    "POST",
    "orders",
    orderForm({ ...minimal, svc_sign: "true", signers, fields: JSON.stringify(fields) }, agreement),
  );
  const { templateId } = await made(
    { name: "From an order", roles: undefined, fields: undefined, svc_sign: undefined, order: body.orderCode },
    null,
  );
  const shown = (await call("GET", `templates/${templateId}`)).body;
  assert.deepEqual(
    (shown["roles"] as { name: string; routing: number }[]).map(({ name, routing }) => [name, routing]),
    [
      ["Signer 1", 1],
      ["Signer 2", 2],
    ],
  );
  assert.doesNotMatch(JSON.stringify(shown), /Jane|example\.com/);
  const roles = JSON.stringify({ "Signer 1": seller, "Signer 2": { name: "Ann", email: "ann@example.com" } });
  await placed({ template: templateId, roles });
  const foreign = await call(
    "POST",
    "templates",
    orderForm({ name: "Theirs", order: body.orderCode }, null),
    other.headers,
  );
  assert.deepEqual([foreign.status, foreign.body.error], [400, "order is not one of your orders in this environment."]);
});

test("the firm's message is in the mail that asks a signer to sign", async () => {
  const { templateId } = await made({
    name: "With words",
    message: "Bring your passport on Friday",
    roles: JSON.stringify([{ name: "Buyer" }, { name: "Seller" }]),
  });
  const { orderCode } = await placed({
    template: templateId,
    roles: JSON.stringify({ Buyer: { ...buyer, access_code: undefined }, Seller: seller }),
  });
  await call("POST", `sandbox/orders/${orderCode}/checkout`);
  const outbox = join(folder.path, "outbox");
  for (let waited = 0; waited < 100; waited++) {
    const mails = existsSync(outbox) ? readdirSync(outbox).map((file) => readFileSync(join(outbox, file), "utf8")) : [];
    if (mails.some((mail) => mail.replace(/=\r?\n/g, "").includes("Bring your passport on Friday"))) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  assert.fail("no mail has the message");
});

test("an idempotent order from a template stays the same when a version is added and the template is archived", async () => {
  const { templateId } = await made({ name: "Repeated" });
  const headers = { ...partner.headers, "Idempotency-Key": "template-order-1" };
  const first = await call("POST", "orders", order({ template: templateId }), headers);
  await call("POST", `templates/${templateId}/versions`, orderForm({ name: "Repeated 2" }, null));
  await call("POST", `templates/${templateId}/archive`);
  const again = await call("POST", "orders", order({ template: templateId }), headers);
  assert.deepEqual([again.status, again.replayed, again.body], [201, true, first.body]);
});

test("the words of another firm's template that was inserted into the database are not mailed", async () => {
  const { templateId } = await made({ name: "Owned", message: "Come on Friday" });
  const { orderCode } = await placed({ template: templateId });
  const reading = { db, rowMac };
  const [order] = await db.query<{ id: number }>(
    sql`SELECT order_id AS id FROM order_templates WHERE template_id = ${templateId}`,
  );
  assert.ok(orderCode);
  assert.equal(await messageFor(reading, order?.id ?? 0), "Come on Friday");
  const foreign = await call(
    "POST",
    "templates",
    orderForm({ ...template, message: "Call me" }, agreement),
    other.headers,
  );
  await db.query(sql`
    INSERT INTO order_templates (order_id, template_id, version, row_mac)
    SELECT max(id), ${foreign.body.templateId}, 1, ${rowMac.of("order_templates", {})} FROM orders WHERE id NOT IN (SELECT order_id FROM order_templates)`);
  const [planted] = await db.query<{ id: number }>(sql`
    SELECT order_id AS id FROM order_templates WHERE template_id = ${foreign.body.templateId}`);
  await assert.rejects(messageFor(reading, planted?.id ?? 0), /is not what the service wrote/);
});

test("a fill token is ordered from a template only when the caller confirms that the places fit", async () => {
  const { templateId } = await made({ name: "Filled" });
  assert.equal(
    await refused("orders", order({ template: templateId, fill_token: "0".repeat(40) })),
    "fill_token needs other_document with template: nothing compares it with the form.",
  );
});

test("a version that was altered in the database places no order", async () => {
  const { templateId } = await made({ name: "Altered" });
  await db.query(sql`ALTER TABLE template_versions DISABLE TRIGGER template_versions_append_only`).catch(() => {});
  await db.query(sql`UPDATE templates SET partner_id = ${other.partnerId} WHERE id = ${templateId}`);
  const { status } = await call("GET", `templates/${templateId}`, undefined, other.headers);
  assert.equal(status, 503, "its owner is under the MAC");
});
