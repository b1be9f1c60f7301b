import assert from "node:assert/strict";
import {
  after,
  assertGoodLooks,
  type Browser,
  before,
  type OpenPage,
  startBrowser,
  test,
} from "@signsealship/testing/browser";
import { minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { newPartner, type Service, startService, temporaryFolder } from "@signsealship/testing/service";
import { giveLiveAccess, newMember, postForm } from "../../../firms/members/signed-in-member.ts";
import { signedIn } from "../signed-in-page.ts";

const folder = temporaryFolder();
let service: Service;
let browser: Browser;
let acme: Firm;
let other: Firm;
let atAcme: OpenPage;
let atOther: OpenPage;

type Firm = Pick<Awaited<ReturnType<typeof newPartner>>, "key" | "headers">;
type Page = OpenPage["page"];

before(async () => {
  [service, browser] = await Promise.all([startService({ DATA_DIR: folder.path, RATE_LIMITS: "off" }), startBrowser()]);
  [acme, other] = await Promise.all([
    newPartner(service, { name: "Harbor Title", tier: "ClosingDesk" }),
    newPartner(service, { name: "Other Title" }),
  ]);
  [atAcme, atOther] = await Promise.all([
    signedIn(service, browser, { width: 1280, key: acme.key }),
    signedIn(service, browser, { width: 1280, key: other.key, email: "lee@other-title.com" }),
  ]);
});
after(async () => {
  await browser.close();
  await service.stop();
  folder.remove();
});

async function api<T>({ headers }: Pick<Firm, "headers">, path: string, body: FormData | object): Promise<T> {
  const isForm = body instanceof FormData;
  const response = await fetch(service.baseUrl + path, {
    method: "POST",
    headers: isForm ? headers : { ...headers, "Content-Type": "application/json" },
    body: isForm ? body : JSON.stringify(body),
  });
  assert.ok(response.ok, `${path}: ${response.status}`);
  return (await response.json()) as T;
}

const placeOrder = async (firm: Firm, fields: Record<string, string> = {}) =>
  (await api<{ orderCode: string }>(firm, "/api/partner/orders", orderForm({ ...minimal, ...fields }))).orderCode;

const createRoom = async (firm: Pick<Firm, "headers">, name: string) =>
  (await api<{ roomCode: string }>(firm, "/api/rooms", { name })).roomCode;

const statusOf = async (path: string) => (await fetch(service.baseUrl + path)).status;
const go = (page: Page, path: string) => page.goto(service.baseUrl + path);
const codeIn = (page: Page) => /\/dashboard\/rooms\/([0-9a-f]{40})/.exec(page.url())?.[1] ?? "";
const press = (page: Page, name: string | RegExp) =>
  page.getByRole("button", { name, exact: typeof name === "string" }).click();
const ask = (page: Page, text: string) => page.locator("summary", { hasText: text }).click();
const said = (page: Page, text: string) => page.getByRole("status").getByText(text).waitFor();
const refused = (page: Page, part: string, text: string) =>
  inPart(page, part).getByRole("alert").getByText(text).waitFor();
const inPart = (page: Page, title: string) => page.getByRole("region", { name: title });
const orderCodeField = (page: Page) => inPart(page, "Orders").getByLabel(/^Order code|^Or enter an order code/);

/** Ignores the status of a rejected form, which the browser reports. */
const ownTroubles = ({ troubles }: OpenPage) => troubles.filter((line) => !/status of 4\d\d/.test(line));

const asPage = { Accept: "text/html" };

/** Sends a form with the cookies of the signed-in browser. @returns the status */
async function send({ page }: OpenPage, path: string, form: Record<string, string>): Promise<number> {
  const options = { form, maxRedirects: 0, headers: asPage };
  return (await page.request.post(service.baseUrl + path, options)).status();
}

const get = async ({ page }: OpenPage, path: string) =>
  (await page.request.get(service.baseUrl + path, { headers: asPage })).status();

test("a room from start to end: created, filled, sealed, verified, its link replaced, closed and opened again", async () => {
  const orderCode = await placeOrder(acme, { external_reference: "FILE-7" });
  const foreignOrder = await placeOrder(other);
  const foreignName = `Order ${foreignOrder.slice(0, 6).toUpperCase()}`;
  const { page } = atAcme;
  await page.getByRole("link", { name: "Rooms", exact: true }).click();
  await page.getByText("No rooms yet").waitFor();
  await page.getByLabel("Name").fill("12 Elm <Street>");
  await page.getByLabel("File number").fill("R-1");
  await press(page, "Create room");
  await said(page, "The room is open.");
  await page.getByRole("heading", { level: 1, name: "12 Elm <Street>" }).waitFor();
  const firstCode = codeIn(page);

  const orders = inPart(page, "Orders");
  await orders.getByRole("group", { name: "Your latest orders" }).getByRole("checkbox").check();
  await orders.getByLabel("Label").fill("Deed of trust");
  await press(page, "Add order");
  await said(page, "The order was added to the room.");
  const own = orders.getByRole("link", { name: "Deed of trust" });
  assert.equal(await own.getAttribute("href"), `/dashboard/orders/${orderCode}`);
  await orderCodeField(page).fill(`${service.baseUrl}/orders/${foreignOrder}?from=mail`);
  await press(page, "Add order");
  await said(page, "The order was added to the room.");
  const foreign = orders.getByRole("link", { name: foreignName });
  assert.equal(await foreign.getAttribute("href"), `/orders/${foreignOrder}`);
  await inPart(page, "At a glance").getByText("2 orders in this room").waitFor();
  await ask(page, foreignName);
  await press(page, `Remove the order ${foreignName}`);
  await said(page, "The order was removed from the room.");
  await inPart(page, "At a glance").getByText("1 order in this room").waitFor();

  const people = inPart(page, "Participants");
  await people.getByLabel("Name").fill("Jane Roe");
  await people.getByLabel("Email", { exact: true }).fill("Jane@Example.com");
  await people.getByLabel("Role").fill("seller");
  await press(page, "Add participant");
  await said(page, "The participant was added. The room’s link is on its way to them by email.");
  await people.getByText("jane@example.com").waitFor();
  await ask(page, "Jane Roe");
  await press(page, "Remove participant Jane Roe");
  await said(page, "The participant was removed.");
  await people.getByText("No participants yet").waitFor();

  await press(page, "Seal version 1");
  await said(page, "The new version is sealed.");
  await page.getByRole("button", { name: "Seal version 2" }).waitFor();
  const pdf = await page.getByRole("link", { name: "Download PDF of version 1" }).getAttribute("href");
  const certificate = await fetch(service.baseUrl + pdf);
  assert.equal(certificate.headers.get("content-type"), "application/pdf");
  assert.equal(await send(atAcme, `/dashboard/rooms/${firstCode}/passport`, { version: "1" }), 409, "sent twice");
  const verifyLink = page.getByRole("link", { name: "Verify version 1" });
  const verifyPath = (await verifyLink.getAttribute("href")) ?? "";
  await verifyLink.click();
  await page.waitForURL(/\/v\/room\/[a-z2-7]{26}$/);
  await page.getByText("Deed of trust").first().waitFor();

  await go(page, `/dashboard/rooms/${firstCode}`);
  await ask(page, "Replace the link");
  await page.getByText("the old one stops working immediately").waitFor();
  await press(page, "Replace the link now of this room");
  await said(page, "The room has a new link.");
  const code = codeIn(page);
  assert.notEqual(code, firstCode);
  assert.deepEqual([await statusOf(`/rooms/${firstCode}`), await statusOf(`/rooms/${code}`)], [404, 200]);
  assert.equal(await get(atAcme, `/dashboard/rooms/${firstCode}`), 404);
  assert.equal(await statusOf(verifyPath), 200);
  const shared = await inPart(page, "Share").locator("code").textContent();
  assert.match(shared ?? "", new RegExp(`^http://localhost:\\d+/rooms/${code}$`));

  await press(page, "Close the room");
  await said(page, "The room is closed.");
  assert.equal(await page.getByRole("button", { name: "Add order" }).count(), 0);
  await inPart(page, "Share").getByRole("link", { name: "Open the public page" }).click();
  await page.waitForURL(new RegExp(`/rooms/${code}$`));
  await go(page, "/dashboard/rooms");
  const row = page.getByRole("row", { name: /12 Elm <Street>/ });
  assert.deepEqual((await row.getByRole("cell").allInnerTexts()).slice(0, 3), ["R-1", "Closed", "1"]);
  await row.getByRole("link").click();
  await press(page, "Reopen the room");
  await said(page, "The room is open again.");
  assert.deepEqual(ownTroubles(atAcme), []);
});

test("a trial firm can open five rooms; a sixth is refused next to the form, which keeps the typed text", async () => {
  const { page } = atOther;
  for (let n = 1; n <= 5; n++) await createRoom(other, `Room ${n}`);
  await go(page, "/dashboard/rooms");
  await page.getByText("5 rooms are open. Your trial tier allows 5.").waitFor();
  await page.getByLabel("Name").fill("One too many");
  await press(page, "Create room");
  await refused(page, "Create a room", "Your trial tier allows 5 open rooms.");
  assert.equal(await page.getByLabel("Name").inputValue(), "One too many");
  await page.getByRole("link", { name: "Room 1" }).click();
  await press(page, "Close the room");
  await said(page, "The room is closed.");
  await createRoom(other, "Room 6");
  await press(page, "Reopen the room");
  await refused(page, "Reopen the room", "Your trial tier allows 5 open rooms.");
  assert.deepEqual(ownTroubles(atOther), []);
});

test("refusals appear in their part of the page, with the typed text", async () => {
  await placeOrder(acme);
  const code = await createRoom(acme, "Refusals");
  const { page } = atAcme;
  await go(page, `/dashboard/rooms/${code}`);
  const orders = inPart(page, "Orders");
  await orderCodeField(page).fill("f".repeat(40));
  await orders.getByLabel("Label").fill("Deed");
  await press(page, "Add order");
  await refused(page, "Orders", "Order not found.");
  assert.equal(await orders.getByLabel("Label").inputValue(), "Deed");
  await orders.getByRole("group", { name: "Your latest orders" }).getByRole("checkbox").first().check();
  await press(page, "Add order");
  await refused(page, "Orders", "Label is for one order");
  assert.equal(await orders.getByRole("checkbox").first().isChecked(), true);
  const people = inPart(page, "Participants");
  await people.getByLabel("Name").fill("Jane");
  await people.getByLabel("Email", { exact: true }).fill("jane@localhost");
  await press(page, "Add participant");
  await refused(page, "Participants", "A valid participant email");
  assert.equal(await people.getByLabel("Name").inputValue(), "Jane");
  assert.equal(await orders.getByLabel("Label").inputValue(), "");
  assert.deepEqual(ownTroubles(atAcme), []);
});

test("existing items are reported, and nothing is added twice", async () => {
  const orderCode = await placeOrder(acme);
  const code = await createRoom(acme, "Twice");
  const { page } = atAcme;
  for (const word of ["The order was added to the room.", "The order was already in the room"]) {
    await go(page, `/dashboard/rooms/${code}`);
    await orderCodeField(page).fill(orderCode);
    await press(page, "Add order");
    await said(page, word);
  }
  const room = `/dashboard/rooms/${code}`;
  const jane = { name: "Jane", email: "jane@example.com", role: "" };
  assert.equal(await send(atAcme, `${room}/participants`, jane), 303);
  assert.equal(await send(atAcme, `${room}/participants`, { ...jane, email: "JANE@example.com" }), 303);
  const people = inPart(page, "Participants");
  for (const [ticked, words] of [
    [false, "Someone with that email is already a participant."],
    [true, "already a participant. The room’s link is on its way to them by email."],
    [true, "already a participant. No email was sent"],
  ] as const) {
    await go(page, room);
    await people.getByLabel("Name").fill("Jane");
    await people.getByLabel("Email", { exact: true }).fill("jane@example.com");
    await people.getByLabel("Email them the room’s link").setChecked(ticked);
    await press(page, "Add participant");
    await said(page, words);
  }
  await go(page, room);
  assert.equal(await inPart(page, "Orders").getByText("Remove").count(), 2, "the summary and the button of one order");
  assert.equal(await inPart(page, "Participants").getByRole("rowheader").count(), 1);
});

test("any content of a form is refused or accepted, without a server error", async () => {
  const code = await createRoom(acme, "Odd texts");
  const room = `/dashboard/rooms/${code}`;
  for (const odd of ["\0", "a\0b", "\ud800", "x".repeat(60_000), "  ", "\u202e'\"<script>"]) {
    for (const [path, form] of [
      ["/dashboard/rooms", { name: odd, reference: odd }],
      [`${room}/orders`, { orderCode: odd, label: odd }],
      [`${room}/orders`, { [`order-${odd}`]: "on", label: odd }],
      [`${room}/orders`, { [`order-${code}`]: "on", label: odd }],
      [`${room}/participants`, { name: odd, email: `${odd}@example.com`, role: odd }],
    ] as const) {
      const status = await send(atAcme, path, form);
      assert.ok(status < 500, `${path} ${JSON.stringify(odd.slice(0, 9))}: ${status}`);
    }
  }
  for (const path of ["orders/%00/detach", `orders/${code}/detach`, "participants/%00/remove", "participants/1/remove"])
    assert.equal(await send(atAcme, `${room}/${path}`, {}), 404, path);
  for (const cursor of ["%00", "x", "00000000-0000-4000-8000-000000000000"])
    assert.equal(await get(atAcme, `/dashboard/rooms?cursor=${cursor}`), 400, cursor);
  assert.equal(await get(atAcme, "/dashboard/rooms?cursor=a&cursor=b"), 200);
  assert.equal(await send(atAcme, `${room}/passport`, { version: "7" }), 409);
  assert.equal(await send(atAcme, `${room}/passport`, { version: "x" }), 400);
});

test("rooms of another firm, of the other environment and unknown ones are not found, for any request", async () => {
  const both = await newPartner(service, { name: "Both Title", live: true });
  const { key = "" } = await service.cli("key", "issue", both.partnerId, "--test");
  const liveRoom = await createRoom(both, "Live room");
  const testRoom = await createRoom({ headers: { Authorization: `Bearer ${key}` } }, "Test room");
  const opened = await signedIn(service, browser, { width: 1280, key, email: "max@both-title.com" });
  await giveLiveAccess(service, both.partnerId);
  const { page } = opened;
  const see = async (environment: "Live" | "Test") => {
    await go(page, "/dashboard/rooms");
    await press(page, environment);
    await page.getByRole("link", { name: `${environment} room` }).waitFor();
    assert.equal(await page.getByRole("link", { name: / room$/ }).count(), 1);
  };
  await see("Live");
  assert.equal(await get(opened, `/dashboard/rooms/${testRoom}`), 404);
  assert.equal(await get(opened, `/dashboard/rooms/${liveRoom}`), 200);
  await see("Test");
  assert.equal(await get(opened, `/dashboard/rooms/${testRoom}`), 200);
  const valid = { orderCode: "f".repeat(40), name: "Jane", email: "jane@example.com", version: "1" };
  for (const [from, code] of [
    [opened, liveRoom],
    [opened, "f".repeat(40)],
    [opened, "nonsense"],
    [atAcme, testRoom],
  ] as const) {
    const answer = await from.page.request.get(`${service.baseUrl}/dashboard/rooms/${code}`, { headers: asPage });
    assert.deepEqual([answer.status(), /Page not found/.test(await answer.text())], [404, true]);
    for (const form of ["orders", "participants", "passport", "rotate", "close", "reopen"])
      assert.equal(await send(from, `/dashboard/rooms/${code}/${form}`, valid), 404, form);
  }
  await opened.close();
});

test("rooms are listed in pages of twenty, the newest first", async () => {
  for (let n = 1; n <= 21; n++) await createRoom(acme, `Paged ${n}`);
  const { page } = atAcme;
  await go(page, "/dashboard/rooms");
  const names = await page.locator("#rooms").getByRole("rowheader").allInnerTexts();
  assert.deepEqual([names.length, names[0], names.at(-1)], [20, "Paged 21", "Paged 2"]);
  await page.getByRole("link", { name: "Older rooms" }).click();
  await page.getByRole("link", { name: "Paged 1", exact: true }).waitFor();
  await page.getByRole("link", { name: "Newest rooms" }).click();
  await page.getByRole("link", { name: "Paged 21" }).waitFor();
});

test("a form applies to the environment where it was opened, and sent twice it creates one room", async () => {
  const { headers } = await newMember(service, "twice@harbor-title.com", acme.key);
  const list = "/dashboard/rooms";
  const asMember = { ...headers, ...asPage };
  const post = (fields: Record<string, string>) => postForm(service.baseUrl + list, fields, asMember);
  const page = async () => (await fetch(service.baseUrl + list, { headers: asMember })).text();
  const unseen = (text: string) =>
    Object.fromEntries(
      [...text.matchAll(/name="(submission|environment)" value="(\w+)"/g)].map(([, name, value]) => [name, value]),
    ) as Record<string, string>;
  const roomsCalled = async (name: string) => (await page()).split(`>${name}</a>`).length - 1;

  const opened = unseen(await page());
  assert.equal(opened["environment"], "test");
  assert.notEqual(opened["submission"], unseen(await page())["submission"]);
  const stale = await post({ ...opened, environment: "live", name: "Stale" });
  const shown = await stale.text();
  assert.equal(stale.status, 409);
  assert.match(shown, /role="alert"[\s\S]*You switched between test and live[\s\S]*value="Stale"/);
  assert.deepEqual(unseen(shown), opened);
  assert.equal(await roomsCalled("Stale"), 0);

  for (const answer of await Promise.all([post({ ...opened, name: "" }), post({ ...opened, name: "" })])) {
    assert.equal(answer.status, 400);
    assert.match(await answer.text(), /role="alert"[\s\S]*A room name \(1-200 chars\) is required/);
  }
  const sent = { ...opened, name: "Sent twice" };
  const answers = await Promise.all([post(sent), post(sent), post(sent)]);
  const [place, ...others] = [...answers, await post(sent)].map((answer) => answer.headers.get("location"));
  assert.match(place ?? "", /^\/dashboard\/rooms\/[0-9a-f]{40}\?done=room-created$/);
  assert.deepEqual(new Set(others), new Set([place]));
  assert.equal(await roomsCalled("Sent twice"), 1);
  await post({ ...sent, name: "Sent changed" });
  assert.equal(await roomsCalled("Sent changed"), 1);
  for (const submission of ["", "x", "A".repeat(52)]) await post({ name: "By hand", submission });
  assert.equal(await roomsCalled("By hand"), 3);
});

test("without script everything works the same", async () => {
  const orderCode = await placeOrder(acme);
  const who = { email: "kim@harbor-title.com", key: acme.key };
  const opened = await signedIn(service, browser, { width: 360, javaScript: false, ...who });
  const { page } = opened;
  await go(page, "/dashboard/rooms");
  await page.getByLabel("Name").fill("No script");
  await press(page, "Create room");
  await orderCodeField(page).fill(orderCode);
  await press(page, "Add order");
  await said(page, "The order was added to the room.");
  await ask(page, "Remove");
  await press(page, /^Remove the order/);
  await said(page, "The order was removed from the room.");
  await press(page, "Seal version 1");
  await said(page, "The new version is sealed.");
  assert.equal(await inPart(page, "Share").getByRole("button", { name: "Copy the public link" }).count(), 0);
  await opened.close();
});

test("in narrow and wide windows, light and dark, rooms are accessible and fit", async () => {
  const code = await fullRoom();
  const { page } = atAcme;
  await go(page, "/dashboard/rooms");
  await assertGoodLooks(atAcme);
  await go(page, `/dashboard/rooms/${code}`);
  await inPart(page, "Participants").getByLabel("Name").fill("Jane");
  await inPart(page, "Participants").getByLabel("Email", { exact: true }).fill("x@y");
  await press(page, "Add participant");
  await page.getByRole("alert").waitFor();
  for (const summary of await page.locator(".question > summary").all()) await summary.click();
  await assertGoodLooks(atAcme);
  assert.deepEqual(ownTroubles(atAcme), []);
});

/** A room with one of everything, and texts of maximum length. */
async function fullRoom(): Promise<string> {
  const named = { name: "14 Elm Street, closing of the sale to Roe", reference: "r".repeat(200) };
  const { roomCode } = await api<{ roomCode: string }>(acme, "/api/rooms", named);
  const path = `/api/rooms/${roomCode}`;
  const [signed, foreign] = [await placeOrder(acme, { svc_sign: "true" }), await placeOrder(other)];
  await api(acme, `${path}/orders`, { orderCode: signed, label: "Deed of trust" });
  await api(acme, `${path}/orders`, { orderCode: foreign, label: "L".repeat(200) });
  await api(acme, `${path}/participants`, { name: "Jane Roe", email: "jane@example.com", role: "seller" });
  const longEmail = `${"e".repeat(60)}@${"d".repeat(60)}.example.com`;
  await api(acme, `${path}/participants`, { name: "N".repeat(200), email: longEmail });
  for (let version = 0; version < 2; version++) await api(acme, `${path}/passport`, {});
  return roomCode;
}
