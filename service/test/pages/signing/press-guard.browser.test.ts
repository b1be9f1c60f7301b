import assert from "node:assert/strict";
import { after, type Browser, before, type OpenPage, startBrowser, test } from "@signsealship/testing/browser";
import { fieldsOfNewTypes, fieldsWithRules } from "./made-fields.ts";
import type { Options } from "./memory-ceremony.ts";
import { type Envelope, openSigningSite, settled } from "./signing-site.ts";

let site: Awaited<ReturnType<typeof openSigningSite>>;
let browser: Browser;
before(async () => {
  [site, browser] = await Promise.all([openSigningSite(), startBrowser()]);
});
after(async () => {
  await browser.close();
  await site.close();
});

type Opened = OpenPage & { envelope: Envelope };

/** A signer on a phone who has consented, and whose document is checked. */
async function open(options: Options): Promise<Opened> {
  const envelope = await site.open(options);
  const opened = await browser.open(site.url, { width: 360, height: 740 });
  const { page } = opened;
  await page.getByLabel("I opened the document").check();
  await page.getByRole("button", { name: "I agree" }).click();
  await page.getByText("Checked: the document that you see").waitFor();
  await settled(page);
  return { ...opened, envelope };
}

const initialsAt = (page: number, y: number): NonNullable<Options["more"]>[number] => ({
  kind: "initials",
  signer: 1,
  page,
  place: { x: 480, y, width: 40, height: 14 },
  label: `Initials ${page}-${y}`,
});

/** Clicks at the element's current position, without Playwright's wait until the element accepts clicks. */
async function pressAtOnce({ page }: OpenPage, selector: string): Promise<void> {
  const at = await page.locator(selector).evaluate((element) => {
    const { x, y, width, height } = element.getBoundingClientRect();
    return { x: x + width / 2, y: y + height / 2 };
  });
  await page.mouse.click(at.x, at.y);
}

async function adoptInitials({ page }: OpenPage): Promise<void> {
  await page.getByRole("button", { name: "Initials, page 1. Fill in" }).click();
  await page.getByRole("button", { name: "OK", exact: true }).click();
  await settled(page);
}

async function fillSignature({ page }: OpenPage): Promise<void> {
  await page.getByRole("button", { name: /^Signature, page \d+\. Fill in/ }).click();
  await page.getByRole("button", { name: "OK", exact: true }).click();
  await settled(page);
}

const bar = ".viewer-bar button";
const isAsked = ({ envelope }: Opened) => envelope.asked.some((one) => one.startsWith("sign"));
const filled = ({ page }: OpenPage) => page.locator("button.viewer-field.filled").count();
const focused = ({ page }: OpenPage) =>
  page.evaluate<string>("document.activeElement.id || document.activeElement.getAttribute('aria-label')");

/** Waits until the page of the document was visible for longer than a double tap. */
async function seen({ page }: OpenPage, n: number): Promise<void> {
  await page.locator(`.viewer-page:nth-child(${n}) canvas`).waitFor();
  await page.waitForTimeout(900);
}

test("a double tap on the last open field does not sign, although Sign is then below the finger", async () => {
  const opened = await open({ pages: 1, more: [initialsAt(0, 300)] });
  const { page } = opened;
  await fillSignature(opened);
  await adoptInitials(opened);
  await pressAtOnce(opened, "button.viewer-field:not(.filled):not([aria-label^=Parcel])");
  assert.equal(await focused(opened), "sign-values");
  await pressAtOnce(opened, "#sign-button");
  await page.locator("#sign-button").press("Enter");
  await page.waitForTimeout(200);
  assert.equal(isAsked(opened), false);
  assert.equal(await page.locator("#sign-button").isEnabled(), true);
  await settled(page);
  await pressAtOnce(opened, "#sign-button");
  await page.getByText("Your signature is in the document.").waitFor();
  assert.deepEqual(opened.troubles, []);
  await opened.close();
});

test("a double tap on the bar fills in one place, and does not answer the sheet that opens below it", async () => {
  const opened = await open({ pages: 2, more: [initialsAt(0, 300), initialsAt(0, 200), ...fieldsOfNewTypes(7)] });
  const { page } = opened;
  await pressAtOnce(opened, bar);
  await pressAtOnce(opened, ".sheet [type=submit]");
  await page.keyboard.press("Enter");
  assert.equal(await page.getByRole("dialog").count(), 1);
  await page.getByRole("button", { name: "OK", exact: true }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await seen(opened, 1);
  const before = await filled(opened);
  await pressAtOnce(opened, bar);
  await pressAtOnce(opened, bar);
  await page.keyboard.press("Enter");
  assert.equal((await filled(opened)) - before, 1);
  // The next place is a required checkbox.
  assert.equal(await focused(opened), "I was told of lead paint, page 1");
  assert.equal(await page.locator(".viewer-box[aria-checked=true]").count(), 0);
  await seen(opened, 1);
  await pressAtOnce(opened, bar);
  assert.equal(await page.locator(".viewer-box[aria-checked=true]").count(), 1);
  await opened.close();
});

test("no press fills in a place whose page is not drawn yet: the bar waits, and a press on the place asks first", async () => {
  const envelope = await site.open({ pages: 4, more: [initialsAt(3, 300)] });
  const page = await browser.open(site.url, { width: 360, height: 740 });
  const opened = { ...page, envelope };
  await holdDrawing(opened);
  await adoptInitials(opened);
  const next = opened.page.getByRole("button", { name: "Initials 3-300, page 4. Fill in JD" });
  await fillSignature(opened);
  assert.equal(await focused(opened), "Initials 3-300, page 4. Fill in JD");
  assert.equal(await opened.page.locator(".viewer-page:nth-child(4) canvas").count(), 0);
  await pressAtOnce(opened, bar);
  await settled(opened.page);
  await pressAtOnce(opened, bar);
  assert.equal(await next.count(), 1);
  await next.click();
  await opened.page.getByRole("button", { name: "Cancel" }).click();
  await opened.page.evaluate("release()");
  await seen(opened, 4);
  await pressAtOnce(opened, bar);
  assert.equal(await next.count(), 0);
  await opened.close();
});

/** Blocks the drawing of pdf.js after the consent until `release()` is called. */
async function holdDrawing({ page }: OpenPage): Promise<void> {
  await page.addInitScript(() => {
    const state = window as unknown as { isHeld: boolean; release: () => void };
    const post = Worker.prototype.postMessage;
    const held: (() => void)[] = [];
    Worker.prototype.postMessage = function (this: Worker, ...message: unknown[]) {
      const send = () => (post as (...sent: unknown[]) => void).apply(this, message);
      if (state.isHeld) held.push(send);
      else send();
    };
    state.release = () => {
      state.isHeld = false;
      for (const send of held.splice(0)) send();
    };
  });
  await page.getByLabel("I opened the document").check();
  await page.getByRole("button", { name: "I agree" }).click();
  await page.getByText("Checked: the document that you see").waitFor();
  await settled(page);
  await page.evaluate("isHeld = true");
}

test("a held Enter key fills in nothing more, accepts no sheet, and does not sign", async () => {
  const opened = await open({ pages: 1, more: [initialsAt(0, 300)] });
  const { page } = opened;
  const holdEnter = async () => {
    await page.keyboard.down("Enter");
    for (let n = 0; n < 10; n++) {
      await page.waitForTimeout(100);
      await page.keyboard.down("Enter");
    }
    await page.keyboard.up("Enter");
  };
  const isAsking = async () => (await page.getByRole("dialog").count()) === 1;
  // The first initials and the signature are entered in a dialog; the other initials need one click.
  for (const count of [1, 2]) {
    await page.locator(bar).focus();
    await holdEnter();
    assert.ok(await isAsking());
    await holdEnter();
    assert.ok(!(await isAsking()));
    assert.equal(await filled(opened), count);
  }
  await page.locator(bar).focus();
  await holdEnter();
  assert.equal(await filled(opened), 3);
  await page.evaluate("scrollTo(0, 0)");
  await page.locator(bar).focus();
  await holdEnter();
  assert.equal(await focused(opened), "sign-values");
  assert.equal(isAsked(opened), false);
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.getByText("Your signature is in the document.").waitFor();
  await opened.close();
});

test("the bar fills in no field that it covers itself", async () => {
  const opened = await open({ pages: 2, more: [initialsAt(0, 740)] });
  const { page } = opened;
  await adoptInitials(opened);
  const field = page.getByRole("button", { name: "Initials 0-740, page 1. Fill in JD" });
  const cover = (edge: "bar" | "tools") =>
    field.evaluate((element, side) => {
      const { top, bottom } = element.getBoundingClientRect();
      const strip = document.querySelector(`.viewer-${side}`)?.getBoundingClientRect() ?? new DOMRect();
      scrollBy(0, side === "bar" ? bottom - strip.bottom + 2 : top - strip.top - 2);
    }, edge);
  for (const edge of ["bar", "tools"] as const) {
    await cover(edge);
    await page.waitForTimeout(900);
    await pressAtOnce(opened, bar);
    assert.equal(await field.count(), 1, `it is below the ${edge}`);
  }
  await page.waitForTimeout(900);
  await pressAtOnce(opened, bar);
  assert.equal(await field.count(), 0);
  await opened.close();
});

test("a double tap on a tick that moves Sign below the finger does not sign", async () => {
  const opened = await open({ pages: 1, more: fieldsWithRules() });
  const { page } = opened;
  await page.getByRole("textbox", { name: "Initials" }).fill("JD");
  await page.getByRole("checkbox", { name: "Rooms: Yard, page 1" }).click();
  const pets = page.locator("#sign-form").getByRole("checkbox", { name: "Pets" });
  await pets.click();
  await page.locator("#sign-form").getByLabel("Fee").fill("25");
  await page.locator("#sign-button").scrollIntoViewIfNeeded();
  await page.waitForTimeout(900);
  await pets.evaluate((element) => (element as HTMLInputElement).click());
  await pressAtOnce(opened, "#sign-button");
  await page.waitForTimeout(200);
  assert.equal(isAsked(opened), false);
  await page.locator("#sign-button").click();
  await page.getByText("Your signature is in the document.").waitFor();
  await opened.close();
});
