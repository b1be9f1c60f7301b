import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import {
  after,
  assertGoodLooks,
  type Browser,
  before,
  type OpenPage,
  startBrowser,
  test,
} from "@signsealship/testing/browser";
import { type StripeDouble, startStripe } from "@signsealship/testing/doubles/stripe";
import { freePort } from "@signsealship/testing/free-port";
import { minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { newPartner, type Service, startService, temporaryFolder } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import { signedIn } from "../signed-in-page.ts";

const folder = temporaryFolder();
let service: Service;
let stripe: StripeDouble;
let browser: Browser;
let dana: OpenPage;
let headers: { Authorization: string };

before(async () => {
  [stripe, browser] = await Promise.all([startStripe(), startBrowser()]);
  const port = String(await freePort());
  service = await startService({
    DATA_DIR: folder.path,
    PORT: port,
    BASE_URL: `http://127.0.0.1:${port}`,
    RATE_LIMITS: "off",
    // A live key. The service must send no request with it here.
    ...stripe.settings("live"),
  });
  const firm = await newPartner(service, { name: "Harbor Title" });
  headers = firm.headers;
  dana = await signedIn(service, browser, { key: firm.key, width: 375 });
});
after(async () => {
  await browser?.close();
  await service?.stop();
  await stripe?.close();
  folder.remove();
});

/** Moves the focus to the control with this label, by the Tab key alone. */
async function tabTo({ page }: OpenPage, name: RegExp): Promise<void> {
  const focused = `(() => { const at = document.activeElement; const label = at?.labels?.[0]?.textContent ?? at?.textContent ?? "";
    return at === document.body ? "" : label.trim(); })()`;
  for (let presses = 0; presses < 120; presses++) {
    await page.keyboard.press("Tab");
    if (name.test(String(await page.evaluate(focused)))) return;
  }
  assert.fail(`no control is named ${name}`);
}

async function press(opened: OpenPage, name: RegExp): Promise<void> {
  await tabTo(opened, name);
  await opened.page.keyboard.press("Enter");
}

async function save(opened: OpenPage, name: RegExp): Promise<string> {
  const download = opened.page.waitForEvent("download");
  await press(opened, name);
  return readFileSync(await (await download).path(), "latin1");
}

test("an owner adds a card, sets a limit, and reads a charge and its statement, by the keyboard alone", async () => {
  const { page } = dana;
  await page.goto(`${service.baseUrl}/dashboard/billing`);
  await page.getByText("Nothing is on file.").waitFor();
  await assertGoodLooks(dana);
  await page.setViewportSize({ width: 375, height: 800 });

  await press(dana, /^Add a card or bank account/);
  await page.getByRole("heading", { level: 1, name: "Choose a test card or a test bank account" }).waitFor();
  await assertGoodLooks(dana);
  await page.setViewportSize({ width: 375, height: 800 });
  await press(dana, /^Put it on file/);
  await page.getByText("It is on file.").waitFor();
  await page.getByRole("definition").getByText("Visa •••• 4242").waitFor();

  await tabTo(dana, /^Dollars for one order/);
  await page.keyboard.type("500");
  await tabTo(dana, /^Dollars in a month/);
  await page.keyboard.type("5000");
  await page.keyboard.press("Enter");
  await page.getByText("$500.00 for an order, $5,000.00 in a month. Used this month: $0.00").waitFor();

  const body = orderForm({ ...minimal, svc_sign: "true", pay_by: "firm", external_reference: "FILE-2207" });
  const placed = await fetch(`${service.baseUrl}/api/partner/orders`, { method: "POST", headers, body });
  const { orderCode } = (await placed.json()) as { orderCode: string };
  const charges = page.locator("#charges");
  await until(async () => {
    await page.goto(`${service.baseUrl}/dashboard/billing`);
    return (await charges.getByText("Paid").count()) > 0;
  });
  const listed = (await charges.textContent()) ?? "";
  for (const text of [orderCode.slice(0, 6).toUpperCase(), "FILE-2207", / E[DS]T/])
    assert.match(listed, new RegExp(text));
  assert.doesNotMatch((await page.locator("#limits").textContent()) ?? "", /Used this month: \$0\.00/);
  await assertGoodLooks(dana);

  await page.setViewportSize({ width: 1280, height: 800 });
  await press(dana, /^Statements$/);
  await page.getByRole("heading", { level: 1, name: "Statements" }).waitFor();
  await assertGoodLooks(dana);
  await page.setViewportSize({ width: 1280, height: 800 });
  await press(dana, /^\d{4}-\d{2}$/);
  await page.getByRole("heading", { level: 1, name: /^Statement \d{4}-\d{2}/ }).waitFor();
  await page.getByText("FILE-2207").waitFor();
  await page.locator("#lines").getByText("Firm, Visa •••• 4242").waitFor();
  await page.emulateMedia({ media: "print" });
  assert.equal(await page.locator(".side").isVisible(), false, "a printed statement has no navigation");
  await page.emulateMedia({ media: null });
  await assertGoodLooks(dana);
  assert.match(await save(dana, /^PDF/), /^%PDF-/);
  assert.match(await save(dana, /^CSV/), /FILE-2207.*"Firm, Visa/);
  assert.match(await save(dana, /^For QuickBooks/), /^Date,Description,Amount\r\n.*FILE-2207.*,-\d+\.\d\d\r\n$/);
  assert.match(await save(dana, /^For Xero/), /^Date,Amount,Payee,Description,Reference\r\n.*,FILE-2207\r\n$/);
  assert.deepEqual(stripe.requests, []);
  const own = dana.troubles.filter((line) => !/status of 404|^foreign: /.test(line));
  assert.deepEqual(own, []);
});
