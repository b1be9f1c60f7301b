import assert from "node:assert/strict";
import { after, type Browser, before, type OpenPage, startBrowser, test } from "@signsealship/testing/browser";
import { inTurn } from "@signsealship/testing/inputs/fuzz";
import { type Language, languageNames, languages, languageTags } from "../../../src/kernel/platform/languages.ts";
import type { OrderView } from "../../../src/pages/client/order-page.ts";
import { wordsOf } from "../../../src/pages/signing/words/languages.ts";
import { wordsIn } from "../../../src/pages/ui/words/reader.ts";
import { fieldsOfNewTypes } from "../signing/made-fields.ts";
import { openSigningSite } from "../signing/signing-site.ts";
import { roomCode, roomRow } from "./samples.ts";
import { code, order, servePages } from "./serve-pages.ts";

const orders = new Map<string, OrderView>();
let clients: Awaited<ReturnType<typeof servePages>>;
let signing: Awaited<ReturnType<typeof openSigningSite>>;
let browser: Browser;

before(async () => {
  const rooms = new Map([[roomCode, roomRow()]]);
  [clients, signing, browser] = await Promise.all([
    servePages({ orders, rooms, environment: "test" }),
    openSigningSite(),
    startBrowser(),
  ]);
});
after(async () => {
  await browser.close();
  await Promise.all([clients.close(), signing.close()]);
});

const phone = { width: 375, height: 740 } as const;

/** Opens the menu, and asserts that each language can be reached without scrolling sideways. */
async function openMenu({ page }: OpenPage): Promise<void> {
  await page.locator(".language-menu > summary").click();
  const boxes = await Promise.all((await page.locator(".language-menu li").all()).map((one) => one.boundingBox()));
  assert.equal(boxes.length, languages.length - 1);
  for (const box of boxes) assert.ok(box && box.x >= 0 && box.x + box.width <= phone.width, JSON.stringify(box));
}

/**
 * Returns a function that checks one of the pages at `places`. Each page must fit. In each language, a different one of
 * the pages is also checked for accessibility.
 */
const checksOf =
  (places: readonly string[], language: Language) =>
  async (opened: OpenPage, where: string): Promise<void> => {
    assert.ok(places.includes(where));
    assert.equal(await opened.overflow(), 0, where);
    if (inTurn(places, languages.indexOf(language)).includes(where)) assert.deepEqual(await opened.axe(), [], where);
  };

for (const language of languages) {
  test(`the signing pages in ${language} are accessible and fit a phone, and the document is signed`, async () => {
    const words = wordsOf(language);
    const assertFits = checksOf(["menu", "consent", "fields", "sheet"], language);
    const more = fieldsOfNewTypes();
    const envelope = await signing.open({ language, pages: 1, step: "mail_code", more });
    envelope.change({ environment: "test" });
    const opened = await browser.open(signing.url, phone);
    const { page } = opened;
    assert.equal(await page.locator("html").getAttribute("lang"), languageTags[language]);
    await openMenu(opened);
    await assertFits(opened, "menu");
    await page.locator(".language-menu > summary").click();
    await page.locator("[name=code]").fill("482913");
    await page.getByRole("button", { name: words.identify.go }).click();
    await page.locator(".viewer-page canvas").waitFor();
    await assertFits(opened, "consent");
    await page.getByLabel(words.consent.canRead).check();
    await page.getByRole("button", { name: words.consent.agree }).click();
    await page.getByText(words.viewer.checked).waitFor();
    for (const details of await page.locator("main details").all())
      if (await details.isVisible()) await details.locator("summary").click();
    await assertFits(opened, "fields");
    await page.locator("button.viewer-field:not(.viewer-box)").first().click();
    await page.getByRole("dialog").waitFor();
    await assertFits(opened, "sheet");
    await page.getByRole("button", { name: words.viewer.cancel, exact: true }).click();
    assert.deepEqual(opened.troubles, []);
    await opened.close();
  });

  test(`the pages of an order and a room in ${language} are accessible and fit a phone`, async () => {
    const words = wordsIn[language];
    const assertFits = checksOf(["order", "menu", "room"], language);
    orders.set(code, order({ status: "IdentityLocked", environment: "test", payable: true }));
    const opened = await browser.open(`${clients.baseUrl}/orders/${code}?lang=${language}`, phone);
    const { page } = opened;
    await page.getByRole("heading", { level: 1, name: words.orders.statuses.IdentityLocked.headline }).waitFor();
    assert.equal(await page.locator("html").getAttribute("lang"), languageTags[language]);
    await assertFits(opened, "order");
    const other = language === "ko" ? "vi" : "ko";
    await openMenu(opened);
    await assertFits(opened, "menu");
    await page.getByRole("link", { name: languageNames[other] }).click();
    await page.getByRole("heading", { name: wordsIn[other].orderPage.progress }).waitFor();
    await page.goto(`${clients.baseUrl}/rooms/${roomCode}?lang=${language}`);
    await page.getByRole("heading", { name: words.room.activity.title, exact: true }).waitFor();
    await assertFits(opened, "room");
    assert.deepEqual(opened.troubles, []);
    await opened.close();
  });
}

test("Vietnamese letters come from the pages' own fonts, which pages in other languages do not load", async () => {
  orders.set(code, order({ status: "Completed" }));
  for (const language of ["vi", "en", "es"] as const) {
    const opened = await browser.open(`${clients.baseUrl}/orders/${code}?lang=${language}`, phone);
    const fetched = await opened.page.evaluate<string[]>(
      "document.fonts.ready.then(() => performance.getEntriesByType('resource').map(({ name }) => name))",
    );
    const faces = fetched.filter((name) => name.includes("-vi.")).map((name) => name.replace(/.*\/|-vi\..*/g, ""));
    assert.deepEqual([...new Set(faces)].sort(), language === "vi" ? ["sans", "serif"] : [], language);
    await opened.close();
  }
});
