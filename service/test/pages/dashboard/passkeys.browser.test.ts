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
import { type Harness, openHarness } from "@signsealship/testing/harness";
import { minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { asService } from "@signsealship/testing/row-mac";
import { newPartner, type Service } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import { passkeySubjects } from "../../../src/firms/operators/operators.ts";
import { isSealed, sql } from "../../../src/kernel/platform/database/sql.ts";
import { codeTo, linksTo } from "../../firms/members/signed-in-member.ts";
import { everyKind } from "../../orders/fills/made-form.ts";
import { withAuthenticator } from "./authenticator.ts";
import { signedIn } from "./signed-in-page.ts";

let running: Harness;
let browser: Browser;
/** The service at its host name, because passkeys do not work at an IP address. */
let service: Service;

before(async () => {
  [running, browser] = await Promise.all([openHarness(), startBrowser()]);
  service = { ...running.service, baseUrl: running.service.baseUrl.replace("127.0.0.1", "localhost") };
});
after(async () => {
  await browser.close();
  await running.close();
});

const at = (path: string): string => service.baseUrl + path;
const troublesOf = ({ troubles }: OpenPage) => troubles.filter((trouble) => !/status of 40[03]/.test(trouble));
const stale = () =>
  asService(
    running,
    sql`UPDATE sessions SET confirmed_at = confirmed_at - interval '16 min', passkey_at = passkey_at - interval '16 min'`,
  );

test("an owner adds a passkey, signs in with it, confirms a form with it, and asks the firm for passkeys", async () => {
  const { key, partnerId } = await newPartner(service, { live: true });
  const email = "pat@harbor-title.com";
  const opened = await signedIn(service, browser, { key, email, width: 1280 });
  const { page } = opened;
  const authenticator = await withAuthenticator(opened);
  await page.getByRole("link", { name: "Sign-in and security" }).click();
  await page.getByText("No passkeys").waitFor();
  await assertGoodLooks(opened);
  await page.getByLabel("Name").fill("Work laptop <1>");
  await page.getByRole("button", { name: "Add a passkey" }).click();
  await page.getByRole("heading", { name: "Your recovery codes" }).waitFor();
  assert.equal(await page.locator(".recovery-codes code").count(), 10);
  const [code = ""] = await page.locator(".recovery-codes code").allTextContents();
  await assertGoodLooks(opened);
  await page.getByRole("link", { name: "I saved them" }).click();
  await page.getByRole("rowheader", { name: "Work laptop <1>" }).waitFor();
  await page.getByText("10 of 10 are left").waitFor();
  assert.equal(await authenticator.count(), 1);
  await page.getByLabel("Name").fill("Again");
  await page.getByRole("button", { name: "Add a passkey" }).click();
  await page.getByRole("alert").getByText("This device has a passkey for you already.").waitFor();
  for (const question of await page.locator(".question > summary").all()) await question.click();
  await assertGoodLooks(opened);

  await page.getByRole("button", { name: "Sign out", exact: true }).click();
  await page.goto(at("/sign-in?return_to=%2Fdashboard%2Frooms"));
  const before = linksTo(service, email).length;
  await page.getByLabel("Work email").fill(email);
  await page.getByRole("button", { name: "Send me a link" }).click();
  await until(() => linksTo(service, email).length > before);
  await page.goto(at(linksTo(service, email)[0] ?? ""));
  await page.getByRole("main").getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { name: "Show your passkey" }).waitFor();
  await assertGoodLooks(opened);
  await authenticator.verify(false);
  await page.getByRole("button", { name: "Use your passkey" }).click();
  await page.getByRole("alert").getByText("No passkey came from your browser or device.").waitFor({ timeout: 60_000 });
  await authenticator.verify(true);
  await page.getByRole("button", { name: "Use your passkey" }).click();
  await page.waitForURL("**/dashboard/rooms");

  await stale();
  await page.goto(at("/dashboard/webhooks"));
  await page.getByLabel("URL").fill("https://hooks.example.com/typed");
  await page.getByLabel("order.created").check();
  await page.getByRole("button", { name: "Create webhook" }).click();
  await page.getByRole("heading", { name: "Confirm that it is you" }).waitFor();
  await assertGoodLooks(opened);
  await page.getByRole("button", { name: "Confirm with your passkey" }).click();
  await page.getByRole("heading", { name: "Your webhook was created" }).waitFor();

  await page.goto(at("/dashboard/security"));
  await page.getByRole("button", { name: "Ask for passkeys" }).click();
  await page.getByText("Your firm’s passkey rule was changed.").waitFor();
  await stale();
  await page.getByRole("button", { name: "Stop asking for passkeys" }).click();
  await page.getByRole("heading", { name: "Confirm that it is you" }).waitFor();
  assert.equal(await page.getByText("Use a recovery code").count(), 0);
  await page.getByRole("button", { name: "Confirm with your passkey" }).click();
  await page.getByText("Your firm’s passkey rule was changed.").waitFor();

  await stale();
  await page.goto(at("/dashboard/security"));
  await page.locator("summary", { hasText: "Remove" }).click();
  await page.getByRole("button", { name: "Remove passkey" }).click();
  await page.getByText("Use a recovery code").click();
  await page.getByLabel("Recovery code").fill(code);
  await page.getByRole("button", { name: "Confirm and continue" }).click();
  await page.getByText("The passkey was removed.").waitFor();
  const { members } = await service.cli<{ members: { userId: string }[] }>("member", "list", partnerId);
  assert.equal(members.length, 1);
  assert.deepEqual(troublesOf(opened), []);
  await opened.close();
});

/** A paid test order of a firm. @returns its code */
async function paidOrder(): Promise<string> {
  const { headers } = await newPartner(service);
  const body = orderForm({ ...minimal, svc_sign: "true" });
  const placed = await fetch(at("/api/partner/orders"), { method: "POST", headers, body });
  const { orderCode } = (await placed.json()) as { orderCode: string };
  const paid = await fetch(at(`/api/partner/sandbox/orders/${orderCode}/checkout`), {
    method: "POST",
    headers: { ...headers, "Content-Type": "application/json" },
    body: JSON.stringify({ outcome: "success" }),
  });
  assert.equal(paid.status, 200);
  return orderCode;
}

test("two operators sign in by mail: one requests a refund, the other adds a passkey and approves it", async () => {
  const code = await paidOrder();
  const [asking, approving] = ["ann@desk.example", "ben@desk.example"];
  await service.cli("operator", "add", asking, "--role", "agent", "--name", "Ann");
  await service.cli("operator", "add", approving, "--role", "approver,admin", "--name", "Ben");

  const ann = await signedIn(service, browser, { email: asking, width: 1280 });
  assert.equal(new URL(ann.page.url()).pathname, "/operator");
  await ann.page.getByRole("button", { name: "Test", exact: true }).click();
  await ann.page.goto(at(`/operator/refunds/new?order=${code}`));
  await ann.page.getByText("An envelope is open.").waitFor();
  await assertGoodLooks(ann);
  await ann.page.getByLabel("Reason").fill("The client paid twice.");
  await ann.page.getByRole("button", { name: "Ask for the refund" }).click();
  await ann.page.getByText("Waits for a decision").waitFor();
  await assertGoodLooks(ann);
  assert.equal(await ann.page.getByRole("button", { name: "Approve", includeHidden: true }).count(), 0);

  const ben = await signedIn(service, browser, { email: approving, width: 1280 });
  const { page } = ben;
  await withAuthenticator(ben);
  await page.getByRole("button", { name: "Test", exact: true }).click();
  const openRefund = async () => {
    await page.getByRole("link", { name: "Refunds", exact: true }).click();
    await page.getByRole("link", { name: /of order/ }).click();
  };
  await openRefund();
  await page.getByText("To decide about money, you need a passkey of your own.").waitFor();
  assert.equal(await page.getByRole("button", { name: "Approve", includeHidden: true }).count(), 0);
  await page.getByRole("link", { name: "Add a passkey first" }).click();
  await page.getByLabel("Name").fill("Work laptop");
  await page.getByRole("button", { name: "Add a passkey" }).click();
  await page.getByRole("link", { name: "I saved them" }).click();
  await openRefund();
  await page.locator("summary", { hasText: "Approve" }).click();
  await page.getByRole("button", { name: "Approve the refund" }).click();
  await page.getByRole("heading", { name: "Confirm that it is you" }).waitFor();
  await page.getByText(`You need a passkey for ${passkeySubjects}.`).waitFor();
  await page.getByRole("button", { name: "Confirm with your passkey" }).click();
  await page.getByText("The refund was approved.").waitFor();
  await until(async () => {
    const [order] = await running.db.query<{ status: string }>(
      sql`SELECT status FROM orders WHERE ${isSealed(sql`code`, "order", code)}`,
    );
    return order?.status === "Refunded";
  });

  for (const name of ["Refunds", "People", "Payments that fit no order"]) {
    await page.getByRole("link", { name, exact: true }).click();
    await page.getByRole("heading", { level: 1, name }).waitFor();
    await assertGoodLooks(ben);
  }
  await page.goto(at("/operator/people"));
  await page.getByRole("link", { name: "Ann", exact: true }).click();
  await page.getByLabel("Shipper").check();
  await assertGoodLooks(ben);
  await page.getByRole("button", { name: "Save the roles" }).click();
  await page.getByText("The operator was changed.").waitFor();
  await page.locator("summary", { hasText: "End the access" }).click();
  await page.getByRole("button", { name: "End the access now" }).click();
  await page.getByText("The operator’s access was ended.").waitFor();
  await ann.page.reload();
  await ann.page.getByRole("heading", { name: "For the operator" }).waitFor();
  assert.deepEqual([...troublesOf(ben), ...ann.troubles.filter((each) => !/status of 401/.test(each))], []);
  await Promise.all([ann.close(), ben.close()]);
});

test("an admin uses the passkey before choosing the file of a catalog form", async () => {
  const email = "cleo@desk.example";
  await service.cli("operator", "add", email, "--role", "admin", "--name", "Cleo");
  const opened = await signedIn(service, browser, { email, width: 375 });
  const { page } = opened;
  await withAuthenticator(opened);
  await page.goto(at("/operator/security"));
  await page.getByLabel("Name").fill("Phone");
  await page.getByRole("button", { name: "Add a passkey" }).click();
  await page.getByRole("link", { name: "I saved them" }).click();
  await page.getByRole("rowheader", { name: "Phone" }).waitFor();
  await stale();
  await page.goto(at("/operator/forms"));
  await page.getByText("This needs a passkey").waitFor();
  await assertGoodLooks(opened);
  await page.getByRole("button", { name: "Use your passkey" }).press("Enter");
  await page.getByRole("button", { name: "Confirm with your passkey" }).press("Enter");
  await page.getByRole("heading", { level: 1, name: "Forms of the catalog" }).waitFor();
  assert.equal(await page.getByText("This needs a passkey").count(), 0);
  await page.getByLabel("Document", { exact: true }).selectOption("affidavit");
  await page.getByLabel("File").setInputFiles({ name: "a.pdf", mimeType: "application/pdf", buffer: everyKind() });
  await page.getByRole("button", { name: "Add the form" }).click();
  await page.getByText("The form was added.").waitFor();
  assert.deepEqual(troublesOf(opened), []);
  await opened.close();
});

test("a typed name survives the question for a code, on the way to the first passkey", async () => {
  const { key } = await newPartner(service);
  const email = "kim@harbor-title.com";
  const opened = await signedIn(service, browser, { key, email, width: 360 });
  const { page } = opened;
  await withAuthenticator(opened);
  await stale();
  await page.goto(at("/dashboard/security"));
  await page.getByLabel("Name").fill("Phone");
  await page.getByRole("button", { name: "Add a passkey" }).click();
  await page.getByLabel("Code").fill(await codeTo(service, email));
  await page.getByRole("button", { name: "Confirm and continue" }).click();
  await page.getByText("Now add your passkey.").waitFor();
  assert.equal(await page.getByLabel("Name").inputValue(), "Phone");
  await page.getByRole("button", { name: "Add a passkey" }).click();
  await page.getByRole("heading", { name: "Your recovery codes" }).waitFor();
  assert.deepEqual(troublesOf(opened), []);
  await opened.close();
});

test("without script the page says what passkeys need, and keeps the typed text", async () => {
  const { key } = await newPartner(service);
  const opened = await signedIn(service, browser, {
    key,
    email: "lee@harbor-title.com",
    width: 360,
    javaScript: false,
  });
  const { page } = opened;
  await page.goto(at("/dashboard/security"));
  await page.getByText("Passkeys need a browser with scripts turned on.").waitFor();
  await page.getByLabel("Name").fill("Phone");
  await page.getByRole("button", { name: "Add a passkey" }).click();
  await page.getByRole("alert").getByText("No passkey came from your browser.").waitFor();
  assert.equal(await page.getByLabel("Name").inputValue(), "Phone");
  await opened.close();
});
