import assert from "node:assert/strict";
import { after, assertGoodLooks, type Browser, before, startBrowser, test } from "@signsealship/testing/browser";
import { newPartner, type Service, startService, temporaryFolder } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import {
  giveLiveAccess,
  invitationsTo,
  linksTo,
  newMember,
  postForm,
  signIn,
} from "../../firms/members/signed-in-member.ts";
import { signedIn } from "./signed-in-page.ts";

const folder = temporaryFolder();
let service: Service;
let browser: Browser;

before(async () => {
  [service, browser] = await Promise.all([startService({ DATA_DIR: folder.path, RATE_LIMITS: "off" }), startBrowser()]);
});
after(async () => {
  await browser.close();
  await service.stop();
  folder.remove();
});

test("signing in and linking are accessible and fit, and load nothing from others", async () => {
  const { key } = await newPartner(service, { name: "Harbor Title & Sons" });
  const opened = await browser.open(`${service.baseUrl}/dashboard`, { width: 1280 });
  const { page } = opened;
  assert.match(page.url(), /\/sign-in\?return_to=%2Fdashboard$/);
  await assertGoodLooks(opened);
  await page.getByLabel("Work email").fill("sam@harbor-title.com");
  await page.getByRole("button", { name: "Send me a link" }).click();
  await assertGoodLooks(opened);
  await page.waitForFunction("document.querySelector('h1').textContent === 'Check your email'");
  while (linksTo(service, "sam@harbor-title.com").length === 0) await page.waitForTimeout(20);
  await page.goto(service.baseUrl + (linksTo(service, "sam@harbor-title.com")[0] ?? ""));
  await assertGoodLooks(opened);
  await page.getByRole("main").getByRole("button", { name: "Sign in" }).click();
  assert.match(page.url(), /\/dashboard\/link$/);
  await assertGoodLooks(opened);
  await page.getByLabel("API key").fill("svc_pk_wrong");
  await page.getByRole("button", { name: "Connect" }).click();
  assert.match((await page.getByRole("alert").textContent()) ?? "", /valid partner API key/);
  await page.getByLabel("API key").fill(` ${key} `);
  await page.getByRole("button", { name: "Connect" }).click();
  assert.equal(await page.getByRole("heading", { level: 1 }).textContent(), "Welcome, Harbor Title & Sons");
  await assertGoodLooks(opened);
  assert.deepEqual(
    opened.troubles.filter((trouble) => !trouble.includes("status of 400")),
    [],
  );
  await opened.close();
});

test("an owner changes the branding and a role, ends a session and signs out", async () => {
  const { key } = await newPartner(service);
  const opened = await signedIn(service, browser, { key, email: "olive@acme.example", width: 1280 });
  await newMember(service, "max@acme.example", key);
  await newMember(service, "olive@acme.example", key);
  const { page } = opened;
  await page.getByRole("link", { name: "Firm and settings" }).click();

  await page.getByLabel("Brand name").fill("Acme <Closings>");
  await page.getByLabel("Color").fill("red");
  await page.getByRole("button", { name: "Save branding" }).click();
  assert.match((await page.getByRole("alert").textContent()) ?? "", /color like #1a2b3c/);
  assert.equal(await page.getByLabel("Brand name").inputValue(), "Acme <Closings>");
  await page.getByLabel("Color").fill("#1A2B3C");
  await page.getByRole("button", { name: "Save branding" }).click();
  assert.match((await page.getByRole("status").textContent()) ?? "", /branding was saved/);
  assert.equal(await page.getByLabel("Color").inputValue(), "#1a2b3c");

  await page.getByRole("link", { name: "Team" }).click();
  await page.getByRole("button", { name: "Make owner of max@acme.example" }).click();
  assert.match((await page.getByRole("status").textContent()) ?? "", /role was changed/);
  assert.equal(await page.getByRole("button", { name: /^Make member/ }).count(), 2);
  for (const question of await page.locator(".question > summary").all()) await question.click();
  await page.getByText("rotate the keys that they know").first().waitFor();
  await assertGoodLooks(opened);
  await page.getByRole("link", { name: "Sign-in and security" }).click();

  const sessions = page.locator("#sessions tbody tr");
  assert.equal(await sessions.count(), 2);
  const another = sessions.filter({ hasNotText: "this one" });
  assert.equal(await another.getByRole("button").count(), 0);
  for (const question of await page.locator(".question > summary").all()) await question.click();
  await assertGoodLooks(opened);
  await another.getByRole("button", { name: "Sign out now" }).click();
  assert.match((await page.getByRole("status").textContent()) ?? "", /session was signed out/);
  assert.equal(await sessions.count(), 1);

  await page.getByRole("button", { name: "Sign out" }).click();
  assert.equal(new URL(page.url()).pathname, "/");
  await page.goto(`${service.baseUrl}/dashboard/settings`);
  assert.match(page.url(), /\/sign-in\?return_to=%2Fdashboard%2Fsettings$/);
  await opened.close();
});

test("an owner invites a colleague, who joins without a key and, without script, on a phone", async () => {
  const { key } = await newPartner(service, { name: "Invited Title" });
  const owner = await signedIn(service, browser, { key, email: "inviter@acme.example", width: 1280 });
  await owner.page.getByRole("link", { name: "Team" }).click();
  await owner.page.getByLabel("Email").fill("Colleague@Acme.example");
  await owner.page.getByRole("button", { name: "Send invitation" }).click();
  await owner.page.getByRole("status").getByText("The invitation is being emailed.").waitFor();
  await owner.page.locator("#invitations").getByText("colleague@acme.example", { exact: true }).waitFor();
  await assertGoodLooks(owner);
  const path = await until(() => invitationsTo(service, "colleague@acme.example")[0]);
  const opened = await browser.open(service.baseUrl + path, { width: 375, javaScript: false });
  const { page } = opened;
  assert.match(page.url(), /\/sign-in\?return_to=%2Fdashboard%2Finvitation$/);
  await page.getByLabel("Work email").fill("colleague@acme.example");
  await page.getByRole("button", { name: "Send me a link" }).click();
  const [signInPath = ""] = await until(() => {
    const links = linksTo(service, "colleague@acme.example");
    return links.length > 0 ? links : undefined;
  });
  await page.goto(service.baseUrl + signInPath);
  await page.getByRole("main").getByRole("button", { name: "Sign in" }).click();
  assert.equal(await page.getByRole("heading", { level: 1 }).textContent(), "Join Invited Title");
  assert.equal(await opened.overflow(), 0);
  await page.getByRole("button", { name: "Accept the invitation" }).click();
  await page.getByRole("status").getByText("You are now a member of the firm.").waitFor();
  await page.goto(service.baseUrl + path);
  assert.equal(await page.getByRole("heading", { level: 1 }).textContent(), "This invitation cannot be used");
  assert.equal(await opened.overflow(), 0);
  await opened.close();
  await owner.close();
});

test("an owner creates, rotates and revokes a key, which is shown once each time", async () => {
  const { key } = await newPartner(service, { name: "Key Title" });
  const opened = await signedIn(service, browser, { key, email: "keys@acme.example", width: 1280 });
  const { page } = opened;
  await page.getByRole("link", { name: "API keys" }).click();
  await page.getByLabel("Name").fill("Intake <1>");
  await page.getByLabel("What it may do").selectOption("restricted");
  await page.getByRole("button", { name: "Create key" }).click();
  assert.match((await page.getByRole("alert").textContent()) ?? "", /Tick at least one box/);
  await assertGoodLooks(opened);
  await page.getByLabel("orders", { exact: true }).check();
  await page.getByRole("button", { name: "Create key" }).click();
  const shown = (await page.locator("#secret code").textContent()) ?? "";
  assert.match(shown, /^svc_pk_test_[a-z2-7]{52}$/);
  await assertGoodLooks(opened);
  await page.getByRole("link", { name: /I saved it/ }).click();
  assert.equal(await page.getByText(shown).count(), 0);
  await page.getByLabel("How long the old key goes on").selectOption("1");
  await page.getByRole("button", { name: "Rotate key" }).click();
  const rotated = (await page.locator("#secret code").textContent()) ?? "";
  assert.notEqual(rotated, shown);
  await page.getByRole("link", { name: /I saved it/ }).click();
  await page.getByText("Revoke this key").click();
  await assertGoodLooks(opened);
  await page.getByRole("button", { name: "Revoke now" }).click();
  await page.getByRole("status").getByText("The key no longer works.").waitFor();
  await page.getByRole("link", { name: "All keys" }).click();
  await page.locator("#ended").getByText("Revoked").waitFor();
  await assertGoodLooks(opened);
  assert.deepEqual(
    opened.troubles.filter((trouble) => !trouble.includes("status of 400")),
    [],
  );
  await opened.close();
});

test("a member sees the branding and can't change it", async () => {
  const { key } = await newPartner(service);
  await newMember(service, "first@acme.example", key);
  const opened = await signedIn(service, browser, { key, email: "second@acme.example", width: 360 });
  const { page } = opened;
  await page.goto(`${service.baseUrl}/dashboard/settings`);
  assert.equal(await page.getByRole("button", { name: "Save branding" }).count(), 0);
  await page.goto(`${service.baseUrl}/dashboard/keys`);
  assert.equal(await page.getByRole("button", { name: "Create key" }).count(), 0);
  assert.deepEqual(await page.getByRole("columnheader").allTextContents(), ["Name", "Key"]);
  await page.goto(`${service.baseUrl}/dashboard/team`);
  assert.equal(await page.getByRole("button", { name: "Send invitation" }).count(), 0);
  assert.equal(await page.getByRole("button", { name: /^Make / }).count(), 0);
  assert.equal(await page.getByText("Remove", { exact: true }).count(), 0);
  await page.getByText("Leave the firm").click();
  await page.getByRole("button", { name: "Leave now" }).click();
  assert.match(page.url(), /\/dashboard\/link\?done=firm-left$/);
  await page.getByRole("status").getByText("You left the firm.").waitFor();
  await opened.close();
});

test("everything in the frame works without script, and by keyboard alone", async () => {
  const { key, partnerId } = await newPartner(service);
  await service.cli("partner", "set", partnerId, "--live", "on");
  const opened = await signedIn(service, browser, {
    key,
    email: "noscript@acme.example",
    width: 1280,
    javaScript: false,
  });
  const { page } = opened;
  assert.equal(await page.getByRole("button", { name: "Live", exact: true }).isDisabled(), true, "by a test key");
  await giveLiveAccess(service, partnerId);
  await page.reload();
  assert.equal(await page.getByRole("button", { name: "Test", exact: true }).getAttribute("aria-pressed"), "true");
  await page.getByRole("button", { name: "Live", exact: true }).focus();
  await page.keyboard.press("Enter");
  await page.waitForURL(/done=environment/);
  assert.equal(await page.getByRole("button", { name: "Live", exact: true }).getAttribute("aria-pressed"), "true");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  assert.match(page.url(), /#main$/);
  await page.getByRole("link", { name: "Analytics" }).click();
  assert.equal(await page.getByRole("heading", { level: 1 }).textContent(), "Analytics");
  await opened.close();
});

test("the pages of analytics and of an unknown address are accessible and fit", async () => {
  const { key } = await newPartner(service);
  const opened = await signedIn(service, browser, { key, email: "pages@acme.example", width: 1280 });
  for (const path of ["/dashboard/analytics", "/dashboard/analytics?days=366"]) {
    await opened.page.goto(service.baseUrl + path);
    await assertGoodLooks(opened);
  }
  for (const path of ["/dashboard/analytics?days=x", "/dashboard/nothing"]) {
    const answer = await opened.page.goto(service.baseUrl + path);
    assert.ok(answer && [400, 404].includes(answer.status()), path);
    await assertGoodLooks(opened);
  }
  await opened.close();
});

test("a form that another site sends does nothing, even though the browser sends the cookie", async () => {
  const { key } = await newPartner(service);
  const opened = await signedIn(service, browser, { key, email: "csrf@acme.example", width: 1280 });
  const { page } = opened;
  await page.context().route("https://evil.example/", (route) =>
    route.fulfill({
      contentType: "text/html",
      body: `<form method="post" action="${service.baseUrl}/dashboard/settings/branding"><input name="brandName" value="Stolen"><button>Win</button></form>`,
    }),
  );
  await page.goto("https://evil.example/");
  await page.getByRole("button", { name: "Win" }).click();
  await page.waitForURL(`${service.baseUrl}/**`);
  await page.goto(`${service.baseUrl}/dashboard/settings`);
  assert.equal(await page.getByLabel("Brand name").inputValue(), "");
  await opened.close();
});

const asPage = { Accept: "text/html,application/xhtml+xml,*/*;q=0.8" };
const ask = (path: string, headers: Record<string, string>) =>
  fetch(service.baseUrl + path, { headers, redirect: "manual" });

test("a part that refreshes itself learns that its session is over, and is not redirected to a page", async () => {
  const { key } = await newPartner(service);
  const { headers: linked } = await newMember(service, "poll@acme.example", key);
  const { headers: unlinked } = await signIn(service, "poll-unlinked@acme.example");
  const path = "/dashboard/webhooks/00000000-0000-4000-8000-000000000000/deliveries";
  const poll = { ...asPage, "HX-Request": "true" };
  for (const [session, status, location] of [
    [{}, 401, `/sign-in?return_to=${encodeURIComponent(path)}`],
    [unlinked, 403, "/dashboard/link"],
  ] as const) {
    const polled = await ask(path, { ...poll, ...session });
    assert.deepEqual([polled.status, polled.headers.get("content-type")], [status, "text/plain; charset=utf-8"]);
    assert.equal(polled.headers.get("cache-control"), "no-store");
    assert.ok((await polled.text()).length < 100);
    const looked = await ask(path, { ...asPage, ...session });
    assert.deepEqual([looked.status, looked.headers.get("location")], [303, location]);
  }
  assert.equal((await ask(path, { ...poll, ...linked })).status, 404);
});

test("the address of a form redirects to its page; other addresses of forms state their method", async () => {
  const { key } = await newPartner(service);
  const { headers } = await newMember(service, "back@acme.example", key);
  const code = "f".repeat(40);
  for (const [form, page] of [
    ["/dashboard/settings/branding", "/dashboard/settings"],
    ["/dashboard/team/members/x/role?a=b", "/dashboard/team"],
    ["/dashboard/environment", "/dashboard"],
    [`/dashboard/rooms/${code}/orders`, `/dashboard/rooms/${code}`],
    [`/dashboard/rooms/${code}/orders/${code}/detach`, `/dashboard/rooms/${code}`],
    ["/dashboard/rooms/%2f%2fevil.example/close", "/dashboard/rooms/%2f%2fevil.example"],
    [`/dashboard/orders/${code}/sandbox/advance`, `/dashboard/orders/${code}`],
    ["/dashboard/webhooks/x/rotate", "/dashboard/webhooks/x"],
    ["/dashboard/webhooks/x/deliveries/y/replay", "/dashboard/webhooks/x/deliveries"],
  ] as const) {
    const answer = await ask(form, { ...asPage, ...headers });
    assert.deepEqual([answer.status, answer.headers.get("location")], [303, page], form);
    assert.match((await ask(form, asPage)).headers.get("location") ?? "", /^\/sign-in\?/);
  }
  const unknown = await postForm(`${service.baseUrl}/dashboard/nothing/here`, {}, { ...asPage, ...headers });
  assert.equal(unknown.status, 404);

  const page = await ask("/sign-out", asPage);
  assert.deepEqual([page.status, page.headers.get("allow")], [405, "POST"]);
  assert.match(await page.text(), /This address does not accept this request/);
  for (const accept of ["application/json", "*/*", "text/html;q=0", "application/text/html"]) {
    const refused = await ask("/sign-out", { Accept: accept });
    assert.deepEqual([refused.status, refused.headers.get("allow")], [405, "POST"], accept);
    assert.deepEqual(await refused.json(), { error: "Method not allowed." });
  }
});
