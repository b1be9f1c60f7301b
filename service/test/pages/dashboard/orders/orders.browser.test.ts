import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { after, before, test } from "@signsealship/testing/browser";
import { orderForm } from "@signsealship/testing/inputs/order-form";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { newPartner } from "@signsealship/testing/service";
import { assertGood, codeIn, type OrdersPages, openOrdersPages, part, press, said } from "./orders-pages.ts";

const example = fileURLToPath(new URL("../../../../../examples/lien-release.pdf", import.meta.url));
let pages: OrdersPages;
let service: OrdersPages["service"];
let go: OrdersPages["go"];
let open: OrdersPages["open"];
let place: OrdersPages["place"];
let apiList: OrdersPages["apiList"];
let createRoom: OrdersPages["createRoom"];
let sandbox: OrdersPages["sandbox"];

before(async () => {
  pages = await openOrdersPages();
  ({ service, go, open, place, apiList, createRoom, sandbox } = pages);
});
after(() => pages.close());

test("a test order from start to end with the mouse: placed, refused once, paid, signed, shipped, added to a room", async () => {
  const firm = await newPartner(service);
  const { opened, page } = await open({ firm });
  await page.getByRole("link", { name: "Orders" }).click();
  await page.getByText("No orders yet").waitFor();
  await assertGood(opened);
  await page.getByRole("link", { name: "Place a test order", exact: true }).click();

  const typed = {
    "Client’s email": "signer@example.com",
    "Client’s name": `Jane "<b>" Roe`,
    "Recipient’s name": "Jane Roe",
    "Recipient’s street": "350 Fifth Avenue",
    "Recipient’s city": "New York",
    "Recipient’s ZIP code": "1011",
    "Fax number": "212 555 0123",
    "File number": "FILE 7",
  };
  await page.getByLabel("File: a PDF").setInputFiles(example);
  await page.getByLabel("Signing").check();
  assert.equal(await page.getByLabel("Recipient’s name").isVisible(), false);
  await page.getByLabel("Shipping").check();
  for (const [label, value] of Object.entries(typed)) await page.getByLabel(label).fill(value);
  await page.getByLabel("Recipient’s state").selectOption("New York");
  await page.getByLabel("Delivery method").selectOption("Printed and mailed by us");
  await page.getByLabel("Signer’s state").selectOption("Texas");
  await page.getByLabel("This is the client’s own document").check();
  await press(page, "Place the test order");
  await page.getByRole("alert").getByText("“Recipient’s ZIP code” must be a US ZIP code").waitFor();
  for (const [label, value] of Object.entries(typed)) assert.equal(await page.getByLabel(label).inputValue(), value);
  assert.equal(await page.getByLabel("Recipient’s state").inputValue(), "NY");
  assert.equal(await page.getByLabel("Delivery method").inputValue(), "print_mail");
  assert.equal(await page.getByLabel("Signer’s state").inputValue(), "TX");
  assert.deepEqual(
    await Promise.all(["Signing", "Online notarization", "Shipping"].map((name) => page.getByLabel(name).isChecked())),
    [true, false, true],
  );
  assert.equal(await page.getByLabel("Recipient’s ZIP code").getAttribute("aria-invalid"), "true");
  await page.getByText("We kept lien-release (1 page).").waitFor();
  await page.getByRole("region", { name: "Price" }).getByText("$").first().waitFor();
  await assertGood(opened);
  assert.deepEqual(await apiList(firm), []);

  await page.getByLabel("Recipient’s ZIP code").fill("10118");
  await press(page, "Place the test order");
  await page.getByLabel("Add a page for signatures at the end").check();
  await press(page, "Place the test order");
  await said(page, "The order was placed.");
  const code = codeIn(page);
  assert.deepEqual(
    (await apiList(firm)).map(({ orderCode }) => orderCode),
    [code],
  );
  await page.getByRole("heading", { level: 1, name: "lien-release" }).waitFor();
  const details = part(page, "Details");
  for (const text of ["signer@example.com", "FILE 7", "Sign, Ship, Fax", "+12125550123", "Not sent yet", code])
    await details.getByText(text, { exact: true }).waitFor();
  await part(page, "Quote").getByRole("row", { name: "Print and mail $12.95" }).waitFor();
  await page.getByRole("link", { name: "Open the client’s page" }).click();
  assert.equal(new URL(page.url()).pathname, `/orders/${code}`);
  await page.goBack();
  await assertGood(opened);
  const sending = page.getByText("Paying sends it out for signature");
  await sending.waitFor();

  await press(page, "Decline the payment");
  await said(page, "The test payment was declined.");
  await page.getByText("No event was sent").waitFor();
  await page.getByRole("heading", { name: "The payment did not go through" }).waitFor();
  await press(page, "Pay with a delay");
  await said(page, "has not cleared yet");
  await press(page, "Cancel the checkout");
  await said(page, "The test checkout was canceled.");
  await press(page, "Pay");
  await said(page, "The test payment went through.");
  await said(page, "An order was paid.");
  await page.getByRole("heading", { name: "The document is out for signature" }).waitFor();
  assert.equal(await sending.count(), 0);
  assert.equal(await page.getByRole("button", { name: "Pay", exact: true }).count(), 0);
  await press(page, "Advance to the next milestone");
  await said(page, "The signed document is sealed.");
  await press(page, "Complete the order");
  await said(page, "The test order is now completed.");
  await said(page, "A shipment was recorded as delivered.");
  await page.getByRole("heading", { name: "All done" }).waitFor();
  await page.getByText("There is nothing left to simulate").waitFor();
  assert.equal((await apiList(firm))[0]?.status, "Completed");

  await part(page, "Rooms").getByRole("link", { name: "Create a room" }).waitFor();
  const room = await createRoom(firm, "12 Elm <Street>");
  await go(page, `/dashboard/orders/${code}`);
  await page.getByLabel("Add to a room").selectOption("12 Elm <Street>: 0 orders");
  await page.getByLabel("Label in the room").fill("Deed of trust");
  await press(page, "Add to room");
  await said(page, "The order was added to the room.");
  assert.equal(
    await part(page, "Rooms").getByRole("link", { name: "12 Elm <Street>" }).getAttribute("href"),
    `/dashboard/rooms/${room}`,
  );
  assert.equal(await page.getByLabel("Add to a room").count(), 0);
  await assertGood(opened);
  const view = (await (await fetch(`${service.baseUrl}/api/rooms/${room}`)).json()) as { orders: { label: string }[] };
  assert.deepEqual(
    view.orders.map(({ label }) => label),
    ["Deed of trust"],
  );
  await opened.close();
});

test("orders are listed newest first in pages both ways, by groups, and found by known facts", async () => {
  const firm = await newPartner(service);
  const codes: string[] = [];
  for (let i = 0; i < 30; i++)
    codes.push(await place(firm, { svc_sign: "on", external_reference: i < 2 ? "FILE & 7" : `FILE-${i}` }));
  const [oldest = "", second = ""] = codes;
  await sandbox(firm, oldest);
  const { opened, page } = await open({ firm });
  const links = () =>
    page
      .getByRole("table")
      .getByRole("link")
      .evaluateAll((all) => all.map((link) => link.getAttribute("href")?.split("/").at(-1)));
  const tab = (name: string) => page.getByRole("navigation", { name: "Groups of orders" }).getByRole("link", { name });

  await go(page, "/dashboard/orders");
  await assertGood(opened);
  assert.deepEqual(await links(), codes.slice(5).reverse());
  const row = page.getByRole("row").nth(1);
  for (const text of ["Ready to pay", "Sign", "signer@example.com", "The client pays"])
    await row.getByText(text, { exact: true }).waitFor();
  await row.getByText("$12.00").waitFor();
  await row.getByText("FILE-29").waitFor();
  await page.getByRole("link", { name: "Next page" }).click();
  assert.deepEqual(await links(), codes.slice(0, 5).reverse());
  assert.equal(await page.getByRole("link", { name: "Next page" }).count(), 0);
  await page.getByRole("link", { name: "Previous page" }).click();
  assert.deepEqual(await links(), codes.slice(5).reverse());
  assert.equal(await page.getByRole("link", { name: "Previous page" }).count(), 0);

  await page.getByLabel("Search").fill("file & 7");
  await press(page, "Search");
  assert.deepEqual(await links(), [second, oldest]);
  assert.equal(await page.getByLabel("Search").inputValue(), "file & 7");
  await tab("Out for signature").click();
  assert.deepEqual(await links(), [oldest]);
  await page.getByLabel("Search").fill("FILE & 8");
  await press(page, "Search");
  await page.getByText("None of your orders match this search.").waitFor();
  await page.getByRole("link", { name: "Show all orders" }).click();
  await tab("To pay 29").click();
  await page.getByRole("link", { name: "Next page" }).click();
  assert.deepEqual(await links(), codes.slice(1, 5).reverse());
  await page.getByLabel("Sort by").selectOption("Oldest first");
  await press(page, "Search");
  assert.deepEqual(await links(), codes.slice(1, 26));
  await assertGood(opened);

  for (const query of [
    "status=Teleported",
    "after=x",
    `before=1-${"0".repeat(39)}`,
    "q=ab",
    "q=a%00bcd",
    "sort=x",
    "from=2026-02-31",
    "from=2026-03-02&to=2026-03-01",
  ]) {
    const answer = await go(page, `/dashboard/orders?${query}`);
    assert.equal(answer?.status(), 400, query);
    await page.getByRole("alert").waitFor();
  }
  for (const query of [
    "status=a&status=b",
    "q=%ff%ff%ffabc",
    "cursor=x",
    "status[]=1",
    "q=50%25_off",
    `after=1-${"0".repeat(40)}`,
  ])
    assert.equal((await go(page, `/dashboard/orders?${query}`))?.status(), 200, query);
  await opened.close();
});

test("everything works without script, and by keyboard alone", async () => {
  const { opened, page } = await open({ width: 360, javaScript: false });
  await go(page, "/dashboard/orders/new");
  await page.getByLabel("File: a PDF").setInputFiles(example);
  await page.getByLabel("Document type").selectOption("General affidavit (signed and notarized)");
  await page.getByLabel("Client’s email").fill("signer@example.com");
  await page.getByLabel("Shipping").focus();
  await page.keyboard.press("Space");
  await page.getByLabel("Recipient’s name").fill("Jane Roe");
  await page.getByText("Different return address").click();
  await page.getByLabel("Sender’s name").fill("Harbor Title");
  await page.getByLabel("This is the client’s own document").check();
  await page.getByLabel("File number").focus();
  await page.keyboard.press("Enter");
  for (const text of ["“Recipient’s street” is required when “Shipping” is set.", "“Sender’s street” is required"])
    await page.getByRole("alert").getByText(text).waitFor();
  await page.getByText("We kept lien-release").waitFor();
  assert.equal(await page.getByLabel("Sender’s name").isVisible(), true);
  assert.equal(await page.getByLabel("Sender’s name").inputValue(), "Harbor Title");
  await page.getByLabel("Shipping").uncheck();
  assert.equal(await page.getByLabel("Recipient’s name").isVisible(), false);
  await page.getByLabel("Sender’s name").fill("");
  await page.getByText("Add signers").click();
  const signer = (n: number) => page.getByRole("group", { name: `Signer ${n}`, exact: true });
  await signer(1).getByLabel("Name").fill("Ann Lee");
  await press(page, "Add another signer");
  await page.getByText("We kept lien-release").waitFor();
  assert.equal(await signer(1).getByLabel("Name").inputValue(), "Ann Lee");
  assert.equal(await signer(3).getByLabel("Name").isVisible(), true);
  assert.equal(await page.getByRole("alert").count(), 0);
  await signer(1).getByLabel("Email").fill("ann@example.com");
  await press(page, "Place the test order");
  await said(page, "The order was placed.");
  await part(page, "Details").getByText("Sign, Notarize", { exact: true }).waitFor();
  await press(page, "Pay");
  await said(page, "An order was paid.");
  await press(page, "Complete the order");
  await said(page, "The signed document is sealed.");
  await page.getByRole("link", { name: "All orders" }).click();
  await page.getByRole("row").nth(1).getByText("Complete", { exact: true }).waitFor();
  assert.equal(await opened.overflow(), 0);
  await opened.close();
});

test("the browser itself requires file, email and attestation, and sends nothing before", async () => {
  const { opened, page } = await open();
  await go(page, "/dashboard/orders/new");
  await press(page, "Place the test order");
  const missing = await page
    .locator(".order-form :invalid:not(fieldset)")
    .evaluateAll((all) => all.map(({ id }) => id));
  assert.deepEqual(missing, ["field-document", "field-email", "field-byod_confirmed"]);
  assert.equal(await page.getByRole("alert").count(), 0);

  await page.getByLabel("File: a PDF").setInputFiles(example);
  await page.getByText("Add signers").click();
  for (const n of [1, 2, 3, 4]) {
    const row = page.getByRole("group", { name: `Signer ${n}`, exact: true });
    await row.getByLabel("Name").fill(`Signer No. ${n}`);
    await row.getByLabel("Email").fill(`signer${n}@example.com`);
    await row.getByLabel("Turn").selectOption(String(Math.min(n, 2)));
    if (n === 1 || n === 4) continue;
    await press(page, "Add another signer");
    await page.getByRole("group", { name: `Signer ${n + 1}` }).waitFor();
    assert.equal(await page.evaluate(() => document.activeElement?.id), `field-signer${n + 1}_name`);
  }
  await assertGood(opened);
  await page.getByLabel("Signing").check();
  await page.getByLabel("Client’s email").fill("signer@example.com");
  await page.getByLabel("This is the client’s own document").check();
  await press(page, "Place the test order");
  await page.getByLabel("Add a page for signatures at the end").check();
  await press(page, "Place the test order");
  await said(page, "The order was placed.");
  await part(page, "Signers").getByText("signer4@example.com").waitFor();
  await opened.close();
});

test("a file that is a template's form is recognized when it is chosen, and another one is not", async () => {
  const firm = await newPartner(service);
  const form = orderForm(
    { name: "Lien release", svc_sign: "true", roles: '[{"name":"Owner"}]' },
    readFileSync(example),
  );
  const made = await fetch(`${service.baseUrl}/api/partner/templates`, {
    method: "POST",
    headers: firm.headers,
    body: form,
  });
  const { templateId } = (await made.json()) as { templateId: string };
  const { opened, page } = await open({ firm });
  await page.goto(`${service.baseUrl}/dashboard/orders/new`);
  const input = page.getByLabel("File: a PDF");
  await input.setInputFiles(example);
  const link = page.getByRole("link", { name: "Place the order from the template" });
  await link.waitFor();
  assert.equal(await link.getAttribute("href"), `/dashboard/templates/${templateId}/order`);
  await page.getByText("This is the form of “Lien release”.").waitFor();
  await assertGood(opened);
  const compared = page.waitForResponse((response) => response.url().endsWith("/dashboard/templates/match"));
  await input.setInputFiles({
    name: "other.pdf",
    mimeType: "application/pdf",
    buffer: makePdf({ text: "Another form" }),
  });
  await compared;
  await page.getByText("other.pdf: 1 page").waitFor();
  assert.equal(await link.count(), 0);
  await opened.close();
});

async function firmWithCard() {
  const firm = await newPartner(pages.service);
  const card = await fetch(`${pages.service.baseUrl}/api/partner/sandbox/billing/method`, {
    method: "POST",
    headers: { ...firm.headers, "Content-Type": "application/json" },
    body: JSON.stringify({ method: "card" }),
  });
  assert.ok(card.ok);
  return firm;
}

test("the buttons name the charge while the firm pays by its card, and the page says what follows", async () => {
  for (const width of [1280, 390]) {
    // The first member of a firm is its owner, who has no spending limit.
    const { opened, page } = await pages.open({ firm: await firmWithCard(), width });
    await pages.go(page, "/dashboard/orders/new");
    await page.getByRole("checkbox", { name: "Signing" }).check();
    const price = page.getByRole("region", { name: "Price" });
    await price.getByText("The client gets an email with the link to pay $12.00.").waitFor();
    await page.getByLabel("Who pays").selectOption("Your firm");
    const charge = "Place and charge $12.00 to Visa •••• 4242";
    await page.getByRole("button", { name: charge, exact: true }).waitFor();
    await page.getByRole("button", { name: `${charge}, and start another for this client`, exact: true }).waitFor();
    await assertGood(opened);
    await page.getByLabel("Who pays").selectOption("The client");
    await page.getByRole("button", { name: "Place the test order", exact: true }).waitFor();
    await opened.close();
  }
});

test("the buttons name no sum after the price failed, nor for a document whose pages can't be counted", async () => {
  const firm = await firmWithCard();
  const { opened, page } = await pages.open({ firm });
  await pages.go(page, "/dashboard/orders/new");
  const button = (name: string | RegExp) => page.getByRole("button", { name, exact: true }).waitFor();
  await page.getByRole("checkbox", { name: "Signing" }).check();
  await page.getByLabel("Who pays").selectOption("Your firm");
  await button("Place and charge $12.00 to Visa •••• 4242");
  await page.route("**/orders/new/quote", (route) => route.fulfill({ status: 503, body: "no price" }));
  await page.getByLabel("Client’s name").fill("Jane Roe");
  await button("Place the test order");
  assert.match((await page.locator("#live-quote").textContent()) ?? "", /can’t be shown now.*charges nobody/);
  await page.unroute("**/orders/new/quote");
  await page.getByLabel("Client’s email").fill("jane@example.com");
  await page.getByRole("checkbox", { name: "Shipping" }).check();
  const address = page.getByRole("group", { name: "Where it goes" });
  for (const [label, value] of [
    ["Recipient’s name", "Jane Roe"],
    ["Recipient’s street", "350 Fifth Avenue"],
    ["Recipient’s city", "New York"],
    ["Recipient’s ZIP code", "10118"],
  ] as const)
    await address.getByLabel(label, { exact: true }).fill(value);
  await address.getByLabel("Recipient’s state").selectOption("NY");
  await page.getByLabel("Fax number").fill("12");
  await page.getByRole("checkbox", { name: /This is the client’s own document/ }).check();
  await page.getByLabel("File: a PDF").setInputFiles(example);
  await button(/^Place and charge \$\d+\.\d\d to Visa •••• 4242$/);
  await page.locator("#place-order").click();
  await page.getByText("We kept").waitFor();
  await button(/^Place and charge \$\d+\.\d\d to Visa •••• 4242$/);
  const broken = { name: "broken.pdf", mimeType: "application/pdf", buffer: Buffer.from("%PDF-1.7 of no pages") };
  await page.getByLabel("File: a PDF").setInputFiles(broken);
  await page.getByText("its pages can’t be counted here").waitFor();
  await button(/^Place and charge at most \$\d+\.\d\d to Visa •••• 4242$/);
  await opened.close();
});
