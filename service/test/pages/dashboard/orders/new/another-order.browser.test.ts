import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { after, before, test } from "@signsealship/testing/browser";
import { examplePdf, minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { newPartner } from "@signsealship/testing/service";
import { assertGood, codeIn, type OrdersPages, openOrdersPages, part, press, said } from "../orders-pages.ts";

const example = fileURLToPath(new URL("../../../../../../examples/lien-release.pdf", import.meta.url));
const file = (name: string) => ({ name, mimeType: "application/pdf", buffer: examplePdf });
const newPath = "/dashboard/orders/new";
let pages: OrdersPages;

before(async () => {
  pages = await openOrdersPages();
});
after(() => pages.close());

test("orders of one closing: the client is typed once, and each order is added to the room by its document's name", async () => {
  const firm = await newPartner(pages.service, { tier: "ClosingDesk" });
  const room = await pages.createRoom(firm, "12 Elm Street");
  const { opened, page } = await pages.open({ firm });
  await pages.go(page, `/dashboard/rooms/${room}`);
  await page.getByRole("link", { name: "Place a new order in this room" }).click();
  assert.equal(await page.getByLabel("Room").inputValue(), room);
  await page.getByLabel("File: a PDF").setInputFiles(file("Warranty deed.pdf"));
  await page.getByLabel("Client’s email").fill("jane@example.com");
  await page.getByLabel("Client’s name").fill("Jane Roe");
  await page.getByLabel("Signer’s state").selectOption("Ohio");
  await page.getByLabel("File number").fill("2026-0418");
  await page.getByLabel("This is the client’s own document").check();
  await press(page, "Place it, and start another for this client");

  await said(page, "The order was placed.");
  await page.getByText("The form has the client, file number, and room of Warranty deed.").waitFor();
  for (const [label, value] of Object.entries({
    "Client’s email": "jane@example.com",
    "Client’s name": "Jane Roe",
    "Signer’s state": "OH",
    "File number": "2026-0418",
    Room: room,
  }))
    assert.equal(await page.getByLabel(label).inputValue(), value, label);
  assert.equal(await page.getByLabel("This is the client’s own document").isChecked(), false);
  await assertGood(opened);

  await page.getByLabel("File: a PDF").setInputFiles(file("Affidavit of title.pdf"));
  await page.getByLabel("Online notarization").check();
  await page.getByLabel("This is the client’s own document").check();
  await press(page, "Place the test order");
  await page.getByRole("heading", { level: 1, name: "Affidavit of title" }).waitFor();
  assert.equal((await pages.apiList(firm)).length, 2);
  await part(page, "Rooms").getByRole("link", { name: "12 Elm Street" }).click();
  for (const name of ["Warranty deed", "Affidavit of title"])
    await part(page, "Orders").getByRole("link", { name }).waitFor();
});

test("the document's type ticks its services, and restores the earlier choice; a note is shown only with its own type", async () => {
  const { opened, page } = await pages.open();
  await pages.go(page, newPath);
  const [signing, notary] = [page.getByLabel("Signing"), page.getByLabel("Online notarization")];
  const states = async () => [
    await signing.isChecked(),
    await signing.isDisabled(),
    await notary.isChecked(),
    await notary.isDisabled(),
  ];
  const note = page.getByText("15 USC 7021");
  assert.equal(await note.isVisible(), false);
  await notary.check();
  await page.getByLabel("Document type").selectOption({ label: "Promissory note (signed)" });
  assert.deepEqual(await states(), [true, true, false, true]);
  assert.equal(await note.isVisible(), true);
  await assertGood(opened);
  await page.getByLabel("Document type").selectOption({ label: "Other document" });
  assert.deepEqual(await states(), [false, false, true, false]);
  assert.equal(await note.isVisible(), false);
});

test("without a script the same form places the order and starts another", async () => {
  const { page } = await pages.open({ javaScript: false });
  await pages.go(page, newPath);
  await page.getByLabel("File: a PDF").setInputFiles(example);
  await page.getByLabel("Client’s email").fill("sam@example.com");
  await page.getByLabel("This is the client’s own document").check();
  await press(page, "Place it, and start another for this client");
  await said(page, "The order was placed.");
  await page.getByText("The form has the client of ").waitFor();
  assert.equal(await page.getByLabel("Client’s email").inputValue(), "sam@example.com");
});

test("signers and addresses are copied, access codes are not", async () => {
  const { page } = await pages.open();
  const signers = [
    { name: "Jane Roe", email: "jane@example.com", routing: 1, auth: "access_code", access_code: "Maple 1234" },
    { name: "John Roe", email: "john@example.com", routing: 2, language: "es" },
  ];
  const ship = { ship_name: "Jane Roe", ship_line1: "350 Fifth Avenue", ship_city: "New York", ship_state: "NY" };
  const code = await pages.place(pages.acme, {
    svc_sign: "true",
    signers: JSON.stringify(signers),
    svc_ship: "true",
    ship_postal: "10118",
    ...ship,
  });
  await pages.go(page, `/dashboard/orders/${code}`);
  await page.getByRole("link", { name: "Place another for this client" }).click();
  const value = (name: string) => page.locator(`[name="${name}"]`).inputValue();
  assert.deepEqual(
    await Promise.all(["signer1_name", "signer2_email", "signer2_routing", "signer2_language"].map(value)),
    ["Jane Roe", "john@example.com", "2", "es"],
  );
  assert.deepEqual(await Promise.all(["signer1_auth", "signer1_access_code"].map(value)), ["access_code", ""]);
  assert.equal(await page.getByLabel("Signing").isChecked(), true);
  assert.equal(await page.getByLabel("Shipping").isChecked(), false);
  assert.equal(await value("ship_line1"), "350 Fifth Avenue");
});

test("another firm's order, an unknown one and invalid texts fill no form", async () => {
  const firm = await newPartner(pages.service);
  const { send } = await pages.caller(firm);
  const foreign = await pages.place(pages.acme);
  for (const like of [foreign, "0".repeat(40), "", "%00", "x"])
    assert.equal((await send(`${newPath}?like=${like}`)).status, 404, like);
  const room = await pages.createRoom(pages.acme, "Not theirs");
  assert.equal((await send(`${newPath}?room=${room}`)).text.includes(`<option value="${room}"`), false);
});

test("the form's room is chosen, however many newer ones there are", async () => {
  const firm = await newPartner(pages.service, { tier: "ClosingDesk" });
  const { send } = await pages.caller(firm);
  const room = await pages.createRoom(firm, "The oldest");
  for (let newer = 1; newer <= 50; newer++) await pages.createRoom(firm, `Newer ${newer}`);
  const chosenIn = async (path: string) =>
    /<select[^>]* name="room"[\s\S]*?<option value="([0-9a-f]{40})" selected/.exec((await send(path)).text)?.[1];
  assert.equal(await chosenIn(`${newPath}?room=${room}`), room);
  const { location } = await send(newPath, orderForm({ ...minimal, room, next: "another" }));
  assert.equal(await chosenIn(location), room);
  const refused = await send(newPath, orderForm({ ...minimal, room, email: "none" }));
  assert.match(refused.text, new RegExp(`<option value="${room}" selected`));
  const foreign = await pages.createRoom(pages.acme, "Not theirs");
  assert.equal(await chosenIn(`${newPath}?room=${foreign}`), undefined);
});

test("an order is placed even when its room can't accept it, and the page says so", async () => {
  const firm = await newPartner(pages.service);
  const { send } = await pages.caller(firm);
  const room = await pages.createRoom(firm, "Closed");
  await fetch(`${pages.service.baseUrl}/api/rooms/${room}/close`, { method: "POST", headers: firm.headers });
  const foreign = await pages.createRoom(pages.acme, "Not theirs");
  for (const wanted of [room, foreign, "\0", "x"]) {
    const { status, location } = await send(
      newPath,
      orderForm({ ...minimal, room: wanted, external_reference: wanted.slice(1, 9) }),
    );
    assert.equal(status, 303);
    assert.match(location, /^\/dashboard\/orders\/[0-9a-f]{40}\?done=order-placed-outside$/);
    assert.match((await send(location)).text, /The order was placed, but it is not in the room/);
  }
});

test("one form sent by both of its buttons places one order", async () => {
  const firm = await newPartner(pages.service);
  const { send } = await pages.caller(firm);
  const [, submission = ""] = /name="submission" value="([^"]+)"/.exec((await send(newPath)).text) ?? [];
  const first = await send(newPath, orderForm({ ...minimal, submission }));
  const second = await send(newPath, orderForm({ ...minimal, submission, next: "another" }));
  assert.match(first.location, /^\/dashboard\/orders\/[0-9a-f]{40}\?done=order-placed$/);
  assert.match(second.location, /^\/dashboard\/orders\/new\?like=[0-9a-f]{40}&done=order-placed$/);
  assert.equal((await pages.apiList(firm)).length, 1);
});

test("several of the firm's orders are added to a room at once, those with its reference first, each by its document's name", async () => {
  const firm = await newPartner(pages.service, { tier: "ClosingDesk" });
  const named = async (name: string, reference: string) => {
    const form = orderForm({ ...minimal, external_reference: reference });
    form.set("document", form.get("document") as File, `${name}.pdf`);
    await fetch(`${pages.service.baseUrl}/api/partner/orders`, { method: "POST", headers: firm.headers, body: form });
  };
  await named("Deed", "A-1");
  await named("Note", "A-1");
  await named("Something else", "B-2");
  const { opened, page } = await pages.open({ firm });
  await pages.go(page, "/dashboard/rooms");
  await page.getByLabel("Name").fill("12 Elm Street");
  await page.getByLabel("File number").fill("A-1");
  await press(page, "Create room");
  const choices = page.getByRole("group", { name: "Your latest orders" });
  assert.deepEqual(await choices.locator("label").allInnerTexts(), ["Note", "Deed", "Something else"]);
  await assertGood(opened);
  await press(page, "Add order");
  await page.getByRole("alert").getByText("Tick one of your orders, or enter a code.").waitFor();
  await choices.getByLabel("Note").check();
  await choices.getByLabel("Deed").check();
  await press(page, "Add order");
  await said(page, "The orders were added to the room.");
  for (const name of ["Note", "Deed"]) await part(page, "Orders").getByRole("link", { name, exact: true }).waitFor();
  assert.deepEqual(await choices.locator("label").allInnerTexts(), ["Something else"]);
  const room = /\/rooms\/([0-9a-f]{40})/.exec(page.url())?.[1] ?? "";
  const shown = await (await fetch(`${pages.service.baseUrl}/rooms/${room}`)).text();
  assert.ok(shown.includes("Deed") && shown.includes("Note"));
  assert.equal(codeIn(page), "");
});

test("of several orders the first impossible one is refused, and the page states how many were added before", async () => {
  const firm = await newPartner(pages.service);
  const { send } = await pages.caller(firm);
  const [room, code] = [await pages.createRoom(firm, "12 Elm Street"), await pages.place(firm)];
  const unknown = { [`order-${code}`]: "on", orderCode: "0".repeat(40) };
  const refused = await send(`/dashboard/rooms/${room}/orders`, new URLSearchParams(unknown));
  assert.equal(refused.status, 404);
  assert.match(refused.text, /Order not found\. 1 order was added before that\./);
  const again = await send(`/dashboard/rooms/${room}/orders`, new URLSearchParams(unknown));
  assert.equal(again.text.includes("added before"), false);
});

test("an order is found by the name of its document and by its type, only in its own firm and environment", async () => {
  const [firm, other] = [await newPartner(pages.service), await newPartner(pages.service)];
  const { send } = await pages.caller(firm);
  const stranger = await pages.caller(other);
  const form = orderForm(minimal);
  form.set("document", form.get("document") as File, "Affidavit of Title.pdf");
  await send(newPath, form);
  await pages.place(firm, { doc_slug: "warranty-deed" });
  const found = async (q: string, by = send) =>
    [
      ...(await by(`/dashboard/orders?q=${encodeURIComponent(q)}`)).text.matchAll(/class="row-title"[^>]*>([^<]+)</g),
    ].map(([, name]) => name);
  assert.deepEqual(await found("affidavit of"), ["Affidavit of Title"]);
  assert.deepEqual(await found("WARRANTY"), ["Warranty deed"]);
  assert.deepEqual(await found("50%_"), []);
  assert.deepEqual(await found("affidavit", stranger.send), []);
  const csv = await send("/dashboard/orders.csv?q=affidavit");
  assert.equal(csv.text.trim().split("\n").length, 2);
});
