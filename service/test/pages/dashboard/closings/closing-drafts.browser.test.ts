import assert from "node:assert/strict";
import { after, before, test } from "@signsealship/testing/browser";
import { examplePdf } from "@signsealship/testing/inputs/order-form";
import { newPartner } from "@signsealship/testing/service";
import { assertGood, type OrdersPages, openOrdersPages, part, press, said } from "../orders/orders-pages.ts";

const file = (name: string) => ({ name, mimeType: "application/pdf", buffer: examplePdf });
let pages: OrdersPages;

before(async () => {
  pages = await openOrdersPages();
});
after(() => pages.close());

for (const width of [375, 1280])
  test(`a reload keeps everything that was typed and added, and the start page leads back to it, at ${width} pixels`, async () => {
    const firm = await newPartner(pages.service, { tier: "ClosingDesk" });
    const { opened, page } = await pages.open({ firm, width });
    await pages.go(page, "/dashboard/closings/new");
    await page.locator("#field-closing_name").fill("Ortega closing");
    await page.getByLabel("Add files").setInputFiles([file("warranty_deed.pdf"), file("note.pdf")]);
    await page.getByText("2 files were added.").waitFor();
    await page.locator("#field-email").fill("marcus@example.com");
    await page.locator("#field-person1_name").fill("Ana Ortega");
    await page.getByText(/^Saved as a draft at /).waitFor();
    await page.waitForURL(/\?draft=/);
    await page.locator("#field-file_number").fill("2026-1187");
    await page.waitForResponse((answer) => answer.url().endsWith("/dashboard/closings/new/draft"));
    await page.reload();
    for (const [name, value] of [
      ["closing_name", "Ortega closing"],
      ["file_number", "2026-1187"],
      ["doc1_name", "Warranty deed"],
      ["doc2_name", "Note"],
      ["email", "marcus@example.com"],
      ["person1_name", "Ana Ortega"],
    ])
      assert.equal(await page.locator(`#field-${name}`).inputValue(), value, name);
    await assertGood(opened);
    await pages.go(page, "/dashboard");
    const drafts = part(page, "Closings that you have not placed");
    await drafts.getByRole("link", { name: "Ortega closing", exact: true }).waitFor();
    await assertGood(opened);
    await drafts.getByRole("link", { name: "Go on" }).click();
    assert.equal(await page.locator("#field-doc1_name").inputValue(), "Warranty deed");
    await page.locator("#field-name").fill("Marcus Ortega");
    await page.getByLabel("These are the client’s own documents").check();
    await page.getByLabel("Where a document has no place for somebody to sign").check();
    await page.locator("#field-person1_name").fill("");
    await press(page, "Place the test closing");
    await said(page, "The closing was placed. This is its room.");
    await pages.go(page, "/dashboard");
    assert.equal(await page.getByText("Closings that you have not placed").count(), 0);
  });

test("after the session has ended, the page keeps what was typed, and it is placed after signing in again", async () => {
  const firm = await newPartner(pages.service, { tier: "ClosingDesk" });
  const { page } = await pages.open({ firm });
  await pages.go(page, "/dashboard/closings/new");
  await page.locator("#field-closing_name").fill("Elm closing");
  await page.getByLabel("Add files").setInputFiles([file("deed.pdf")]);
  await page.getByText("1 file was added.").waitFor();
  await page.locator("#field-email").fill("marcus@example.com");
  await page.locator("#field-name").fill("Marcus Ortega");
  await page.getByLabel("These are the client’s own documents").check();
  await page.getByLabel("Where a document has no place for somebody to sign").check();
  const cookies = await page.context().cookies();
  await page.context().clearCookies();
  await page.locator("#field-file_number").fill("2026-1188");
  await press(page, "Place the test closing");
  await page.getByText("You are signed out. Sign in in another tab").waitFor();
  assert.equal(await page.locator("#field-file_number").inputValue(), "2026-1188");
  await page.context().addCookies(cookies);
  await press(page, "Place the test closing");
  await said(page, "The closing was placed. This is its room.");
});

test("a draft is discarded from the start page, and its form is empty afterwards", async () => {
  const firm = await newPartner(pages.service, { tier: "ClosingDesk" });
  const { page } = await pages.open({ firm });
  await pages.go(page, "/dashboard/closings/new");
  await page.locator("#field-closing_name").fill("Oak closing");
  await page.waitForURL(/\?draft=/);
  const address = page.url();
  await pages.go(page, "/dashboard");
  const drafts = part(page, "Closings that you have not placed");
  await drafts.locator("summary", { hasText: "Discard" }).click();
  await press(page, "Discard the draft Oak closing");
  await said(page, "The draft was discarded, with its files.");
  await page.goto(address);
  await page.getByText("This draft is gone").waitFor();
  assert.equal(await page.locator("#field-closing_name").inputValue(), "");
});

test("without a script, adding a row keeps the form for later", async () => {
  const firm = await newPartner(pages.service, { tier: "ClosingDesk" });
  const { page } = await pages.open({ firm, javaScript: false, width: 375 });
  await pages.go(page, "/dashboard/closings/new");
  await page.locator("#field-closing_name").fill("Pine closing");
  await press(page, "Add another person");
  await page.locator("#person-row-2").waitFor();
  await pages.go(page, "/dashboard/closings/new");
  await page.getByRole("link", { name: "Go on with Pine closing" }).click();
  assert.equal(await page.locator("#field-closing_name").inputValue(), "Pine closing");
  await page.locator("#person-row-2").waitFor();
});
