import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  after,
  assertGoodLooks,
  type Browser,
  before,
  describe,
  inEachLook,
  type Look,
  type OpenPage,
  startBrowser,
  test,
} from "@signsealship/testing/browser";
import { freePort } from "@signsealship/testing/free-port";
import { type Harness, openHarness } from "@signsealship/testing/harness";
import { minimal, orderForm, sender, shipping } from "@signsealship/testing/inputs/order-form";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { authenticateNotaries, changeOrder } from "@signsealship/testing/row-mac";
import { newPartner } from "@signsealship/testing/service";
import { needs } from "@signsealship/testing/tools/tools";
import type { OperatorRole } from "../../../src/firms/operators/operators.ts";
import { isSealed, sql } from "../../../src/kernel/platform/database/sql.ts";
import { newMember } from "../../firms/members/signed-in-member.ts";
import { newOperator } from "../../firms/operators/console-people.ts";

let running: Harness;
let browser: Browser;
let headers: { Authorization: string };
let partnerId: string;
let partnerKey: string;
/** The folder for screenshots of the pages, for visual review. */
const pictures = process.env["PICTURES"];

before(async () => {
  const port = String(await freePort());
  [running, browser] = await Promise.all([
    openHarness({ PORT: port, BASE_URL: `http://127.0.0.1:${port}` }),
    startBrowser(),
  ]);
  ({ headers, partnerId, key: partnerKey } = await newPartner(running.service, { name: "Harbor & Sons <Title>" }));
});
after(async () => {
  await browser.close();
  await running.close();
});

const at = (path: string) => running.service.baseUrl + path;
const post = (path: string, body?: FormData) => fetch(at(path), { method: "POST", headers, ...(body && { body }) });

async function order(fields: Record<string, string>, pay = true): Promise<string> {
  const answer = await post("/api/partner/orders", orderForm({ ...minimal, name: "Ada Lovelace", ...fields }));
  const { orderCode } = (await answer.json()) as { orderCode: string };
  if (pay) await post(`/api/partner/sandbox/orders/${orderCode}/checkout`);
  return orderCode;
}

/** A browser of an operator with these roles, in test. */
async function openAs(roles: readonly OperatorRole[], path: string, look: Look = { width: 1280 }): Promise<OpenPage> {
  const { cookie } = await newOperator(running, { roles, environment: "test" });
  return browser.open(at(path), { ...look, cookie });
}

/** The text of each page of a PDF, as mutool reads it. */
function mutoolPages(file: Buffer): string[] {
  const path = join(running.service.dataDir, "printed.pdf");
  writeFileSync(path, file);
  const text = execFileSync("mutool", ["draw", "-q", "-F", "text", path], { encoding: "utf8" });
  return text
    .split("\f")
    .slice(0, -1)
    .map((page) => page.trim());
}

/** The documents of an order, oldest first. */
async function documentsOf(code: string): Promise<Buffer[]> {
  const { documents } = (await (await fetch(at(`/api/partner/orders/${code}/documents`), { headers })).json()) as {
    documents: { documentId: string }[];
  };
  return Promise.all(
    documents.map(async ({ documentId }) => {
      const answer = await fetch(at(`/api/partner/orders/${code}/documents/${documentId}`), { headers });
      return Buffer.from(await answer.arrayBuffer());
    }),
  );
}

const flash = ({ page }: OpenPage, text: string) => page.getByText(text).waitFor();

async function picture({ screenshot }: OpenPage, name: string): Promise<void> {
  if (pictures === undefined) return;
  mkdirSync(pictures, { recursive: true });
  await screenshot(`${pictures}/${name}.png`);
}

test("every page is accessible and fits", async () => {
  const code = await order({
    svc_sign: "true",
    svc_notary: "true",
    ...shipping,
    external_reference: `W${"w".repeat(100)}`,
  });
  await order({ svc_notary: "true" });
  const shipped = await order({ ...shipping, ...sender });
  const opened = await openAs(["agent", "notary", "shipper", "auditor"], "/operator");
  const { page, troubles, close } = opened;
  for (const [name, path] of [
    ["today", "/operator"],
    ["queue", "/operator/tasks/notarize"],
    ["orders", "/operator/orders"],
    ["found", "/operator/orders/search?q=Lovelace"],
    ["order", `/operator/orders/${code}`],
    ["paper", `/operator/paper/${shipped}`],
    ["firms", "/operator/partners"],
    ["firm", `/operator/partners/${partnerId}`],
    ["health", "/operator/health"],
    ["checks", "/operator/health/checks"],
  ] as const) {
    await page.goto(at(path));
    for (const summary of await page.locator("summary").all()) await summary.click();
    await assertGoodLooks(opened);
    if (pictures) await inEachLook(opened, (look) => picture(opened, `${name}-${look}`));
  }
  assert.deepEqual(troubles, []);
  await close();
});

/** Agrees to the notary's request on the order's page, as a member of the firm. */
async function firmAgrees(code: string): Promise<void> {
  const { cookie } = await newMember(running.service, "owner@harbor.example", partnerKey);
  const opened = await browser.open(at(`/dashboard/orders/${code}`), { width: 360, cookie });
  const asked = opened.page.getByRole("region", { name: "The notary asks" });
  await asked.getByText("The signer has no camera.").waitFor();
  await assertGoodLooks(opened);
  await picture(opened, "firm-asked");
  await asked.getByRole("button", { name: "Agree to an act in ink" }).click();
  await flash(opened, "You agreed to an act in person, in ink.");
  await asked.getByText("You agreed").waitFor();
  await opened.close();
}

describe("a notary", () => {
  test("claims an order, sees all faults of an act, and notes it; every page is accessible and fits", async () => {
    await order({ svc_notary: "true", external_reference: "ACT-1" });
    const opened = await openAs(["notary", "auditor"], "/operator", { width: 360 });
    const { page, axe, overflow, close } = opened;
    const looksGood = async (name: string) => {
      assert.deepEqual(await axe(), [], name);
      assert.equal(await overflow(), 0, name);
      await picture(opened, `notary-${name}`);
    };
    const [notary] = await running.db.query<{ id: string }>(sql`
      INSERT INTO notaries (id, operator_id, commission_name, state, county, commission_number, commission_expires, status,
        created_at, updated_at)
      SELECT gen_random_uuid(), user_id, 'Nora Ames', 'OH', 'Franklin', '1', '2040-01-31', 'active', now(), now()
      FROM operators ORDER BY added_at DESC LIMIT 1 RETURNING id`);
    await authenticateNotaries(running.db);
    await page.goto(at("/operator/notary"));
    await looksGood("desk");
    await page.getByRole("button", { name: "Claim" }).first().click();
    await flash(opened, "The order is yours.");
    await looksGood("order");
    await page.getByLabel("Why in person").fill("The signer has no camera.");
    await page.getByRole("button", { name: "Ask the firm" }).click();
    await flash(opened, "The firm was asked.");
    await looksGood("asked");
    const [, code = ""] = /orders\/([^#?/]+)/.exec(page.url()) ?? [];
    await firmAgrees(code);
    await page.reload();
    await looksGood("agreed");
    const principal = page.getByRole("group", { name: "Principal 1" });
    const fill = (name: string, text: string) => page.getByLabel(name).first().fill(text);
    await principal.getByLabel("Full address").first().fill("1 Main Street");
    await principal.getByLabel("How you know who it is").selectOption("personal_knowledge");
    await page.getByLabel("How", { exact: true }).selectOption("ink");
    await fill("Kind of document", "Deed");
    await fill("Start (UTC)", "noon");
    await fill("End (UTC)", "2026-01-15T14:35");
    await fill("Fee in dollars", "much");
    await page.getByRole("button", { name: "Note the act" }).click();
    const alert = await page.getByRole("alert").innerText({ timeout: 5_000 });
    assert.match(alert, /Start \(UTC\) must be a time.*Fee in dollars must be dollars/s);
    await looksGood("refused");
    await fill("Start (UTC)", "2026-01-15T14:05");
    await fill("Fee in dollars", "5");
    await page.getByRole("button", { name: "Note the act" }).click();
    await flash(opened, "The act is noted.");
    for (const [name, path] of [
      ["journal", "/operator/notary/journal"],
      ["notaries", "/operator/notaries"],
      ["notary", `/operator/notaries/${notary?.id}`],
      ["rules", "/operator/notaries/rules/OH"],
    ] as const) {
      await page.goto(at(path));
      await looksGood(name);
    }
    await close();
  });
});

describe("an agent", () => {
  test("claims a task, finds its order, holds it with a reason and releases it, all without a script", async () => {
    const code = await order({ ...shipping, external_reference: "FILE-77" });
    const opened = await openAs(["agent", "shipper"], "/operator/tasks/label_print", { width: 360, javaScript: false });
    const { page, close } = opened;
    const row = page.getByRole("row").filter({ hasText: "FILE-77" });
    await row.getByRole("button", { name: "Claim" }).click();
    await flash(opened, "The task is yours.");
    assert.match(await page.getByRole("row").filter({ hasText: "FILE-77" }).innerText(), /Yours/);
    await page.getByRole("searchbox", { name: "Find an order" }).fill("file-77");
    await page.getByRole("button", { name: "Search" }).click();
    assert.equal(new URL(page.url()).pathname, `/operator/orders/${code}`);
    await page.getByText("Put on hold").first().click();
    await page.getByRole("textbox", { name: "Reason" }).fill(" ");
    await page.locator("form[action$='/moves/held'] button").click();
    assert.match(await page.getByRole("alert").innerText(), /needs a reason/);
    await page.getByRole("textbox", { name: "Reason" }).fill("The client called.");
    await page.locator("form[action$='/moves/held'] button").click();
    await flash(opened, "The order was moved.");
    assert.equal(await page.locator("#status-title").innerText(), "On hold");
    assert.match(await page.locator("#timeline").innerText(), /Preparing shipment to On hold.*The client called\./s);
    await page.getByRole("button", { name: "Release the order" }).click();
    assert.equal(await page.locator("#status-title").innerText(), "Preparing shipment");
    const [line] = await running.db.query<{ actor: string }>(sql`
      SELECT a.actor FROM audit_log a JOIN orders o ON o.id = a.order_id WHERE ${isSealed(sql`o.code`, "order", code)} AND a.to_status = 'OnHold'`);
    assert.match(line?.actor ?? "", /^operator:[0-9a-f-]{36}$/);
    await close();
  });

  test("prices an order in dollars, notes the reason, and sees what is wrong with an amount", async () => {
    const code = await order({ svc_notary: "true" }, false);
    await changeOrder(running.db, code, sql`status = 'ManualQuoteRequired'`);
    const opened = await openAs(["agent"], `/operator/orders/${code}`);
    const { page, close } = opened;
    await page.getByRole("textbox", { name: "Amount to add" }).fill("forty");
    await page.getByRole("button", { name: "Send the quote" }).click();
    assert.match(await page.getByRole("alert").innerText(), /Amount must be US dollars and cents/);
    assert.equal(await page.getByRole("textbox", { name: "Amount to add" }).inputValue(), "forty");
    await page.getByRole("textbox", { name: "Amount to add" }).fill("45.00");
    await page.getByRole("textbox", { name: "What it is for" }).fill("Apostille");
    await page.getByRole("button", { name: "Send the quote" }).click();
    await flash(opened, "The order was moved.");
    assert.match(await page.locator("#quote").innerText(), /Apostille.*\$45\.00/s);
    await page.getByRole("textbox", { name: "Add a note" }).fill("Agreed by phone.\n<b>Ann</b>");
    await page.getByRole("button", { name: "Add the note" }).click();
    await flash(opened, "Your note was added.");
    assert.match(await page.locator("#notes").innerText(), /Agreed by phone\.\n<b>Ann<\/b>/);
    await close();
  });

  test("sees no button to Paid or Refunded, and none for other roles", async () => {
    const code = await order({ svc_notary: "true" });
    const { page, close } = await openAs(["auditor"], `/operator/orders/${code}`);
    assert.deepEqual(await page.locator("form[action*='/moves/']").count(), 0);
    assert.match(await page.locator(".status-card").innerText(), /For other roles: Put on hold/);
    await close();
    const agent = await openAs(["agent"], `/operator/orders/${code}`);
    for (const action of await agent.page
      .locator("form[action*='/moves/']")
      .evaluateAll((all) => all.map((form) => form.getAttribute("action"))))
      assert.doesNotMatch(action ?? "", /payment|refund/);
    await agent.close();
  });

  test("does not see an order of the other environment, and reads each document on record", async () => {
    const code = await order({ svc_notary: "true" });
    const live = await newOperator(running, { roles: ["agent"] });
    const get = (path: string, cookie: string) => fetch(at(path), { headers: { cookie } });
    assert.equal((await get(`/operator/orders/${code}`, live.cookie)).status, 404);
    const { cookie, id } = await newOperator(running, { roles: ["agent"], environment: "test" });
    const page = await (await get(`/operator/orders/${code}`, cookie)).text();
    const [, path = ""] = /href="(\/operator\/orders\/\w+\/documents\/[\w-]+)"/.exec(page) ?? [];
    assert.equal((await get(path, live.cookie)).status, 404);
    const document = await get(path, cookie);
    assert.equal(document.headers.get("content-type"), "application/pdf");
    const read = await running.db.query<{ actor: string }>(sql`
      SELECT actor FROM audit_log WHERE action = 'document.read' ORDER BY id DESC LIMIT 1`);
    assert.deepEqual(read, [{ actor: `operator:${id}` }]);
  });
});

test("a document that was signed on paper is checked before it is stored, and sealed unchanged", async () => {
  const code = await order({ svc_sign: "true" });
  const opened = await openAs(["agent"], `/operator/orders/${code}`, { width: 360 });
  const { page, axe, overflow, close } = opened;
  const scan = { name: "scan.pdf", mimeType: "application/pdf", buffer: makePdf({ text: "Signed in ink" }) };
  const check = async (buffer: Buffer) => {
    await page.goto(at(`/operator/orders/${code}`));
    await page.getByText("Signed on paper or elsewhere").click();
    await page.getByLabel("The signed document").setInputFiles({ ...scan, buffer });
    await page.getByRole("button", { name: "Check the document" }).click();
  };
  await check(Buffer.from("a letter"));
  assert.match(await page.locator("#checks").innerText(), /It can’t be sealed/);
  assert.equal(await page.getByRole("button", { name: "Seal the document" }).count(), 0);
  const [original] = await documentsOf(code);
  await check(original ?? Buffer.alloc(0));
  assert.match(await page.locator("#checks").innerText(), /nothing was added/);
  await check(scan.buffer);
  assert.match(await page.locator("#checks").innerText(), /such as a scan.*no digital signature/s);
  assert.deepEqual([await axe(), await overflow()], [[], 0]);
  await picture(opened, "signed-on-paper-360");
  const take = async (buffer: Buffer, reason: string) => {
    await page.getByLabel("The signed document").setInputFiles({ ...scan, buffer });
    await page.getByLabel("How it was signed").fill(reason);
    await page.getByRole("checkbox", { name: /I looked at it/ }).check();
    await page.getByRole("button", { name: "Seal the document" }).click();
  };
  await take(makePdf({ text: "Another" }), "In ink.");
  assert.match(await page.getByRole("alert").innerText(), /another file than the one that was checked/);
  assert.equal((await documentsOf(code)).length, 1);
  await check(scan.buffer);
  await take(scan.buffer, " ");
  assert.match(await page.getByRole("alert").innerText(), /How it was finished must have/);
  await take(scan.buffer, "In ink, at the office.");
  await flash(opened, "The order was moved.");
  assert.equal(await page.locator("#status-title").innerText(), "Signed");
  assert.match(await page.locator("#timeline").innerText(), /In ink, at the office\./);
  const sealed = (await documentsOf(code)).at(-1);
  assert.ok(sealed?.subarray(0, scan.buffer.length).equals(scan.buffer));
  assert.equal(await page.getByText("Signed on paper or elsewhere").count(), 0);
  await close();
});

test("a document is viewed in the page, and saved without a script", async () => {
  const code = await order({ svc_notary: "true" });
  const opened = await openAs(["agent"], `/operator/orders/${code}`, { width: 360 });
  const { page, axe, overflow, troubles, close } = opened;
  await page.getByRole("link", { name: "view The document as it came" }).click();
  const first = page.getByRole("article", { name: "Page 1 of 1" });
  await first.locator("canvas").waitFor();
  await first.locator(".viewer-text").waitFor({ state: "attached" });
  assert.equal(await page.getByRole("status").count(), 0);
  assert.deepEqual([await axe(), await overflow(), troubles], [[], 0, []]);
  await picture(opened, "document-360");
  const url = page.url();
  await close();
  const plain = await openAs(["agent"], new URL(url).pathname, { width: 360, javaScript: false });
  assert.match(await plain.page.locator("#preview").innerText(), /can be saved, not shown/);
  assert.equal(await plain.page.getByRole("link", { name: "Save the document" }).count(), 1);
  assert.equal((await plain.page.goto(`${url.slice(0, -"/view".length)}9/view`))?.status(), 404);
  await plain.close();
});

describe("a shipper", () => {
  const get = (path: string, cookie: string) => fetch(at(path), { headers: { cookie } });

  test("prints the packet, enters carrier and tracking number, and sees no other orders", async () => {
    const code = await order({ ...shipping, ship_name: "Zoë Strauß 王", ship_method: "print_mail" });
    const other = await order({ svc_notary: "true" });
    const opened = await openAs(["shipper"], "/operator/tasks/packet_print");
    const { page, close } = opened;
    await page
      .getByRole("row")
      .filter({ hasText: code.slice(0, 6).toUpperCase() })
      .getByRole("link")
      .click();
    assert.match(await page.locator("#where").innerText(), /Zoë Strauß 王\s+350 Fifth Avenue\s+New York, NY 10118/);
    await page.getByRole("textbox", { name: "Carrier" }).fill("USPS");
    await page.getByRole("textbox", { name: "Tracking number" }).fill("9400 1000 0000 0000 0020 00");
    await page.getByRole("button", { name: "Record the hand-over" }).click();
    await flash(opened, "The order was moved.");
    assert.equal((await page.goto(at(`/operator/paper/${code}`)))?.status(), 200);
    assert.equal((await page.goto(at(`/operator/paper/${other}`)))?.status(), 404);
    assert.equal((await page.goto(at(`/operator/orders/${code}`)))?.status(), 403);
    assert.equal((await page.goto(at("/operator/orders")))?.status(), 403);
    const { cookie } = await newOperator(running, { roles: ["shipper"], environment: "test" });
    const refused = await fetch(at(`/operator/orders/${code}/moves/shipped`), {
      method: "POST",
      headers: { cookie, Accept: "text/html" },
      body: new URLSearchParams({}),
    });
    assert.equal(refused.status, 403);
    assert.doesNotMatch(await refused.text(), /Lovelace|Timeline/);
    await close();
  });

  test("gets sheets before the document in one file, for each way to send it, on record", needs("mupdf"), async () => {
    const { cookie, id } = await newOperator(running, { roles: ["shipper"], environment: "test" });
    const pagesOf = async (path: string) => {
      const answer = await get(path, cookie);
      assert.equal(answer.headers.get("content-type"), "application/pdf", path);
      const file = Buffer.from(await answer.arrayBuffer());
      return mutoolPages(file);
    };
    const ways: [Record<string, string>, number, RegExp][] = [
      [{ ...shipping, ...sender }, 2, /Ship to.*Jane Roe.*350 Fifth Avenue/s],
      [{ ...shipping, ship_method: "print_mail" }, 1, /Jane Roe.*New York, NY 10118/s],
      [{ fax_to: "2125550123" }, 1, /To \+?1?2125550123/s],
    ];
    for (const [fields, sheets, words] of ways) {
      const code = await order(fields);
      const [packet, alone, document] = await Promise.all(
        ["packet", "sheets", "document"].map((what) => pagesOf(`/operator/paper/${code}/${what}.pdf`)),
      );
      assert.equal(alone?.length, sheets);
      // A mailed packet is printed on both sides, and its document begins on a new sheet. A fax has no blank page.
      const before = fields["fax_to"] === undefined ? sheets + (sheets % 2) : sheets;
      assert.equal(packet?.length, before + (document?.length ?? 0));
      assert.match(packet?.[0] ?? "", words);
      assert.equal(packet?.at(-1), document?.at(-1));
    }
    const [read] = await running.db.query<{ reads: number }>(sql`
      SELECT count(*)::int AS reads FROM audit_log WHERE action = 'document.read' AND actor = ${`operator:${id}`}`);
    assert.equal(read?.reads, 9);
  });
});

test("keys lead through rows, to the search and to help, and can be switched off", async () => {
  await order({ svc_notary: "true" });
  const { page, axe, close } = await openAs(["agent"], "/operator/orders");
  await page.keyboard.press("j");
  assert.equal(await page.evaluate(() => document.activeElement?.closest("tr")?.sectionRowIndex), 0);
  await page.keyboard.press("j");
  await page.keyboard.press("k");
  assert.equal(await page.evaluate(() => document.activeElement?.closest("tr")?.sectionRowIndex), 0);
  await page.keyboard.press("/");
  assert.equal(await page.evaluate(() => document.activeElement?.id), "console-search");
  await page.keyboard.type("jk?");
  assert.equal(await page.getByRole("searchbox", { name: "Find an order" }).inputValue(), "jk?");
  await page.keyboard.press("Tab");
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keys" }).waitFor();
  assert.deepEqual(await axe(), []);
  await page.getByRole("button", { name: "Switch single keys off" }).click();
  await page.keyboard.press("/");
  assert.notEqual(await page.evaluate(() => document.activeElement?.id), "console-search");
  await page.keyboard.press("?");
  assert.equal(await page.getByRole("dialog").count(), 0);
  await page.keyboard.press("Control+/");
  await page.getByRole("button", { name: "Switch single keys on" }).click();
  await page.keyboard.press("g");
  await page.keyboard.press("t");
  await page.getByRole("heading", { level: 1, name: "Today" }).waitFor();
  await close();
});

describe("a firm", () => {
  const send = (path: string, cookie: string, fields: Record<string, string>) =>
    fetch(at(path), { method: "POST", headers: { cookie }, body: new URLSearchParams(fields), redirect: "manual" });

  test("is changed by an admin, with a mail to all of them; others can only read", async () => {
    const { partnerId: id } = await newPartner(running.service, { name: "Quay Lending" });
    const [admin, agent] = [
      await newOperator(running, { roles: ["admin"] }),
      await newOperator(running, { roles: ["agent"] }),
    ];
    const change = (cookie: string, tier: string) => send(`/operator/partners/${id}`, cookie, { tier, live: "on" });
    assert.equal((await change(agent.cookie, "ProOffice")).status, 403);
    assert.equal((await change(admin.cookie, "Golden")).status, 400);
    assert.equal((await change(admin.cookie, "ProOffice")).status, 303);
    const [line] = await running.db.query<{ actor: string; detail: object }>(sql`
      SELECT actor, detail FROM audit_log WHERE action = 'partner.changed' AND partner_id = ${id}`);
    assert.deepEqual(line, { actor: `operator:${admin.id}`, detail: { tier: "ProOffice", live: true } });
    const page = await (await fetch(at("/operator/partners?name=QUAY"), { headers: { cookie: agent.cookie } })).text();
    assert.match(page, /Quay Lending/);
    assert.doesNotMatch(page, /Harbor/);
  });

  test("gets a key that is shown once, and that is revoked", async () => {
    const { partnerId: id } = await newPartner(running.service, { name: "Pier Law" });
    const { cookie } = await newOperator(running, { roles: ["admin"] });
    const shown = await (await send(`/operator/partners/${id}/keys`, cookie, { environment: "test" })).text();
    const [key = ""] = /svc_pk_test_\w+/.exec(shown) ?? [];
    const me = () => fetch(at("/api/partner/me"), { headers: { Authorization: `Bearer ${key}` } });
    assert.equal((await me()).status, 200);
    assert.doesNotMatch(
      await (await fetch(at(`/operator/partners/${id}`), { headers: { cookie } })).text(),
      /svc_pk_test_/,
    );
    const keys = await running.db.query<{ id: string }>(
      sql`SELECT id FROM partner_keys WHERE partner_id = ${id} ORDER BY created_at DESC`,
    );
    assert.equal((await send(`/operator/partners/${partnerId}/keys/${keys[0]?.id}/revoke`, cookie, {})).status, 404);
    assert.equal((await send(`/operator/partners/${id}/keys/${keys[0]?.id}/revoke`, cookie, {})).status, 303);
    assert.equal((await me()).status, 401);
  });
});

describe("search", () => {
  test("finds orders by code, reference, mail, name, hash, tracking and payment intent, only in its environment", async () => {
    const code = await order({ ...shipping, external_reference: "Lot 1138/b", email: "Grace.Hopper@navy.example" });
    await running.service.cli("order", "move", code, "Shipped", "--carrier", "USPS", "--tracking", "9400 1000");
    const [facts] = await running.db.query<{ sha256: string; intent: string }>(sql`
      SELECT d.sha256, p.payment_intent AS intent FROM orders o JOIN documents d ON d.order_id = o.id
      JOIN payments p ON p.order_id = o.id WHERE ${isSealed(sql`o.code`, "order", code)}`);
    const { cookie } = await newOperator(running, { roles: ["auditor"], environment: "test" });
    const live = await newOperator(running, { roles: ["auditor"] });
    const search = async (text: string, as = cookie) =>
      fetch(at(`/operator/orders/search?${new URLSearchParams({ q: text })}`), {
        headers: { cookie: as },
        redirect: "manual",
      });
    for (const text of [
      code,
      code.slice(0, 8),
      "LOT 1138",
      "grace.hopper@navy.example",
      "9400 1000",
      facts?.intent ?? "",
    ]) {
      const answer = await search(text);
      assert.equal(answer.headers.get("location"), `/operator/orders/${code}`, text);
      assert.match(await (await search(text, live.cookie)).text(), /Nothing found/, text);
    }
    assert.match(await (await search(facts?.sha256 ?? "")).text(), new RegExp(code.slice(0, 6).toUpperCase()));
    for (const text of ["ab", "...", "'; --", "🙂🙂🙂", "a".repeat(255)])
      assert.equal((await search(text)).status, 400, text);
    for (const text of ["100%_nothing", "a\\b%c", "a'; --b c", "a".repeat(254)])
      assert.match(await (await search(text)).text(), /Nothing found/, text);
  });
});
