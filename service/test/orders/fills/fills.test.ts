import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { databaseOfRunning } from "@signsealship/testing/database";
import { forTests } from "@signsealship/testing/for-tests";
import { minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { isWaitedFor } from "@signsealship/testing/lock-waits";
import { rowMacOf } from "@signsealship/testing/row-mac";
import { newPartner, startService, temporaryFolder } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import { issueKey, storageUse } from "../../../src/firms/partners/partners.ts";
import { sql } from "../../../src/kernel/platform/database/sql.ts";
import { writeStateMacs } from "../../../src/kernel/platform/database/state-mac.ts";
import { zonedText } from "../../../src/kernel/platform/languages.ts";
import { openSecretsKey } from "../../../src/kernel/platform/secrets.ts";
import { fillCiphers, fillState, sweepEndedFills } from "../../../src/orders/fills/fills.ts";
import { countMail, endFill, saveAnswers } from "../../../src/orders/fills/store.ts";
import { storedBlobs } from "../../../src/upkeep/protected-data.ts";
import { chooseZone } from "../billing/choose-zone.ts";
import { everyKind, madeForm } from "./made-form.ts";

const folder = temporaryFolder();
const service = await forTests(startService({ DATA_DIR: folder.path, RATE_LIMITS: "off" }));
const db = await forTests(databaseOfRunning(folder.path));
const rowMac = await rowMacOf(folder.path);
db.useRowMac(rowMac);
const partner = await newPartner(service, { tier: "ProOffice" });
const other = await newPartner(service);

type Body = Record<string, unknown> & {
  fillId: string;
  url: string;
  state: string;
  fillToken: string | null;
  templateId: string;
  version: number;
  orderCode: string | null;
  expiresAt: string;
  fills: { fillId: string }[];
  questions: { name: string; label: string }[];
  error?: string;
};

async function call(
  method: string,
  path: string,
  body?: FormData | object,
  headers: Record<string, string> = partner.headers,
) {
  const isForm = body instanceof FormData;
  const response = await fetch(`${service.baseUrl}/api/partner/${path}`, {
    method,
    headers: { ...headers, ...(body && !isForm && { "Content-Type": "application/json" }) },
    ...(body && { body: isForm ? body : JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as Body };
}

async function template(fields: Record<string, string> = {}, document = everyKind()): Promise<string> {
  const { status, body } = await call("POST", "templates", orderForm({ name: "Deed", ...fields }, document));
  assert.equal(status, 201, JSON.stringify(body));
  return body.templateId;
}

async function fill(fields: object, headers: Record<string, string> = {}): Promise<Body> {
  const { status, body } = await call("POST", "fills", fields, { ...partner.headers, ...headers });
  assert.equal(status, 201, JSON.stringify(body));
  return body;
}

const get = async (fillId: string) => (await call("GET", `fills/${fillId}`)).body;

async function page(url: string) {
  const response = await fetch(url, { headers: { Accept: "text/html" }, redirect: "manual" });
  return { status: response.status, text: await response.text(), headers: response.headers };
}

async function post(url: string, values: Record<string, string>, accept = "text/html") {
  const response = await fetch(url, {
    method: "POST",
    redirect: "manual",
    headers: { Accept: accept, Origin: "null" },
    body: new URLSearchParams(values),
  });
  return { status: response.status, text: await response.text(), location: response.headers.get("location") ?? "" };
}

const revisionIn = (text: string): string => /name="revision" value="(\d+)"/.exec(text)?.[1] ?? "";

const order = (token: string, changes: Record<string, string> = {}, headers = partner.headers) =>
  call("POST", "orders", orderForm({ ...minimal, fill_token: token, ...changes }, null), headers);

const needed = { q0: "Jane Doe", q4: "on" };

test("a client answers by the link, step by step, and the firm orders the document once", async () => {
  const made = await fill({ template: await template(), name: "Jane Doe" });
  assert.equal(made.state, "open");
  const first = await page(made.url);
  assert.equal(first.status, 200);
  assert.match(first.text, /Full name of the buyer/);
  assert.equal(first.headers.get("referrer-policy"), "no-referrer");
  const saved = await post(`${made.url}/1`, { ...needed, q1: "Reno", q7_1: "1", revision: revisionIn(first.text) });
  assert.deepEqual([saved.status, saved.location.endsWith("/review")], [303, true], saved.text);
  const review = await page(`${made.url}/review`);
  assert.match(review.text, /Jane Doe[\s\S]*Reno[\s\S]*Dog/);
  assert.equal((await fetch(`${made.url}/preview`)).headers.get("content-type"), "application/pdf");
  const finished = await post(`${made.url}/finish`, { revision: revisionIn(review.text) });
  assert.equal(finished.status, 303, finished.text);
  assert.match((await page(made.url)).text, /Thank you[\s\S]*Download the document/);
  const done = await get(made.fillId);
  assert.match(done.fillToken ?? "", /^[0-9a-f]{40}$/);
  assert.equal(done.orderCode, null);
  const placed = await order(done.fillToken ?? "");
  assert.equal(placed.status, 201, JSON.stringify(placed.body));
  const again = await order(done.fillToken ?? "");
  assert.deepEqual([again.status, again.body.error], [400, "fill_token is unknown, used or expired."]);
  const used = await get(made.fillId);
  assert.deepEqual([used.state, used.fillToken, used.orderCode], ["used", null, placed.body.orderCode]);
  assert.doesNotMatch((await page(made.url)).text, /Download the document/);
  assert.equal((await fetch(`${made.url}/document`)).status, 404);
});

test("a partner's own answers complete it at once, and a signed template orders it without further input", async () => {
  const roles = JSON.stringify([{ name: "Buyer" }]);
  const id = await template({ svc_sign: "true", roles });
  const questions = (await call("GET", `templates/${id}/questions`)).body.questions;
  assert.equal(questions[0]?.name, "buyer");
  const made = await fill({
    template: id,
    values: { buyer: "Łukasz 陈", agree: true, pets: ["Cat"], state: "NV" },
    complete: true,
  });
  assert.equal(made.state, "completed");
  const people = { roles: JSON.stringify({ Buyer: { name: "Jane Doe", email: "jane@example.com" } }) };
  const placed = await order(made.fillToken ?? "", { template: id, ...people });
  assert.equal(placed.status, 201, JSON.stringify(placed.body));
});

test("an order from a template has the template's name as its title, unless its file has a name of its own", async () => {
  const id = await template({ name: "Deed of the north lot" });
  const made = await fill({ template: id, values: { buyer: "Jane", agree: true }, complete: true });
  const shown = async (body: Body) => (await page(`${service.baseUrl}/orders/${body.orderCode}`)).text;
  const filled = await order(made.fillToken ?? "", { template: id });
  assert.match(await shown(filled.body), /Deed of the north lot/);
  const own = await call("POST", "orders", orderForm({ ...minimal, template: id }, null));
  assert.match(await shown(own.body), /Deed of the north lot/);
  const file = async (name: string) => {
    const form = orderForm({ ...minimal, template: id }, null);
    form.append("document", new Blob([new Uint8Array(everyKind())], { type: "application/pdf" }), name);
    return shown((await call("POST", "orders", form)).body);
  };
  assert.match(await file("document.pdf"), /Deed of the north lot/);
  const named = await file("South lot.pdf");
  assert.match(named, /South lot/);
  assert.doesNotMatch(named, /north lot/);
});

test("a token of an earlier version names its version", async () => {
  const id = await template();
  const made = await fill({ template: id, values: { buyer: "Jane", agree: true }, complete: true });
  await call("POST", `templates/${id}/versions`, orderForm({ name: "Deed, changed" }, null));
  const { body } = await order(made.fillToken ?? "", { template: id });
  assert.equal(body.error, "fill_token was filled in from version 1: send it as template_version.");
  assert.equal((await order(made.fillToken ?? "", { template: id, template_version: "1" })).status, 201);
});

test("the audit log states whether the firm or the client filled it in", async () => {
  const made = await fill({ template: await template(), values: { buyer: "Jane", agree: true }, complete: true });
  const [row] = await db.query<{ actor: string }>(sql`
    SELECT actor FROM audit_log WHERE action = 'fill.completed' AND detail->>'fillId' = ${made.fillId}`);
  assert.match(row?.actor ?? "", /^key:/);
});

test("a fill and its token belong to one firm and environment", async () => {
  const id = await template();
  const made = await fill({ template: id, values: { buyer: "Jane", agree: true }, complete: true });
  assert.equal((await call("GET", `fills/${made.fillId}`, undefined, other.headers)).status, 404);
  assert.equal((await call("POST", `fills/${made.fillId}/cancel`, undefined, other.headers)).status, 404);
  const foreign = await order(made.fillToken ?? "", {}, other.headers);
  assert.deepEqual([foreign.status, foreign.body.error], [400, "fill_token is unknown, used or expired."]);
  assert.equal((await call("POST", "fills", { template: id }, other.headers)).status, 400);
  await db.query(
    sql`UPDATE fill_documents SET for_partner = ${other.partnerId} WHERE for_partner = ${partner.partnerId}`,
  );
  assert.equal((await order(made.fillToken ?? "", {}, other.headers)).status, 400, "its owner is under the MAC");
  await db.query(sql`UPDATE fills SET partner_id = ${other.partnerId} WHERE id = ${made.fillId}`);
  assert.equal((await call("GET", `fills/${made.fillId}`, undefined, other.headers)).status, 503);
  await db.query(sql`UPDATE fills SET partner_id = ${partner.partnerId} WHERE id = ${made.fillId}`);
});

test("a key that may only read sees states, but no link and no token", async () => {
  const made = await fill({ template: await template(), values: { buyer: "Jane", agree: true }, complete: true });
  const reading = { db, clock: () => new Date(), rowMac };
  const wanted = { actor: "operator", scopes: ["read"], name: "Reports" } as const;
  const { key } = await issueKey(reading, partner.partnerId, "test", wanted);
  const { body } = await call("GET", `fills/${made.fillId}`, undefined, { Authorization: `Bearer ${key}` });
  assert.deepEqual([body.state, body.url, body.fillToken], ["completed", null, null]);
});

test("of two windows, the second reports that the first has saved, and keeps the typed text", async () => {
  const made = await fill({ template: await template() });
  const { text } = await page(made.url);
  const revision = revisionIn(text);
  assert.equal((await post(`${made.url}/1`, { ...needed, revision })).status, 303);
  const second = await post(`${made.url}/1`, { q0: "Other Name", revision });
  assert.equal(second.status, 409);
  assert.match(second.text, /changed in another window/);
  assert.match(second.text, /value="Other Name"/);
  assert.equal((await post(`${made.url}/1`, { q0: "Other Name", revision: revisionIn(second.text) })).status, 303);
  assert.match((await page(made.url)).text, /value="Other Name"/);
  const stale = await post(`${made.url}/finish`, { revision });
  assert.equal(stale.status, 409);
});

test("of two submissions of the last step only one makes the document", async () => {
  const made = await fill({ template: await template(), values: { buyer: "Jane", agree: true } });
  const { text } = await page(`${made.url}/review`);
  const revision = revisionIn(text);
  const both = await Promise.all([1, 2].map(() => post(`${made.url}/finish`, { revision })));
  assert.deepEqual(
    both.map(({ status }) => status),
    [303, 303],
  );
  const [row] = await db.query<{ count: number }>(sql`
    SELECT count(*)::int AS count FROM audit_log WHERE action = 'fill.completed' AND detail->>'fillId' = ${made.fillId}`);
  assert.equal(row?.count, 1);
});

test("a script saves while somebody types, and a reload shows it", async () => {
  const made = await fill({ template: await template() });
  const { text } = await page(made.url);
  const saved = await post(`${made.url}/1/save`, { q0: "Half a na", revision: revisionIn(text) }, "application/json");
  assert.deepEqual(JSON.parse(saved.text), { revision: 1, refused: 0 });
  assert.match((await page(made.url)).text, /value="Half a na"/);
  const [row] = await db.query<{ answers: Buffer }>(sql`SELECT answers FROM fills WHERE id = ${made.fillId}`);
  assert.ok(row && !row.answers.includes("Half a na"), "encrypted at rest");
  assert.equal((await post(`${made.url}/forget`, {})).status, 303);
  assert.doesNotMatch((await page(made.url)).text, /Half a na/);
});

test("answers that are missing, too long, or not among the choices are refused next to their question", async () => {
  const made = await fill({ template: await template() });
  const { text } = await page(made.url);
  const tries = { q3: "1234567", q6: "TX", q0: "\u202Eeoj", revision: revisionIn(text) };
  const refused = await post(`${made.url}/1`, tries);
  assert.equal(refused.status, 400);
  assert.match(refused.text, /ZIP code: must have at most 5 characters/);
  assert.match(refused.text, /State: must be one of the choices/);
  assert.match(refused.text, /Full name of the buyer: has characters that cannot be printed/);
  assert.match(refused.text, /value="1234567"/);
  const finish = await post(`${made.url}/finish`, { revision: revisionIn(refused.text) });
  assert.equal(finish.status, 400);
  assert.match(finish.text, /Full name of the buyer<\/a> is needed/);
  assert.equal((await get(made.fillId)).state, "open");
});

test("an answer without room in the document is refused when its step is saved, and what was typed stays", async () => {
  const made = await fill({ template: await template() });
  const first = await page(made.url);
  assert.equal((await post(`${made.url}/1`, { ...needed, revision: revisionIn(first.text) })).status, 303);
  const wide = "W".repeat(300);
  const tries = { ...needed, q0: wide, q1: "Reno", revision: revisionIn((await page(made.url)).text) };
  const refused = await post(`${made.url}/1`, tries);
  assert.equal(refused.status, 400);
  assert.match(refused.text, /Full name of the buyer: is too long for its place in the document/);
  assert.ok(refused.text.includes(`value="${wide}"`));
  const stored = (await page(made.url)).text;
  assert.match(stored, /value="Jane Doe"[\s\S]*value="Reno"/, "the other answers of the step are saved");
  const typing = { ...tries, revision: revisionIn(refused.text) };
  assert.equal((await post(`${made.url}/1/save`, typing, "application/json")).status, 200, "nothing is tried yet");
  const review = await page(`${made.url}/review`);
  assert.match(review.text, /Full name of the buyer<\/a> is too long for its place in the document/);
  assert.equal((await post(`${made.url}/finish`, { revision: revisionIn(review.text) })).status, 400);
  assert.equal((await get(made.fillId)).state, "open");
});

test("an order that leaves out the template of its document warns, with a test key alone", async () => {
  const id = await template({ svc_sign: "true", roles: JSON.stringify([{ name: "Buyer" }]) });
  const token = async () =>
    (await fill({ template: id, values: { buyer: "Jane", agree: true }, complete: true })).fillToken ?? "";
  const people = { roles: JSON.stringify({ Buyer: { name: "Jane Doe", email: "jane@example.com" } }) };
  const alone = await order(await token(), { svc_sign: "true" });
  assert.deepEqual(alone.body["warnings"], [
    `The document was filled in from your template ${id}: send it as template to use its fields and roles.`,
  ]);
  assert.equal((await order(await token(), { template: id, ...people })).body["warnings"], undefined);
  const early = await token();
  await call("POST", `templates/${id}/versions`, orderForm({ name: "Deed, changed" }, null));
  assert.deepEqual((await order(early, { svc_sign: "true" })).body["warnings"], [
    `The document was filled in from your template ${id}: send it as template, and 1 as template_version, to use its fields and roles.`,
  ]);
});

test("an order does not warn about a template that is archived, or that has no fields and roles", async () => {
  const completed = async (id: string) =>
    (await fill({ template: id, values: { buyer: "Jane", agree: true }, complete: true })).fillToken ?? "";
  const plain = await completed(await template());
  const id = await template({ svc_sign: "true", roles: JSON.stringify([{ name: "Buyer" }]) });
  const archived = await completed(id);
  assert.equal((await call("POST", `templates/${id}/archive`)).status, 200);
  for (const token of [plain, archived]) {
    const { status, body } = await order(token, { svc_sign: "true" });
    assert.deepEqual([status, body["warnings"]], [201, undefined]);
  }
});

test("a person's input is text on every page", async () => {
  const made = await fill({
    template: await template({ name: "<b>Deed</b>" }),
    values: { buyer: '"><script>x</script>', agree: true },
  });
  for (const at of ["", "/review"]) {
    const { text } = await page(made.url + at);
    assert.doesNotMatch(text, /<script>x|<b>Deed/);
    assert.match(text, /&lt;script&gt;x/);
  }
});

test("a canceled, expired or foreign link accepts and shows nothing", async () => {
  const canceled = await fill({ template: await template(), values: { buyer: "Jane" } });
  assert.equal((await call("POST", `fills/${canceled.fillId}/cancel`)).body.state, "canceled");
  const shown = await page(canceled.url);
  assert.match(shown.text, /This form is closed/);
  assert.doesNotMatch(shown.text, /Jane/);
  assert.equal((await post(`${canceled.url}/1`, { ...needed, revision: "0" })).status, 303);
  const [kept] = await db.query<{ answers: Buffer | null }>(
    sql`SELECT answers FROM fills WHERE id = ${canceled.fillId}`,
  );
  assert.equal(kept?.answers, null);
  const expired = await fill({ template: await template() });
  await db.transaction(async (tx) => {
    await tx.query(sql`UPDATE fills SET expires_at = now() - interval '1 minute' WHERE id = ${expired.fillId}`);
    await writeStateMacs(tx, fillState, sql`id = ${expired.fillId}`);
  });
  assert.match((await page(expired.url)).text, /This form is closed/);
  assert.equal((await get(expired.fillId)).state, "expired");
  await sweepEndedFills(db, new Date());
  assert.equal((await get(expired.fillId)).state, "expired");
  for (const url of [`${expired.url.slice(0, -1)}x`, expired.url.replace(/[0-9a-f]{40}$/, "0".repeat(40))])
    assert.equal((await page(url)).status, 404);
});

test("a refusal on a page for people without an account offers the other languages", async () => {
  const unknown = "0".repeat(40);
  for (const path of [`fill/00000000-0000-4000-8000-000000000000/${unknown}`, `notary-room/${unknown}`]) {
    const refused = await fetch(`${service.baseUrl}/${path}`, {
      headers: { accept: "text/html", "accept-language": "en" },
    });
    assert.equal(refused.status, 404, path);
    assert.match(await refused.text(), /hreflang="es"/, path);
  }
});

test("the link is mailed to the person, in the person's language, at most five times", async () => {
  await chooseZone({ db, clock: () => new Date() }, partner.partnerId, "Pacific/Honolulu");
  const made = await fill({
    template: await template(),
    name: "Jane Doe",
    email: "jane@example.com",
    language: "es",
    send: true,
  });
  for (let sent = 1; sent < 5; sent++) assert.equal((await call("POST", `fills/${made.fillId}/send`)).status, 200);
  const outbox = join(folder.path, "outbox");
  const mails = () =>
    existsSync(outbox) ? readdirSync(outbox).map((file) => readFileSync(join(outbox, file), "utf8")) : [];
  const sent = () =>
    mails()
      .map((mail) =>
        mail
          .replace(/=\r?\n/g, "")
          .replaceAll("=3D", "=")
          .replaceAll("=E2=80=AF", " "),
      )
      .find((text) => text.includes(`${made.url}?lang=es`) && text.includes("Hola Jane Doe"));
  const text = await until(sent);
  const ends = zonedText(new Date(made.expiresAt), "Pacific/Honolulu", "es");
  assert.match(ends, / HST$/);
  const plain = (words: string) => words.replace(/\s+/g, " ");
  assert.ok(plain(text).includes(plain(ends)), text);
  assert.ok(plain((await page(`${made.url}?lang=es`)).text).includes(plain(ends)), "the page names the same end");
  const { status, body } = await call("POST", `fills/${made.fillId}/send`);
  assert.deepEqual([status, body.error], [409, "This form is no longer open, or its link was mailed 5 times."]);
});

test("the same request with an Idempotency-Key is one fill", async () => {
  const fields = { template: await template(), values: { buyer: "Jane", agree: true }, complete: true };
  const key = { "Idempotency-Key": "fill-once-1" };
  const [first, second] = [await fill(fields, key), await fill(fields, key)];
  assert.deepEqual([second.fillId, second.fillToken], [first.fillId, first.fillToken]);
});

test("lists page by page, each fill once", async () => {
  const { body } = await call("GET", "fills?limit=2");
  assert.equal(body.fills.length, 2);
  const next = await call("GET", `fills?limit=100&cursor=${String(body["nextCursor"])}`);
  const ids = [...body.fills, ...next.body.fills].map(({ fillId }) => fillId);
  assert.equal(new Set(ids).size, ids.length);
  assert.equal((await call("GET", "fills?cursor=x")).status, 400);
});

test("refuses impossible questions, naming the field and the rule", async () => {
  const id = await template();
  const refusals: [object, string][] = [
    [{}, "template or docSlug is required: send one of them."],
    [{ template: "x" }, "template is not one of your templates in this environment."],
    [{ template: id, email: "x" }, "email must be an email address."],
    [{ template: id, language: "de" }, "language must be one of en, es, fr, pt, zh, vi, ko, tl."],
    [{ template: id, days: 91 }, "days must be a whole number from 1 to 90."],
    [{ template: id, send: true }, "email is required with send."],
    [{ template: id, returnUrl: "javascript:alert(1)" }, "returnUrl must be an https address."],
    [{ template: id, values: [] }, "values must be an object."],
    [{ template: id, values: { nobody: "x" } }, "values.nobody names no field of the form."],
    [{ template: id, values: { agree: "yes" } }, "values.agree must be true or false."],
    [{ template: id, values: { pets: "Cat" } }, "values.pets must be a list of texts."],
    [{ template: id, values: { zip: "123456" } }, "values.zip must have at most 5 characters."],
    [{ template: id, values: { state: "TX" } }, "values.state must be one of CA, NV."],
    [{ template: id, labels: { nobody: "x" } }, "labels.nobody names no field of the form."],
    [{ template: id, complete: true }, "values.buyer is required."],
    [
      { template: id, values: { buyer: "W".repeat(300), agree: true }, complete: true },
      "values.buyer does not fit into its field.",
    ],
    [
      { template: id, values: { buyer: "\u{10FFFD}", agree: true }, complete: true },
      "values.buyer has characters that can't be printed.",
    ],
  ];
  for (const [fields, error] of refusals) {
    const { status, body } = await call("POST", "fills", fields);
    assert.deepEqual([status, body.error], [400, error]);
  }
  const bare = await template({}, madeForm([]));
  assert.equal(
    (await call("POST", "fills", { template: bare })).body.error,
    "template can't be filled in online: its document has no form fields that are open.",
  );
});

test("a field may have the name of any member of an object", async () => {
  const names = ["constructor", "toString", "__proto__", "hasOwnProperty"];
  const fields = names.map((name, at) => ({
    entries: `/FT /Tx /T (${name}) /TU (Field ${at}) /Ff 2`,
    rect: `72 ${600 - 40 * at} 272 ${620 - 40 * at}`,
  }));
  const made = await fill({ template: await template({}, madeForm(fields)) });
  const first = await page(made.url);
  assert.equal(first.status, 200);
  const saved = await post(`${made.url}/1`, { q0: "a", q1: "b", q3: "d", revision: revisionIn(first.text) });
  assert.equal(saved.status, 303);
  const review = await page(`${made.url}/review`);
  assert.match(review.text, /Field 2<\/a> is needed/);
  await post(`${made.url}/1`, { q0: "a", q1: "b", q2: "c", q3: "d", revision: revisionIn(review.text) });
  const again = await page(`${made.url}/review`);
  assert.equal((await post(`${made.url}/finish`, { revision: revisionIn(again.text) })).status, 303);
  assert.equal((await get(made.fillId)).state, "completed");
});

test("open forms and their documents count as stored until an order uses them or they end", async () => {
  const firm = await newPartner(service);
  const stored = async () =>
    (await storageUse(db, () => 1e12, storedBlobs)({ partnerId: firm.partnerId, tier: "Trial" }))?.stored ?? 0;
  const form = everyKind();
  const { body } = await call("POST", "templates", orderForm({ name: "Deed" }, form), firm.headers);
  assert.equal(await stored(), form.length);
  const open = await call("POST", "fills", { template: body.templateId }, firm.headers);
  assert.equal(await stored(), 2 * form.length);
  await call("POST", `fills/${open.body.fillId}/cancel`, undefined, firm.headers);
  assert.equal(await stored(), form.length);
  const values = { buyer: "Jane", agree: true };
  const done = await call("POST", "fills", { template: body.templateId, values, complete: true }, firm.headers);
  assert.ok((await stored()) > 2 * form.length);
  await order(done.body.fillToken ?? "", {}, firm.headers);
  assert.ok((await stored()) > 2 * form.length, "the order has it now");
});

test("a form is deleted 30 days after its end, with its personal data", async () => {
  const made = await fill({ template: await template(), name: "Jane Doe" });
  await call("POST", `fills/${made.fillId}/cancel`);
  await sweepEndedFills(db, new Date(Date.now() + 29 * 86_400_000));
  assert.equal((await get(made.fillId)).state, "canceled");
  await sweepEndedFills(db, new Date(Date.now() + 31 * 86_400_000));
  assert.equal((await call("GET", `fills/${made.fillId}`)).status, 404);
});

test("a state that was changed in the database is ignored", async () => {
  const made = await fill({ template: await template() });
  await call("POST", `fills/${made.fillId}/cancel`);
  await db.query(sql`UPDATE fills SET state = 'open', ended_at = NULL WHERE id = ${made.fillId}`);
  assert.equal((await page(made.url)).status, 503);
  await db.query(sql`UPDATE fills SET state = 'canceled', ended_at = now() WHERE id = ${made.fillId}`);
  await db.query(sql`DELETE FROM fills WHERE id = ${made.fillId}`);
});

test("a fill that was altered in the database stays refused after the sweep, and delays no other", async () => {
  const templateId = await template();
  const [altered, other] = [await fill({ template: templateId }), await fill({ template: templateId })];
  const past = sql`expires_at = now() - interval '1 minute'`;
  await db.transaction(async (tx) => {
    await tx.query(sql`UPDATE fills SET ${past} WHERE id = ${other.fillId}`);
    await writeStateMacs(tx, fillState, sql`id = ${other.fillId}`);
  });
  await db.query(sql`UPDATE fills SET ${past}, created_by = 'forged' WHERE id = ${altered.fillId}`);
  await sweepEndedFills(db, new Date());
  assert.equal((await page(altered.url)).status, 503);
  assert.equal((await get(other.fillId)).state, "expired");
  const open = await db.query(sql`SELECT FROM fills WHERE state = 'open' AND expires_at <= now()`);
  assert.equal(open.length, 0);
  await db.query(sql`DELETE FROM fills WHERE id = ${altered.fillId}`);
});

test("the sweep ends more fills than fit into one batch", async () => {
  const made = await fill({ template: await template() });
  const due = sql`expires_at < now() AND state = 'open'`;
  await db.transaction(async (tx) => {
    await tx.query(sql`
      INSERT INTO fills (id, partner_id, environment, template_id, version, form, answers, created_by, created_at, expires_at)
      SELECT gen_random_uuid(), partner_id, environment, template_id, version, form, answers, created_by, created_at,
        now() - interval '1 minute' FROM fills, generate_series(1, 501) WHERE id = ${made.fillId}`);
    await writeStateMacs(tx, fillState, due);
  });
  await sweepEndedFills(db, new Date());
  assert.equal((await db.query(sql`SELECT FROM fills WHERE ${due}`)).length, 0);
});

test("a change of an altered fill is refused, and gives it no new MAC", async () => {
  const now = new Date();
  const ciphers = fillCiphers(await openSecretsKey(`file:${join(folder.path, "keys/secrets")}`));
  const changes: ((id: string) => Promise<boolean>)[] = [
    (id) => db.transaction((tx) => endFill(tx, id, { state: "canceled", at: now })),
    (id) => db.transaction((tx) => countMail(tx, id, 5, now)),
    (id) => saveAnswers({ db, ciphers }, { id, answers: new Map(), revision: null, now }),
  ];
  for (const change of changes) {
    const made = await fill({ template: await template() });
    const [kept] = await db.query<{ by: string }>(sql`SELECT created_by AS by FROM fills WHERE id = ${made.fillId}`);
    await db.query(sql`UPDATE fills SET created_by = 'forged' WHERE id = ${made.fillId}`);
    await assert.rejects(change(made.fillId), { code: "unavailable" });
    assert.equal((await page(made.url)).status, 503);
    await db.query(sql`UPDATE fills SET created_by = ${kept?.by ?? ""} WHERE id = ${made.fillId}`);
    assert.equal(await change(made.fillId), true);
  }
});

test("a change that waits for somebody who alters the fill refuses the altered fill", async () => {
  const made = await fill({ template: await template() });
  let change: Promise<unknown> = Promise.resolve();
  const insider = await forTests(databaseOfRunning(folder.path));
  await insider.transaction(async (altering) => {
    await altering.query(sql`UPDATE fills SET created_by = 'forged' WHERE id = ${made.fillId}`);
    const ends = db.transaction((tx) => endFill(tx, made.fillId, { state: "canceled", at: new Date() }));
    change = assert.rejects(ends, { code: "unavailable" });
    await until(() => isWaitedFor(altering));
  });
  await change;
  assert.equal((await page(made.url)).status, 503);
});
