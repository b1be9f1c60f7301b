import assert from "node:assert/strict";
import { after, before, test } from "@signsealship/testing/browser";
import { assertGood, type OrdersPages, openOrdersPages, part, press, said } from "./orders-pages.ts";

let pages: OrdersPages;

before(async () => {
  pages = await openOrdersPages();
});
after(() => pages.close());

for (const javaScript of [true, false])
  test(`${javaScript ? "with" : "without"} a script a member writes a note and sends the payment link again`, async () => {
    const code = await pages.place(pages.acme);
    const { opened, page } = await pages.open({ javaScript });
    await pages.go(page, `/dashboard/orders/${code}`);
    const notes = part(page, "Notes");
    await notes.getByLabel("Note", { exact: true }).fill(`Seller signs at 2 pm.\n${"Lane".repeat(60)}`);
    await press(page, "Add note");
    await said(page, "Your note was added.");
    await notes.getByText("Seller signs at 2 pm.").waitFor();
    await notes.getByText("@harbor-title.com").waitFor();
    assert.equal(await notes.getByLabel("Another note").inputValue(), "");
    await page.getByRole("button", { name: /^Send the payment link/ }).click();
    await said(page, "The email is on its way to the client again.");
    if (javaScript) await assertGood(opened);
  });
