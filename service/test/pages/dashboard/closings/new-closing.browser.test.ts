import assert from "node:assert/strict";
import { after, before, test } from "@signsealship/testing/browser";
import { examplePdf, shipping } from "@signsealship/testing/inputs/order-form";
import { newPartner } from "@signsealship/testing/service";
import { assertGood, type OrdersPages, openOrdersPages, part, press, said } from "../orders/orders-pages.ts";

const file = (name: string) => ({ name, mimeType: "application/pdf", buffer: examplePdf });
let pages: OrdersPages;

before(async () => {
  pages = await openOrdersPages();
});
after(() => pages.close());

test("all PDFs at once, people once, one price, one room: with the mouse, with errors that lose nothing", async () => {
  const firm = await newPartner(pages.service, { tier: "ClosingDesk" });
  const { opened, page } = await pages.open({ firm });
  await pages.go(page, "/dashboard/rooms");
  await page.getByRole("link", { name: "New closing" }).click();
  await page.getByLabel("Name", { exact: true }).first().fill("Ortega closing");
  await page.getByLabel("Add files").focus();
  await page.getByLabel("Add files").setInputFiles([file("warranty_deed.pdf"), file("note.pdf")]);
  await page.getByText("2 files were added.").waitFor();
  assert.equal(await page.locator("#field-doc1_name").inputValue(), "Warranty deed");
  assert.equal(await page.locator("#field-closing_name").inputValue(), "Ortega closing", "what was typed stays");
  assert.equal(await page.evaluate("document.activeElement.id"), "field-doc1_name");
  await page.getByText("Total", { exact: true }).waitFor();
  await assertGood(opened);
  await page.locator("#field-email").fill("marcus@example.com");
  await page.locator("#field-name").fill("Marcus Ortega");
  await page.getByLabel("These are the client’s own documents").check();
  await page.getByLabel("Where a document has no place for somebody to sign").check();
  await page.locator("#field-doc2_name").fill(" ");
  await press(page, "Place the test closing");
  await page.getByText("Document 2 (note): give it a name.").first().waitFor();
  assert.equal(await page.locator("#field-doc1_name").inputValue(), "Warranty deed");
  await assertGood(opened);
  await page.locator("#field-doc2_name").fill("Note");
  await press(page, "Place the test closing");
  await said(page, "The closing was placed. This is its room.");
  for (const name of ["Warranty deed", "Note"]) await part(page, "Orders").getByRole("link", { name }).waitFor();
  assert.equal((await pages.apiList(firm)).length, 2);
});

test("who signs what, and an address of one document, without a mouse on a phone", async () => {
  const firm = await newPartner(pages.service, { tier: "ClosingDesk" });
  const { opened, page } = await pages.open({ firm, width: 375 });
  await pages.go(page, "/dashboard/closings/new");
  await page.getByLabel("Name", { exact: true }).first().fill("Elm closing");
  await page.getByLabel("Add files").setInputFiles([file("deed.pdf"), file("note.pdf")]);
  await page.getByText("2 files were added.").waitFor();
  await page.locator("#field-email").fill("marcus@example.com");
  await page.locator("#field-name").fill("Marcus Ortega");
  await page.locator("#field-person1_name").fill("Ana Ortega");
  await page.locator("#field-person1_email").fill("ana@example.com");
  const note = page.getByRole("group", { name: "2. Note", exact: true });
  assert.deepEqual(await note.getByRole("checkbox").count(), 2, "people who are not named have no box");
  await note.getByLabel("Ana Ortega").focus();
  await page.keyboard.press("Space");
  assert.equal(await note.getByLabel("Ana Ortega").isChecked(), false);
  await page.locator("#field-doc2_ship").focus();
  await page.keyboard.press("Space");
  await page.getByRole("button", { name: "Another address or fax number, document 2: Note" }).focus();
  await page.keyboard.press("Enter");
  await page.locator("#field-doc2_ship_name").waitFor();
  assert.equal(await page.evaluate("document.activeElement.id"), "field-doc2_ship_method");
  assert.equal(await note.getByLabel("Ana Ortega").isChecked(), false, "the grid stays as it was");
  await assertGood(opened);
  for (const [name, value] of Object.entries(shipping).filter(([name]) => !/svc_|state/.test(name)))
    await page.locator(`#field-doc2_${name}`).fill(value);
  await page.locator("#field-doc2_ship_state").selectOption(shipping.ship_state);
  await page.getByLabel("These are the client’s own documents").check();
  await page.getByLabel("Where a document has no place for somebody to sign").check();
  await press(page, "Place the test closing");
  await said(page, "The closing was placed. This is its room.");
  const room = (await (await fetch(`${page.url().split("?")[0]?.replace("/dashboard/", "/api/")}`)).json()) as {
    orders: { label: string; signers?: { name: string }[] }[];
  };
  assert.deepEqual(
    room.orders.map(({ label, signers }) => [label, signers?.map(({ name }) => name)]),
    [
      ["Deed", ["Marcus Ortega", "Ana Ortega"]],
      ["Note", ["Marcus Ortega"]],
    ],
  );
});

test("on a phone, with a refused file named", async () => {
  const { opened, page } = await pages.open({ width: 375 });
  await pages.go(page, "/dashboard/closings/new");
  await page
    .getByLabel("Add files")
    .setInputFiles([
      file("deed.pdf"),
      { name: "photo.pdf", mimeType: "application/pdf", buffer: Buffer.from("GIF89a") },
    ]);
  await page.getByText("1 file was added.").waitFor();
  await page.getByText(/photo\.pdf: .*must be a PDF/).waitFor();
  await page.getByRole("button", { name: "Add another person" }).click();
  await page.locator("#person-row-2").waitFor();
  await page.getByRole("button", { name: "Remove document 1" }).click();
  await page.locator("#document-row-1").waitFor({ state: "detached" });
  await assertGood(opened);
});

test("keeps what is typed during an upload, with the focus and the caret", async () => {
  const { page } = await pages.open({});
  await pages.go(page, "/dashboard/closings/new");
  let answer = () => {};
  const isTyped = new Promise<void>((resolve) => {
    answer = resolve;
  });
  await page.route("**/closings/new/rows", async (route) => {
    await isTyped;
    await route.continue();
  });
  const asked = page.waitForRequest("**/closings/new/rows");
  await page.getByLabel("Add files").setInputFiles([file("deed.pdf")]);
  await page.locator("#field-closing_name").focus();
  await page.keyboard.type("Orteg");
  await asked;
  await page.keyboard.type("a, 12 Em Street");
  for (let n = 0; n < 8; n += 1) await page.keyboard.press("ArrowLeft");
  await page.getByLabel("The client signs").setChecked(false);
  await page.locator("#field-closing_name").focus();
  answer();
  await page.getByText("1 file was added.").waitFor();
  await page.keyboard.type("l");
  assert.equal(await page.locator("#field-closing_name").inputValue(), "Ortega, 12 Elm Street");
  assert.equal(await page.getByLabel("The client signs").isChecked(), false);
  assert.equal(await page.locator("#field-doc1_name").inputValue(), "Deed");
});

test("says that a change of its rows failed, and keeps what was typed", async () => {
  const { page } = await pages.open({});
  await pages.go(page, "/dashboard/closings/new");
  await page.locator("#field-closing_name").fill("Ortega");
  await page.route("**/closings/new/rows", (route) => route.abort());
  await page.getByLabel("Add files").setInputFiles([file("deed.pdf")]);
  await page.getByText("The page could not be changed. Please try again.").waitFor();
  assert.equal(await page.getByText("1 file was added.").count(), 0);
  await page.unroute("**/closings/new/rows");
  await page.getByRole("button", { name: "Add another person" }).click();
  await page.locator("#person-row-2").waitFor();
  assert.equal(await page.getByText("The page could not be changed.").count(), 0);
  assert.equal(await page.locator("#field-closing_name").inputValue(), "Ortega");
});
