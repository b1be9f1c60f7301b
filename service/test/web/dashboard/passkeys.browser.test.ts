import assert from "node:assert/strict";
import { after, type Browser, before, type OpenPage, startBrowser, test } from "@signsealship/testing/browser";
import { type Harness, openHarness } from "@signsealship/testing/harness";
import { newPartner, type Service } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import { sql } from "../../../src/platform/database/sql.ts";
import { codeTo, linksTo } from "../../members/signed-in-member.ts";
import { assertGoodLooks, signedIn } from "./signed-in-page.ts";

let running: Harness;
let browser: Browser;
/** At the host name: at a bare address there are no passkeys. */
let service: Service;

before(async () => {
  [running, browser] = await Promise.all([openHarness(), startBrowser()]);
  service = { ...running.service, baseUrl: running.service.baseUrl.replace("127.0.0.1", "localhost") };
});
after(async () => {
  await browser.close();
  await running.close();
});

/** Gives the page an authenticator, as a laptop has one with a fingerprint reader. */
async function withAuthenticator({ page }: OpenPage) {
  const cdp = await page.context().newCDPSession(page);
  await cdp.send("WebAuthn.enable");
  const { authenticatorId } = await cdp.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return {
    /** Whether its owner's finger is on it. */
    verify: (isUserVerified: boolean) => cdp.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified }),
    count: async () => (await cdp.send("WebAuthn.getCredentials", { authenticatorId })).credentials.length,
  };
}

const at = (path: string): string => service.baseUrl + path;
const troublesOf = ({ troubles }: OpenPage) => troubles.filter((trouble) => !/status of 40[03]/.test(trouble));
const stale = () =>
  running.db.query(
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
  await page.getByRole("button", { name: "I saved them" }).click();
  await page.getByRole("rowheader", { name: "Work laptop <1>" }).waitFor();
  await page.getByText("10 of 10 are left").waitFor();
  assert.equal(await authenticator.count(), 1);
  await page.getByLabel("Name").fill("Again");
  await page.getByRole("button", { name: "Add a passkey" }).click();
  await page.getByRole("alert").getByText("This device has a passkey for you already.").waitFor();
  for (const question of await page.locator(".question > summary").all()) await question.click();
  await assertGoodLooks(opened);

  await page.getByRole("button", { name: "Sign out" }).click();
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
  await page.getByText("The rule of your firm was changed.").waitFor();
  await stale();
  await page.getByRole("button", { name: "Stop asking for passkeys" }).click();
  await page.getByRole("heading", { name: "Confirm that it is you" }).waitFor();
  assert.equal(await page.getByText("Use a recovery code").count(), 0);
  await page.getByRole("button", { name: "Confirm with your passkey" }).click();
  await page.getByText("The rule of your firm was changed.").waitFor();

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

test("a name that was typed survives the question for a code, on the way to the first passkey", async () => {
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

test("without script the page says what passkeys need, and keeps what was typed", async () => {
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
