import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  after,
  assertGoodLooks,
  type Browser,
  before,
  type OpenPage,
  startBrowser,
  test,
} from "@signsealship/testing/browser";
import { type CalendarDouble, startCalendar } from "@signsealship/testing/doubles/calendar";
import { startTsa, type TsaDouble } from "@signsealship/testing/doubles/tsa";
import { freePort } from "@signsealship/testing/free-port";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { zooBytes } from "@signsealship/testing/inputs/zoo";
import { newPartner, type Service, startService, temporaryFolder } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import { fileForm } from "../../../evidence/proof-passports/seal-document.ts";
import { signedIn } from "../signed-in-page.ts";

const folder = temporaryFolder();
const path = "/dashboard/passports";
const deed = makePdf({ text: "Deed of trust", bytes: 400_000 });
const notPdf = Buffer.from("<p>No PDF</p>");
const encrypted = zooBytes("encrypted-aes-256.pdf");
const said = { notPdf: "Uploaded bytes are not a PDF.", encrypted: /^The PDF is encrypted: remove its encryption/ };
let tsa: TsaDouble;
let calendar: CalendarDouble;
let service: Service;
let browser: Browser;
let key: string;
let dana: OpenPage;
let cookie: string;

before(async () => {
  [tsa, calendar, browser] = await Promise.all([startTsa(), startCalendar(), startBrowser()]);
  const port = String(await freePort());
  service = await startService({
    DATA_DIR: folder.path,
    PORT: port,
    BASE_URL: `http://127.0.0.1:${port}`,
    TSA_URLS: tsa.url,
    OTS_CALENDARS: calendar.url,
  });
  key = (await newPartner(service, { live: true, name: "Harbor Title" })).key;
  dana = await signedIn(service, browser, { key, width: 1280 });
  await welcomed(dana);
  const session = (await dana.page.context().cookies()).find(({ name }) => name.endsWith("session"));
  cookie = `${session?.name}=${session?.value}`;
});
after(async () => {
  await browser?.close();
  await service?.stop();
  await Promise.all([tsa, calendar].map((double) => double.close()));
  folder.remove();
});

const welcomed = ({ page }: OpenPage) => page.getByRole("heading", { level: 1, name: /^Welcome/ }).waitFor();
const address = (more = "") => `${service.baseUrl}${path}${more}`;
// Leaves out two things that the browser reports: error statuses, and requests that were aborted when a page was left.
const ownTroubles = ({ troubles }: OpenPage) => troubles.filter((line) => !/status of 40[04]|^failed: /.test(line));
const send = (body: FormData | string, headers: Record<string, string> = {}) =>
  fetch(address(), { method: "POST", body, headers: { Cookie: cookie, ...headers }, redirect: "manual" });
const json = { Accept: "application/json" };

/** Seals a new PDF by a direct request, without the page. @returns the page of its passport */
async function sealed(text: string): Promise<string> {
  const response = await send(fileForm(makePdf({ text })), json);
  assert.equal(response.status, 200, await response.clone().text());
  return ((await response.json()) as { location: string }).location;
}

type Given = { name: string; bytes: Buffer | number };

/** Drops files on the page. For a number as `bytes`, creates a file of that size. */
async function drop({ page }: OpenPage, files: Given[]): Promise<void> {
  const given = files.map(({ name, bytes }) => ({
    name,
    text: typeof bytes === "number" ? bytes : bytes.toString("base64"),
  }));
  await page.evaluate(`{
    const transfer = new DataTransfer();
    for (const { name, text } of ${JSON.stringify(given)}) {
      const bytes = typeof text === "number" ? new Uint8Array(text) : Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
      transfer.items.add(new File([bytes], name, { type: "application/pdf" }));
    }
    document.getElementById("seal-form").dispatchEvent(
      new DragEvent("drop", { dataTransfer: transfer, bubbles: true, cancelable: true }));
  }`);
}

/**
 * Records every text of an element on this page from now on, in the tab's session storage. So the result can still be
 * read on the next page.
 */
async function listen({ page }: OpenPage, selector: string): Promise<() => Promise<string[]>> {
  await page.evaluate(`{
    const heard = [];
    const look = () => {
      const text = document.querySelector("${selector}")?.textContent ?? "";
      if (text !== "" && heard.at(-1) !== text) heard.push(text);
      sessionStorage.setItem("${selector}", JSON.stringify(heard));
    };
    new MutationObserver(look).observe(document.body, { childList: true, subtree: true, characterData: true });
  }`);
  return async () => JSON.parse(String(await page.evaluate(`sessionStorage.getItem("${selector}")`)));
}

test("a dropped file is sent with its progress, is sealed, and its page has a link that verifies it", async () => {
  const { page } = dana;
  await page.goto(address());
  await page.getByText("Nothing sealed yet").waitFor();
  const states = await listen(dana, ".seal-state");
  const announced = await listen(dana, "#seal-said");
  await drop(dana, [{ name: "deed.pdf", bytes: deed }]);
  await page.getByRole("heading", { level: 1, name: "deed" }).waitFor();
  const seen = await states();
  assert.match(seen[0] ?? "", /^Sending 0 %/);
  assert.ok(seen.includes("Sending 100 %"), seen.join());
  assert.deepEqual(seen.slice(-2), ["Sealing…", "Sealed: open it"]);
  assert.deepEqual(await announced(), ["Sending deed.pdf", "Sealing deed.pdf", "deed.pdf is sealed."]);
  const text = (await page.locator("main").textContent()) ?? "";
  for (const fact of ["Submitted to", "by http://127.0.0.1", "Sealed PDF"]) assert.ok(text.includes(fact), fact);
  const link = (await page.locator("#share code").textContent()) ?? "";
  assert.ok(link.startsWith(`${service.baseUrl}/verify/`), link);
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.getByRole("button", { name: "Copy verification link" }).click();
  await page.getByText("Copied").waitFor();
  assert.equal(await page.evaluate("navigator.clipboard.readText()"), link);

  const [pdf] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("link", { name: "Sealed PDF", exact: true }).click(),
  ]);
  await page.goto(link);
  await page.setInputFiles("#drop-files", await pdf.path());
  await page.getByRole("heading", { name: "This document is unchanged since it was sealed" }).waitFor();
  assert.deepEqual(ownTroubles(dana), []);
});

test("of several files each is sealed or refused in its place, and the list below is refreshed", async () => {
  const { page } = dana;
  await page.goto(address());
  await page.locator("#sealed tbody tr").nth(0).waitFor();
  await drop(dana, [
    { name: "a <b>.pdf", bytes: makePdf({ text: "One" }) },
    { name: "page.html", bytes: notPdf },
    { name: "locked.pdf", bytes: encrypted },
    { name: "huge.pdf", bytes: 35 * 1024 * 1024 + 1 },
    { name: "two.pdf", bytes: makePdf({ text: "Two" }) },
  ]);
  await page.getByText("2 of 5 files were sealed.").waitFor();
  await until(async () => (await page.locator("#sealed tbody tr").count()) === 3);
  const lines = page.locator("#seal-files li");
  assert.deepEqual(await page.locator("#seal-files .seal-name").allTextContents(), [
    "a <b>.pdf",
    "page.html",
    "locked.pdf",
    "huge.pdf",
    "two.pdf",
  ]);
  const states = await lines.locator(".seal-state").allTextContents();
  assert.equal(states[1], said.notPdf);
  assert.match(states[2] ?? "", said.encrypted);
  assert.equal(states[3], "Choose one PDF of up to 35 MB.");
  assert.deepEqual(await dana.axe(), []);
  await lines.nth(4).getByRole("link", { name: "open it" }).click();
  await page.getByRole("heading", { level: 1, name: "two" }).waitFor();
  assert.deepEqual(ownTroubles(dana), []);
});

test("a chosen file is handled in the same way, and a refused one leaves the page unchanged", async () => {
  const { page } = dana;
  await page.goto(address());
  await page
    .getByLabel("Drop a PDF here")
    .setInputFiles({ name: "a.pdf", mimeType: "application/pdf", buffer: notPdf });
  await page.getByRole("button", { name: "Seal document" }).click();
  await page.getByText(said.notPdf, { exact: true }).waitFor();
  await page.getByText(`a.pdf: ${said.notPdf}`).waitFor();
  assert.equal(page.url(), address());
  await page.getByLabel("Drop a PDF here").setInputFiles({ name: "b.pdf", mimeType: "application/pdf", buffer: deed });
  await page.getByRole("button", { name: "Seal document" }).click();
  await page.getByRole("heading", { level: 1, name: "b", exact: true }).waitFor();
});

test("a broken connection is reported in place", async () => {
  const { page } = dana;
  await page.goto(address());
  await page.route(`**${path}`, (route) => (route.request().method() === "POST" ? route.abort() : route.fallback()));
  await drop(dana, [{ name: "deed.pdf", bytes: deed }]);
  await page.getByText("The connection was lost. Please send the file again.", { exact: true }).waitFor();
  await page.unroute(`**${path}`);
  dana.troubles.length = 0;
});

test("without script a chosen file is sealed, and refusals are shown on the same page", async () => {
  const opened = await signedIn(service, browser, { key, width: 360, javaScript: false });
  await welcomed(opened);
  const { page } = opened;
  await page.goto(address());
  const file = join(folder.path, "a.pdf");
  const choose = async (bytes: Buffer) => {
    writeFileSync(file, bytes);
    await page.getByLabel("Choose a PDF").setInputFiles(file);
    const [response] = await Promise.all([
      page.waitForResponse((each) => each.request().method() === "POST"),
      page.getByRole("button", { name: "Seal document" }).click(),
    ]);
    await page.waitForLoadState();
    return response.status();
  };
  for (const [bytes, words] of [
    [notPdf, said.notPdf],
    [encrypted, said.encrypted],
    [Buffer.alloc(37 * 1024 * 1024), "Choose one PDF of up to 35 MB."],
  ] as const) {
    assert.equal(await choose(bytes), 400);
    await page.getByRole("alert").getByText(words).waitFor();
  }
  assert.equal(await opened.overflow(), 0);
  assert.equal(await choose(deed), 303);
  await page.getByText("The document is sealed.").waitFor();
  assert.match(page.url(), /\/dashboard\/passports\/[0-9a-f-]{36}\?done=/);
  assert.deepEqual(ownTroubles(opened), []);
  await opened.close();
});

test("the list is paged, newest first, with the facts of each passport", async () => {
  for (let n = 0; n < 20; n++) await sealed(`Page ${n}`);
  const newest = await sealed("Newest");
  const { page } = dana;
  await page.goto(address());
  const rows = page.locator("#sealed tbody tr");
  assert.equal(await rows.count(), 20);
  const first = (await rows.first().textContent()) ?? "";
  for (const cell of ["Yes", "Pending", "Sealed PDF", "Evidence"]) assert.ok(first.includes(cell), cell);
  assert.equal(await rows.first().locator("th a").getAttribute("href"), newest);
  const codes = await rows.locator("td a[href^='/verify/']").allTextContents();
  await page.getByRole("link", { name: "Older sealed PDFs" }).click();
  await page.getByRole("link", { name: "Newest sealed PDFs" }).waitFor();
  codes.push(...(await rows.locator("td a[href^='/verify/']").allTextContents()));
  assert.equal(new Set(codes).size, codes.length);
  assert.ok(codes.length >= 26, String(codes.length));
  assert.equal((await page.goto(address("?cursor=x")))?.status(), 400);
});

test("the pages are accessible and fit", async () => {
  const { page } = dana;
  await page.goto(address());
  await assertGoodLooks(dana);
  await page.locator("#sealed tbody th a").first().click();
  await page.waitForURL(/\/passports\/[0-9a-f-]{36}$/);
  await assertGoodLooks(dana);
});

test("another firm's passport, and the other environment's, look like unknown ones", async () => {
  const own = await sealed("Own");
  const other = await signedIn(service, browser, {
    key: (await newPartner(service, { live: true, name: "Others" })).key,
    email: "other@river-title.com",
    width: 1280,
  });
  await welcomed(other);
  for (const unknown of [own, `${path}/${"0".repeat(8)}-0000-4000-8000-${"0".repeat(12)}`, `${path}/x`]) {
    assert.equal((await other.page.goto(service.baseUrl + unknown))?.status(), 404);
  }
  await other.page.goto(address());
  await other.page.getByText("Nothing sealed yet").waitFor();
  await other.close();

  const { page } = dana;
  const switchTo = (environment: string) => page.getByRole("button", { name: environment, exact: true }).click();
  await page.goto(address());
  const now = await page.locator(".environment [aria-pressed=true]").textContent();
  await switchTo(now === "Live" ? "Test" : "Live");
  await page.getByText("Nothing sealed yet").waitFor();
  assert.equal((await page.goto(service.baseUrl + own))?.status(), 404);
  await page.goto(address());
  await switchTo(now ?? "");
  assert.equal((await page.goto(service.baseUrl + own))?.status(), 200);
});

test("the form counts for the firm, accepts one PDF from our own pages, and refuses everything else in the requested format", async () => {
  const form = () => fileForm(deed);
  const fine = await send(form(), json);
  assert.equal(fine.status, 200);
  assert.match(fine.headers.get("ratelimit-policy") ?? "", /^"partner-write"/);
  assert.equal(fine.headers.get("cache-control"), "no-store");
  const two = form();
  two.append("file", new Blob(["x"]), "x.pdf");
  const choose = "Choose one PDF of up to 35 MB.";
  const refused: [FormData | string, Record<string, string>, number, string][] = [
    ["{}", { "Content-Type": "application/json" }, 400, choose],
    [new FormData(), {}, 400, choose],
    [two, {}, 400, choose],
    [fileForm(deed, "document"), {}, 400, choose],
    [fileForm(Buffer.alloc(35 * 1024 * 1024 + 1, "%PDF-1.7\n")), {}, 400, choose],
    [fileForm(notPdf), {}, 400, said.notPdf],
    [form(), { Origin: "https://evil.example" }, 403, "This request came from another site."],
    [form(), { Cookie: "" }, 401, "Sign in to continue."],
  ];
  for (const [body, headers, status, error] of refused) {
    const response = await send(body, { ...json, ...headers });
    assert.equal(response.status, status, error);
    assert.deepEqual(await response.json(), { error });
  }
  const page = await send(fileForm(notPdf), { Accept: "text/html" });
  assert.equal(page.status, 400);
  assert.match(await page.text(), /role="alert"[\s\S]*Uploaded bytes are not a PDF/);
});

test("a form that is sent twice seals its PDF once, in the environment where it was opened", async () => {
  const headers = { Cookie: cookie, Accept: "text/html" };
  const page = async () => (await fetch(address(), { headers })).text();
  const [, submission = "", environment = ""] =
    /name="submission" value="([a-z2-7]{52})"><input type="hidden" name="environment" value="(\w+)"/.exec(
      await page(),
    ) ?? [];
  const form = (text: string, more: Record<string, string> = {}) => {
    const body = fileForm(makePdf({ text }));
    for (const [name, value] of Object.entries({ submission, environment, ...more })) body.append(name, value);
    return body;
  };
  const places = async (forms: FormData[]) => {
    const answers = await Promise.all(forms.map((body) => send(body, json)));
    return Promise.all(answers.map(async (answer) => ((await answer.json()) as { location: string }).location));
  };
  const [one, ...twins] = await places([form("Once"), form("Once"), form("Once")]);
  assert.match(one ?? "", /^\/dashboard\/passports\/[0-9a-f-]{36}$/);
  assert.deepEqual(new Set(twins), new Set([one]));
  assert.equal((await send(form("Once"))).headers.get("location"), `${one}?done=passport-sealed`);
  const others = await places([form("Another"), form("Once", { submission: "" })]);
  assert.equal(new Set([one, ...others]).size, 3);

  const stale = { environment: environment === "live" ? "test" : "live" };
  const words = "You switched between test and live since you opened this form. Nothing was changed.";
  const refused = await send(form("Stale", stale), json);
  assert.deepEqual([refused.status, await refused.json()], [409, { error: words }]);
  const shown = await send(form("Stale", stale), { Accept: "text/html" });
  assert.equal(shown.status, 409);
  assert.match(await shown.text(), /role="alert"[\s\S]*You switched between test and live/);
});

test("a file that is dropped after a switch in another tab is refused in its place", async () => {
  const { page } = dana;
  await page.goto(address());
  const switchTo = (environment: string) =>
    fetch(`${service.baseUrl}/dashboard/environment`, {
      method: "POST",
      headers: { Cookie: cookie },
      body: new URLSearchParams({ environment }),
    });
  const now = (await page.locator(".environment [aria-pressed=true]").textContent())?.toLowerCase() ?? "";
  await switchTo(now === "live" ? "test" : "live");
  await drop(dana, [{ name: "deed.pdf", bytes: deed }]);
  await page.locator(".seal-state").getByText("You switched between test and live").waitFor();
  await switchTo(now);
});

test("a passport's page has its certificate for the firm, and the public page has one that does not name the firm", async () => {
  const location = await sealed("Deed with a certificate");
  const certificateOn = async (url: string): Promise<string> => {
    await dana.page.goto(service.baseUrl + url);
    const href = await dana.page.getByRole("link", { name: "Certificate (PDF)" }).getAttribute("href");
    const response = await fetch(service.baseUrl + href, { headers: { Cookie: cookie } });
    assert.deepEqual([response.status, response.headers.get("content-type")], [200, "application/pdf"]);
    return Buffer.from(await response.arrayBuffer()).toString("latin1");
  };
  const firm = "on behalf of Harbor Title, certifies";
  assert.ok((await certificateOn(location)).includes(firm));
  const page = await dana.page.getByRole("link", { name: "Open the verification page" }).getAttribute("href");
  assert.ok(!(await certificateOn(page ?? "")).includes(firm));
});
