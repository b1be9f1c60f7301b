import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { zooBytes } from "@signsealship/testing/inputs/zoo";
import { runCli, temporaryFolder } from "@signsealship/testing/service";
import { sql } from "../../../src/kernel/platform/database/sql.ts";
import { addCatalogVersion, listCatalogForms } from "../../../src/orders/templates/templates.ts";
import { openMembersService } from "../../firms/members/members-service.ts";
import { newMember, postForm } from "../../firms/members/signed-in-member.ts";
import { everyKind, madeForm } from "./made-form.ts";

const running = await forTests(openMembersService());
const { service, db, rowMac } = running;
db.useRowMac(rowMac);
const folder = temporaryFolder();
const slug = "affidavit";
const needed = { q0: "Jane Doe", q4: "on" };
const answers = { buyer: "Jane Doe", agree: true };

type Body = Record<string, unknown> & {
  fillId: string;
  url: string;
  state: string;
  docSlug: string | null;
  title: string;
  fillToken: string | null;
  template: { templateId: string | null; version: number };
  templateId: string;
  orderCode: string;
  services: string;
  questions: { name: string; label: string }[];
  error?: string;
};
type Headers = Record<string, string>;
type Added = { slug: string; environment: string; version: number; questions: number; pages: number };

let files = 0;
function fileOf(bytes: Buffer): string {
  const path = join(folder.path, `form-${++files}.pdf`);
  writeFileSync(path, bytes);
  return path;
}

const add = (of: string, bytes = everyKind()) =>
  service.cli<Added>("catalog", "form", "add", of, fileOf(bytes), "--test");

async function call(headers: Headers, method: string, path: string, body?: FormData | object) {
  const isForm = body instanceof FormData;
  const response = await fetch(`${service.baseUrl}/api/partner/${path}`, {
    method,
    headers: { ...headers, ...(body && !isForm && { "Content-Type": "application/json" }) },
    ...(body && { body: isForm ? body : JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as Body };
}

async function fill(headers: Headers, fields: object): Promise<Body> {
  const { status, body } = await call(headers, "POST", "fills", fields);
  assert.equal(status, 201, JSON.stringify(body));
  return body;
}

async function ownTemplate(headers: Headers, document: Buffer, of = slug): Promise<string> {
  const fields = { name: "Our affidavit", doc_slug: of, roles: JSON.stringify([{ name: "Affiant" }]) };
  const { status, body } = await call(headers, "POST", "templates", orderForm(fields, document));
  assert.equal(status, 201, JSON.stringify(body));
  return body.templateId;
}

const order = (headers: Headers, token: string | null, changes: Record<string, string> = {}) =>
  call(headers, "POST", "orders", orderForm({ ...minimal, fill_token: token ?? "", ...changes }, null));

async function page(url: string): Promise<string> {
  const response = await fetch(url, { headers: { Accept: "text/html" }, redirect: "manual" });
  return response.text();
}

async function post(url: string, values: Record<string, string>): Promise<number> {
  const headers = { Accept: "text/html", Origin: "null" };
  const response = await fetch(url, { method: "POST", redirect: "manual", headers, body: new URLSearchParams(values) });
  await response.text();
  return response.status;
}

const revisionIn = (text: string): string => /name="revision" value="(\d+)"/.exec(text)?.[1] ?? "";

/** Answers and completes a form by its link, as a browser without JavaScript does. */
async function finish(url: string): Promise<void> {
  assert.equal(await post(`${url}/1`, { ...needed, revision: revisionIn(await page(url)) }), 303);
  assert.equal(await post(`${url}/finish`, { revision: revisionIn(await page(`${url}/review`)) }), 303);
}

const added = await add(slug);

test("the operator gives a catalog document a form, and lists it", async () => {
  assert.deepEqual(added, { slug, environment: "test", version: 1, questions: 9, pages: 1 });
  const { forms } = await service.cli<{ forms: { slug: string; version: number }[] }>(
    "catalog",
    "form",
    "list",
    "--test",
  );
  assert.deepEqual(
    forms.map((form) => [form.slug, form.version]),
    [[slug, 1]],
  );
  const live = await service.cli<{ forms: unknown[] }>("catalog", "form", "list");
  assert.deepEqual(live.forms, [], "the form of test orders is not that of live ones");
  const { stdout } = await runCli({ DATA_DIR: service.dataDir }, "catalog", "form", "list");
  assert.equal(stdout, "no document has a form for live orders\n");
});

test("a client of a firm without templates fills it in by link, and the firm orders it as that document", async () => {
  const { headers } = await running.newPartner();
  const made = await fill(headers, { docSlug: slug, name: "Jane Doe" });
  assert.deepEqual([made.docSlug, made.title, made.template.version], [slug, "General affidavit", 1]);
  assert.match(await page(made.url), /General affidavit[\s\S]*Full name of the buyer/);
  await finish(made.url);
  const { body: done } = await call(headers, "GET", `fills/${made.fillId}`);
  assert.match(done.fillToken ?? "", /^[0-9a-f]{40}$/);
  const placed = await order(headers, done.fillToken);
  assert.equal(placed.status, 201, JSON.stringify(placed.body));
  const { body: detail } = await call(headers, "GET", `orders/${placed.body.orderCode}`);
  assert.equal(detail.services, "Sign, Notarize", "as the catalog says");
  assert.equal((await order(headers, done.fillToken)).status, 400, "once");
  assert.deepEqual((await call(headers, "GET", "templates")).body["templates"], [], "the firm got no template");
});

test("refuses an order by the fill token that names another document of the catalog", async () => {
  const { headers } = await running.newPartner();
  const made = await fill(headers, { docSlug: slug, values: answers, complete: true });
  for (const other of ["quitclaim-deed", "recorded-copy"]) {
    const { status, body } = await order(headers, made.fillToken, { doc_slug: other });
    const said = `doc_slug must be ${slug} or be left out: the document of fill_token is ${slug}.`;
    assert.deepEqual([status, body.error], [400, said]);
  }
  const unknown = await order(headers, made.fillToken, { doc_slug: "no-such" });
  assert.equal(unknown.body.error, "doc_slug is not a document of the catalog.");
  assert.equal((await order(headers, made.fillToken, { doc_slug: ` ${slug} ` })).status, 201, "the token is unused");
});

test("reads a doc_slug of spaces beside a fill token as none", async () => {
  const { headers } = await running.newPartner();
  const made = await fill(headers, { docSlug: slug, values: answers, complete: true });
  const placed = await order(headers, made.fillToken, { doc_slug: " " });
  const { body } = await call(headers, "GET", `orders/${placed.body.orderCode}`);
  assert.equal(body.services, "Sign, Notarize");
});

test("a partner reads the questions and completes it at once", async () => {
  const { headers } = await running.newPartner();
  const { body } = await call(headers, "GET", `catalog/${slug}/questions`);
  assert.equal(body.questions[0]?.label, "Full name of the buyer");
  const made = await fill(headers, { docSlug: slug, values: answers, complete: true });
  assert.equal(made.state, "completed");
  assert.equal((await order(headers, made.fillToken)).status, 201);
});

test("a fill and its token belong to the firm that made the fill", async () => {
  const [firm, other] = [await running.newPartner(), await running.newPartner()];
  const made = await fill(firm.headers, { docSlug: slug, values: answers, complete: true });
  assert.equal((await call(other.headers, "GET", `fills/${made.fillId}`)).status, 404);
  const foreign = await order(other.headers, made.fillToken);
  assert.deepEqual([foreign.status, foreign.body.error], [400, "fill_token is unknown, used or expired."]);
  assert.equal(made.template.templateId, null, "no order could name the operator's form");
  const [form] = await db.query<{ templateId: string }>(
    sql`SELECT template_id AS "templateId" FROM fills WHERE id = ${made.fillId}`,
  );
  const { templateId } = form ?? assert.fail("the fill is stored");
  assert.equal((await call(firm.headers, "GET", `templates/${templateId}`)).status, 404, "the form is the operator's");
  const asOwn = await call(firm.headers, "POST", "fills", { template: templateId });
  assert.equal(asOwn.body.error, "template is not one of your templates in this environment.");
  assert.equal((await order(firm.headers, made.fillToken)).status, 201);
});

test("a firm's own template for the document comes first, until it is archived", async () => {
  const { headers } = await running.newPartner();
  const own = await ownTemplate(headers, madeForm([{ entries: "/FT /Tx /T (affiant) /TU (Affiant)" }]));
  const made = await fill(headers, { docSlug: slug });
  assert.deepEqual([made.template.templateId, made.title], [own, "Our affidavit"]);
  const { body } = await call(headers, "GET", `catalog/${slug}/questions`);
  assert.deepEqual(
    body.questions.map(({ name }) => name),
    ["affiant"],
  );
  await call(headers, "POST", `templates/${own}/archive`);
  assert.notEqual((await fill(headers, { docSlug: slug })).template.templateId, own);
});

test("an own template without fields does not hide the operator's form", async () => {
  const { headers } = await running.newPartner();
  await ownTemplate(headers, makePdf());
  const made = await fill(headers, { docSlug: slug });
  assert.deepEqual([made.template.templateId, made.title], [null, "General affidavit"]);
  assert.equal((await call(headers, "GET", `catalog/${slug}/questions`)).body.questions.length, 9);
});

test("only the newest of a firm's own templates counts, even if it has no form fields and an older one has", async () => {
  const { headers } = await running.newPartner();
  for (const document of [everyKind(), makePdf()]) {
    await ownTemplate(headers, document);
    await ownTemplate(headers, document, "loan-modification");
  }
  assert.equal((await fill(headers, { docSlug: slug })).template.templateId, null);
  const refused = await call(headers, "POST", "fills", { docSlug: "loan-modification" });
  assert.equal(refused.status, 400);
  assert.match(refused.body.error ?? "", /takes the form of your own template, .* no form fields that are open/);
});

test("an own template that can't be filled in is named in the error if its form was requested or there is no other form", async () => {
  const { headers } = await running.newPartner();
  await ownTemplate(headers, makePdf(), "loan-modification");
  await ownTemplate(headers, madeForm([{ entries: "/FT /Tx /T (pin) /Ff 8192" }]));
  for (const [of, why] of [
    ["loan-modification", "has no form fields that are open"],
    [slug, "has fields for passwords or files"],
  ] as const) {
    const error = `docSlug takes the form of your own template, which can't be filled in online: its document ${why}.`;
    for (const refused of [
      await call(headers, "POST", "fills", { docSlug: of }),
      await call(headers, "GET", `catalog/${of}/questions`),
    ])
      assert.deepEqual([refused.status, refused.body.error], [400, error]);
  }
});

test("refuses unknown documents, those without a form, and contradictions, naming the field and the rule", async () => {
  const { headers } = await running.newPartner();
  const noForm = "docSlug has no form to fill in online in this environment.";
  const refusals: [object, string][] = [
    [{}, "template or docSlug is required: send one of them."],
    [{ docSlug: "no-such" }, "docSlug is not a document of the catalog."],
    [{ docSlug: "quitclaim-deed" }, noForm],
    [{ docSlug: slug, template: "x" }, "template and docSlug exclude each other: send one of them."],
    [{ docSlug: slug, templateVersion: 1 }, "templateVersion must be left out with docSlug."],
    [{ docSlug: slug, values: { nobody: "x" } }, "values.nobody names no field of the form."],
    [{ docSlug: slug, complete: true }, "values.buyer is required."],
  ];
  for (const [fields, error] of refusals) {
    const { status, body } = await call(headers, "POST", "fills", fields);
    assert.deepEqual([status, body.error], [400, error]);
  }
  const live = await running.newPartner({ live: true });
  const other = await call(live.headers, "POST", "fills", { docSlug: slug });
  assert.deepEqual([other.status, other.body.error], [400, noForm], "the form is that of test orders");
});

test("the operator's file is refused when nobody can fill it in, and nothing is stored", async () => {
  const refusals: [string, string, RegExp][] = [
    ["no-such", fileOf(everyKind()), /SLUG must name a document in the catalog; no-such is not there/],
    ["quitclaim-deed", fileOf(makePdf()), /FILE can't be filled in online: it has no form fields that are open/],
    ["quitclaim-deed", fileOf(zooBytes("encrypted-aes-256.pdf")), /FILE can't be filled in online: it is encrypted/],
    ["quitclaim-deed", fileOf(Buffer.from("text")), /FILE must be a PDF/],
    ["quitclaim-deed", join(folder.path, "none.pdf"), /FILE .* cannot be read \(ENOENT\)/],
  ];
  for (const [of, file, words] of refusals) {
    const ran = await runCli({ DATA_DIR: service.dataDir }, "catalog", "form", "add", of, file, "--test");
    assert.notEqual(ran.code, 0);
    assert.match(ran.stderr, words);
  }
  const rows = await db.query(sql`SELECT FROM templates WHERE catalog_slug = 'quitclaim-deed'`);
  assert.deepEqual(rows, []);
});

test("a form that a client has begun keeps its version when the operator adds another", async () => {
  const { headers } = await running.newPartner();
  const of = "warranty-deed";
  await add(of);
  const begun = await fill(headers, { docSlug: of });
  const again = await add(of, madeForm([{ entries: "/FT /Tx /T (testator) /TU (Testator)" }]));
  assert.deepEqual([again.version, again.questions], [2, 1]);
  assert.match(await page(begun.url), /Full name of the buyer/);
  await finish(begun.url);
  const { body: done } = await call(headers, "GET", `fills/${begun.fillId}`);
  assert.deepEqual([done.state, done.template.version], ["completed", 1]);
  const next = await fill(headers, { docSlug: of, values: { testator: "Jane" }, complete: true });
  assert.equal(next.template.version, 2);
  const change = db.query(sql`UPDATE template_versions SET name = 'x' WHERE template_id = ${next.template.templateId}`);
  await assert.rejects(change, /append-only/);
});

test("of versions that are added at the same time, each gets a number of its own", async () => {
  const of = "power-of-attorney";
  const file = { name: "Racing", sha256: "a".repeat(64), bytes: 1, pages: 1, blobKey: "none" } as const;
  const one = () =>
    db.transaction((tx) =>
      addCatalogVersion(tx, rowMac, { ...file, slug: of, environment: "live", actor: "operator", at: new Date() }),
    );
  const versions = await Promise.all(Array.from({ length: 6 }, one));
  assert.deepEqual(versions.toSorted(), [1, 2, 3, 4, 5, 6]);
  const latest = await listCatalogForms({ db, rowMac }, "live");
  assert.deepEqual(
    latest.map((form) => [form.slug, form.version]),
    [[of, 6]],
  );
  const lines = await db.query(
    sql`SELECT FROM audit_log WHERE action = 'catalog_form.added' AND detail ->> 'slug' = ${of}`,
  );
  assert.equal(lines.length, 6);
});

test("a retired form can be finished but not started, and a new version brings it back", async () => {
  const { headers } = await running.newPartner();
  const of = "quitclaim-deed";
  await add(of);
  const begun = await fill(headers, { docSlug: of });
  await service.cli("catalog", "form", "retire", of, "--test");
  const refused = await call(headers, "POST", "fills", { docSlug: of });
  assert.equal(refused.body.error, "docSlug has no form to fill in online in this environment.");
  const twice = await runCli({ DATA_DIR: service.dataDir }, "catalog", "form", "retire", of, "--test");
  assert.match(twice.stderr, /quitclaim-deed has no form for test orders/);
  await finish(begun.url);
  assert.equal((await call(headers, "GET", `fills/${begun.fillId}`)).body.state, "completed");
  assert.equal((await add(of)).version, 2);
  assert.equal((await fill(headers, { docSlug: of })).template.version, 2);
});

test("a form whose row was moved to another document in the database is not used", async () => {
  const { headers } = await running.newPartner();
  const move = (from: string, to: string) =>
    db.query(sql`UPDATE templates SET catalog_slug = ${to} WHERE catalog_slug = ${from} AND environment = 'test'`);
  await move(slug, "last-will-moved");
  await move("quitclaim-deed", slug);
  assert.equal((await call(headers, "POST", "fills", { docSlug: slug })).status, 503);
  await move(slug, "quitclaim-deed");
  await move("last-will-moved", slug);
  await fill(headers, { docSlug: slug });
});

test("a member has the document filled in from the dashboard without a script, and orders it", async () => {
  const { key } = await running.newPartner();
  const { headers } = await newMember(service, running.somebody(), key);
  const shown = async (at: string) => (await running.call(at, { headers })).body as string;
  assert.match(
    await shown("/dashboard/fills"),
    /href="\/dashboard\/catalog\/affidavit\/fill">Have General affidavit filled in/,
  );
  const path = `/dashboard/catalog/${slug}/fill`;
  const form = await shown(path);
  assert.match(form, /<h1>Have General affidavit filled in<\/h1>/);
  assert.match(form, /Full name of the buyer/);
  const refused = await postForm(service.baseUrl + path, { name: "Jane Doe", days: "91" }, headers);
  assert.equal(refused.status, 400);
  assert.match(await refused.text(), /“Days that the link works” must be a whole number from 1 to 90/);
  const made = await postForm(
    service.baseUrl + path,
    { name: "Jane Doe", email: "jane@example.com", days: "30" },
    headers,
  );
  const where = made.headers.get("location") ?? "";
  const detail = await shown(where);
  assert.match(detail, /<h1>General affidavit<\/h1>/);
  assert.doesNotMatch(detail, /The template/);
  await finish(/http\S+?\/fill\/[0-9a-f-]+\/[0-9a-f]{40}/.exec(detail)?.[0] ?? "");
  const link = /href="(\/dashboard\/orders\/new\?fill=[0-9a-f-]+)"/.exec(await shown(where.split("?")[0] ?? ""))?.[1];
  const orderPage = await shown(link ?? "");
  assert.match(orderPage, /We kept <strong class="breakable">General affidavit\.pdf<\/strong> \(1 page\)/);
  assert.match(orderPage, /<option value="affidavit" selected/);
  const token = /name="fill_token" value="([0-9a-f]{40})"/.exec(orderPage)?.[1] ?? "";
  const fields = { ...minimal, fill_token: token, doc_slug: slug };
  const placed = await fetch(`${service.baseUrl}/dashboard/orders/new`, {
    method: "POST",
    redirect: "manual",
    headers,
    body: orderForm(fields, null),
  });
  assert.equal(placed.status, 303, await placed.text());
  assert.match(placed.headers.get("location") ?? "", /\/dashboard\/orders\/[0-9a-f]{40}/);
  const code = /[0-9a-f]{40}/.exec(placed.headers.get("location") ?? "")?.[0];
  const used = await fetch(service.baseUrl + link, { headers, redirect: "manual" });
  assert.deepEqual([used.status, used.headers.get("location")], [303, where.split("?")[0]]);
  assert.match(await shown(where), new RegExp(`href="/dashboard/orders/${code}">The order with this document`));
  assert.equal((await running.call("/dashboard/catalog/no-such/fill", { headers })).status, 404);
  assert.match(
    await shown("/dashboard/catalog/lien-release/fill"),
    /This document has no form to fill in online in this environment/,
  );
});
