import assert from "node:assert/strict";
import { after, assertGoodLooks, type Browser, before, startBrowser, test } from "@signsealship/testing/browser";
import type { RoomRow } from "../../../src/closing/rooms/view/store.ts";
import { emptyRoomCode, roomCode, roomRow } from "../ui/samples.ts";
import { type Shown, servePages } from "../ui/serve-pages.ts";

const rooms = new Map<string, RoomRow>();
const shown: Shown = { rooms };
let site: Awaited<ReturnType<typeof servePages>>;
let browser: Browser;

before(async () => {
  [site, browser] = await Promise.all([servePages(shown), startBrowser()]);
});
after(async () => {
  await browser.close();
  await site.close();
});

function show(changes: Partial<RoomRow> = {}, environment: "live" | "test" = "live"): string {
  shown.environment = environment;
  rooms.set(roomCode, roomRow(changes));
  return `${site.baseUrl}/rooms/${roomCode}`;
}

const empty = { cards: [], activity: [], participants: [], passport: null, reference: null };

test("a room is accessible, fits, and loads nothing from others", async () => {
  rooms.set(emptyRoomCode, roomRow({ ...empty, code: emptyRoomCode, status: "closed", name: "n".repeat(200) }));
  const opened = await browser.open(show({}, "test"), { width: 360 });
  await assertGoodLooks(opened);
  await opened.page.goto(`${site.baseUrl}/rooms/${emptyRoomCode}`);
  await assertGoodLooks(opened);
  assert.deepEqual(opened.troubles, []);
  await opened.close();
});

test("a room with fifty orders and a hundred lines of activity is accessible and fits", async () => {
  const [card] = roomRow().cards;
  const [item] = roomRow().activity;
  assert.ok(card && item);
  const code = (i: number) => String(i).padStart(40, "a");
  const cards = Array.from({ length: 50 }, (_, i) => ({ ...card, code: code(i), label: null }));
  const activity = Array.from({ length: 100 }, (_, i) => ({ ...item, orderCode: code(i % 50) }));
  const opened = await browser.open(show({ cards, activity }), { width: 360 });
  assert.deepEqual(await opened.axe(), []);
  assert.equal(await opened.overflow(), 0);
  assert.equal(await opened.page.locator(".order-card").count(), 50);
  assert.equal(await opened.page.locator(".timeline > li").count(), 50);
  await opened.page.getByText("and 1 step before").first().waitFor();
  await opened.page.getByRole("link", { name: "Show every step" }).click();
  await opened.page.getByRole("link", { name: "Show the latest of each day" }).waitFor();
  assert.equal(await opened.page.locator(".timeline > li").count(), 100);
  await opened.close();
});

test("a room in Spanish is accessible and fits", async () => {
  const opened = await browser.open(`${show({}, "test")}?lang=es`, { width: 360 });
  assert.deepEqual(await opened.axe(), []);
  assert.equal(await opened.overflow(), 0);
  assert.deepEqual(opened.troubles, []);
  await opened.page.getByRole("heading", { name: "Certificado de cierre" }).waitFor();
  await opened.close();
});

test("a room refreshes itself after 15 seconds, and focus, scroll and unchanged parts stay", async () => {
  const opened = await browser.open(show(), { width: 360, height: 500, fakeClock: true });
  const { page } = opened;
  await page.getByRole("link", { name: "Verify the closing certificate" }).focus();
  await page.evaluate(
    "document.querySelector('#participants').kept = true; document.querySelector('#participants').scrollIntoView()",
  );
  const seenAt = "document.querySelector('#participants').getBoundingClientRect().top";
  const before = Number(await page.evaluate(seenAt));
  show({ name: "14 Elm Street" });
  await page.clock.runFor(14_000);
  assert.equal(await page.locator("h1").textContent(), "12 Elm Street");
  await page.clock.runFor(2_000);
  await page.getByRole("heading", { level: 1, name: "14 Elm Street" }).waitFor();
  assert.equal(await page.evaluate("document.activeElement.textContent"), "Verify the closing certificate");
  assert.ok(Math.abs(Number(await page.evaluate(seenAt)) - before) < 1);
  assert.equal(await page.evaluate("document.querySelector('#participants').kept"), true);
  rooms.delete(roomCode);
  const refused = page.waitForResponse(/\/status$/);
  await page.clock.runFor(16_000);
  await (await refused).finished();
  assert.equal(await page.locator("h1").textContent(), "14 Elm Street");
  await opened.close();
});

test("a room says everything without script, and how to see updates", async () => {
  const opened = await browser.open(show(), { width: 360, javaScript: false });
  const text = String(await opened.page.evaluate("document.querySelector('main').innerText"));
  for (const said of [
    "Prepared by Acme Title & Escrow",
    "2 of 3",
    "d***@example.com",
    "Signing link made",
    "Version 2",
    "Reload this page",
  ]) {
    assert.ok(text.includes(said), said);
  }
  assert.ok(!text.includes("refreshes itself"));
  await opened.close();
});

test("a firm's color is a stripe next to our mark, whatever color it is; an invalid color is left out", async () => {
  const { page, axe, close } = await browser.open(show(), { width: 360 });
  for (const accentColor of ["#ffffff", "#000000", "#FAF8F4"]) {
    await page.goto(show({ accentColor }));
    assert.equal(await page.locator(".accent rect").getAttribute("fill"), accentColor);
    assert.equal(await page.locator(".site-header .wordmark").isVisible(), true);
    assert.deepEqual(await axe(), []);
  }
  await page.goto(show({ accentColor: 'red" onload="alert(1)' }));
  assert.equal(await page.locator(".accent").count(), 0);
  await close();
});

test("a printed room has no navigation and no dark background", async () => {
  const opened = await browser.open(show(), { width: 1280, colorScheme: "dark" });
  await opened.page.emulateMedia({ media: "print", colorScheme: "dark" });
  assert.equal(await opened.page.locator(".site-header nav").isVisible(), false);
  assert.equal(await opened.page.evaluate("getComputedStyle(document.body).color"), "rgb(0, 0, 0)");
  await opened.close();
});
