import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "@signsealship/testing/browser";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { signatureForms } from "@signsealship/testing/inputs/signature-forms";
import { zooBytes } from "@signsealship/testing/inputs/zoo";
import { newPartner } from "@signsealship/testing/service";
import { needs } from "@signsealship/testing/tools/tools";
import { until } from "@signsealship/testing/until";
import { pages as pagesIn } from "../../../../../src/kernel/pdf/page-tree.ts";
import { pageBox, shownPlace, shownSize } from "../../../../../src/kernel/pdf/pages/page-box.ts";
import { lookUpPdf } from "../../../../../src/kernel/pdf/xref/lookup.ts";
import type { RequestedField } from "../../../../../src/orders/order/order.ts";
import { plan } from "../../../../../src/signing/envelopes/pdf/placement/plan.ts";
import { inkOn } from "../../../../signing/envelopes/pdf/pixels.ts";
import { openSigning } from "../../../../signing/envelopes/pdf/signing.ts";
import { assertGood, type OrdersPages, openOrdersPages, press, said } from "../orders-pages.ts";

type Page = Awaited<ReturnType<OrdersPages["open"]>>["page"];
type Written = { kind: string; signer: number; page: number; x: number; y: number; width: number; height: number };

const newPath = "/dashboard/orders/new";
let pages: OrdersPages;
before(async () => {
  pages = await openOrdersPages();
});
after(() => pages.close());

const pdf = (buffer: Buffer, name = "Agreement.pdf") => ({ name, mimeType: "application/pdf", buffer });
const openButton = (page: Page) => page.getByRole("button", { name: /^(Place|Change the) fields on the pages$/ });
const editor = (page: Page) => page.getByRole("dialog", { name: "Fields on the pages" });
const tool = (page: Page, name: string) =>
  page.getByRole("group", { name: "Fields", exact: true }).getByRole("button", { name, exact: true });
const sheet = (page: Page, n = 1) =>
  editor(page)
    .locator(".viewer-page")
    .nth(n - 1);
const placed = (page: Page, name: RegExp) => editor(page).getByRole("button", { name });

async function written(page: Page): Promise<Written[]> {
  const value = await page.locator("#field-fields").inputValue();
  return value === "" ? [] : JSON.parse(value);
}

/**
 * Opens the form with a document and the editor. Either Jane signs alone, or two people sign, at once or one after the
 * other.
 */
async function begin(buffer: Buffer, { signers = 1, inTurn = false, width = 1280, height = 800 } = {}) {
  const { opened, page } = await pages.open({ width, height });
  await pages.go(page, newPath);
  await page.getByLabel("Client’s email").fill("jane@example.com");
  await page.getByLabel("Client’s name").fill("Jane Roe");
  await page.getByLabel("Signing").check();
  if (signers === 2) {
    await page.getByText("Add signers").click();
    for (const [row, name] of [
      [1, "Jane Roe"],
      [2, "John Roe"],
    ] as const) {
      await page.locator(`[name=signer${row}_name]`).fill(name);
      await page.locator(`[name=signer${row}_email]`).fill(`signer${row}@example.com`);
    }
    if (inTurn) await page.locator("[name=signer2_routing]").selectOption("2");
  }
  await page.getByLabel("This is the client’s own document").check();
  await page.getByLabel("File: a PDF").setInputFiles(pdf(buffer));
  await openButton(page).click();
  await sheet(page).locator("canvas").waitFor();
  return { opened, page };
}

const done = (page: Page) => editor(page).getByRole("button", { name: "Done" }).click();

/** Converts a point of a page to a point of the window. */
async function pointOn(page: Page, x: number, y: number, width = 612) {
  await sheet(page).evaluate((element) => element.scrollIntoView({ block: "start" }));
  const box = (await sheet(page).boundingBox()) ?? assert.fail("no page");
  const scale = box.width / width;
  return { x: box.x + x * scale, y: box.y + y * scale, scale };
}

async function dragTo(page: Page, from: { x: number; y: number }, to: { x: number; y: number }) {
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  await page.mouse.move((from.x + to.x) / 2, (from.y + to.y) / 2);
  await page.mouse.move(to.x, to.y);
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
  await page.mouse.up();
}

const middleOf = async (locator: ReturnType<Page["locator"]>) => {
  const { x, y, width, height } = (await locator.boundingBox()) ?? assert.fail("not shown");
  return { x: x + width / 2, y: y + height / 2 };
};
const near = (a: number, b: number, by = 0.5) => Math.abs(a - b) <= by;

test("a field is placed where it was dropped, on pages that are rotated, cropped or scaled", async () => {
  const square = [200, 300, 212, 312] as const;
  const content = "1 0 0 rg 200 300 12 12 re f";
  const kinds = [
    "",
    "/Rotate 90",
    "/Rotate 180",
    "/Rotate 270",
    "/CropBox [150 260 560 700]",
    "/UserUnit 1.5",
    "/Rotate 90 /CropBox [150 260 560 700] /UserUnit 1.25",
  ];
  const { page } = await begin(makePdf({ content, pageEntries: `/MediaBox [0 0 612 792] ${kinds[0]}` }));
  for (const [index, entries] of kinds.entries()) {
    const buffer = makePdf({ content, text: `Kind ${index}`, pageEntries: `/MediaBox [0 0 612 792] ${entries}` });
    const look = lookUpPdf(buffer);
    const [first] = [...pagesIn(look.file, look.root.dict)];
    assert.ok(first);
    const box = pageBox(look.file, first);
    const [mark, size] = [shownPlace(box, square), shownSize(box)];
    const middle = { x: mark.x + mark.width / 2, y: mark.y + mark.height / 2 };
    if (await editor(page).isVisible()) await done(page);
    await page.getByLabel("File: a PDF").setInputFiles(pdf(buffer, `Kind ${index}.pdf`));
    await page.getByText(`Kind ${index}.pdf: 1 page`).waitFor();
    await openButton(page).click();
    await sheet(page).locator("canvas").waitFor();
    const shown = (await sheet(page).boundingBox()) ?? assert.fail("no page");
    assert.ok(near(shown.width / shown.height, size.width / size.height, 0.01), entries);
    const red = await sheet(page)
      .locator("canvas")
      .evaluate(
        (element, at) => {
          const canvas = element as HTMLCanvasElement;
          const [x, y] = [at.x * canvas.width, at.y * canvas.height].map(Math.round);
          return [...(canvas.getContext("2d")?.getImageData(x ?? 0, y ?? 0, 1, 1).data ?? [])];
        },
        { x: middle.x / size.width, y: middle.y / size.height },
      );
    assert.deepEqual(red, [255, 0, 0, 255], `${entries}: the square is where the service reckons it`);
    await tool(page, "Checkbox").click();
    const scale = shown.width / size.width;
    await sheet(page).click({ position: { x: middle.x * scale, y: middle.y * scale } });
    const field = (await written(page)).at(-1) ?? assert.fail("no field");
    assert.ok(near(field.x + field.width / 2, middle.x), `${entries}: ${field.x}`);
    assert.ok(near(field.y + field.height / 2, middle.y), `${entries}: ${field.y}`);
    await page.keyboard.press("Delete");
  }
});

test(
  "the ink of a dropped field is within half a point of the drop, on pages that are rotated, cropped or scaled",
  needs("mupdf"),
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "dropped-"));
    const signing = await openSigning();
    const { page } = await begin(makePdf());
    const kinds = [
      "/Rotate 90",
      "/Rotate 180 /UserUnit 1.5",
      "/Rotate 270 /CropBox [150 260 560 700]",
      "/Rotate 90 /CropBox [150 260 560 700] /UserUnit 1.25",
      "",
    ];
    try {
      for (const [index, entries] of kinds.entries()) {
        const name = `Ink ${index}`;
        const buffer = makePdf({ text: name, pageEntries: `/MediaBox [0 0 612 792] ${entries}` });
        if (await editor(page).isVisible()) await done(page);
        await page.getByLabel("File: a PDF").setInputFiles(pdf(buffer, `${name}.pdf`));
        await page.getByText(`${name}.pdf: 1 page`).waitFor();
        await openButton(page).click();
        await sheet(page).locator("canvas").waitFor();
        const look = lookUpPdf(buffer);
        const [first] = [...pagesIn(look.file, look.root.dict)];
        const size = shownSize(pageBox(look.file, first ?? assert.fail()));
        const shownBox = (await sheet(page).boundingBox()) ?? assert.fail("no page");
        const scale = shownBox.width / size.width;
        const drop = { x: Math.round(0.4 * shownBox.width), y: Math.round(0.3 * size.height * scale) };
        await tool(page, "Text").click();
        await sheet(page).click({ position: drop });
        const field = (await written(page)).at(-1) ?? assert.fail("no field");
        const requested = { ...field, label: "Unit" } as unknown as RequestedField;
        const planned = await plan(buffer, { signers: 1, fields: [requested] });
        const { bytes } = await signing.prepare(buffer, planned, ["Jane Roe"]);
        const path = join(folder, `${index}.pdf`);
        writeFileSync(path, bytes);
        const [left, top, right, bottom] = await inkOn(path, (r, _, b) => r - b >= 40, 8);
        const ink = JSON.stringify({ entries, field, drop, ink: [left, top, right, bottom] });
        assert.ok(near((left + right) / 2, drop.x / scale) && near((top + bottom) / 2, drop.y / scale), ink);
        assert.ok(near(left, field.x) && near(top, field.y), ink);
        assert.ok(near(right, field.x + field.width) && near(bottom, field.y + field.height), ink);
        await page.keyboard.press("Delete");
      }
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
);

test("by mouse: fields of two signers are dragged onto pages, moved, resized, snapped, copied and sent", async () => {
  const { opened, page } = await begin(makePdf({ pages: 3 }), { signers: 2 });
  const isWhole = (element: Element) => element.scrollWidth <= element.clientWidth;
  const toolbox = page.getByRole("group", { name: "Fields", exact: true });
  assert.ok(await toolbox.evaluate(isWhole), "all tools are in sight");
  for (const button of await toolbox.getByRole("button").all()) assert.ok(await button.evaluate(isWhole));
  const spot = await pointOn(page, 200, 300);
  await dragTo(page, await middleOf(tool(page, "Signature")), spot);
  const [signature] = await written(page);
  assert.ok(signature && near(signature.x + signature.width / 2, 200) && near(signature.y + signature.height / 2, 300));
  assert.deepEqual([signature.kind, signature.signer, signature.page], ["signature", 1, 1]);

  const own = placed(page, /^Signature, Jane Roe, required, page 1/);
  const from = await middleOf(own);
  const { scale } = await pointOn(page, 0, 0);
  await dragTo(page, await middleOf(own), { x: from.x + 60 * scale, y: from.y + 40 * scale });
  const [moved] = await written(page);
  assert.ok(moved && near(moved.x, signature.x + 60, 1) && near(moved.y, signature.y + 40, 1), JSON.stringify(moved));

  const corner = await middleOf(own.locator(".placed-handle"));
  await dragTo(page, corner, { x: corner.x + 30 * scale, y: corner.y + 10 * scale });
  const [resized] = await written(page);
  assert.ok(resized && near(resized.width, moved.width + 30, 1) && near(resized.height, moved.height + 10, 1));

  await page.getByRole("button", { name: "John Roe has no signature yet: place one" }).click();
  assert.equal(await page.getByLabel("Fields for").inputValue(), "2");
  assert.ok(await tool(page, "Signature").evaluate((element) => element === document.activeElement));
  const beside = await pointOn(page, resized.x + 90 + 3, 460);
  await dragTo(page, await middleOf(tool(page, "Signature")), beside);
  const second = (await written(page)).at(-1);
  assert.ok(second && second.signer === 2 && near(second.x, resized.x, 0.02), "its left edge met that of the first");
  await dragTo(page, await middleOf(tool(page, "Initials")), await pointOn(page, 540, 460));
  await page.getByRole("button", { name: "On every page" }).click();
  await editor(page).getByRole("status").getByText("Initials for John Roe is on 3 pages now.").waitFor();
  const all = await written(page);
  assert.deepEqual(
    all.filter(({ kind }) => kind === "initials").map((field) => [field.page, field.x]),
    [1, 2, 3].map((n) => [n, all.find(({ kind }) => kind === "initials")?.x]),
  );
  await tool(page, "Text").click();
  await sheet(page).click({ position: { x: 200, y: 100 } });
  await page.getByLabel("Label", { exact: true }).fill("Parcel number");
  await page.getByLabel("Value from you").fill("R-17");
  await page.getByLabel("The signer can’t change it").check();
  await page.getByRole("button", { name: "Duplicate" }).click();
  assert.equal((await written(page)).filter((field) => "read_only" in field).length, 2);
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await assertGood(opened);
  await done(page);
  await page.getByText("Jane Roe: 1 field. John Roe: 5 fields.").waitFor();
  await assertGood(opened);
  await press(page, "Place the test order");
  await said(page, "The order was placed.");
});

test("a choice, a list, a number and a checkbox are set up in the panel", async () => {
  const { page } = await begin(makePdf());
  const put = async (name: string, y: number) => {
    await tool(page, name).click();
    await sheet(page).click({ position: { x: 300, y } });
  };
  await put("Signature", 60);
  await put("Radio", 200);
  await page.getByLabel("Label", { exact: true }).fill("Title");
  await page.getByLabel("Options").fill("Sole\nJoint\nTrust");
  await page.getByLabel("Value from you").selectOption("Joint");
  await placed(page, /^Title: Trust, Jane Roe, Radio/).waitFor();
  await put("Dropdown", 400);
  await page.getByLabel("Options").fill("Red\n\n Blue ");
  await put("Number", 500);
  await page.getByLabel("Currency").selectOption("USD");
  await page.getByLabel("At most").fill("1000");
  await put("Checkbox", 560);
  await page.getByLabel("Checked by you").check();
  await page.getByLabel("Required", { exact: true }).check();
  await page.getByLabel("Required", { exact: true }).uncheck();
  await put("Date", 620);
  const format = page.getByLabel("Format");
  assert.equal(((await written(page)).at(-1) as { format?: string } | undefined)?.format, "us", "the usual format");
  await format.selectOption("2026-01-05");
  assert.equal("format" in ((await written(page)).at(-1) ?? {}), false, "the API's default");
  await format.selectOption("January 5, 2026");
  const fields = await written(page);
  const [, choice, list, number, box, date] = fields as unknown as Record<string, unknown>[];
  assert.deepEqual(
    [choice?.["kind"], choice?.["label"], choice?.["value"], "x" in (choice ?? {})],
    ["radio", "Title", "Joint", false],
  );
  const options = choice?.["options"] as (Written & { label: string })[];
  assert.deepEqual(
    options.map(({ label, x }) => [label, x]),
    ["Sole", "Joint", "Trust"].map((label) => [label, options[0]?.x]),
  );
  assert.deepEqual(list?.["options"], [{ label: "Red" }, { label: "Blue" }]);
  assert.deepEqual(number?.["format"], { currency: "USD", max: 1000 });
  assert.deepEqual([box?.["value"], box?.["required"]], [true, false]);
  assert.equal(date?.["format"], "long");
  await done(page);
  await press(page, "Place the test order");
  await said(page, "The order was placed.");
});

test("by keyboard alone: a field is added, moved, resized, set up, deleted and restored", async () => {
  const { opened, page } = await begin(makePdf({ pages: 2 }));
  const says = (text: string | RegExp) => editor(page).getByRole("status").getByText(text).waitFor();
  await tool(page, "Signature").focus();
  await page.keyboard.press("Enter");
  await says(/Signature for Jane Roe placed on page 1/);
  const [start] = await written(page);
  assert.ok(start && near(start.x + start.width / 2, 306) && near(start.y + start.height / 2, 396));
  for (const key of ["ArrowRight", "ArrowDown", "Control+ArrowDown", "Shift+ArrowRight", "Shift+ArrowUp"])
    await page.keyboard.press(key);
  await says("181 wide, 35 high");
  const [now] = await written(page);
  assert.deepEqual(
    [now?.x, now?.y, now?.width, now?.height],
    [start.x + 1, start.y + 11, start.width + 1, start.height - 1],
  );
  await page.keyboard.press("Delete");
  await says(/deleted/);
  assert.deepEqual(await written(page), []);
  await page.keyboard.press("Control+z");
  assert.equal((await written(page)).length, 1);
  await page.keyboard.press("Control+y");
  await says("Done again.");
  assert.deepEqual(await written(page), []);
  await page.keyboard.press("Control+z");
  await page.keyboard.press("Control+Shift+z");
  assert.deepEqual(await written(page), []);
  await page.keyboard.press("Control+z");
  await placed(page, /^Signature, Jane Roe/).focus();
  await page.keyboard.press("Control+d");
  assert.equal((await written(page)).length, 2);
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => document.activeElement?.closest(".place-panel") !== null), true);
  await page.getByText("Page, position and size").press("Enter");
  await page.getByLabel("Page", { exact: true }).fill("2");
  await page.getByLabel("From the left").fill("72");
  await page.getByLabel("From the top").press("Tab");
  const last = (await written(page)).at(-1);
  assert.deepEqual([last?.page, last?.x], [2, 72]);
  await assertGood(opened);
  await page.keyboard.press("Escape");
  assert.equal(await editor(page).count(), 0);
  assert.equal(await openButton(page).evaluate((element) => element === document.activeElement), true);
});

test("by keyboard alone at the width of a phone: a field is added, moved, set up by numbers and deleted", async () => {
  const { opened, page } = await begin(makePdf({ pages: 2 }), { width: 375, height: 740 });
  await tool(page, "Initials").focus();
  await page.keyboard.press("Enter");
  const [start] = await written(page);
  assert.ok(start);
  await page.keyboard.press("Control+ArrowDown");
  assert.deepEqual(
    (await written(page)).map(({ y }) => y),
    [start.y + 10],
  );
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => document.activeElement?.closest(".place-panel") !== null), true);
  await page.getByText("Page, position and size").press("Enter");
  await page.getByLabel("Page", { exact: true }).fill("2");
  await page.getByLabel("From the top").fill("512");
  await page.getByLabel("From the top").press("Tab");
  assert.deepEqual(
    (await written(page)).map((field) => [field.page, field.y]),
    [[2, 512]],
  );
  await assertGood(opened);
  await placed(page, /^Initials, Jane Roe/).focus();
  await page.keyboard.press("Delete");
  assert.deepEqual(await written(page), []);
  await page.keyboard.press("Escape");
  assert.equal(await editor(page).count(), 0);
});

test("by touch on a phone: a tool is tapped, its place is tapped, and the field is dragged", async () => {
  const { opened, page } = await begin(makePdf({ pages: 2 }), { width: 375, height: 740 });
  const touch = await page.context().newCDPSession(page);
  const send = (type: "touchStart" | "touchMove" | "touchEnd", at?: { x: number; y: number }) =>
    touch.send("Input.dispatchTouchEvent", { type, touchPoints: at ? [at] : [] });
  await tool(page, "Signature").click();
  await sheet(page).click({ position: { x: 150, y: 120 } });
  const field = placed(page, /^Signature, Jane Roe/);
  const [before] = await written(page);
  const from = await middleOf(field);
  await send("touchStart", from);
  for (const step of [10, 30, 60]) await send("touchMove", { x: from.x + step / 2, y: from.y + step });
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
  await send("touchEnd");
  const [after] = await written(page);
  const { scale } = await pointOn(page, 0, 0);
  assert.ok(before && after && near(after.y - before.y, 60 / scale, 1.5), JSON.stringify([before, after, scale]));
  assert.ok(near(after.x - before.x, 30 / scale, 1.5));
  await assertGood(opened);
});

const preview = (page: Page) => page.getByRole("dialog", { name: /^Preview/ });
const shown = (page: Page) => preview(page).frameLocator("iframe:not([hidden])");
const openPreview = (page: Page) => editor(page).getByRole("button", { name: "Preview as the signers see it" });

/** Places a field by a click, and sets it up in the panel. */
async function put(page: Page, kind: string, y: number, settings: Record<string, string> = {}) {
  await tool(page, kind).click();
  await sheet(page).click({ position: { x: 300, y } });
  for (const [label, value] of Object.entries(settings)) {
    const control = page.locator(".place-panel").getByLabel(label, { exact: true });
    if ((await control.evaluate((element) => element.tagName)) === "SELECT") await control.selectOption(value);
    else await control.fill(value);
  }
}

test("the preview is each signer's own page: conditions and formulas work, and nothing is sent", async () => {
  const { opened, page } = await begin(makePdf({ pages: 2 }), { signers: 2 });
  const sent: string[] = [];
  page.on("request", (request) => sent.push(`${request.method()} ${new URL(request.url()).pathname}`));
  await put(page, "Signature", 60);
  await put(page, "Checkbox", 160, { Label: "Pets", "Name for rules": "pets" });
  await put(page, "Text", 240, { Label: "Breed", "Show this field": "pets" });
  await put(page, "Number", 320, { Label: "Rent", "Name for rules": "rent" });
  await put(page, "Number", 400, { Label: "A year", "Calculated as": "rent * 12" });
  await page.getByLabel("Fields for").selectOption("John Roe");
  await put(page, "Signature", 520);
  await page.getByLabel("Fields for").selectOption("Jane Roe");
  await openPreview(page).click();
  const pets = shown(page).locator(".viewer-box");
  await pets.waitFor();
  await shown(page).getByRole("heading", { name: "Agreement" }).waitFor();
  const breed = shown(page).locator(".viewer-field", { hasText: "Breed" });
  assert.equal(await breed.isVisible(), false, "its condition is false");
  await pets.click();
  await breed.waitFor();
  assert.equal(
    await shown(page)
      .getByRole("textbox", { name: /^Breed/ })
      .getAttribute("required"),
    "",
  );
  await shown(page).getByRole("textbox", { name: /^Rent/ }).fill("1000");
  await until(
    async () =>
      (await shown(page)
        .getByRole("textbox", { name: /^A year/ })
        .inputValue()) === "12,000",
  );
  assert.equal(await shown(page).locator(".viewer-page").count(), 2);
  const john = (await written(page)).at(-1) ?? assert.fail();
  const ink = await shown(page)
    .locator(".viewer-page canvas")
    .first()
    .evaluate((element, { x, y, width, height }) => {
      const canvas = element as HTMLCanvasElement;
      const scale = canvas.width / 612;
      const [left, top, across, down] = [x, y, width, height].map((each) => Math.round(each * scale));
      const { data } = canvas.getContext("2d")?.getImageData(left ?? 0, top ?? 0, across ?? 1, down ?? 1) ?? {
        data: [],
      };
      return [...data].filter((value, index) => index % 4 === 0 && value < 200).length;
    }, john);
  assert.ok(ink > 20, `the place of the other signer is drawn in the file: ${ink} pixels`);

  const drawn = shown(page).locator("#sign-form input[name=drawn]");
  const inStorage = () => page.evaluate(() => sessionStorage.getItem("signature"));
  await drawn.evaluate((element) => {
    (element as HTMLInputElement).value = "M 0 0 L 10 10";
    element.dispatchEvent(new Event("input", { bubbles: true }));
  });
  assert.equal(await inStorage(), null, "the preview keeps no signature");
  await drawn.evaluate((element) => {
    (element as HTMLInputElement).value = "";
  });
  await shown(page).getByRole("button", { name: "Sign", exact: true }).click();
  assert.ok(await pets.isVisible(), "the page stays");
  await assertGood(opened);
  await page.setViewportSize({ width: 1280, height: 800 });
  await preview(page).getByRole("button", { name: "As on a phone" }).click();
  assert.ok(((await preview(page).locator("iframe").boundingBox())?.width ?? 999) <= 375);
  await preview(page).getByLabel("Page of").selectOption("John Roe");
  await shown(page).getByRole("heading", { name: "Agreement" }).waitFor();
  await shown(page).locator(".viewer-field").first().waitFor();
  assert.equal(await shown(page).locator(".viewer-field").count(), 1);
  assert.equal(await shown(page).getByLabel(/^Rent/).count(), 0, "another signer's input");
  await shown(page).locator(".viewer-field").first().focus();
  await page.keyboard.press("Escape");
  await preview(page).waitFor({ state: "detached" });
  assert.ok(await editor(page).isVisible());
  assert.deepEqual(
    sent.filter((line) => line.startsWith("POST") && !line.endsWith("/quote")),
    ["POST /dashboard/places/preview"],
  );
  await done(page);
  await press(page, "Place the test order");
  await said(page, "The order was placed.");
});

test("a signer with a later turn is shown the document with the values tried on earlier pages, and examples elsewhere", async () => {
  const { opened, page } = await begin(makePdf(), { signers: 2, inTurn: true });
  await put(page, "Signature", 60);
  await put(page, "Text", 200, { Label: "Unit" });
  await put(page, "Checkbox", 260, { Label: "Pets", "Name for rules": "pets" });
  await page.getByLabel("Fields for").selectOption("John Roe");
  await put(page, "Signature", 400);
  await put(page, "Text", 500, { Label: "Breed", "Show this field": "pets" });
  const unit = (await written(page)).find(({ kind }) => kind === "text") ?? assert.fail();
  const textAt = (place: Written) =>
    shown(page)
      .locator(".viewer-page canvas")
      .first()
      .evaluate((element, { x, y, width, height }) => {
        const canvas = element as HTMLCanvasElement;
        const scale = canvas.width / 612;
        const [left, top, across, down] = [x + 1, y + 1, width - 2, height - 2].map((each) => Math.round(each * scale));
        const { data = [] } = canvas.getContext("2d")?.getImageData(left ?? 0, top ?? 0, across ?? 1, down ?? 1) ?? {};
        return [...data].filter((value, index) => index % 4 === 0 && value < 120).length;
      }, place);
  const choose = (name: string) => preview(page).getByLabel("Page of").selectOption(name);
  await page.getByLabel("Fields for").selectOption("Jane Roe");
  await openPreview(page).click();
  await shown(page).locator(".viewer-box").waitFor();
  await choose("John Roe");
  await preview(page)
    .getByText(/The page on which John Roe signs, after Jane Roe\./)
    .waitFor();
  await shown(page).locator(".viewer-field").first().waitFor();
  assert.equal(await shown(page).locator(".viewer-field:visible").count(), 1, "the example has no pets");
  const example = await textAt(unit);
  assert.ok(example > 20, `an example is in the required text: ${example} pixels`);
  await assertGood(opened);

  await choose("Jane Roe");
  await shown(page).locator(".viewer-box").click();
  await shown(page).getByRole("textbox", { name: /^Unit/ }).fill("WWWWWWWWWWWWWWWW");
  await choose("John Roe");
  await shown(page).locator(".viewer-field", { hasText: "Breed" }).waitFor();
  const typed = await textAt(unit);
  assert.ok(typed > 1.5 * example, `what was typed is in the document: ${typed} and ${example} pixels`);
  await choose("Jane Roe");
  const kept = await shown(page).getByRole("textbox", { name: /^Unit/ }).inputValue();
  assert.equal(kept, "WWWWWWWWWWWWWWWW", "the page of the earlier signer is as it was left");
});

test("by keyboard alone at the width of a phone: the preview opens, a field is filled in, and Escape leads back", async () => {
  const { opened, page } = await begin(makePdf(), { width: 375, height: 740 });
  await tool(page, "Signature").focus();
  await page.keyboard.press("Enter");
  await tool(page, "Text").focus();
  await page.keyboard.press("Enter");
  await openPreview(page).focus();
  await page.keyboard.press("Enter");
  const field = shown(page).locator(".viewer-field", { hasText: "Text" });
  await field.waitFor();
  await field.focus();
  await page.keyboard.press("Enter");
  await page.keyboard.type("4B");
  await page.keyboard.press("Enter");
  await shown(page).locator(".viewer-field.filled", { hasText: "4B" }).waitFor();
  await assertGood(opened);
  await page.keyboard.press("Escape");
  await preview(page).waitFor({ state: "detached" });
  assert.equal(await openPreview(page).evaluate((element) => element === document.activeElement), true);
});

test("the preview says what an order would refuse, and shows the page that would be added for signatures", async () => {
  const { page } = await begin(makePdf(), { signers: 2 });
  await openPreview(page).click();
  await shown(page).locator(".viewer-page").nth(1).waitFor();
  await preview(page).getByRole("button", { name: "Back to the fields" }).click();
  await tool(page, "Signature").click();
  await sheet(page).click({ position: { x: 300, y: 200 } });
  await page.getByLabel("Fields for").selectOption("John Roe");
  await openPreview(page).click();
  await preview(page).getByText("John Roe has no signature on the pages yet.").waitFor();
  assert.equal(await preview(page).locator("iframe").count(), 0);
  await preview(page).getByLabel("Page of").selectOption("Jane Roe");
  await shown(page).locator(".viewer-page").first().waitFor();
  await preview(page).getByText("John Roe has no signature yet.").waitFor();
  await preview(page).getByRole("button", { name: "Back to the fields" }).click();
  await done(page);
  await press(page, "Place the test order");
  await page.getByText("Each signer needs a signature on the pages. John Roe has none.").first().waitFor();
});

test("a field is copied to a range of pages, and a list that names no pages is refused", async () => {
  const { page } = await begin(makePdf({ pages: 6 }));
  await tool(page, "Initials").click();
  await sheet(page).click({ position: { x: 500, y: 700 } });
  await page.getByLabel("Copy to pages").fill("7");
  await page.getByRole("button", { name: "Copy", exact: true }).click();
  await page.getByText("List pages from 1 to 6, such as 2-6.").waitFor();
  await page.getByLabel("Copy to pages").fill("2-3, 6");
  await page.getByLabel("Copy to pages").press("Enter");
  await editor(page).getByRole("status").getByText("Initials for Jane Roe is on 4 pages now.").waitFor();
  assert.deepEqual(
    (await written(page)).map((field) => field.page),
    [1, 2, 3, 6],
  );
  await page.getByLabel("Copy to pages").press("Enter");
  assert.equal((await written(page)).length, 4, "no second one at the same place");
});

const path = "BT /F1 11 Tf 72 302 Td (Weather:) Tj ET 0.75 w 150 300 m 380 300 l S";
const isOnPath = (field: Written | undefined) =>
  field !== undefined && near(field.y + field.height, 492, 0.05) && near(field.x, 150, 0.05) && near(field.width, 230);

test("a field that is dropped near a line that the page draws as a path is on the line, and as wide as it", async () => {
  const { page } = await begin(makePdf({ content: path }));
  await page.getByText("No lines to sign on were found.").waitFor();
  for (const [name, below] of [
    ["Text", 6],
    ["Signature", -10],
  ] as const) {
    const { scale } = await pointOn(page, 0, 0);
    const off = 14 / scale;
    const middle = 492 - (name === "Text" ? 9 : 18);
    const at = await pointOn(page, 265 + off, middle + below);
    await dragTo(page, await middleOf(tool(page, name)), at);
    const [field] = await written(page);
    assert.ok(isOnPath(field), JSON.stringify(field));
    await page.keyboard.press("Delete");
  }
});

test("a field that is dragged to within 14 pixels of a line is on the line", async () => {
  const { page } = await begin(makePdf({ content: path }));
  await page.getByText("No lines to sign on were found.").waitFor();
  await dragTo(page, await middleOf(tool(page, "Signature")), await pointOn(page, 300, 200));
  const own = placed(page, /^Signature, Jane Roe/);
  const [before] = await written(page);
  const from = await middleOf(own);
  const { scale } = await pointOn(page, 0, 0);
  const down = 492 - ((before?.y ?? 0) + (before?.height ?? 0));
  await dragTo(page, from, { x: from.x + (160 - (before?.x ?? 0)) * scale, y: from.y + down * scale - 14 });
  const [field] = await written(page);
  assert.ok(field && near(field.y + field.height, 492, 0.05) && near(field.x, 150, 0.05), JSON.stringify(field));
});

test("a click near a printed line puts the field onto the line, with the height of the space above the line", async () => {
  const content = [path, "BT /F1 11 Tf 160 320 Td (Words above the line) Tj ET"].join("\n");
  const { page } = await begin(makePdf({ content }));
  await page.getByText("No lines to sign on were found.").waitFor();
  await tool(page, "Signature").click();
  const at = await pointOn(page, 300, 488);
  await page.mouse.click(at.x, at.y);
  const [field] = await written(page);
  assert.ok(isOnPath(field) && (field?.height ?? 99) <= 20, JSON.stringify(field));
});

const lineOf = (words: string, y: number, x = 72) =>
  `BT /F1 10 Tf ${x} ${y} Td (______________________________) Tj 0 -13 Td (${words}) Tj ET`;

test("the editor opens with the first place to sign or fill in in view, on any page", async () => {
  for (const first of [1, 3]) {
    const content = (n: number) => (n === first ? lineOf("Signature of Buyer", 60) : "");
    const { page } = await begin(makePdf({ pages: 4, content }));
    await page.getByText("1 place to fill in was found.").waitFor();
    await until(() => inView(page, editor(page).locator(".proposal")));
    await editor(page).locator(".viewer-place").getByText(`Page ${first} of 4`).waitFor();
  }
});

/** True if an element is completely within the box that scrolls the pages. */
async function inView(page: Page, locator: ReturnType<Page["locator"]>) {
  const [own, frame] = await Promise.all(
    [locator, editor(page).locator(".place-scroller")].map((e) => e.boundingBox()),
  );
  return Boolean(own && frame && own.y >= frame.y && own.y + own.height <= frame.y + frame.height);
}

test("a sender states who signs in which role, and one press places all lines for their signers and can be undone", async () => {
  const content = (n: number) =>
    n === 2
      ? [
          ...["SELLER", "BUYER"].flatMap((party, index) => [
            `BT /F1 10 Tf 72 ${400 - 120 * index} Td (${party}:) Tj ET`,
            lineOf("Signature", 370 - 120 * index),
            lineOf("Date", 370 - 120 * index, 330),
          ]),
        ].join("\n")
      : "BT /F1 10 Tf 72 60 Td (Seller's initials: _______   Buyer's initials: _______) Tj ET";
  const { opened, page } = await begin(makePdf({ pages: 2, content }), { signers: 2 });
  await page.getByText("6 places to fill in were found.").waitFor();
  const owned = editor(page).getByRole("button", { name: /^Place .*:/ });
  assert.equal(await owned.count(), 0, "nothing says who sells");
  const parties = editor(page).getByRole("group", { name: "Who signs as what" });
  await assertGood(opened);
  await parties.getByLabel("Jane Roe").selectOption("Buyer");
  assert.equal(await parties.getByLabel("John Roe").inputValue(), "Seller", "the only party that is left");
  await editor(page).getByRole("status").getByText("Jane Roe signs as Buyer. John Roe signs as Seller.").waitFor();
  await assertGood(opened);
  await editor(page).getByRole("button", { name: "Place all 6: 3 for Jane Roe, 3 for John Roe" }).press("Enter");
  const byPlace = (await written(page)).map((field) => `${field.kind} ${field.signer}`);
  assert.deepEqual(byPlace, ["initials 2", "initials 1", "signature 2", "date 2", "signature 1", "date 1"]);
  assert.equal(await parties.isVisible(), false);
  await editor(page).getByRole("button", { name: "Undo", exact: true }).click();
  assert.deepEqual(await written(page), []);
  await editor(page).getByRole("button", { name: "Place all 6: 3 for Jane Roe, 3 for John Roe" }).focus();
  for (let held = 0; held < 4; held++) {
    await page.keyboard.down("Enter");
    assert.equal((await written(page)).length, 6, "a held key presses once");
  }
  await page.keyboard.up("Enter");
  await page.keyboard.press("Enter");
  assert.deepEqual(await written(page), [], "a new press undoes");
  await parties.getByLabel("John Roe").selectOption("Choose…");
  await editor(page).getByRole("button", { name: "Place 3 of 6 for Jane Roe" }).click();
  assert.deepEqual(new Set((await written(page)).map(({ signer }) => signer)), new Set([1]));
  await parties.getByLabel("John Roe").selectOption("Seller");
  await page.getByRole("button", { name: "John Roe has no signature yet: place one" }).click();
  assert.match(
    await page.evaluate(() => document.activeElement?.getAttribute("aria-label") ?? ""),
    /^Signature, John Roe\? Proposed on page 2: place it for John Roe$/,
  );
  assert.ok(await inView(page, editor(page).locator(".proposal.signature")));
  await page.keyboard.press("Enter");
  assert.deepEqual((await written(page)).at(-1)?.signer, 2);
});

test("the lines of witnesses are only counted until a signer signs as a witness, on a phone", async () => {
  const content = [
    lineOf("Signature of Buyer", 400),
    lineOf("Signature of Witness", 300),
    lineOf("Date", 300, 330),
  ].join("\n");
  const { opened, page } = await begin(makePdf({ content }), { signers: 2, width: 375, height: 740 });
  await page.getByText("1 place to fill in was found. 2 more are for witnesses.").waitFor();
  assert.equal(await editor(page).locator(".proposal").count(), 1);
  const parties = editor(page).getByRole("group", { name: "Who signs as what" });
  await parties.getByLabel("John Roe").selectOption("Witness");
  await parties.getByLabel("Jane Roe").selectOption("Buyer");
  await assertGood(opened);
  await editor(page).getByRole("button", { name: "Place all 3: 1 for Jane Roe, 2 for John Roe" }).press("Enter");
  assert.deepEqual((await written(page)).map((field) => `${field.kind} ${field.signer}`).sort(), [
    "date 2",
    "signature 1",
    "signature 2",
  ]);
  await assertGood(opened);
});

test("fields survive a reload with the same file, until the order is placed", async () => {
  const { page } = await begin(makePdf({ text: "To be kept" }));
  await tool(page, "Signature").click();
  await sheet(page).click({ position: { x: 300, y: 200 } });
  await done(page);
  const [before] = await written(page);
  const again = async (buffer: Buffer) => {
    await pages.go(page, newPath);
    await page.getByLabel("Client’s email").fill("jane@example.com");
    await page.getByLabel("Signing").check();
    await page.getByLabel("This is the client’s own document").check();
    await page.getByLabel("File: a PDF").setInputFiles(pdf(buffer));
    await page.getByText("Agreement.pdf: 1 page").waitFor();
  };
  await again(makePdf({ text: "Another document" }));
  await page.getByText("No fields yet.").waitFor();
  await again(makePdf({ text: "To be kept" }));
  await page.getByText("These are the fields from before this page was loaded again.").waitFor();
  assert.deepEqual(await written(page), [before]);
  await press(page, "Place the test order");
  await said(page, "The order was placed.");
  await again(makePdf({ text: "To be kept" }));
  await page.getByText("No fields yet.").waitFor();
  assert.deepEqual(await written(page), []);
});

test("the draft of the fields is the member's own, and signing out deletes it", async () => {
  const { page } = await begin(makePdf({ text: "For this member" }));
  await tool(page, "Text").click();
  await sheet(page).click({ position: { x: 300, y: 200 } });
  await done(page);
  const keys = () => page.evaluate(() => Object.keys(sessionStorage).filter((key) => key.startsWith("places:")));
  const account = (await page.locator(".account").getAttribute("data-account")) ?? assert.fail("no account");
  const [key = "", ...others] = await keys();
  assert.deepEqual(others, []);
  assert.ok(key.startsWith(`places:${account}:/`), key);
  await press(page, "Sign out");
  await page.waitForURL((url) => url.pathname === "/");
  assert.deepEqual(await keys(), []);
});

test("a refused field is named, and its form keeps file and fields until it is corrected", async () => {
  const { page } = await begin(makePdf(), { signers: 2 });
  await tool(page, "Signature").click();
  await sheet(page).click({ position: { x: 300, y: 200 } });
  await page.getByLabel("Fields for").selectOption("John Roe");
  await tool(page, "Signature").click();
  await sheet(page).click({ position: { x: 420, y: 236 } });
  await done(page);
  await press(page, "Place the test order");
  const refusal = page.getByRole("alert").getByText("“signature” on page 1: overlaps “signature” on page 1");
  await refusal.waitFor();
  const kept = (await page.locator("#places").getAttribute("data-kept")) ?? "";
  const [own, other] = [await pages.caller(pages.acme), await pages.caller(await newPartner(pages.service))];
  assert.equal((await own.send(kept)).status, 200);
  assert.equal((await other.send(kept)).status, 404, "another firm's");
  assert.equal((await written(page)).length, 2);
  await openButton(page).click();
  const refused = placed(page, /John Roe.*Refused: overlaps/);
  await refused.waitFor();
  assert.equal(await refused.evaluate((element) => element === document.activeElement), true);
  for (let step = 0; step < 8; step++) await page.keyboard.press("Control+ArrowDown");
  await placed(page, /^Signature, John Roe, required, page 1$/).waitFor();
  await done(page);
  await press(page, "Place the test order");
  await said(page, "The order was placed.");
});

test("a file that needs a password is refused when it is chosen, and the form goes on with another", async () => {
  const { opened, page } = await pages.open();
  await pages.go(page, newPath);
  await page.getByLabel("Signing").check();
  await page.getByLabel("File: a PDF").setInputFiles(pdf(zooBytes("encrypted-aes-256.pdf")));
  await page.getByText(/^Agreement\.pdf was not taken: it needs a password to be opened\./).waitFor();
  assert.equal(await page.getByLabel("File: a PDF").inputValue(), "");
  await assertGood(opened);
  await page.getByLabel("File: a PDF").setInputFiles(pdf(makePdf(), "Open.pdf"));
  await page.getByText("Open.pdf: 1 page").waitFor();
});

test("fields of a signer who is no longer named are left out; one press removes all fields", async () => {
  const { opened, page } = await begin(makePdf(), { signers: 2 });
  await tool(page, "Signature").press("Enter");
  await editor(page).getByLabel("Fields for").selectOption("John Roe");
  await tool(page, "Signature").press("Enter");
  await done(page);
  assert.deepEqual(
    (await written(page)).map(({ signer }) => signer),
    [1, 2],
  );
  for (const member of ["name", "email"]) await page.locator(`[name=signer2_${member}]`).fill("");
  await page.getByText(/1 field of somebody who does not sign this document is left out/).waitFor();
  assert.deepEqual(
    (await written(page)).map(({ signer }) => signer),
    [1],
  );
  await page.locator("[name=signer2_name]").fill("John Roe");
  assert.deepEqual(
    (await written(page)).map(({ signer }) => signer),
    [1, 2],
  );
  await page.getByRole("button", { name: "Remove all fields" }).press("Enter");
  await page.getByText("2 fields removed. “Undo” on the pages brings them back.").waitFor();
  assert.deepEqual(await written(page), []);
  await assertGood(opened);
});

test("fields are sent only while signing is bought, and return with it", async () => {
  const { page } = await begin(makePdf());
  await tool(page, "Signature").click();
  await sheet(page).click({ position: { x: 300, y: 200 } });
  await done(page);
  await page.getByLabel("Signing").uncheck();
  assert.equal(await page.locator("#field-fields").isDisabled(), true);
  assert.equal(await openButton(page).isVisible(), false);
  await page.getByLabel("Document type").selectOption({ label: "Promissory note (signed)" });
  assert.equal(await page.locator("#field-fields").isDisabled(), false);
  assert.equal((await written(page)).length, 1);
  await page.getByLabel("Document type").selectOption({ label: "Other document" });
  await page.getByLabel("Online notarization").check();
  await press(page, "Place the test order");
  await said(page, "The order was placed.");
});

test("a page is added only once the sender has agreed; without a script it is added as before", async () => {
  const { page } = await begin(makePdf({ text: "Nothing to sign on" }));
  await done(page);
  await press(page, "Place the test order");
  await page.getByRole("alert").getByText("The document has no place for every signer to sign.").waitFor();
  await page.getByLabel("Add a page for signatures at the end").check();
  await press(page, "Place the test order");
  await said(page, "The order was placed.");

  const plain = (await pages.open({ javaScript: false })).page;
  await pages.go(plain, newPath);
  await plain.getByLabel("File: a PDF").setInputFiles(pdf(makePdf({ text: "Nothing here" })));
  await plain.getByLabel("Client’s email").fill("sam@example.com");
  await plain.getByLabel("Signing").check();
  await plain.getByLabel("This is the client’s own document").check();
  await press(plain, "Place the test order");
  await said(plain, "The order was placed.");
});

test("lines to sign on are proposed, and become fields of the chosen signer one by one or all at once", async () => {
  const form = signatureForms().find(({ name }) => name === "two columns of parties") ?? assert.fail();
  const { opened, page } = await begin(form.pdf, { signers: 2 });
  await page.getByText("4 places to fill in were found.").waitFor();
  assert.deepEqual(await written(page), [], "a person accepts");
  await assertGood(opened);
  await placed(page, /^Signature\? Proposed on page 1: place it for Jane Roe$/)
    .first()
    .click();
  const [own] = await written(page);
  assert.deepEqual([own?.kind, own?.signer], ["signature", 1]);
  assert.ok(own && near(own.x, 95, 2) && near(own.y + own.height, 502, 2), JSON.stringify(own));
  await page.getByLabel("Fields for").selectOption("John Roe");
  await placed(page, /^Date\? Proposed/)
    .first()
    .focus();
  await page.keyboard.press("Delete");
  await page.getByText("2 places to fill in were found.").waitFor();
  await page.getByRole("button", { name: "Place all 2 for John Roe" }).click();
  const fields = await written(page);
  assert.deepEqual(
    fields.map(({ kind, signer }) => [kind, signer]),
    [
      ["signature", 1],
      ["signature", 2],
      ["date", 2],
    ],
  );
  assert.equal(await editor(page).locator(".proposal").count(), 0);
  await done(page);
  await press(page, "Place the test order");
  await said(page, "The order was placed.");
});

test("places go to the signers whom the page names, all at once, and the others to the chosen signer", async () => {
  const lines = ["John Roe", "Jane Roe", "Buyer"].map(
    (name, index) =>
      `BT /F1 10 Tf 72 ${600 - 80 * index} Td (______________________________) Tj 0 -13 Td (${name}) Tj 250 13 Td (Date: ______________) Tj ET`,
  );
  const content = ["BT /F1 10 Tf 72 660 Td (IN WITNESS WHEREOF, the parties have signed.) Tj ET", ...lines].join("\n");
  const { opened, page } = await begin(makePdf({ content }), { signers: 2 });
  await placed(page, /^Signature, John Roe\? Proposed on page 1: place it for John Roe$/).waitFor();
  await assertGood(opened);
  const free = page.getByRole("button", { name: /^Place [^:]* for (Jane|John) Roe$/ });
  assert.equal(await free.count(), 0, "the buyer’s");
  await page.getByRole("button", { name: "Place 4 of 6: 2 for Jane Roe, 2 for John Roe" }).click();
  const result = "4 fields placed: 2 for Jane Roe, 2 for John Roe.";
  await editor(page).getByRole("status").getByText(result).waitFor();
  const report = editor(page).locator(".place-report");
  assert.ok((await report.textContent())?.startsWith(result));
  assert.ok(await report.isVisible());
  await editor(page).getByText("Select a field to describe what it asks for.").waitFor();
  await assertGood(opened);
  const back = () => page.evaluate(() => document.activeElement?.getAttribute("aria-label"));
  assert.equal(await back(), "Undo the placing");
  await page.keyboard.press("Enter");
  assert.deepEqual(await written(page), []);
  assert.equal(await report.isVisible(), false);
  assert.match((await page.evaluate(() => document.activeElement?.textContent)) ?? "", /^Place 4 of 6/);
  await page.keyboard.press("Enter");
  const own = (await written(page)).map(({ kind, signer }) => `${kind} ${signer}`);
  assert.deepEqual(own, ["signature 2", "date 2", "signature 1", "date 1"]);
  await page.getByLabel("Fields for").selectOption("John Roe");
  assert.equal(await page.getByRole("button", { name: /^Place .* for John Roe$/ }).count(), 0, "he has his own line");
  for (const kind of ["Signature", "Date"]) await placed(page, new RegExp(`^${kind}\\? Proposed`)).click();
  assert.deepEqual(
    (await written(page)).slice(4).map(({ signer }) => signer),
    [2, 2],
  );
});

test("the client is the first of several signers, unless somebody else is named", async () => {
  const { page } = await pages.open();
  await pages.go(page, newPath);
  const first = page.locator("[name=signer1_name]");
  // The browser reports with a delay that the signers' section was opened, so the test polls.
  const fills = (text: string) => until(async () => (await first.inputValue()) === text);
  await page.getByText("Add signers").click();
  assert.equal(await first.inputValue(), "", "there is no client yet");
  await page.getByText("Add signers").click();
  await page.getByLabel("Client’s email").fill("jane@example.com");
  await page.getByLabel("Client’s name").fill("Jane Roe");
  await page.getByText("Add signers").click();
  await fills("Jane Roe");
  assert.equal(await page.locator("[name=signer1_email]").inputValue(), "jane@example.com");
  await first.fill("Max Doe");
  await page.getByText("Add signers").click();
  await page.getByText("Add signers").click();
  assert.equal(await first.inputValue(), "Max Doe");
});

test("the file of a refused form is shown only to its own firm", async () => {
  const { send } = await pages.caller(pages.acme);
  for (const token of ["x", "0".repeat(40)]) assert.equal((await send(`${newPath}/file/${token}`)).status, 404, token);
});
