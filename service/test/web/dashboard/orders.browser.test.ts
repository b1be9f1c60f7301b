import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import {
  after,
  type Browser,
  before,
  type Look,
  type OpenPage,
  startBrowser,
  test,
} from "@signsealship/testing/browser";
import { examplePdf, minimal, orderForm, shipping } from "@signsealship/testing/order-form";
import { newPartner, type Service, startService, temporaryFolder } from "@signsealship/testing/service";
import { type StripeDouble, startStripe } from "@signsealship/testing/stripe";
import { newMember } from "../../members/signed-in-member.ts";
import { signedIn } from "./signed-in-page.ts";

type Firm = { partnerId: string; key: string; headers: { Authorization: string } };
type Page = OpenPage["page"];

const example = fileURLToPath(new URL("../../../../examples/lien-release.pdf", import.meta.url));
const folder = temporaryFolder();
let stripe: StripeDouble;
let service: Service;
let browser: Browser;
/** For tests that don't look at all of a firm's orders. */
let acme: Firm;

before(async () => {
  stripe = await startStripe();
  [service, browser] = await Promise.all([
    startService({
      DATA_DIR: folder.path,
      RATE_LIMITS: "off",
      STRIPE_SECRET_KEY: "sk_test_double",
      STRIPE_WEBHOOK_SECRET: stripe.webhookSecret,
      STRIPE_API_BASE: stripe.url,
    }),
    startBrowser(),
  ]);
  acme = await newPartner(service);
});
after(async () => {
  await browser.close();
  await service.stop();
  await stripe.close();
  folder.remove();
});

let members = 0;
const newAddress = () => {
  members += 1;
  return `member${members}@harbor-title.com`;
};

/** A member of a firm in a browser. */
async function open(look: Partial<Look> & { firm?: Firm } = {}) {
  const { firm = acme, ...more } = look;
  const opened = await signedIn(service, browser, { key: firm.key, email: newAddress(), width: 1280, ...more });
  await opened.page.getByRole("heading", { level: 1, name: /^Welcome/ }).waitFor();
  return { opened, page: opened.page };
}

async function place(firm: Firm, fields: Record<string, string> = {}): Promise<string> {
  const body = orderForm({ ...minimal, ...fields });
  const response = await fetch(`${service.baseUrl}/api/partner/orders`, {
    method: "POST",
    headers: firm.headers,
    body,
  });
  return ((await response.json()) as { orderCode: string }).orderCode;
}

async function apiList(firm: Firm): Promise<{ orderCode: string; status: string }[]> {
  const response = await fetch(`${service.baseUrl}/api/partner/orders?limit=100`, { headers: firm.headers });
  return ((await response.json()) as { orders: { orderCode: string; status: string }[] }).orders;
}

const go = (page: Page, path: string) => page.goto(service.baseUrl + path);
const press = (page: Page, name: string) => page.getByRole("button", { name, exact: true }).click();
const said = (page: Page, text: string) => page.getByRole("status").getByText(text).waitFor();
const part = (page: Page, name: string) => page.getByRole("region", { name, exact: true });
const codeIn = (page: Page) => /\/dashboard\/orders\/([0-9a-f]{40})/.exec(page.url())?.[1] ?? "";
/** Besides: a refused form has its status, and a browser that goes on gives up what it was loading. */
const ownTroubles = ({ troubles }: OpenPage) => troubles.filter((line) => !/status of 400|^failed:/.test(line));

async function assertGood(opened: OpenPage): Promise<void> {
  for (const width of [360, 1280])
    for (const colorScheme of ["light", "dark"] as const) {
      await opened.page.setViewportSize({ width, height: 800 });
      await opened.page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      const where = `${opened.page.url()} ${width} ${colorScheme}`;
      assert.deepEqual(await opened.axe(colorScheme), [], where);
      assert.equal(await opened.overflow(), 0, where);
    }
  assert.deepEqual(ownTroubles(opened), []);
}

test("a test order's whole way by clicking: placed, refused once, paid, signed, shipped, put into a room", async () => {
  const firm = await newPartner(service);
  const { opened, page } = await open({ firm });
  await page.getByRole("link", { name: "Orders" }).click();
  await page.getByText("No orders yet").waitFor();
  await assertGood(opened);
  await press(page, "Place a test order");

  const typed = {
    "Client’s email": "signer@example.com",
    "Client’s name": `Jane "<b>" Roe`,
    "Recipient’s name": "Jane Roe",
    "Recipient’s street": "350 Fifth Avenue",
    "Recipient’s city": "New York",
    "Recipient’s ZIP code": "1011",
    "Fax number": "212 555 0123",
    "Your reference": "FILE 7",
  };
  await page.getByLabel("File", { exact: true }).setInputFiles(example);
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
  await page.getByText("Choose it again").waitFor();
  await assertGood(opened);
  assert.deepEqual(await apiList(firm), []);

  await page.getByLabel("File", { exact: true }).setInputFiles(example);
  await page.getByLabel("Recipient’s ZIP code").fill("10118");
  await press(page, "Place the test order");
  await said(page, "The order was placed.");
  const code = codeIn(page);
  assert.deepEqual(
    (await apiList(firm)).map(({ orderCode }) => orderCode),
    [code],
  );
  await page.getByRole("heading", { level: 1, name: `Order ${code.slice(0, 6).toUpperCase()}` }).waitFor();
  const details = part(page, "Details");
  for (const text of ["signer@example.com", "FILE 7", "Sign, Ship, Fax", "+12125550123", "Not sent yet", code])
    await details.getByText(text, { exact: true }).waitFor();
  await part(page, "Quote").getByRole("row", { name: "Print and mail $12.95" }).waitFor();
  await page.getByRole("button", { name: "Open the client’s page" }).click();
  assert.equal(new URL(page.url()).pathname, `/orders/${code}`);
  await page.goBack();
  await assertGood(opened);

  await press(page, "Decline the payment");
  await said(page, "The test payment was declined.");
  await page.getByText("No event was sent").waitFor();
  await page.getByRole("heading", { name: "The payment did not go through" }).waitFor();
  await press(page, "Pay with a delay");
  await said(page, "has not cleared yet");
  await press(page, "Cancel the checkout");
  await said(page, "The test checkout was cancelled.");
  await press(page, "Pay");
  await said(page, "The test payment went through.");
  await said(page, "Event sent: payment.cleared");
  await page.getByRole("heading", { name: "The document is out for signature" }).waitFor();
  assert.equal(await page.getByRole("button", { name: "Pay", exact: true }).count(), 0);
  await press(page, "Advance to the next milestone");
  await said(page, "Event sent: signature.completed");
  await press(page, "Complete the order");
  await said(page, "The test order is now completed.");
  await said(page, "Event sent: shipment.delivered");
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

async function createRoom(firm: Firm, name: string): Promise<string> {
  const response = await fetch(`${service.baseUrl}/api/rooms`, {
    method: "POST",
    headers: { ...firm.headers, "Content-Type": "application/json" },
    body: JSON.stringify({ name }),
  });
  return ((await response.json()) as { roomCode: string }).roomCode;
}

test("twenty-five orders are listed newest first in pages, and found by status and by reference", async () => {
  const firm = await newPartner(service);
  const codes: string[] = [];
  for (let i = 0; i < 25; i++)
    codes.push(await place(firm, { svc_sign: "on", external_reference: i < 2 ? "FILE & 7" : `FILE-${i}` }));
  const [oldest = "", second = ""] = codes;
  await sandbox(firm, oldest);
  const { opened, page } = await open({ firm });
  const links = () =>
    page
      .getByRole("table")
      .getByRole("link")
      .evaluateAll((all) => all.map((link) => link.getAttribute("href")?.split("/").at(-1)));

  await go(page, "/dashboard/orders");
  await assertGood(opened);
  assert.deepEqual(await links(), codes.slice(5).reverse());
  const row = page.getByRole("row").nth(1);
  for (const text of ["Ready to pay", "Sign", "FILE-24", "signer@example.com", "$12.00"])
    await row.getByText(text, { exact: true }).waitFor();
  await page.getByRole("link", { name: "Next page" }).click();
  assert.deepEqual(await links(), codes.slice(0, 5).reverse());
  assert.equal(await page.getByRole("link", { name: "Next page" }).count(), 0);
  await page.getByRole("link", { name: "Newest" }).click();
  assert.equal((await links())[0], codes[24]);

  await page.getByLabel("Reference").fill("FILE & 7");
  await press(page, "Apply");
  assert.deepEqual(await links(), [second, oldest]);
  assert.equal(await page.getByLabel("Reference").inputValue(), "FILE & 7");
  await page.getByLabel("Status").selectOption("Out for signature");
  await press(page, "Apply");
  assert.deepEqual(await links(), [oldest]);
  await page.getByLabel("Reference").fill("FILE & 8");
  await press(page, "Apply");
  await page.getByText("None of your orders match these filters.").waitFor();
  await page.getByRole("link", { name: "Show all orders" }).click();
  await page.getByLabel("Status").selectOption("Ready to pay");
  await press(page, "Apply");
  await page.getByRole("link", { name: "Next page" }).click();
  assert.deepEqual(await links(), codes.slice(1, 5).reverse());
  assert.equal(await page.getByLabel("Status").inputValue(), "QuoteReady");
  assert.equal(await page.getByLabel("Status").getByRole("option").count(), 28);

  await go(page, "/dashboard/orders?status=Teleported");
  assert.equal(await page.getByLabel("Status").inputValue(), "Teleported");
  for (const query of [`cursor=${"0".repeat(40)}`, "cursor=x", "reference=a%00b", "status=%00"]) {
    const answer = await go(page, `/dashboard/orders?${query}`);
    assert.equal(answer?.status(), 400, query);
    await page.getByRole("alert").waitFor();
  }
  for (const query of ["status=a&status=b", "reference=%ff", `reference=${"x".repeat(5000)}`, "cursor", "status[]=1"])
    assert.equal((await go(page, `/dashboard/orders?${query}`))?.status(), 200, query);
  await opened.close();
});

const attach = (firm: Firm, room: string, orderCode: string) =>
  fetch(`${service.baseUrl}/api/rooms/${room}/orders`, {
    method: "POST",
    headers: { ...firm.headers, "Content-Type": "application/json" },
    body: JSON.stringify({ orderCode }),
  }).then((response) => assert.equal(response.status, 200));

const sandbox = (firm: Firm, code: string, action = "checkout") =>
  fetch(`${service.baseUrl}/api/partner/sandbox/orders/${code}/${action}`, { method: "POST", headers: firm.headers });

test("everything works without script, by keyboard alone where one likes", async () => {
  const { opened, page } = await open({ width: 360, javaScript: false });
  await go(page, "/dashboard/orders/new");
  await page.getByLabel("File", { exact: true }).setInputFiles(example);
  await page.getByLabel("Document type").selectOption("General affidavit (signed and notarized)");
  await page.getByLabel("Client’s email").fill("signer@example.com");
  await page.getByLabel("Shipping").focus();
  await page.keyboard.press("Space");
  await page.getByLabel("Recipient’s name").fill("Jane Roe");
  await page.getByText("Different return address").click();
  await page.getByLabel("Sender’s name").fill("Harbor Title");
  await page.getByLabel("This is the client’s own document").check();
  await page.getByLabel("Your reference").focus();
  await page.keyboard.press("Enter");
  await page.getByRole("alert").getByText("“Recipient’s street” is required when “Shipping” is set.").waitFor();
  assert.equal(await page.getByLabel("Sender’s name").isVisible(), true);
  assert.equal(await page.getByLabel("Sender’s name").inputValue(), "Harbor Title");
  await page.getByLabel("File", { exact: true }).setInputFiles(example);
  await page.getByLabel("Shipping").uncheck();
  assert.equal(await page.getByLabel("Recipient’s name").isVisible(), false);
  await page.getByLabel("Sender’s name").fill("");
  await press(page, "Place the test order");
  await said(page, "The order was placed.");
  await part(page, "Details").getByText("Sign, Notarize", { exact: true }).waitFor();
  await press(page, "Pay");
  await said(page, "Event sent: payment.cleared");
  await press(page, "Complete the order");
  await said(page, "Event sent: signature.completed");
  await page.getByRole("link", { name: "All orders" }).click();
  await page.getByRole("row").nth(1).getByText("Complete", { exact: true }).waitFor();
  assert.equal(await opened.overflow(), 0);
  await opened.close();
});

test("the browser itself asks for file, email and attestation, and sends nothing before", async () => {
  const { opened, page } = await open();
  await go(page, "/dashboard/orders/new");
  await press(page, "Place the test order");
  const missing = await page
    .locator(".order-form :invalid:not(fieldset)")
    .evaluateAll((all) => all.map(({ id }) => id));
  assert.deepEqual(missing, ["field-document", "field-email", "field-byod_confirmed"]);
  assert.equal(await page.getByRole("alert").count(), 0);
  await opened.close();
});

/** A member without a browser, who can send whatever there is. */
async function caller(firm: Firm) {
  const { headers } = await newMember(service, newAddress(), firm.key);
  const send = async (path: string, body?: BodyInit, more: Record<string, string> = {}) => {
    const response = await fetch(service.baseUrl + path, {
      method: body === undefined ? "GET" : "POST",
      headers: { ...headers, Accept: "text/html", ...more },
      redirect: "manual",
      ...(body !== undefined && { body }),
    });
    return { status: response.status, location: response.headers.get("location") ?? "", text: await response.text() };
  };
  return { send, form: (path: string, fields: Record<string, string>) => send(path, new URLSearchParams(fields)) };
}

test("what the rules refuse is a page that says why and keeps what was typed; nothing is an error of ours", async () => {
  const firm = await newPartner(service);
  const { send } = await caller(firm);
  const whole = { ...minimal, name: "Kept as typed" };
  const empty = orderForm(whole, null);
  empty.append("document", new Blob([], { type: "application/octet-stream" }), "");
  const noFile = await send("/dashboard/orders/new", empty);
  assert.equal(noFile.status, 400);
  assert.match(noFile.text, /Choose a PDF file of up to 35 MB\./);
  const refused: [Record<string, string | undefined>, RegExp][] = [
    [{ email: undefined }, /“Client’s email” is required\./],
    [{ email: "dana@" }, /“Client’s email” must be a mail address\./],
    [{ byod_confirmed: undefined }, /Confirm that this is the client’s own, completed document\./],
    [{ doc_slug: "no-such" }, /“Document type” is not a document of the catalog\./],
    [{ fax_to: "12" }, /“Fax number” must be a 10-digit US number/],
    [{ ...shipping, ship_city: "" }, /“Recipient’s city” is required when “Shipping” is set\./],
    [{ from_city: "Denver" }, /“Sender’s name” is required when a sender address is given\./],
    [{ external_reference: "x".repeat(121) }, /“Your reference” must have at most 120 characters\./],
    [{ external_reference: "a\0b" }, /“Your reference” must be UTF-8 text/],
    [{ name: "x".repeat(60_000) }, /“Client’s name” must have at most 200 characters\./],
    [{ svc_sign: "maybe" }, /“Signing” must be true or on/],
    [{ signer_state: "ZZ" }, /“Signer’s state” must be a US state/],
    [{ environment: "live" }, /You switched between test and live/],
  ];
  for (const [fields, message] of refused) {
    const answer = await send("/dashboard/orders/new", orderForm({ ...whole, ...fields }));
    assert.equal(answer.status, "environment" in fields ? 409 : 400, JSON.stringify(fields).slice(0, 80));
    assert.match(answer.text, message);
    assert.match(answer.text, /role="alert"/);
    if (fields["name"] === undefined) assert.match(answer.text, /value="Kept as typed"/);
  }
  const noPdf = await send("/dashboard/orders/new", orderForm(whole, Buffer.from("hello")));
  assert.deepEqual([noPdf.status, /“File” must be a PDF\./.test(noPdf.text)], [400, true]);
  const cut = await send("/dashboard/orders/new", "--x\r\n", { "Content-Type": "multipart/form-data; boundary=x" });
  assert.deepEqual([cut.status, /upload was interrupted/.test(cut.text)], [400, true]);
  for (const type of ["application/json", "application/x-www-form-urlencoded", "text/plain"])
    assert.ok([400, 415].includes((await send("/dashboard/orders/new", "{}", { "Content-Type": type })).status), type);
  assert.deepEqual(await apiList(firm), []);
});

test("a file that is too large keeps all that was typed, before and after it", async () => {
  const { send } = await caller(acme);
  for (const megabytes of [36, 40]) {
    const form = orderForm({ email: "signer@example.com" }, Buffer.concat([examplePdf, Buffer.alloc(megabytes << 20)]));
    form.append("external_reference", "FILE-7");
    const answer = await send("/dashboard/orders/new", form);
    assert.equal(answer.status, 400);
    assert.match(answer.text, /“File” must be a PDF of at most 35 MB\./);
    assert.match(answer.text, /value="signer@example.com"/);
    assert.match(answer.text, /value="FILE-7"/);
  }
});

test("a form that is sent twice places one order; changed and sent again it places another", async () => {
  const firm = await newPartner(service);
  const { send } = await caller(firm);
  const page = await send("/dashboard/orders/new");
  const submission = /name="submission" value="([a-z2-7]{52})"/.exec(page.text)?.[1] ?? "";
  assert.notEqual(
    submission,
    /name="submission" value="([a-z2-7]{52})"/.exec((await send("/dashboard/orders/new")).text)?.[1],
  );
  const post = (fields: Record<string, string> = {}) =>
    send("/dashboard/orders/new", orderForm({ ...minimal, submission, environment: "test", ...fields }));
  const answers = await Promise.all([post(), post(), post()]);
  assert.deepEqual(
    answers.map(({ status }) => status),
    [303, 303, 303],
  );
  assert.equal(new Set(answers.map(({ location }) => location)).size, 1);
  assert.equal((await apiList(firm)).length, 1);
  assert.notEqual((await post({ external_reference: "other" })).location, answers[0]?.location);
  assert.equal((await apiList(firm)).length, 2);
  const refused = await post({ email: "" });
  assert.equal(refused.status, 400);
  assert.ok(refused.text.includes(submission));
});

test("a payable order leads to its checkout where payments are configured", async () => {
  const { opened, page } = await open();
  const pathOf = () => new URL(page.url()).pathname;
  for (const fail of [false, true]) {
    if (fail) stripe.fail({ status: 500 }, { status: 500 }, { status: 500 });
    await go(page, "/dashboard/orders/new");
    await page.getByLabel("File", { exact: true }).setInputFiles(example);
    await page.getByLabel("Client’s email").fill("signer@example.com");
    await page.getByLabel("Create the checkout").check();
    await page.getByLabel("This is the client’s own document").check();
    await press(page, "Place the test order");
    await said(page, fail ? "It has no checkout yet." : "The order was placed.");
    const checkout = page.getByRole("button", { name: "Open the checkout for $12.00" });
    assert.equal(await checkout.getAttribute("href"), `${pathOf().replace("/dashboard", "")}/checkout`);
  }
  assert.equal(stripe.sessions.size, 1);
  await press(page, "Pay");
  await said(page, "The test payment went through.");
  assert.equal(await page.getByRole("button", { name: /^Open the checkout/ }).count(), 0);
  await opened.close();
});

test("an order of another firm or environment, and an unknown one, are the same 404 on every page and form", async () => {
  const live = await newPartner(service, { live: true });
  const { key = "" } = await service.cli("key", "issue", live.partnerId, "--test");
  const own = { ...live, key, headers: { Authorization: `Bearer ${key}` } };
  const liveOrder = await place(live);
  const ownOrder = await place(own);
  const foreign = await place(acme);
  const { send, form } = await caller(own);
  const switchTo = (environment: string) => form("/dashboard/environment", { environment });
  await switchTo("test");
  for (const code of [foreign, liveOrder, "0".repeat(40), "x", "0".repeat(41), "%00", "%F0%9F%8F%A0"]) {
    const path = `/dashboard/orders/${code}`;
    const answers = [
      await send(path),
      await form(`${path}/sandbox/checkout`, { outcome: "success" }),
      await form(`${path}/sandbox/advance`, {}),
      await form(`${path}/sandbox/complete`, {}),
      await form(`${path}/attach`, { roomCode: "0".repeat(40) }),
    ];
    assert.deepEqual(
      answers.map(({ status, text }) => [status, text.includes("Page not found")]),
      answers.map(() => [404, true]),
      code,
    );
  }
  assert.ok(!(await send("/dashboard/orders")).text.includes(liveOrder));

  await switchTo("live");
  assert.equal((await send(`/dashboard/orders/${ownOrder}`)).status, 404);
  const list = (await send("/dashboard/orders")).text;
  assert.deepEqual(
    [list.includes(liveOrder), list.includes(ownOrder), list.includes("Place an order")],
    [true, false, true],
  );
  const page = (await send(`/dashboard/orders/${liveOrder}`)).text;
  assert.equal(page.includes("Sandbox"), false);
  const played = await form(`/dashboard/orders/${liveOrder}/sandbox/checkout`, { outcome: "success" });
  assert.deepEqual([played.status, /test orders only/.test(played.text)], [409, true]);
  assert.match((await send("/dashboard/orders/new")).text, /A real order/);
});

test("what the sandbox and the rooms refuse is told on the order's page", async () => {
  const firm = await newPartner(service);
  const { send, form } = await caller(firm);
  const code = await place(firm, { ...shipping, ship_state: "GU", ship_postal: "96910" });
  const path = `/dashboard/orders/${code}`;
  const page = (await send(path)).text;
  assert.match(page, /This order needs a manual quote first/);
  assert.match(page, /Total so far/);
  const refused: [string, Record<string, string>, number, RegExp][] = [
    ["/sandbox/checkout", { outcome: "success" }, 409, /An order in ManualQuoteRequired is not payable\./],
    ["/sandbox/checkout", { outcome: "win" }, 400, /Choose what happens to the payment/],
    ["/sandbox/checkout", {}, 400, /Choose what happens to the payment/],
    ["/sandbox/advance", {}, 409, /An order in ManualQuoteRequired cannot advance\./],
    ["/sandbox/complete", {}, 409, /cannot advance/],
    ["/attach", { roomCode: "0".repeat(40) }, 404, /Room not found\./],
    ["/attach", { roomCode: "a\0b", label: "x" }, 404, /Room not found\./],
    ["/attach", {}, 400, /Choose one of your rooms or enter a code\./],
    ["/attach", { chosen: "0".repeat(40), roomCode: "0".repeat(40) }, 400, /not both/],
    ["/attach", { roomCode: `https://x.example/rooms/${"0".repeat(40)}0` }, 404, /Room not found\./],
  ];
  const room = await createRoom(firm, "Elm");
  await attach(acme, await createRoom(acme, "Not ours"), code);
  assert.ok(!(await send(path)).text.includes("Not ours"));
  for (const label of ["a\0b", "x".repeat(201)])
    refused.push(["/attach", { roomCode: room, label }, 400, /label must/]);
  refused.push(["/attach", { roomCode: await createRoom(acme, "Foreign") }, 404, /Room not found/]);
  for (const [action, fields, status, message] of refused) {
    const answer = await form(path + action, fields);
    assert.equal(answer.status, status, `${action} ${JSON.stringify(fields).slice(0, 60)}`);
    assert.match(answer.text, message);
    assert.match(answer.text, /role="alert"/);
  }
  const [first, second] = [
    await form(`${path}/attach`, { roomCode: room }),
    await form(`${path}/attach`, { roomCode: room }),
  ];
  assert.match(first.location, /done=room-order-attached$/);
  assert.match(second.location, /done=room-order-there$/);
  assert.doesNotMatch((await send(`${path}?fired=<b>,payment.cleared`)).text, /<b>|Event sent/);
});

test("of many rooms the latest open ones are offered, and any other is named by its code or its address", async () => {
  const firm = await newPartner(service, { tier: "ClosingDesk" });
  const { send, form } = await caller(firm);
  const order = await place(firm);
  const path = `/dashboard/orders/${order}`;
  const rooms: string[] = [];
  for (let n = 1; n <= 52; n++) rooms.push(await createRoom(firm, `Room ${n}`));
  await fetch(`${service.baseUrl}/api/rooms/${rooms[51]}/close`, { method: "POST", headers: firm.headers });
  const offered = async () =>
    [...(await send(path)).text.matchAll(/<option value="([0-9a-f]{40})"/g)].map(([, code]) => code);
  assert.deepEqual(await offered(), rooms.slice(1, 51).toReversed());

  const [first = "", second = ""] = rooms;
  const attached = await form(`${path}/attach`, { chosen: "", roomCode: ` ${first} ` });
  assert.match(attached.location, /done=room-order-attached$/);
  const again = await form(`${path}/attach`, { roomCode: `${service.baseUrl}/dashboard/rooms/${first}?a=b` });
  assert.match(again.location, /done=room-order-there$/);
  const chosen = await form(`${path}/attach`, { chosen: second, roomCode: "" });
  assert.match(chosen.location, /done=room-order-attached$/);
  assert.deepEqual(await offered(), rooms.slice(2, 51).toReversed());
  const refused = await form(`${path}/attach`, { roomCode: "no code", label: "Deed" });
  assert.equal(refused.status, 404);
  for (const kept of ["no code", "Deed"]) assert.ok(refused.text.includes(`value="${kept}"`), kept);
});
