import assert from "node:assert/strict";
import {
  after,
  assertGoodLooks,
  type Browser,
  before,
  type Look,
  startBrowser,
  test,
} from "@signsealship/testing/browser";
import { until } from "@signsealship/testing/until";
import { fieldsOfNewTypes, fieldsWithRules } from "./made-fields.ts";
import { openSigningSite, settled } from "./signing-site.ts";

let site: Awaited<ReturnType<typeof openSigningSite>>;
let browser: Browser;
before(async () => {
  [site, browser] = await Promise.all([openSigningSite(), startBrowser()]);
});
after(async () => {
  await browser.close();
  await site.close();
});

const looks: readonly Look[] = [
  { width: 375, height: 740 },
  { width: 1280, height: 800 },
];

for (const look of looks)
  test(`boxes, choices and numbers are filled in on the page by keyboard and pointer, listed, and signed with the browser's key at ${look.width}`, async () => {
    const { asked } = await site.open({ more: fieldsOfNewTypes() });
    const opened = await browser.open(site.url, look);
    const { page } = opened;
    await page.getByLabel("I opened the document").check();
    await page.getByRole("button", { name: "I agree" }).click();
    await page.getByText("Checked: the document that you see").waitFor();
    await assertGoodLooks(opened);
    const box = page.locator(".viewer-box").first();
    assert.equal(await box.getAttribute("aria-checked"), "false");
    await settled(page);
    await box.focus();
    await page.keyboard.press("Space");
    assert.equal(await box.getAttribute("aria-checked"), "true");
    assert.equal(await box.getAttribute("aria-label"), "I was told of lead paint, page 1");
    const [sole, joint] = [1, 2].map((index) => page.locator(".viewer-box").nth(index));
    const group = page.getByRole("radiogroup", { name: "Title, page 1" });
    assert.equal(await group.getByRole("radio").count(), 2);
    assert.deepEqual([await sole?.getAttribute("tabindex"), await joint?.getAttribute("tabindex")], ["0", "-1"]);
    await sole?.focus();
    await page.keyboard.press("Space");
    await page.keyboard.press("ArrowUp");
    assert.equal(await joint?.getAttribute("aria-checked"), "true", "up from the first option goes to the last");
    await page.keyboard.press("ArrowRight");
    assert.equal(await sole?.getAttribute("aria-checked"), "true");
    await page.keyboard.press("ArrowDown");
    assert.equal(await joint?.evaluate((element) => element === document.activeElement), true);
    assert.deepEqual(
      [await sole?.getAttribute("aria-checked"), await joint?.getAttribute("aria-checked")],
      ["false", "true"],
    );
    await page.getByRole("button", { name: "Color, page 1. Fill in" }).click();
    await assertGoodLooks(opened);
    await page.locator("#sheet-input").selectOption("Blue");
    await page.getByRole("button", { name: "OK" }).click();
    await page.getByRole("button", { name: "Price, page 1. Fill in" }).click();
    assert.equal(await page.locator("#sheet-input").getAttribute("inputmode"), "decimal");
    await page.locator("#sheet-input").fill("1250");
    await page.getByRole("button", { name: "OK" }).click();
    await page.getByRole("textbox", { name: "Initials" }).fill("JD");
    await page.getByRole("textbox", { name: "Parcel number" }).fill("7");
    const written = await page.locator("#sign-values li").allTextContents();
    for (const item of [
      "I was told of lead paint, page 1: checked",
      "Title: Joint, page 1: checked",
      "Color, page 1: Blue",
      "Price, page 1: $1,250.00",
      "Date, page 3: 2026-11-22, if you sign now",
      "ZIP, page 1: 97201",
    ])
      assert.ok(written.includes(item), `${item} in ${written.join("; ")}`);
    assert.ok(!written.some((item) => item.startsWith("Title: Sole")));
    await assertGoodLooks(opened);
    await page.getByRole("button", { name: "Sign", exact: true }).click();
    await until(() => asked.some((one) => one.startsWith("sign in the browser")));
    const said = asked.find((one) => one.startsWith("sign in the browser")) ?? "";
    for (const part of ['-checkbox","On"', '.o1","Off"', '.o2","On"', '-dropdown","Blue"', '-number","1250"'])
      assert.ok(said.includes(part), `${part} in ${said}`);
    assert.deepEqual(opened.troubles, []);
    await opened.close();
  });

test("rules of fields load only where fields have them, and a page that can't load them offers to try again", async () => {
  const opened = await browser.open(site.url, { width: 375, height: 740 });
  const { page } = opened;
  const loaded: string[] = [];
  page.on("request", (request) => loaded.push(request.url()));
  const rules = /\/assets\/field-rules\./;
  for (const more of [[], fieldsWithRules()]) {
    await site.open({ more });
    await page.route(rules, (route) => route.abort());
    await page.goto(site.url);
    await page.getByLabel("I opened the document").check();
    await page.getByRole("button", { name: "I agree" }).click();
    if (more.length === 0) {
      await page.getByText("Checked: the document that you see").waitFor();
      assert.ok(!loaded.some((url) => rules.test(url)));
    }
  }
  await page.getByText("The document could not be shown here.").waitFor();
  assert.equal(await page.locator("#sign-button").isDisabled(), false, "the form works as without a script");
  await page.unroute(rules);
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByText("Checked: the document that you see").waitFor();
  assert.match((await page.locator("#sign-values li").allTextContents()).join(), /Total, page 1: \$1,000\.00/);
  await opened.close();
});

test("a field appears when its condition holds, and a total follows what is typed", async () => {
  const { asked } = await site.open({ more: fieldsWithRules() });
  const opened = await browser.open(site.url, { width: 375, height: 740 });
  const { page } = opened;
  await page.getByLabel("I opened the document").check();
  await page.getByRole("button", { name: "I agree" }).click();
  await page.getByText("Checked: the document that you see").waitFor();
  const fee = page.getByRole("button", { name: "Fee, page 1. Fill in" });
  assert.equal(await fee.count(), 0, "hidden while its condition does not hold");
  const written = async () => (await page.locator("#sign-values li").allTextContents()).join("; ");
  assert.match(await written(), /Total, page 1: \$1,000\.00/);
  await page.getByRole("checkbox", { name: "Pets, page 1" }).click();
  await fee.click();
  await page.locator("#sheet-input").fill("25");
  await page.getByRole("button", { name: "OK" }).click();
  assert.match(await written(), /Fee, page 1: \$25\.00.*Total, page 1: \$1,025\.00/);
  await assertGoodLooks(opened);
  await page.getByRole("checkbox", { name: "Pets, page 1" }).click();
  assert.doesNotMatch(await written(), /Fee/);
  await page.getByRole("checkbox", { name: "Rooms: Yard, page 1" }).click();
  await page.getByRole("textbox", { name: "Initials" }).fill("JD");
  await page.getByRole("button", { name: "Sign", exact: true }).click();
  await until(() => asked.some((one) => one.startsWith("sign in the browser")));
  const said = asked.find((one) => one.startsWith("sign in the browser")) ?? "";
  for (const part of ['-number",""', '.o2","On"', '-number","$1,000.00"']) assert.ok(said.includes(part), said);
  assert.deepEqual(opened.troubles, []);
  await opened.close();
});

test("initials that were entered once are not in the next place until the signer presses it", async () => {
  const second = { kind: "initials", signer: 1, page: 0, place: { x: 400, y: 600, width: 60, height: 24 } } as const;
  const { asked } = await site.open({ more: [second] });
  const { page, troubles, close } = await browser.open(site.url, { width: 375 });
  await page.getByLabel("I opened the document").check();
  await page.getByRole("button", { name: "I agree" }).click();
  await page.getByText("Checked: the document that you see").waitFor();
  const open = page.getByRole("button", { name: /^Initials, page 1\. Fill in/ });
  assert.equal(await open.count(), 2);
  await open.first().click();
  assert.equal(await page.locator("#sheet-input").inputValue(), "JD");
  await page.getByRole("button", { name: "Cancel" }).click();
  assert.equal(await open.count(), 2, "proposed initials count only once they are accepted");
  await open.first().click();
  await page.locator("#sheet-input").fill("JD");
  await page.getByRole("button", { name: "OK" }).click();
  assert.equal(await open.count(), 1, "the other place is still empty");
  await open.click();
  assert.equal(await open.count(), 0);
  assert.equal(await page.locator("#sheet-input").count(), 0);
  assert.equal(asked.filter((one) => one.startsWith("sign")).length, 0);
  assert.deepEqual(troubles, []);
  await close();
});
