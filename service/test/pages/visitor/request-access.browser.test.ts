import assert from "node:assert/strict";
import {
  after,
  assertGoodLooks,
  type Browser,
  before,
  beforeEach,
  type Look,
  startBrowser,
  test,
} from "@signsealship/testing/browser";
import { type RecaptchaDouble, startRecaptcha } from "@signsealship/testing/doubles/recaptcha";
import { freePort } from "@signsealship/testing/free-port";
import { type Service, startService, temporaryFolder } from "@signsealship/testing/service";
import type { ListedRequest } from "../../../src/firms/access-requests/access-requests.ts";

const folder = temporaryFolder();
const useCase = "We are a title company and want our closings notarized online\nbefore the deeds are recorded.";
let scorer: RecaptchaDouble;
let browser: Browser;
let service: Service;

before(async () => {
  scorer = await startRecaptcha();
  const port = String(await freePort());
  [service, browser] = await Promise.all([
    startService({
      DATA_DIR: folder.path,
      RATE_LIMITS: "off",
      PORT: port,
      BASE_URL: `http://127.0.0.1:${port}`,
      RECAPTCHA_SITE_KEY: scorer.siteKey,
      RECAPTCHA_SECRET: scorer.secret,
      RECAPTCHA_API_BASE: scorer.apiBase,
    }),
    startBrowser(),
  ]);
});
after(async () => {
  await browser.close();
  await service.stop();
  await scorer.close();
  folder.remove();
});
beforeEach(() => {
  Object.assign(scorer, { score: 0.9, mode: "proper", page: "proper" });
  scorer.asked.length = 0;
});

let counter = 0;
const newAddress = () => {
  counter += 1;
  return `dana@harbor-${counter}.com`;
};

async function open(look: Look) {
  const opened = await browser.open(`${service.baseUrl}/request-access`, look);
  const { page } = opened;
  return {
    ...opened,
    fill: async (values: Record<string, string>) => {
      for (const [label, value] of Object.entries(values)) await page.getByLabel(label, { exact: false }).fill(value);
    },
    send: () => page.getByRole("button", { name: "Send request" }).click(),
    heading: (name: RegExp) => page.getByRole("heading", { level: 1, name }).waitFor(),
    /** Leaves out messages about the URLs of the reCAPTCHA double, and about the status of a rejected form. */
    ownTroubles: () =>
      opened.troubles.filter((line) => !line.includes(scorer.apiBase) && !line.includes("status of 400")),
  };
}

const reasonsOf = async (address: string) => {
  const { requests } = await service.cli<{ requests: ListedRequest[] }>("request", "list");
  return requests.find(({ workEmail }) => workEmail === address)?.reasons;
};

test("form, refusal and thanks are accessible and fit", async () => {
  const opened = await open({ width: 360 });
  const { page, close, fill, send, heading, ownTroubles } = opened;
  await assertGoodLooks(opened);
  await fill({ Firm: "Harbor", "Your name": "x".repeat(150), "Work email": "dana@localhost" });
  await send();
  await page.getByRole("alert").waitFor();
  await assertGoodLooks(opened);
  await fill({ "Work email": newAddress() });
  await send();
  await heading(/We will review your request/);
  await assertGoodLooks(opened);
  assert.deepEqual(ownTroubles(), []);
  await close();
});

test("the docs are accessible and fit, and a chosen language is remembered", async () => {
  const opened = await browser.open(`${service.baseUrl}/docs`, { width: 360 });
  const { page, close, troubles } = opened;
  await assertGoodLooks(opened);
  await page.locator("main ul.links").getByRole("link", { name: "Webhooks" }).click();
  await assertGoodLooks(opened);
  const samples = page.locator(".tabs").first().locator(".sample");
  assert.match(await samples.nth(0).innerText(), /curl/);
  await page.locator(".tabs").first().getByText("Python", { exact: true }).click();
  assert.deepEqual([await samples.nth(0).isVisible(), await samples.nth(2).isVisible()], [false, true]);
  await page.locator(".guide-steps").getByRole("link", { name: /^Next/ }).click();
  assert.match(await page.locator(".tabs").first().locator(".sample:visible").innerText(), /from signsealship import/);
  assert.deepEqual(troubles, []);
  await close();
});

test("without a script a language can be chosen, too", async () => {
  const { page, close } = await browser.open(`${service.baseUrl}/docs/webhooks`, { width: 360, javaScript: false });
  const samples = page.locator(".tabs").first().locator(".sample");
  await page.locator(".tabs").first().getByText("TypeScript", { exact: true }).click();
  assert.deepEqual([await samples.nth(0).isVisible(), await samples.nth(1).isVisible()], [false, true]);
  await close();
});

test("a firm that meets the rules is told that its key is mailed and what to do with it, and a token was sent", async () => {
  const { page, close, fill, send, heading, ownTroubles } = await open({ width: 360 });
  const address = newAddress();
  await fill({
    Firm: "Harbor Title",
    "Your name": "Dana",
    "Work email": address,
    "Your role": "Closer",
    "use it for": useCase,
  });
  await send();
  await heading(/key is on its way/);
  assert.equal(await page.locator("main a[href='/sign-in']").count(), 1);
  assert.equal(scorer.asked.length, 1);
  assert.ok((scorer.asked[0]?.get("response")?.length ?? 0) > 100);
  const { requests } = await service.cli<{ requests: ListedRequest[] }>("request", "list");
  const kept = requests.find(({ workEmail }) => workEmail === address);
  assert.deepEqual([kept?.status, kept?.reasons, kept?.role, kept?.useCase], ["issued", [], "Closer", useCase]);
  await page.reload();
  await heading(/key is on its way/);
  assert.deepEqual(ownTroubles(), []);
  await close();
});

test("without script the form is sent without a token, and the typed text stays next to the server's words", async () => {
  const { page, overflow, close, fill, send, heading } = await open({ width: 360, javaScript: false });
  const typed = {
    Firm: `Harbor "Title" <b>& Sons`,
    "Your name": "Dana",
    "Work email": "dana@localhost",
    "use it for": useCase,
  };
  await fill(typed);
  await send();
  await page.getByRole("alert").waitFor();
  assert.match((await page.getByRole("alert").textContent()) ?? "", /a valid “Work email” are required\./);
  const email = page.getByLabel("Work email");
  assert.equal(await email.getAttribute("aria-invalid"), "true");
  const described = (await email.getAttribute("aria-describedby"))?.split(" ") ?? [];
  assert.match((await page.locator(`#${described.at(-1)}`).textContent()) ?? "", /Enter your work email/);
  assert.equal(await page.locator("[aria-invalid]").count(), 1);
  for (const [label, value] of Object.entries(typed)) assert.equal(await page.getByLabel(label).inputValue(), value);
  assert.equal(await overflow(), 0);
  await fill({ "Work email": newAddress() });
  await send();
  await heading(/key is on its way/);
  assert.equal(scorer.asked.length, 0);
  await close();
});

test("the browser itself requires the fields, and sends nothing before", async () => {
  const { page, close, fill, send } = await open({ width: 360 });
  const valid = () => page.evaluate("document.querySelector('form').checkValidity()");
  assert.equal(await valid(), false);
  await fill({ Firm: "Harbor", "Your name": "Dana", "Work email": "dana" });
  await send();
  assert.equal(await valid(), false);
  assert.equal(await page.getByRole("alert").count(), 0);
  await fill({ "Work email": newAddress() });
  assert.equal(await valid(), true);
  await close();
});

test("a request with a low score gets the same answer as others that wait, and only the operator sees why", async () => {
  scorer.score = 0.1;
  const { page, close, fill, send, heading } = await open({ width: 360 });
  const address = newAddress();
  await fill({ Firm: "Harbor", "Your name": "Dana", "Work email": address, "use it for": useCase });
  await send();
  await heading(/We will review your request/);
  assert.doesNotMatch((await page.locator("main").textContent()) ?? "", /score|bot|captcha/i);
  assert.deepEqual(await reasonsOf(address), ["bot_score"]);
  await close();
});

test("an unreachable scorer, in the page or behind it, delays nobody", async () => {
  const cases = [{ page: "missing" }, { page: "silent" }, { mode: "hang-up" }, { mode: "junk" }] as const;
  for (const broken of cases) {
    Object.assign(scorer, { page: "proper", mode: "proper" }, broken);
    const { page, close, fill, send, heading } = await open({ width: 360, fakeClock: true });
    const address = newAddress();
    await fill({ Firm: "Harbor", "Your name": "Dana", "Work email": address, "use it for": useCase });
    await send();
    if (broken !== cases[0]) await page.clock.runFor(3000);
    await heading(/key is on its way/);
    assert.deepEqual(await reasonsOf(address), [], JSON.stringify(broken));
    await close();
  }
});

test("the API accepts the same token and asks the same scorer", async () => {
  const ask = async (recaptchaToken: string, workEmail = newAddress()) => {
    const response = await fetch(`${service.baseUrl}/api/partner/request`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ firmName: "Harbor", contactName: "Dana", workEmail, useCase, recaptchaToken }),
    });
    assert.equal(response.status, 200);
    return ((await response.json()) as { status: string }).status;
  };
  const token = () => scorer.newToken({ hostname: "127.0.0.1", action: "request_access" });
  assert.equal(await ask(token()), "issued");
  assert.equal(scorer.asked[0]?.get("remoteip"), "127.0.0.1");
  assert.equal(await ask(""), "issued");
  assert.equal(await ask("made up"), "pending");
  scorer.score = 0.2;
  assert.equal(await ask(token()), "pending");
});

const page = (path = "/request-access") => fetch(service.baseUrl + path, { headers: { Accept: "text/html" } });

test("only the page with the scorer's script allows a script from elsewhere", async () => {
  const withScript = await page();
  const policy = withScript.headers.get("content-security-policy") ?? "";
  assert.match(policy, new RegExp(`script-src 'self' ${scorer.apiBase}/ `));
  assert.match(policy, /form-action 'self'/);
  const text = await withScript.text();
  assert.ok(text.includes(`src="${scorer.apiBase}/api.js?render=${scorer.siteKey}"`));
  assert.match(text, /protected by reCAPTCHA/);
  assert.ok(!text.includes(scorer.secret));
  for (const other of [await page("/"), await page("/request-access/issued")]) {
    assert.match(other.headers.get("content-security-policy") ?? "", /script-src 'self';.*form-action 'self'/);
    assert.doesNotMatch(await other.text(), /recaptcha/i);
  }
  assert.match(await (await page("/")).text(), /href="\/request-access"/);
});

const post = (body: RequestInit["body"], headers: Record<string, string> = {}) =>
  fetch(`${service.baseUrl}/request-access`, {
    method: "POST",
    headers: { Accept: "text/html", ...headers },
    body: body ?? null,
    redirect: "manual",
  });

test("no body causes a server error: each gets a page that names the fault", async () => {
  const form = { "Content-Type": "application/x-www-form-urlencoded" };
  const whole = { firmName: "Harbor", contactName: "Dana", workEmail: newAddress() };
  const refused: [RequestInit["body"], Record<string, string>, number, RegExp][] = [
    [null, {}, 400, /“Firm”, “Your name”, and a valid “Work email” are required/],
    ["", form, 400, /required/],
    ["%zz=%&=&&__proto__=1&firmName", form, 400, /required/],
    [new URLSearchParams({ ...whole, firmName: "a\0b" }), {}, 400, /“Firm” must be UTF-8 text/],
    [new URLSearchParams({ ...whole, useCase: "x".repeat(4001) }), {}, 400, /use it for” must have at most 4000/],
    ["a".repeat(70_000), form, 413, /could not be read/],
    ["{}", { "Content-Type": "application/json" }, 415, /Send the form as/],
    [new FormData(), {}, 415, /Send the form as/],
  ];
  for (const [body, headers, status, said] of refused) {
    const response = await post(body, headers);
    assert.equal(response.status, status);
    assert.equal(response.headers.get("cache-control"), "no-store");
    assert.match(await response.text(), said);
  }
  // 4,000 characters as a browser counts them: a line break counts as one, although it is sent as two.
  const longest = new URLSearchParams({ ...whole, useCase: `${"x".repeat(1999)}\r\n${"y".repeat(2000)}` });
  const taken = await post(longest);
  assert.deepEqual([taken.status, taken.headers.get("location")], [303, "/request-access/pending"]);
});
