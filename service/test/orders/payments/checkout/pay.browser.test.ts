import assert from "node:assert/strict";
import { after, type Browser, before, startBrowser, test } from "@signsealship/testing/browser";
import { type StripeDouble, startStripe } from "@signsealship/testing/doubles/stripe";
import { minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { newPartner, type Service, startService, temporaryFolder } from "@signsealship/testing/service";

const folder = temporaryFolder();
let service: Service;
let stripe: StripeDouble;
let browser: Browser;

before(async () => {
  stripe = await startStripe();
  service = await startService({
    DATA_DIR: folder.path,
    RATE_LIMITS: "off",
    ...stripe.settings("test"),
  });
  browser = await startBrowser();
});
after(async () => {
  await browser.close();
  await service.stop();
  await stripe.close();
  folder.remove();
});

test("a client pays from the order's page, and the order moves only after the processor's event", async () => {
  const { headers } = await newPartner(service);
  const body = orderForm({ ...minimal, svc_sign: "true" });
  const placed = await fetch(`${service.baseUrl}/api/partner/orders`, { method: "POST", headers, body });
  const { orderCode } = (await placed.json()) as { orderCode: string };
  const status = async () => {
    const response = await fetch(`${service.baseUrl}/api/partner/orders/${orderCode}`, { headers });
    return ((await response.json()) as { status: string }).status;
  };

  const { page, close } = await browser.open(`${service.baseUrl}/orders/${orderCode}`, { width: 360 });
  await page.getByRole("button", { name: "Pay $12.00" }).click();
  await page.getByRole("button", { name: "Pay by card" }).click();
  await page.getByRole("heading", { name: "Thank you" }).waitFor();
  assert.equal(await status(), "QuoteReady");

  const [paid] = stripe.paidByPayers;
  assert.ok(paid);
  assert.equal((await stripe.deliver(service.baseUrl, paid)).status, 200);
  await page.getByRole("link", { name: "See the order" }).click();
  await page.getByRole("heading", { level: 1 }).waitFor();
  assert.equal(await status(), "EsignPending");
  assert.equal(await page.getByRole("button", { name: /^Pay/ }).count(), 0);
  await close();
});
