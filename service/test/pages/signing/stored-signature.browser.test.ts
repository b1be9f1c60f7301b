import assert from "node:assert/strict";
import { after, type Browser, before, type OpenPage, startBrowser, test } from "@signsealship/testing/browser";
import { until } from "@signsealship/testing/until";
import { type Envelope, openSigningSite } from "./signing-site.ts";

let site: Awaited<ReturnType<typeof openSigningSite>>;
let browser: Browser;

before(async () => {
  [site, browser] = await Promise.all([openSigningSite(), startBrowser()]);
});
after(async () => {
  await browser.close();
  await site.close();
});

const drawnField = ({ page }: OpenPage) =>
  page.getByRole("button", { name: "Signature, page 2: Drawn by hand. Change" });
const kept = ({ page }: OpenPage) => page.evaluate<number>("sessionStorage.length + localStorage.length");
const checked = ({ page }: OpenPage) => page.getByText("Checked: the document that you see").waitFor();

/** A signer who has consented and drawn a signature. */
async function drawn(): Promise<OpenPage & { envelope: Envelope }> {
  const envelope = await site.open({ pages: 2 });
  const opened = { ...(await browser.open(site.url, { width: 375, height: 740 })), envelope };
  const { page } = opened;
  await page.getByLabel("I opened the document").check();
  await page.getByRole("button", { name: "I agree" }).click();
  await checked(opened);
  await page.getByRole("button", { name: "Signature, page 2. Fill in" }).click();
  await page.getByLabel("Draw", { exact: true }).check();
  const pad = (await page.locator(".sheet-drawing").boundingBox()) ?? assert.fail("there is nothing to draw on");
  await page.mouse.move(pad.x + 20, pad.y + 10);
  await page.mouse.down();
  await page.mouse.move(pad.x + 80, pad.y + 50, { steps: 5 });
  await page.mouse.up();
  await page.getByRole("button", { name: "OK" }).click();
  await drawnField(opened).waitFor();
  return opened;
}

test("a drawn signature survives a reload, is signed as drawn, and nothing of it stays in the browser", async () => {
  const opened = await drawn();
  const { page, envelope } = opened;
  const value = () => page.locator("[name=drawn]").inputValue();
  const before = await value();
  await page.reload();
  await drawnField(opened).waitFor();
  assert.equal(await value(), before);
  await checked(opened);
  await page.getByLabel("Initials (page 1)").fill("JD");
  await page.locator("#sign-button").click();
  await page.getByText("Your signature is in the document.").waitFor();
  assert.match(envelope.asked.at(-1) ?? "", /^sign in the browser drawn/);
  assert.equal(await kept(opened), 0);
  assert.deepEqual(opened.troubles, []);
  await opened.close();
});

test("a signer who types a name instead keeps no drawing; typed text is never stored", async () => {
  const opened = await drawn();
  const { page } = opened;
  await drawnField(opened).click();
  await page.getByLabel("Type", { exact: true }).first().check();
  await page.getByRole("button", { name: "OK" }).click();
  assert.equal(await kept(opened), 0);
  await page.reload();
  await page.getByRole("button", { name: "Signature, page 2. Fill in" }).waitFor();
  await opened.close();
});

for (const state of ["declined", "expired", "voided", "completed"] as const)
  test(`nothing stays once the link shows that it is ${state}`, async () => {
    const opened = await drawn();
    assert.equal(await kept(opened), 1);
    opened.envelope.change({ state });
    await opened.page.reload();
    await until(async () => (await kept(opened)) === 0);
    await opened.close();
  });

test("pages of another link, and of one that has ended, delete the kept drawing without showing it; the same link's page of text leaves it", async () => {
  const opened = await drawn();
  const { page } = opened;
  await page.goto(`${site.url}/text`);
  assert.equal(await kept(opened), 1);
  await page.evaluate('sessionStorage.setItem("signature", sessionStorage.getItem("signature").replace(/c+/, "d"))');
  await page.goto(site.url);
  await page.getByRole("button", { name: "Signature, page 2. Fill in" }).waitFor();
  assert.equal(await kept(opened), 0);
  await page.evaluate('sessionStorage.setItem("signature", "no JSON")');
  await page.reload();
  await page.getByRole("button", { name: "Signature, page 2. Fill in" }).waitFor();
  await page.goto(site.url.replace(/c+/, "d".repeat(52)));
  await until(async () => (await kept(opened)) === 0);
  await opened.close();
});

test("another link deletes the kept drawing before that link's signer has agreed to anything", async () => {
  const opened = await drawn();
  const { page } = opened;
  await page.evaluate('sessionStorage.setItem("signature", sessionStorage.getItem("signature").replace(/c+/, "d"))');
  await site.open({ pages: 2 });
  await page.goto(site.url);
  await page.getByRole("button", { name: "I agree" }).waitFor();
  await until(async () => (await kept(opened)) === 0);
  await opened.close();
});
