import assert from "node:assert/strict";
import { after, assertGoodLooks, type Browser, before, startBrowser, test } from "@signsealship/testing/browser";
import type { OrderView } from "../../../src/pages/client/order-page.ts";
import { code, order, servePages } from "../ui/serve-pages.ts";

const orders = new Map<string, OrderView>();
let site: Awaited<ReturnType<typeof servePages>>;
let browser: Browser;

before(async () => {
  [site, browser] = await Promise.all([servePages({ orders }), startBrowser()]);
});
after(async () => {
  await browser.close();
  await site.close();
});

function show(changes: Partial<OrderView>): string {
  orders.set(code, order(changes));
  return `${site.baseUrl}/orders/${code}`;
}

test("an order's page, the front page and a sample are accessible, fit, and load nothing from others", async () => {
  const unbroken = "x".repeat(120);
  const url = show({
    status: "IdentityLocked",
    externalReference: unbroken,
    customerEmail: `a@${unbroken}.example`,
    lines: [...order().lines, { type: "MoonFee", label: `<script>${unbroken}`, amountCents: 1_000_000_000 }],
  });
  const opened = await browser.open(url, { width: 360 });
  await assertGoodLooks(opened);
  for (const path of ["/", "/sample"]) {
    await opened.page.goto(site.baseUrl + path);
    await assertGoodLooks(opened);
  }
  assert.deepEqual(opened.troubles, []);
  await opened.close();
});

test("every tone of status and state of step is accessible in light and dark", async () => {
  const { page, axe, close } = await browser.open(show({}), { width: 360 });
  for (const status of ["QuoteReady", "EsignPending", "Completed", "PaymentFailed", "Cancelled"] as const) {
    await page.goto(show({ status }));
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      assert.deepEqual(await axe(), [], status);
    }
  }
  await close();
});

test("the page refreshes itself after 15 seconds, and focus, scroll and unchanged parts stay", async () => {
  const opened = await browser.open(show({ status: "EsignPending" }), { width: 360, height: 500, fakeClock: true });
  const { page } = opened;
  await page.locator(".copy").focus();
  await page.evaluate(
    "document.querySelector('#quote').kept = true; document.querySelector('#quote').scrollIntoView()",
  );
  const seenAt = "document.querySelector('#quote').getBoundingClientRect().top";
  const before = Number(await page.evaluate(seenAt));
  show({ status: "EsignComplete" });
  await page.clock.runFor(14_000);
  assert.equal(await page.locator("h1").textContent(), "The document is out for signature");
  await page.clock.runFor(2_000);
  await page.getByRole("heading", { level: 1, name: "The signed document is sealed" }).waitFor();
  assert.equal(await page.evaluate("document.activeElement.className"), "copy");
  assert.ok(Math.abs(Number(await page.evaluate(seenAt)) - before) < 1);
  assert.equal(await page.evaluate("document.querySelector('#quote').kept"), true);
  assert.deepEqual(opened.troubles, []);
  assert.deepEqual(await opened.axe(), []);
  await opened.close();
});

test("the page in Spanish is accessible, fits, and stays in Spanish when it refreshes itself", async () => {
  const url = show({ status: "Created", environment: "test", payable: true });
  const opened = await browser.open(`${url}?lang=es`, { width: 360, fakeClock: true });
  const { page } = opened;
  for (const [status, heading] of [
    ["IdentityLocked", "No se pudo confirmar la identidad de quien firma"],
    ["ManualQuoteRequired", "Estamos calculando el precio de este pedido"],
    ["Completed", "Todo listo"],
  ] as const) {
    show({ status, payable: true });
    await page.clock.runFor(16_000);
    await page.getByRole("heading", { level: 1, name: heading }).waitFor();
    assert.deepEqual(await opened.axe(), [], status);
    assert.equal(await opened.overflow(), 0, status);
  }
  await page.locator(".language-menu > summary").click();
  await page.getByRole("link", { name: "English" }).click();
  await page.getByRole("heading", { level: 1, name: "All done" }).waitFor();
  assert.deepEqual(opened.troubles, []);
  await opened.close();
});

test("a refused refresh leaves the page unchanged", async () => {
  const opened = await browser.open(show({ status: "EsignPending" }), { width: 1280, fakeClock: true });
  orders.delete(code);
  const answered = opened.page.waitForResponse(/\/status$/);
  await opened.page.clock.runFor(16_000);
  assert.equal((await answered).status(), 404);
  await (await answered).finished();
  await opened.page.clock.runFor(1_000);
  assert.equal(await opened.page.locator("h1").textContent(), "The document is out for signature");
  await opened.close();
});

test("the page says everything without script, and how to see updates", async () => {
  const opened = await browser.open(show({ status: "Shipped" }), { width: 360, javaScript: false });
  const text = String(await opened.page.evaluate("document.querySelector('main').innerText"));
  for (const said of ["The document is on its way", "What happens next", "$95.00", "Reload this page"]) {
    assert.ok(text.includes(said), said);
  }
  assert.ok(!text.includes("refreshes itself"));
  assert.equal(await opened.page.locator(".copy").isVisible(), false);
  await opened.close();
});

test("a copy button copies the code, and the skip link leads to the content", async () => {
  const opened = await browser.open(show({}), { width: 1280 });
  const { page } = opened;
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate("document.activeElement.id"), "main");
  await page.locator(".copy").click();
  await page.getByText("Copied").waitFor();
  assert.equal(await page.evaluate("navigator.clipboard.readText()"), code);
  await opened.close();
});

test("a printed page has no navigation and no dark background", async () => {
  const opened = await browser.open(show({}), { width: 1280, colorScheme: "dark" });
  await opened.page.emulateMedia({ media: "print", colorScheme: "dark" });
  assert.equal(await opened.page.locator(".site-header nav").isVisible(), false);
  assert.equal(await opened.page.evaluate("getComputedStyle(document.body).color"), "rgb(0, 0, 0)");
  assert.equal(
    await opened.page.evaluate("getComputedStyle(document.documentElement).backgroundColor"),
    "rgb(255, 255, 255)",
  );
  await opened.close();
});
