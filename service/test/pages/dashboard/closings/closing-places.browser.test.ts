import assert from "node:assert/strict";
import { type OpenPage, test } from "@signsealship/testing/browser";
import { forTests } from "@signsealship/testing/for-tests";
import { orderForm } from "@signsealship/testing/inputs/order-form";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { signatureForms } from "@signsealship/testing/inputs/signature-forms";
import { newPartner } from "@signsealship/testing/service";
import { assertGood, openOrdersPages, part, press, said } from "../orders/orders-pages.ts";

type Page = OpenPage["page"];
type Written = { kind: string; signer: number; page: number; y: number };

const site = await forTests(openOrdersPages());
const path = "/dashboard/closings/new";
const columns = (signatureForms().find(({ name }) => name === "two columns of parties") ?? assert.fail()).pdf;

const file = (name: string, buffer: Buffer) => ({ name, mimeType: "application/pdf", buffer });
const openButton = (page: Page, n: number) =>
  page.getByRole("button", { name: new RegExp(`^(Place|Change the) fields on the pages, document ${n}:`) });
const editor = (page: Page) => page.getByRole("dialog", { name: "Fields on the pages" });
const tool = (page: Page, name: string) =>
  page.getByRole("group", { name: "Fields", exact: true }).getByRole("button", { name, exact: true });
const sheet = (page: Page) => editor(page).locator(".viewer-page").first();
const placed = (page: Page, name: RegExp) => editor(page).getByRole("button", { name });
const done = (page: Page) => editor(page).getByRole("button", { name: "Done" }).click();
const boxOf = (page: Page, document: string, person: string) =>
  page.getByRole("group", { name: document, exact: true }).getByLabel(person);

async function written(page: Page, n: number): Promise<Written[]> {
  const value = await page.locator(`#field-doc${n}_fields`).inputValue();
  return value === "" ? [] : JSON.parse(value);
}

async function open(page: Page, n: number): Promise<void> {
  await openButton(page, n).click();
  await sheet(page).locator("canvas").waitFor();
}

/** Places a field with its middle at this position of the first page, in points. */
async function put(page: Page, name: string, x: number, y: number): Promise<void> {
  const { width } = (await sheet(page).boundingBox()) ?? assert.fail("no page");
  await tool(page, name).click();
  await sheet(page).click({ position: { x: (x * width) / 612, y: (y * width) / 612 } });
}

/** Opens the form with these documents, for Marcus and Ana Ortega. */
async function begin(files: ReturnType<typeof file>[], { width = 1280, firm = site.acme } = {}) {
  const { opened, page } = await site.open({ width, height: 800, firm });
  await site.go(page, path);
  await page.locator("#field-closing_name").fill("Ortega closing");
  await page.locator("#field-email").fill("marcus@example.com");
  await page.locator("#field-name").fill("Marcus Ortega");
  await page.locator("#field-person1_name").fill("Ana Ortega");
  await page.locator("#field-person1_email").fill("ana@example.com");
  await page.getByLabel("These are the client’s own documents").check();
  await page.getByLabel("Add files").setInputFiles(files);
  await page.getByText(`${files.length} ${files.length === 1 ? "file was" : "files were"} added.`).waitFor();
  return { opened, page };
}

test("each document has its own fields for its own signers, which stay when the form changes or is refused", async () => {
  const { opened, page } = await begin([file("deed.pdf", columns), file("note.pdf", makePdf({ pages: 2 }))]);
  await open(page, 1);
  await page.getByText("4 places to fill in were found.").waitFor();
  await placed(page, /^Signature\? Proposed on page 1: place it for Marcus Ortega$/)
    .first()
    .click();
  await page.getByLabel("Fields for").selectOption("Ana Ortega");
  await placed(page, /^Signature\? Proposed on page 1: place it for Ana Ortega$/)
    .first()
    .click();
  await page.getByRole("button", { name: "Preview as the signers see it" }).click();
  await page.getByLabel("Page of").selectOption("Ana Ortega");
  await page.frameLocator("iframe").locator(".viewer-field").first().waitFor();
  assert.equal(await page.frameLocator("iframe").locator(".viewer-field").count(), 1);
  await assertGood(opened);
  await page.getByRole("button", { name: "Back to the fields" }).click();
  await done(page);
  assert.equal(await openButton(page, 1).evaluate((element) => element === document.activeElement), true);
  await page.locator("#places-1").getByText("Marcus Ortega: 1 field. Ana Ortega: 1 field.").waitFor();
  assert.deepEqual(
    (await written(page, 1)).map(({ signer }) => signer),
    [1, 2],
  );
  assert.deepEqual(await written(page, 2), [], "the other document has none");

  await boxOf(page, "2. Note", "Marcus Ortega").uncheck();
  await open(page, 2);
  assert.deepEqual(await page.getByLabel("Fields for").locator("option").allTextContents(), ["Ana Ortega"]);
  await put(page, "Signature", 200, 100);
  await put(page, "Initials", 200, 160);
  for (let step = 0; step < 4; step++) await page.keyboard.press("Control+ArrowUp");
  await done(page);
  await assertGood(opened);
  await page.getByRole("button", { name: "Add another person" }).click();
  await page.locator("#person-row-2").waitFor();
  assert.equal((await written(page, 1)).length, 2, "the fields stay when the form changes");
  await press(page, "Place the test closing");
  await page.getByRole("alert").getByText("Document 2 (Note): “initials” on page 1: overlaps").waitFor();
  assert.deepEqual([(await written(page, 1)).length, (await written(page, 2)).length], [2, 2]);
  await page.locator("#places-2").getByText("Ana Ortega: 2 fields. 1 field to correct.").waitFor();
  await open(page, 2);
  await placed(page, /Ana Ortega.*Refused: overlaps/).waitFor();
  for (let step = 0; step < 8; step++) await page.keyboard.press("Control+ArrowDown");
  await done(page);
  await page.getByRole("button", { name: "Remove document 1" }).click();
  await page.locator("#document-row-2").waitFor({ state: "detached" });
  assert.deepEqual(
    (await written(page, 1)).map(({ kind, signer }) => [kind, signer]),
    [
      ["signature", 2],
      ["initials", 2],
    ],
    "the fields keep their document when its number changes",
  );
  await press(page, "Place the test closing");
  await said(page, "The closing was placed. This is its room.");
});

test("fields of a person who no longer signs the document are left out, and return with the person", async () => {
  const { opened, page } = await begin([file("note.pdf", makePdf())]);
  await open(page, 1);
  await put(page, "Signature", 200, 100);
  await page.getByLabel("Fields for").selectOption("Ana Ortega");
  await put(page, "Signature", 200, 300);
  await done(page);
  const signers = async () => (await written(page, 1)).map(({ signer }) => signer);
  await boxOf(page, "1. Note", "Ana Ortega").uncheck();
  const leftOut = "1 field of somebody who does not sign this document is left out, and returns with that person.";
  await page.locator("#places-1").getByText(leftOut).waitFor();
  assert.deepEqual(await signers(), [1]);
  await page.getByRole("button", { name: "Add another person" }).click();
  await page.locator("#person-row-2").waitFor();
  await page.locator("#places-1").getByText(leftOut).waitFor();
  assert.deepEqual(await signers(), [1]);
  await open(page, 1);
  await page.getByRole("button", { name: "Preview as the signers see it" }).click();
  await page.frameLocator("iframe").locator(".viewer-field").first().waitFor();
  await page.getByRole("button", { name: "Back to the fields" }).click();
  await done(page);
  await assertGood(opened);
  await boxOf(page, "1. Note", "Ana Ortega").check();
  await page.locator("#places-1").getByText("Marcus Ortega: 1 field. Ana Ortega: 1 field.").waitFor();
  assert.deepEqual(await signers(), [1, 2]);
  await page.locator("#field-person1_role").selectOption("Does not sign: follows the closing in its room");
  assert.deepEqual(await signers(), [1]);
  await press(page, "Place the test closing");
  await said(page, "The closing was placed. This is its room.");
});

for (const width of [1280, 375])
  test(`the fields of a draft that was opened again are removed by keyboard, and undone, at a width of ${width}`, async () => {
    const { opened, page } = await begin([file("note.pdf", makePdf())], { width });
    const remove = page.getByRole("button", { name: "Remove all fields, document 1: Note" });
    assert.equal(await remove.isVisible(), false);
    await open(page, 1);
    await put(page, "Signature", 200, 100);
    await done(page);
    await page.getByRole("button", { name: "Update the price" }).click();
    await page.waitForURL(/rows/);
    await site.go(page, path);
    await page.getByRole("link", { name: /^Go on with Ortega closing/ }).click();
    await remove.waitFor();
    assert.equal((await written(page, 1)).length, 1);
    await remove.focus();
    await page.keyboard.press("Enter");
    await page.locator("#places-1").getByText("1 field removed. “Undo” on the pages brings it back.").waitFor();
    assert.deepEqual(await written(page, 1), []);
    assert.equal(await openButton(page, 1).evaluate((element) => element === document.activeElement), true);
    assert.equal(await remove.isVisible(), false);
    await assertGood(opened);
    await open(page, 1);
    await page.getByRole("button", { name: "Undo" }).click();
    await done(page);
    assert.equal((await written(page, 1)).length, 1);
  });

test("a page for signatures is added only once the sender agrees; the checkbox disappears when every document has fields", async () => {
  const blank = makePdf({ text: "Nothing to sign on" });
  const { opened, page } = await begin([file("deed.pdf", blank), file("note.pdf", blank)]);
  const box = page.getByLabel("Where a document has no place for somebody to sign");
  await press(page, "Place the test closing");
  const refusal = page.getByRole("alert").getByText("These documents lack a place to sign for at least one signer:");
  assert.equal(
    await refusal.innerText(),
    [
      "These documents lack a place to sign for at least one signer: 1. Deed, 2. Note.",
      "Place fields on the pages, or let a page be added.",
    ].join(" "),
  );
  await assertGood(opened);
  await refusal.getByRole("link", { name: "2. Note" }).press("Enter");
  assert.equal(await openButton(page, 2).evaluate((element) => element === document.activeElement), true);
  await refusal.getByRole("link", { name: "let a page be added" }).press("Enter");
  assert.equal(await box.evaluate((element) => element === document.activeElement), true);
  assert.equal(await box.isChecked(), false);
  await page.locator("#field-doc2_sign").uncheck();
  assert.equal(await openButton(page, 2).isVisible(), false, "a document that is not signed has no fields");
  await open(page, 1);
  await put(page, "Signature", 200, 100);
  await page.getByLabel("Fields for").selectOption("Ana Ortega");
  await put(page, "Signature", 200, 300);
  await done(page);
  assert.equal(await box.isVisible(), false);
  await page.locator("#field-doc2_sign").check();
  await box.check();
  await press(page, "Place the test closing");
  await said(page, "The closing was placed. This is its room.");
});

const drawn = (...lines: [x: number, y: number, text: string][]) =>
  makePdf({
    text: "A form",
    content: lines.map(([x, y, text]) => `BT /F1 11 Tf ${x} ${792 - y} Td (${text}) Tj ET`).join("\n"),
  });
const blank = "_".repeat(28);
const pair = drawn([72, 400, `Signature: ${blank}`], [72, 450, `Signature: ${blank}`]);
const panel = (page: Page) => page.getByRole("group", { name: "Where they sign" });
const placeAll = (page: Page, what: string) =>
  panel(page).getByRole("button", { name: `Place all ${what}`, exact: true });
const removeAll = (page: Page) => panel(page).getByRole("button", { name: /^Remove the fields that were placed/ });
const lineOf = (page: Page, text: string) => panel(page).getByText(text, { exact: true }).waitFor();

for (const width of [1280, 375])
  test(`one press places what was found in all documents, another removes it, by keyboard at a width of ${width}`, async () => {
    const { opened, page } = await begin(
      [
        file("note.pdf", pair),
        file("deed.pdf", columns),
        file("tags.pdf", drawn([72, 400, "{{signature, r1}} {{signature, r2}}"])),
      ],
      { width },
    );
    await lineOf(page, "Found. Marcus Ortega: 1 signature on page 1. Ana Ortega: 1 signature on page 1.");
    await lineOf(
      page,
      "4 places without a signer’s name: choose the signer on its pages. No place for Marcus Ortega and Ana Ortega to sign.",
    );
    await lineOf(page, "Tags in its text say where people sign.");
    await assertGood(opened);
    await placeAll(page, "2 fields that were found in 1 document").press("Enter");
    await said(page, "2 fields placed in 1 document.");
    assert.deepEqual(
      (await written(page, 1)).map(({ kind, signer }) => [kind, signer]),
      [
        ["signature", 1],
        ["signature", 2],
      ],
    );
    assert.deepEqual(await written(page, 2), [], "the lines of a seller and a buyer are for whom the sender says");
    assert.deepEqual(await written(page, 3), []);
    await assertGood(opened);
    await removeAll(page).press("Enter");
    assert.deepEqual(await written(page, 1), []);
    await placeAll(page, "2 fields that were found in 1 document").press("Enter");
    await page.keyboard.press("Shift+Tab");
    await panel(page).getByRole("button", { name: "Look at its pages: 1. Note" }).press("Enter");
    await placed(page, /^Signature, Ana Ortega/).press("Delete");
    await page.keyboard.press("Escape");
    await lineOf(page, "Placed. Marcus Ortega: 1 signature on page 1. No place for Ana Ortega to sign.");
    assert.equal(await removeAll(page).isVisible(), false, "what the sender changed by hand stays");
  });

test("fields that were placed at once are offered again when the signers change, and those placed by hand stay", async () => {
  const { page } = await begin([file("note.pdf", pair), file("letter.pdf", drawn([72, 400, `Signature: ${blank}`]))]);
  await placeAll(page, "2 fields that were found in 1 document").click();
  await boxOf(page, "2. Letter", "Ana Ortega").uncheck();
  await open(page, 2);
  await put(page, "Signature", 300, 600);
  await done(page);
  const byHand = await written(page, 2);
  await page.locator("#field-person1_name").fill("");
  await page.locator("#field-person1_email").fill("");
  await placeAll(page, "2 fields that were found in 1 document").click();
  assert.deepEqual(
    (await written(page, 1)).map(({ signer }) => signer),
    [1, 1],
  );
  assert.deepEqual(await written(page, 2), byHand);
  await page.getByRole("button", { name: "Add another person" }).click();
  await page.locator("#person-row-2").waitFor();
  await removeAll(page).click();
  assert.deepEqual(await written(page, 1), [], "the fields can be removed after the form's rows changed");
});

test("by keyboard alone at the width of a phone: a field is added, moved and deleted", async () => {
  const { opened, page } = await begin([file("note.pdf", makePdf({ pages: 2 }))], { width: 375 });
  await openButton(page, 1).focus();
  await page.keyboard.press("Enter");
  await sheet(page).locator("canvas").waitFor();
  await tool(page, "Initials").focus();
  await page.keyboard.press("Enter");
  const [start] = await written(page, 1);
  assert.ok(start);
  await page.keyboard.press("Control+ArrowDown");
  assert.deepEqual(
    (await written(page, 1)).map(({ y }) => y),
    [start.y + 10],
  );
  await assertGood(opened);
  await placed(page, /^Initials, Marcus Ortega/).focus();
  await page.keyboard.press("Delete");
  assert.deepEqual(await written(page, 1), []);
  await page.keyboard.press("Escape");
  assert.equal(await editor(page).count(), 0);
  assert.equal(await openButton(page, 1).evaluate((element) => element === document.activeElement), true);
  await assertGood(opened);
});

test("a file that is the form of a template is recognized; its fields and services replace those of the closing's people", async () => {
  const firm = await newPartner(site.service, { tier: "ClosingDesk" });
  const lease = makePdf({ text: "Lease of the house at 12 Elm Street" });
  const signature = { kind: "signature", page: 1, x: 72, width: 180, height: 40 };
  const makeTemplate = async (fields: Record<string, string>, document: Buffer) => {
    const body = orderForm({ svc_sign: "true", ...fields });
    body.set("document", new File([new Uint8Array(document)], "form.pdf", { type: "application/pdf" }));
    const answer = await fetch(`${site.service.baseUrl}/api/partner/templates`, {
      method: "POST",
      headers: firm.headers,
      body,
    });
    assert.equal(answer.status, 201, await answer.text());
  };
  await makeTemplate(
    {
      name: "Lease",
      svc_notary: "true",
      roles: JSON.stringify([{ name: "Landlord" }, { name: "Tenant" }]),
      fields: JSON.stringify([
        { ...signature, y: 500, signer: 2 },
        { ...signature, y: 600, signer: 1 },
      ]),
    },
    lease,
  );
  const waiver = makePdf({ text: "Waiver of something else" });
  await makeTemplate({ name: "Waiver", roles: JSON.stringify([{ name: "Owner", auth: "text_code" }]) }, waiver);
  const files = [file("lease.pdf", lease), file("waiver.pdf", waiver), file("other.pdf", makePdf({ text: "Other" }))];
  const { opened, page } = await begin(files, { firm });
  const rows = [1, 2, 3].map((n) => page.locator(`#document-row-${n}`));
  const [first, second, third] = rows as [Row, Row, Row];
  await first.getByText("This is the form of “Lease”").waitFor();
  await second.getByText("It identifies signers by text message").waitFor();
  assert.equal(await third.getByText("This is the form of").count(), 0);
  await assertGood(opened);
  await open(page, 1);
  await page.getByLabel("Fields for").selectOption("Ana Ortega");
  await put(page, "Signature", 200, 100);
  await done(page);
  await boxOf(page, "1. Lease", "Ana Ortega").uncheck();
  await page.locator("#places-1").getByText("1 field of somebody who does not sign this document").waitFor();
  await page.getByRole("button", { name: "Use its fields and services, document 1: Lease" }).click();
  await first.getByText("Landlord: Marcus Ortega; Tenant: Ana Ortega.").waitFor();
  await page.locator("#places-1").getByText("Marcus Ortega: 1 field. Ana Ortega: 1 field.").waitFor();
  assert.equal(await page.locator("#field-doc1_notary").isChecked(), true);
  assert.equal(await openButton(page, 1).evaluate((element) => element === document.activeElement), true);
  assert.deepEqual(
    (await written(page, 1)).map(({ signer, y }) => [signer, y]),
    [
      [2, 500],
      [1, 600],
    ],
  );
  await assertGood(opened);
  await page.getByLabel("Where a document has no place for somebody to sign").check();
  await press(page, "Place the test closing");
  await said(page, "The closing was placed. This is its room.");
  await part(page, "Orders").getByRole("link", { name: "Lease" }).waitFor();
});

test("turns of a template stay on the page with the people who have them, and can be removed by keyboard", async () => {
  const firm = await newPartner(site.service, { tier: "ClosingDesk" });
  const deed = makePdf({ text: "Deed in turns {{signature, r1}}" });
  const roles = JSON.stringify([
    { name: "Seller", auth: "mail_code" },
    { name: "Buyer", routing: 2, language: "es" },
  ]);
  const body = orderForm({ svc_sign: "true", name: "Deed in turns", roles }, deed);
  const to = `${site.service.baseUrl}/api/partner/templates`;
  const made = await fetch(to, { method: "POST", headers: firm.headers, body });
  assert.equal(made.status, 201, await made.text());
  const { opened, page } = await begin([file("deed.pdf", deed)], { firm });
  const row = page.locator("#document-row-1");
  await page.getByRole("button", { name: "Use its fields and services, document 1: Deed" }).press("Enter");
  await row.getByText("Seller: Marcus Ortega (turn 1, with a mailed code); Buyer: Ana Ortega").waitFor();
  await page.getByRole("button", { name: "Add another person" }).press("Enter");
  await row.getByText("Marcus Ortega: turn 1, with a mailed code; Ana Ortega: turn 2, in Spanish.").waitFor();
  await assertGood(opened);
  await row.getByRole("button", { name: "Remove turns, codes and languages" }).press("Enter");
  await row.getByText("This is the form of “Deed in turns”").waitFor();
  assert.equal(await row.getByText("How people sign").count(), 0);
  assert.equal(await page.locator("#field-doc1_name").evaluate((element) => element === document.activeElement), true);
  await assertGood(opened);
  await opened.close();
});
type Row = ReturnType<Page["locator"]>;
