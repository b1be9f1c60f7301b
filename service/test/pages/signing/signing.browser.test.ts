import assert from "node:assert/strict";
import {
  after,
  assertGoodLooks,
  type Browser,
  before,
  type Look,
  type OpenPage,
  startBrowser,
  test,
} from "@signsealship/testing/browser";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { until } from "@signsealship/testing/until";
import { openAssets } from "../../../src/pages/pages.ts";
import { roomPart, roomShell } from "../../../src/pages/ui/live/parts.ts";
import { liveWords } from "../../../src/pages/ui/live/words/languages.ts";
import { html, render } from "../../../src/pages/ui/render.ts";
import { madeForm } from "../../orders/fills/made-form.ts";
import { type Options, rightCode, signerName } from "./memory-ceremony.ts";
import { type Envelope, inSight, openSigningSite, settled } from "./signing-site.ts";

let site: Awaited<ReturnType<typeof openSigningSite>>;
let browser: Browser;

before(async () => {
  [site, browser] = await Promise.all([openSigningSite(), startBrowser()]);
});
after(async () => {
  await browser.close();
  await site.close();
});

const phone = { width: 360, height: 740 } satisfies Look;

async function open(options: Options, look: Look = phone): Promise<OpenPage & { envelope: Envelope }> {
  const envelope = await site.open(options);
  return { ...(await browser.open(site.url, look)), envelope };
}

async function consent({ page }: OpenPage): Promise<void> {
  await page.getByLabel("I opened the document").check();
  await page.getByRole("button", { name: "I agree" }).click();
}

const checked = ({ page }: OpenPage) => page.getByText("Checked: the document that you see").waitFor();
const canvases = ({ page }: OpenPage) => page.locator(".viewer-page canvas").count();
const shownPage = ({ page }: OpenPage, n: number) => page.locator(`.viewer-page:nth-child(${n}) canvas`).waitFor();

const focused = ({ page }: OpenPage) =>
  page.evaluate<string | null>("document.activeElement.getAttribute('aria-label')");

test("every step is accessible, fits, and loads nothing from others", async () => {
  const opened = await open({ step: "mail_code" });
  const { page, envelope } = opened;
  await assertGoodLooks(opened);
  await page.getByRole("button", { name: "Email me a code" }).click();
  await page.getByLabel("Code", { exact: true }).fill(rightCode);
  await page.getByRole("button", { name: "Continue" }).click();
  await shownPage(opened, 1);
  for (const details of await page.locator("details").all())
    if (await details.isVisible()) await details.locator("summary").click();
  await page.getByRole("button", { name: "Read as text" }).click();
  await page.locator(".document-text").getByText("Page 3 of 3", { exact: true }).nth(1).waitFor();
  await assertGoodLooks(opened);
  await consent(opened);
  await checked(opened);
  await assertGoodLooks(opened);
  await page.getByRole("button", { name: "Signature, page 3. Fill in" }).click();
  await assertGoodLooks(opened);
  await page.getByLabel("Draw", { exact: true }).check();
  await assertGoodLooks(opened);
  await page.getByRole("button", { name: "Cancel" }).click();
  for (const state of ["waiting", "completed", "declined"] as const) {
    envelope.change({ state, environment: "test" });
    await page.reload();
    await assertGoodLooks(opened);
  }
  assert.deepEqual(opened.troubles, []);
  await opened.close();
});

test("notices are accessible and described at the button that signs", async () => {
  const text = "And 1000000 dollars besides.";
  const opened = await open({
    notices: [
      { code: "text_below_place", page: 3, text },
      { code: "active_content", page: null, text: "JavaScript" },
    ],
  });
  const { page } = opened;
  await shownPage(opened, 1);
  await assertGoodLooks(opened);
  await consent(opened);
  await checked(opened);
  await assertGoodLooks(opened);
  await page.getByRole("button", { name: "Sign", exact: true }).and(page.locator("[aria-describedby]")).waitFor();
  const described = await page.evaluate(
    "document.getElementById(document.getElementById('sign-button').getAttribute('aria-describedby')).textContent",
  );
  assert.ok(String(described).includes(text));
  await opened.close();
});

test("the words below the places of both signers are visible in the page, below its fields, too", async () => {
  const content = "q 0 0 0 rg 0 0 612 792 re f Q";
  const opened = await open({ pages: 1, original: makePdf({ content }) });
  const { page } = opened;
  await consent(opened);
  await checked(opened);
  await shownPage(opened, 1);
  // The document's page is black all over. If pdf.js or the signing page drew a field with an opaque background, it
  // would show as light pixels.
  const fields = page.locator(".viewer-page .viewer-field");
  for (const field of [fields.first(), fields.last()]) {
    await field.scrollIntoViewIfNeeded();
    const style = await field.evaluate((element) => getComputedStyle(element).mixBlendMode);
    assert.equal(style, "multiply");
  }
  const light = await page.locator(".viewer-page canvas").evaluate((element) => {
    const canvas = element as HTMLCanvasElement;
    const pixels = canvas.getContext("2d")?.getImageData(0, 0, canvas.width, canvas.height).data ?? [];
    let count = 0;
    for (let at = 0; at < pixels.length; at += 4) if ((pixels[at] ?? 0) > 60) count++;
    return count / (pixels.length / 4);
  });
  assert.ok(light < 0.001, String(light));
  await opened.close();
});

test("values of the document's own fields are read with its text, on the page and as text", async () => {
  const content = "BT /F1 11 Tf 160 614 Td (City:) Tj ET";
  const field = { entries: "/FT /Tx /T (city) /Ff 1 /V (Reno)", drawn: "Reno", rect: "200 610 400 630" };
  const opened = await open({ pages: 1, original: madeForm([field], { content }) });
  const { page } = opened;
  await page.getByText("Checked: the document that you see").or(page.locator(".viewer-text")).first().waitFor();
  assert.match((await page.locator(".viewer-text").first().textContent()) ?? "", /City:\s*Reno/);
  await page.locator("#as-text").click();
  await page.locator(".document-text").getByText("City: Reno").waitFor();
  await opened.close();
});

test("the text opens in another tab if its script can't be loaded, and the page keeps what was typed", async () => {
  const opened = await open({ pages: 1 });
  const { page } = opened;
  await shownPage(opened, 1);
  await page.getByLabel("I opened the document").check();
  await page.route(/\/assets\/document-text\./, (route) => route.abort());
  await page.getByRole("button", { name: "Read as text" }).click();
  const link = page.getByRole("link", { name: "Read as text" });
  await link.waitFor();
  const other = page.waitForEvent("popup");
  await link.click();
  assert.match((await other).url(), /\/text$/);
  assert.equal(await page.getByLabel("I opened the document").isChecked(), true);
  await opened.close();
});

test("by keyboard alone: fields are found, filled in and signed, and the shown document is the signed one", async () => {
  const opened = await open({ pages: 40 });
  const { page, envelope } = opened;
  await consent(opened);
  await checked(opened);
  assert.ok(envelope.asked.includes("opened"));
  const next = page.locator(".viewer-bar button");
  assert.equal(await focused(opened), "Initials, page 1. Fill in");
  assert.equal(await next.textContent(), "Fill in: Initials");
  const press = async (key: string) => {
    await settled(page);
    await page.keyboard.press(key);
  };
  await press("Enter");
  assert.equal(await page.getByRole("dialog").getByLabel("Initials").inputValue(), "JD");
  await press("Enter");
  assert.equal(await focused(opened), "Signature, page 40. Fill in");
  await shownPage(opened, 40);
  await press("Enter");
  await page.getByRole("dialog").waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  assert.equal(await next.textContent(), "Fill in: Signature");
  await inSight(page);
  await next.press("Enter");
  await page.getByRole("dialog").waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await press("Enter");
  await page.getByRole("textbox", { name: "Type", exact: true }).fill("Jane Q. Doe");
  await press("Enter");
  // The focus is on the list of the values that the signature will write, and not on the button. So the next key does
  // not sign by accident.
  assert.equal(await page.evaluate("document.activeElement.id"), "sign-values");
  await press("Enter");
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate("document.activeElement.id"), "sign-button");
  assert.ok(!envelope.asked.some((one) => one.startsWith("sign")));
  await press("Enter");
  await page.getByText("Your signature is in the document.").waitFor();
  assert.match(envelope.asked.at(-1) ?? "", /^sign in the browser typed .*"JD"/);
  assert.deepEqual(opened.troubles, []);
  await opened.close();
});

const initialsAt = (page: number, y: number, x = 480): NonNullable<Options["more"]>[number] => ({
  kind: "initials",
  signer: 1,
  page,
  place: { x, y, width: 40, height: 14 },
  label: `Initials ${page}-${y}`,
});

test("with the bar alone: two presses adopt the initials, one press fills each other place, and Sign comes into view", async () => {
  const opened = await open({ pages: 4, more: [initialsAt(1, 300), initialsAt(2, 300), initialsAt(3, 760)] });
  const { page, envelope } = opened;
  await consent(opened);
  await checked(opened);
  const bar = page.locator(".viewer-bar button");
  const ok = page.getByRole("button", { name: "OK", exact: true });
  await bar.click();
  assert.equal(await page.getByRole("dialog").getByLabel("Initials").inputValue(), "JD");
  await ok.click();
  assert.equal(await focused(opened), "Initials 1-300, page 2. Fill in JD");
  const seen = async (n: number) => {
    await shownPage(opened, n);
    await inSight(page);
  };
  await seen(2);
  await bar.click();
  await page.getByRole("button", { name: "Initials 1-300, page 2: JD. Change" }).waitFor();
  assert.equal(await focused(opened), "Initials 2-300, page 3. Fill in JD");
  assert.equal(await bar.textContent(), "Fill in JD: Initials 2-300");
  // A screen reader announces the value that one press has filled in, and the number of fields that are left.
  const filled = page.locator("#sign-filled");
  assert.equal(await filled.textContent(), "Initials 1-300, page 2: JD. Left to fill in: 3");
  await seen(3);
  await page.getByRole("button", { name: "Initials 2-300, page 3. Fill in JD" }).click();
  assert.equal(await focused(opened), "Signature, page 4. Fill in");
  await seen(4);
  await bar.click();
  await ok.click();
  assert.equal(await focused(opened), "Initials 3-760, page 4. Fill in JD");
  // A field that is out of view is first scrolled into view before a click fills it in.
  await page.evaluate("scrollTo(0, 0)");
  await bar.click();
  assert.equal(await page.getByRole("button", { name: "Initials 3-760, page 4: JD. Change" }).count(), 0);
  await seen(4);
  await bar.click();
  const sign = page.getByRole("button", { name: "Sign", exact: true });
  const at = (await sign.boundingBox()) ?? assert.fail("it is not shown");
  assert.ok(at.y > 0 && at.y + at.height < phone.height, JSON.stringify(at));
  assert.match((await page.locator("#sign-values:focus").textContent()) ?? "", /Initials 3-760, page 4: JD/);
  await bar.waitFor({ state: "hidden" });
  assert.deepEqual(await opened.axe(), []);
  // Back in the document, the bar leads to Sign again.
  await page.evaluate("scrollTo(0, 0)");
  await page.getByRole("button", { name: "Everything is filled in: go to “Sign”" }).click();
  assert.equal(await page.evaluate("document.activeElement.id"), "sign-values");
  // A filled place can be changed, and the scroll position stays.
  await page.getByRole("button", { name: "Initials 1-300, page 2: JD. Change" }).click();
  await page.getByRole("dialog").getByRole("textbox").fill("J.D.");
  await ok.click();
  assert.equal(await focused(opened), "Initials 1-300, page 2: J.D.. Change");
  await sign.click();
  await page.getByText("Your signature is in the document.").waitFor();
  assert.match(envelope.asked.at(-1) ?? "", /^sign in the browser typed .*"J\.D\."/);
  assert.deepEqual(opened.troubles, []);
  await opened.close();
});

test("the second press of a double tap reaches no field, nor the bar, nor Sign, and a held key presses once", async () => {
  const opened = await open({ pages: 4, more: [initialsAt(1, 300), initialsAt(2, 760)] });
  const { page, envelope } = opened;
  await consent(opened);
  await checked(opened);
  const [bar, ok] = [page.locator(".viewer-bar button"), page.getByRole("button", { name: "OK", exact: true })];
  const pressed = (field: string) => page.getByRole("button", { name: `${field}: JD. Change` });
  /** Presses one element and returns whether a pointer then reaches the other. */
  const reaches = (press: string, then: string) =>
    page.evaluate(
      ([one = "", other = ""]) => {
        document.querySelector<HTMLElement>(one)?.click();
        const target = document.querySelector(other);
        const { x, y, width, height } = target?.getBoundingClientRect() ?? new DOMRect();
        return target?.contains(document.elementFromPoint(x + width / 2, y + height / 2)) ?? false;
      },
      [press, then],
    );
  await bar.click();
  await ok.click();
  await page.getByRole("button", { name: "Signature, page 4. Fill in" }).click();
  await ok.click();
  // The bar fills in the displayed place, and leads to the next.
  await page.getByRole("button", { name: "Initials 1-300, page 2. Fill in JD" }).focus();
  await shownPage(opened, 2);
  await inSight(page);
  assert.equal(await reaches(".viewer-bar button", ".viewer-bar button"), false);
  await pressed("Initials 1-300, page 2").waitFor();
  assert.equal(await pressed("Initials 2-760, page 3").count(), 0);
  await shownPage(opened, 3);
  await inSight(page);
  assert.equal(await reaches(".viewer-field:focus", "#sign-button"), false);
  await pressed("Initials 2-760, page 3").waitFor();
  await page.locator("#sign-values:focus").waitFor();
  await settled(page);
  await page.evaluate("scrollTo(0, 0)");
  await bar.focus();
  for (let held = 0; held < 20; held++) await page.keyboard.down("Enter");
  await page.keyboard.press("Tab");
  for (let held = 0; held < 20; held++) await page.keyboard.down("Enter");
  await page.keyboard.up("Enter");
  assert.ok(!envelope.asked.some((one) => one.startsWith("sign")));
  await page.getByRole("button", { name: "Sign", exact: true }).click();
  await page.getByText("Your signature is in the document.").waitFor();
  await opened.close();
});

test("on a large page the targets of two near fields do not overlap, and each can be pressed", async () => {
  const original = makePdf({ pages: 1, pageEntries: "/MediaBox [0 0 792 1224]" });
  const near = [initialsAt(0, 300, 100), initialsAt(0, 300, 200.5)];
  const opened = await open({ pages: 1, original, more: near });
  const { page } = opened;
  await consent(opened);
  await checked(opened);
  const boxes = await page
    .locator("button.viewer-field[aria-label^='Initials 0-300']")
    .evaluateAll((fields) => fields.map((field) => field.getBoundingClientRect().toJSON()));
  const [left, right] = boxes.toSorted((a, b) => a.x - b.x);
  assert.ok(left && right && left.x + left.width <= right.x, JSON.stringify(boxes));
  await opened.close();
});

test("a field is painted on its place alone, its target is 44 px large, and no target covers another field", async () => {
  const opened = await open({ pages: 1, more: [initialsAt(0, 300, 100), initialsAt(0, 280, 100)] });
  const { page } = opened;
  await consent(opened);
  await checked(opened);
  await settled(page);
  const boxes = await page.locator("button.viewer-field").evaluateAll((fields) =>
    fields.map((field) => {
      const numberOf = (name: string) => Number(getComputedStyle(field).getPropertyValue(`--${name}`));
      const { width, height } = field.getBoundingClientRect();
      const paint = field.firstElementChild?.getBoundingClientRect() ?? new DOMRect();
      const expected = [numberOf("width"), numberOf("height")].map((size) => size * numberOf("scale"));
      const at = document.elementsFromPoint(paint.x + paint.width / 2, paint.y + paint.height / 2);
      return {
        width,
        height,
        expected,
        painted: [paint.width, paint.height],
        isCovered: innerHeight > paint.y && !field.contains(at[0] ?? null),
      };
    }),
  );
  for (const { expected, painted } of boxes)
    for (const [index, size] of painted.entries()) assert.ok(Math.abs(size - (expected[index] ?? 0)) < 1);
  assert.ok(boxes.every(({ width }) => width > 43));
  const isLarge = boxes.map(({ height }) => height > 43);
  assert.deepEqual(isLarge, [false, false, false, true, true], "three are close to another field");
  assert.ok(!boxes.some(({ isCovered }) => isCovered));
  await opened.close();
});

test("a signer who has agreed is at the first field: it has the focus, is in the window, and is read with the result", async () => {
  for (const look of [phone, { ...phone, width: 1280 }]) {
    const opened = await open({ pages: 2 }, look);
    const { page } = opened;
    await consent(opened);
    await checked(opened);
    assert.equal(await focused(opened), "Initials, page 1. Fill in");
    const described = page.locator("[aria-describedby=done]");
    const said = await page.locator("#done").textContent();
    assert.match(said ?? "", /Thank you\. You can sign now\./);
    assert.ok(await described.evaluate((one) => one === document.activeElement));
    const box = (await described.boundingBox()) ?? assert.fail("it is not shown");
    assert.ok(box.y > 0 && box.y + box.height < 740, JSON.stringify(box));
    assert.deepEqual(await opened.axe(), []);
    await page.locator("button.viewer-field").last().focus();
    assert.equal(await described.count(), 0, "only once");
    assert.deepEqual(opened.troubles, []);
    await opened.close();
  }
});

test("the report that the document was seen is sent so that it outlives the page", async () => {
  const opened = await open({});
  const { page } = opened;
  // The request's option `keepalive` is the only sign that the browser continues the request after the page is left.
  await page.addInitScript(() => {
    const send = window.fetch;
    window.fetch = (input, init) => {
      const kept = (window as unknown as { kept?: string[] }).kept ?? [];
      if (init?.keepalive) (window as unknown as { kept: string[] }).kept = [...kept, `${init.method} ${input}`];
      return send(input, init);
    };
  });
  await page.reload();
  const kept = await until(() => page.evaluate<string | undefined>("window.kept?.[0]"));
  assert.match(kept, /^POST \/sign\/\S+\/opened$/);
  await opened.close();
});

test("on a phone, “Continue” leads to the consent, and pressed again, to the box below its text", async () => {
  const opened = await open({ pages: 2 });
  const { page } = opened;
  const onward = page.getByRole("button", { name: "Continue", exact: true });
  const box = page.getByLabel("I opened the document");
  const isInView = async () => {
    const at = (await box.boundingBox()) ?? assert.fail("it is not shown");
    return at.y >= 0 && at.y + at.height <= phone.height;
  };
  await onward.click();
  assert.equal(await page.evaluate("document.activeElement.id"), "consent-title");
  assert.equal(await isInView(), false);
  await onward.click();
  assert.equal(await page.evaluate("document.activeElement.id"), "field-can_read");
  assert.ok(await isInView());
  await opened.close();
});

test("a signer who scrolls while the document loads after the consent stays in place", async () => {
  const opened = await open({ pages: 2 });
  const { page } = opened;
  const documentComes = Promise.withResolvers<void>();
  await page.getByRole("button", { name: "Continue" }).waitFor();
  await page.route(/document\.pdf/, async (route) => {
    await documentComes.promise;
    await route.continue();
  });
  await consent(opened);
  await page.locator("#sign-title").waitFor();
  await page.evaluate("scrollTo(0, 200)");
  documentComes.resolve();
  await checked(opened);
  assert.equal(await page.evaluate("scrollY"), 200);
  assert.equal(await page.evaluate("document.activeElement === document.body"), true);
  await opened.close();
});

test("after a hold, the form comes back in place with what was entered, and a reader of the document stays there", async () => {
  const opened = await open({ pages: 3 });
  const { page, envelope } = opened;
  const room = (maySign: boolean) => envelope.change({ room: { maySign, isRemote: true } });
  room(true);
  // In a session with a notary, another consent text is shown.
  await page.reload();
  await consent(opened);
  await checked(opened);
  const parcel = page.getByRole("textbox", { name: "Parcel number" });
  await parcel.fill("R-17");
  await page.getByRole("textbox", { name: "Initials" }).fill("JD");
  room(false);
  await page.locator("#sign-button").click();
  await page.getByRole("heading", { name: "The notary’s step comes next" }).waitFor();
  await shownPage(opened, 1);
  assert.equal(await page.locator(".viewer-field").count(), 0);
  await assertGoodLooks(opened);
  // While the signer reads further down, the notary's step ends. The page must neither scroll nor reload.
  const link = page.getByRole("button", { name: "Read as text" });
  await link.focus();
  const place = () => page.evaluate<number>("document.querySelector('.viewer-pages').getBoundingClientRect().top");
  await page.evaluate("scrollTo(0, 600); window.loaded = 'once'");
  const before = await place();
  room(true);
  await page.locator("#sign-button:enabled").waitFor();
  const [moved, loaded, said] = await Promise.all([
    place().then((now) => Math.abs(now - before) > 2),
    page.evaluate("window.loaded"),
    page.locator("#turn-said[role=status]").textContent(),
  ]);
  assert.deepEqual([moved, loaded, said], [false, "once", "The notary’s step is done. You can sign now."]);
  assert.ok(await link.evaluate((one) => one === one.ownerDocument.activeElement));
  assert.equal(await parcel.inputValue(), "R-17");
  // The page scrolls to the form for a signer who was reading about the notary's step when the step ended.
  room(false);
  await page.reload();
  await shownPage(opened, 1);
  await page.getByRole("heading", { name: "The notary’s step comes next" }).scrollIntoViewIfNeeded();
  room(true);
  await checked(opened);
  assert.equal(await page.evaluate("document.activeElement.id"), "sign-title");
  await page.getByRole("textbox", { name: "Initials" }).fill("JD");
  await page.locator("#sign-button").click();
  await page.getByText("You have signed").first().waitFor();
  assert.deepEqual(
    opened.troubles.filter((one) => !one.includes("409")),
    [],
  );
  await opened.close();
});

test("a room's card that changes keeps what was typed and ticked, and the focus, but no tick for another step or for more observers", async () => {
  const opened = await browser.open("about:blank", phone);
  const { page } = opened;
  const assets = await openAssets();
  const card = (id: string, step: string, formId: string, hint: string) =>
    html`<section class="card" id="${id}"><p>${hint}</p><form id="${formId}" method="post" action="/x"><input type="hidden" name="step" value="${step}">
<label>City <input name="city" value=""></label> <label>Own <input type="checkbox" name="own"></label></form></section>`;
  const cards = (observers: string, step: string) =>
    roomPart(
      { on: false },
      html`${card("place", "same", "place-form", observers)}${card("consent", observers, "consent-form", observers)}${card("now", step, "", "Now")}`,
    );
  const shell = roomShell({ base: "/room", names: {}, self: "signer-1", words: liveWords.en, part: cards("0", "a") });
  const whole = `<!doctype html><html lang="en"><title>Room</title><body>${render(shell)}<script type="module" src="${assets.url("notary-room.js")}"></script>`;
  const events = Promise.withResolvers<void>();
  await page.route(`${site.baseUrl}/room`, (route) => route.fulfill({ contentType: "text/html", body: whole }));
  await page.route("**/room/part", (route) =>
    route.fulfill({ contentType: "text/html", body: render(cards("1", "b")) }),
  );
  await page.route("**/room/events", async (route) => {
    await events.promise;
    await route.fulfill({ contentType: "text/event-stream", body: 'data: {"kind":"changed"}\n\n' });
  });
  await page.goto(`${site.baseUrl}/room`);
  const consentCard = page.locator("#consent");
  const own = ["#place", "#consent", "#now"].map((id) => page.locator(id).getByLabel("Own"));
  for (const box of own) await box.check();
  await consentCard.getByLabel("City").fill("Columbus");
  await page.evaluate("document.activeElement.setSelectionRange(3, 5)");
  events.resolve();
  await consentCard.getByText("1").waitFor();
  assert.equal(await consentCard.getByLabel("City").inputValue(), "Columbus");
  assert.deepEqual(await Promise.all(own.map((box) => box.isChecked())), [true, false, false]);
  const at =
    "[document.activeElement.name, document.activeElement.selectionStart, document.activeElement.selectionEnd]";
  assert.deepEqual(await page.evaluate(at), ["city", 3, 5]);
  await opened.close();
});

test("the TEST banner is open at first, then a strip that says TEST; a reload keeps the signer's choice", async () => {
  const opened = await open({ pages: 2 });
  const { page, envelope } = opened;
  envelope.change({ environment: "test" });
  await page.reload();
  const banner = page.locator("#test-banner");
  const text = banner.getByText("This is a test.");
  assert.ok(await text.isVisible());
  assert.ok(((await banner.boundingBox())?.height ?? 0) > 60);
  await consent(opened);
  await checked(opened);
  assert.ok(!(await text.isVisible()));
  const strip = banner.getByText("TEST", { exact: true });
  assert.ok(await strip.isVisible());
  assert.ok(((await banner.boundingBox())?.height ?? 99) < 50);
  await assertGoodLooks(opened);
  await strip.click();
  assert.ok(await text.isVisible());
  await page.reload();
  await checked(opened);
  assert.ok(await text.isVisible());
  await banner.locator("summary").focus();
  await page.keyboard.press("Enter");
  await page.reload();
  await checked(opened);
  assert.ok(!(await text.isVisible()));
  // The closed banner covers no field.
  const bottom = await page.evaluate<number>("document.querySelector('#test-banner').getBoundingClientRect().bottom");
  const top = await page.evaluate<number>("document.querySelector('.viewer-field').getBoundingClientRect().top");
  assert.ok(bottom <= top);
  assert.equal(await opened.overflow(), 0);
  assert.deepEqual(opened.troubles, []);
  await opened.close();
});

test("a signer who is already at the consent stays there when the document loads, and a started press ends there", async () => {
  const opened = await open({ pages: 5 });
  const { page } = opened;
  const documentComes = Promise.withResolvers<void>();
  await page.route(/document\.pdf/, async (route) => {
    await documentComes.promise;
    await route.continue();
  });
  await page.reload();
  const box = page.getByLabel("I opened the document");
  await box.scrollIntoViewIfNeeded();
  const place = async () => (await box.boundingBox()) ?? assert.fail("it is not shown");
  const before = await place();
  await page.mouse.move(before.x + 8, before.y + 8);
  await page.mouse.down();
  documentComes.resolve();
  await page.getByRole("button", { name: "Continue" }).waitFor();
  assert.ok(Math.abs((await place()).y - before.y) < 1);
  await page.mouse.up();
  assert.ok(await box.isChecked());
  await opened.close();
});

test("a signer who loses the network while signing is told so, keeps the typed values, and signs by trying again", async () => {
  const opened = await open({ pages: 1 });
  const { page, envelope } = opened;
  await consent(opened);
  await checked(opened);
  await page.getByLabel("Initials (page 1)").fill("JD");
  const sign = page.getByRole("button", { name: "Sign", exact: true });
  await page.context().setOffline(true);
  await sign.click();
  await page.getByText("No answer came").waitFor();
  assert.equal(await page.evaluate("document.activeElement.id"), "sign-button");
  assert.equal(await page.getByLabel("Initials (page 1)").inputValue(), "JD");
  assert.ok(!envelope.asked.some((one) => one.startsWith("sign")));
  await page.context().setOffline(false);
  await sign.click();
  await page.getByText("Your signature is in the document.").waitFor();
  assert.match(envelope.asked.at(-1) ?? "", /^sign in the browser typed .*"JD"/);
  await opened.close();
});

test("of a long document few pages are drawn at a time; their text can be selected, their size changed", async () => {
  // A window of 1280 pixels at 400 % zoom.
  const opened = await open({ pages: 60 }, { width: 320, height: 256 });
  const { page } = opened;
  // Pages below the window are not drawn.
  await page.locator(".viewer-page:nth-child(1)").evaluate((one) => one.scrollIntoView());
  await shownPage(opened, 1);
  await page.locator(".viewer-text", { hasText: "Page 1 of 60" }).waitFor();
  for (const n of [20, 40, 60, 30]) {
    await page.locator(`.viewer-page:nth-child(${n})`).evaluate((one) => one.scrollIntoView());
    await shownPage(opened, n);
    assert.ok((await canvases(opened)) <= 4);
    await until(async () => (await page.locator(".viewer-place").textContent()) === `Page ${n} of 60`);
  }
  const before = await page.locator(".viewer-page:nth-child(30)").boundingBox();
  for (let i = 0; i < 5; i++) await page.getByRole("button", { name: "Larger" }).click();
  const larger = await page.locator(".viewer-page:nth-child(30)").boundingBox();
  assert.ok(Math.abs((larger?.width ?? 0) / (before?.width ?? 1) - 4) < 0.1);
  assert.equal(await opened.overflow(), 0);
  await page.locator(".viewer-page:nth-child(30)").evaluate((one) => one.scrollIntoView());
  await shownPage(opened, 30);
  assert.deepEqual(opened.troubles, []);
  await opened.close();
});

test("the number of the page in the middle of the window follows each scroll", async () => {
  const opened = await open({ pages: 4 });
  const { page } = opened;
  await shownPage(opened, 1);
  const nearest = () =>
    page.locator(".viewer-page").evaluateAll((pages) => {
      const distances = pages.map((one) => {
        const { top, bottom } = one.getBoundingClientRect();
        return Math.max(top - innerHeight / 2, innerHeight / 2 - bottom, 0);
      });
      return distances.indexOf(Math.min(...distances)) + 1;
    });
  const seen = new Set<number>();
  const first = page.locator(".viewer-page").first();
  const start = await first.evaluate((one) => one.getBoundingClientRect().top + scrollY);
  for (let y = start - 100; y < start + 1500; y += 90) {
    await page.evaluate((to) => scrollTo(0, to), y);
    const n = await nearest();
    seen.add(n);
    await until(async () => (await page.locator(".viewer-place").textContent()) === `Page ${n} of 4`);
  }
  assert.deepEqual([...seen], [1, 2, 3, 4]);
  assert.deepEqual(opened.troubles, []);
  await opened.close();
});

test("a drawn signature is stored as strokes, which survive a turn of the phone and another signer's act", async () => {
  const opened = await open({ pages: 2 });
  const { page, envelope } = opened;
  await consent(opened);
  await checked(opened);
  await page.getByLabel("Initials (page 1)").fill("JD");
  await page.getByRole("button", { name: "Signature, page 2. Fill in" }).click();
  await page.getByLabel("Draw", { exact: true }).check();
  const strokes = () => page.locator(".sheet-drawing path").getAttribute("d");
  const draw = async (from: number) => {
    const pad = await page.locator(".sheet-drawing").boundingBox();
    assert.ok(pad);
    await page.mouse.move(pad.x + from, pad.y + 10);
    await page.mouse.down();
    await page.mouse.move(pad.x + from + 60, pad.y + 50, { steps: 5 });
    await page.mouse.up();
  };
  await draw(20);
  const first = await strokes();
  assert.match(first ?? "", /^M\d+,\d+L/);
  await page.setViewportSize({ width: 740, height: 360 });
  assert.equal(await strokes(), first);
  await draw(200);
  assert.ok((await strokes())?.startsWith(first ?? "-"));
  await page.getByRole("button", { name: "OK" }).click();
  await page.getByRole("button", { name: "Signature, page 2: Drawn by hand. Change" }).waitFor();
  await envelope.otherSigns();
  await page.locator("#sign-button").click();
  await page.getByText("You have not signed yet. The document may have changed").waitFor();
  await checked(opened);
  await page.getByRole("button", { name: "Signature, page 2: Drawn by hand. Change" }).waitFor();
  assert.equal(await page.getByLabel("Initials (page 1)").inputValue(), "JD");
  await page.locator("#sign-button").click();
  await page.getByText("Your signature is in the document.").waitFor();
  assert.match(envelope.asked.at(-1) ?? "", /^sign in the browser drawn/);
  await opened.close();
});

test("bytes other than those to be signed cannot be signed", async () => {
  const opened = await open({});
  const { page, envelope } = opened;
  await consent(opened);
  await checked(opened);
  await page.route(/document\.pdf/, async (route) => {
    const answer = await route.fetch();
    const body = await answer.body();
    const at = body.indexOf("Page 1 of");
    body[at + 5] = 0x39;
    await route.fulfill({ response: answer, body });
  });
  await page.reload();
  await page.getByText("The document that arrived is not the one that would be signed.").waitFor();
  assert.equal(await page.locator("#sign-button").isDisabled(), true);
  // A fast signer can't sign before the document is checked.
  await page.unroute(/document\.pdf/);
  const { promise: late, resolve: arrive } = Promise.withResolvers<void>();
  await page.route(/document\.pdf/, async (route) => {
    await late;
    await route.continue();
  });
  await page.reload();
  await page.getByText("Your browser checks that the document is the one").waitFor();
  assert.equal(await page.locator("#sign-button").isDisabled(), true);
  arrive();
  await checked(opened);
  assert.equal(await page.locator("#sign-button").isDisabled(), false);
  // If the document can't be loaded, the page tells the signer, who can read it in another way.
  await page.unroute(/document\.pdf/);
  await page.route(/document\.pdf/, (route) => route.abort());
  await page.reload();
  await page.getByText("The document could not be shown here.").waitFor();
  await page.getByText("Your browser cannot check the document").waitFor();
  assert.equal(await page.locator("#sign-button").isDisabled(), false);
  assert.doesNotMatch(envelope.asked.join(), /sign /);
  // If loading fails again, the focus goes to the new “Try again” button. If it succeeds, the focus goes to the
  // document.
  const again = page.getByRole("button", { name: "Try again" });
  await again.focus();
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.activeElement?.textContent === "Try again");
  await page.unroute(/document\.pdf/);
  await page.keyboard.press("Enter");
  await checked(opened);
  assert.equal(await again.count(), 0);
  assert.equal(await page.evaluate("document.querySelector('#viewer').contains(document.activeElement)"), true);
  await opened.close();
});

test("loading a document stops if no data arrive, and can be repeated", async () => {
  const opened = await open({});
  const { page } = opened;
  await consent(opened);
  await checked(opened);
  await page.addInitScript(() => {
    const timeout = AbortSignal.timeout.bind(AbortSignal);
    AbortSignal.timeout = (ms) => timeout(ms / 100);
  });
  await page.route(/document\.pdf/, () => {});
  await page.reload();
  await page.getByText("The document could not be shown here.").waitFor();
  await page.waitForFunction(() => !document.querySelector<HTMLButtonElement>("#sign-button")?.disabled);
  await page.unroute(/document\.pdf/);
  await page.getByRole("button", { name: "Try again" }).click();
  await checked(opened);
  await opened.close();
});

test("Chinese text without its font and pictures as JPEG 2000 are read by parts of pdf.js that the policy allows", async () => {
  const envelope = await site.open({ pages: 1, original: oddPdf() });
  const opened = await browser.open(site.url, phone);
  const { page, troubles } = opened;
  const asked: string[] = [];
  page.on("response", (answer) =>
    asked.push(`${answer.status()} ${new URL(answer.url()).pathname.replace(/pdfjs-[^/]+/, "pdfjs")}`),
  );
  await page.reload();
  await shownPage(opened, 1);
  await page.locator(".viewer-text", { hasText: "你好" }).waitFor();
  await until(() => asked.includes("200 /assets/pdfjs/wasm/openjpeg_nowasm_fallback.js"));
  assert.ok(asked.includes("200 /assets/pdfjs/cmaps/UniGB-UCS2-H.bcmap"), asked.join(" "));
  // pdf.js reports that the picture is broken, which is ignored here.
  assert.deepEqual(
    troubles.filter((one) => /Content Security Policy|foreign|failed/.test(one)),
    [],
  );
  assert.ok(envelope.asked.includes("opened"));
  await opened.close();
});

/** A page with text in a font that is not embedded, and a JPEG 2000 picture that consists only of its header. */
function oddPdf(): Buffer {
  const content = "BT /F1 18 Tf 72 700 Td <4F60597D> Tj ET q 50 0 0 50 72 600 cm /I1 Do Q";
  const objects = [
    "<</Type/Catalog/Pages 2 0 R>>",
    "<</Type/Pages/Count 1/Kids[3 0 R]>>",
    "<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>/XObject<</I1 8 0 R>>>>>>",
    `<</Length ${content.length}>>\nstream\n${content}\nendstream`,
    "<</Type/Font/Subtype/Type0/BaseFont/STSong-Light/Encoding/UniGB-UCS2-H/DescendantFonts[6 0 R]>>",
    "<</Type/Font/Subtype/CIDFontType0/BaseFont/STSong-Light/CIDSystemInfo<</Registry(Adobe)/Ordering(GB1)/Supplement 2>>/FontDescriptor 7 0 R>>",
    "<</Type/FontDescriptor/FontName/STSong-Light/Flags 6/FontBBox[0 0 1000 1000]/ItalicAngle 0/Ascent 880/Descent -120/StemV 80/CapHeight 700>>",
    "<</Type/XObject/Subtype/Image/Width 8/Height 8/Filter[/ASCIIHexDecode/JPXDecode]/Length 87>>\nstream\nFF4FFF510029000000000008000000080000000000000000000000080000000800000000000000000001070101>\nendstream",
  ];
  let file = "%PDF-1.7\n";
  const offsets = objects.map((body, index) => {
    const offset = file.length;
    file += `${index + 1} 0 obj\n${body}\nendobj\n`;
    return `${String(offset).padStart(10, "0")} 00000 n \n`;
  });
  const size = objects.length + 1;
  file += `xref\n0 ${size}\n0000000000 65535 f \n${offsets.join("")}trailer\n<</Size ${size}/Root 1 0 R>>\nstartxref\n${file.length}\n%%EOF\n`;
  return Buffer.from(file, "latin1");
}

test("a person who should not sign can say so: a wrong access code, another person, a reason, the wrong person", async () => {
  const opened = await open({ step: "access_code" });
  const { page, envelope } = opened;
  const press = (name: string) => page.getByRole("button", { name, exact: true }).click();
  await page.getByText("Enter the access code that Acme Title & Escrow gave you.").waitFor();
  assert.equal(await page.getByRole("button", { name: "Email me a code" }).count(), 0);
  assert.equal(await page.locator(".other-choices").count(), 0, "nobody decides anything before the code");
  await page.getByLabel("Code", { exact: true }).fill("000000");
  await press("Continue");
  await page.getByRole("alert").getByText("That code is not right.").waitFor();
  await page.getByLabel("Code", { exact: true }).fill(` ${rightCode} `);
  await press("Continue");

  const choice = (name: string) => page.locator("details", { has: page.getByText(name, { exact: true }) });
  await choice("Someone else should sign").locator("summary").click();
  await page.getByLabel("Name of the other person").fill("Max Roe");
  await page.getByLabel("Email of the other person").evaluate((one) => one.setAttribute("type", "text"));
  await page.getByLabel("Email of the other person").fill("nobody");
  await press("Tell the sender");
  await page.getByRole("alert").getByText("Enter the name and the email of the other person.").waitFor();
  assert.equal(await page.getByLabel("Name of the other person").inputValue(), "Max Roe");
  await page.getByLabel("Email of the other person").fill("max@example.com");
  await press("Tell the sender");
  await page.getByText("The sender can see who should sign.").waitFor();
  await page.getByText("Max Roe").first().waitFor();

  for (const [label, go, said] of [
    ["I am not this person", "This was not meant for me", "decline not_me "],
    ["I want paper", "Ask for paper", "decline paper "],
    ["I do not want to sign", "Decline to sign", "decline declined The price is wrong."],
  ] as const) {
    envelope.change({ state: "ready" });
    await page.goto(site.url);
    await choice(label).locator("summary").click();
    if (go === "Decline to sign") await page.getByLabel("Why?").fill("The price is wrong.");
    await press(go);
    const heading = go === "Ask for paper" ? "You asked for paper" : "The signing has ended";
    await page.getByRole("heading", { name: heading }).waitFor();
    // The page may report at any time that the document was seen, so that request is ignored.
    assert.equal(
      envelope.asked.findLast((one) => one !== "opened"),
      said,
    );
    assert.deepEqual(await opened.axe(), []);
  }
  await opened.close();
});

test("without a script, in Spanish: consent, a typed name, done", async () => {
  const opened = await open({ language: "es" }, { width: 320, javaScript: false });
  const { page, envelope } = opened;
  assert.equal(await page.locator("html").getAttribute("lang"), "es");
  assert.deepEqual(await opened.overflow(), 0);
  assert.match(
    (await page.getByRole("link", { name: "Abrir el documento" }).getAttribute("href")) ?? "",
    /document\.pdf\?revision=1$/,
  );
  await page.getByLabel("Abrí el documento y pude leerlo.").check();
  await page.getByRole("button", { name: "Acepto" }).click();
  await page.getByRole("link", { name: "Ir a sus campos" }).click();
  assert.ok(((await page.getByLabel("Iniciales (página 1)").boundingBox())?.y ?? -1) > 0);
  assert.ok(page.url().includes("#field-value."));
  assert.equal(await page.getByLabel("Su firma: escriba su nombre").inputValue(), signerName);
  await page.getByLabel("Iniciales (página 1)").fill("JD");
  await page.getByRole("button", { name: "Firmar", exact: true }).click();
  await page.getByText("Su firma está en el documento.").waitFor();
  assert.deepEqual(
    envelope.asked.map((one) => one.split(" ")[0]),
    ["opened", "consent", "sign"],
  );
  assert.deepEqual(opened.troubles, []);
  await opened.close();
});
