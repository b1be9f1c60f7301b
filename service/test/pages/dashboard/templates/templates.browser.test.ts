import assert from "node:assert/strict";
import { test } from "node:test";
import type { OpenPage } from "@signsealship/testing/browser";
import { forTests } from "@signsealship/testing/for-tests";
import { orderForm } from "@signsealship/testing/inputs/order-form";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { signatureForms } from "@signsealship/testing/inputs/signature-forms";
import { assertGood, openOrdersPages, press } from "../orders/orders-pages.ts";

type Page = OpenPage["page"];

const site = await forTests(openOrdersPages());

const signature = { kind: "signature", page: 1, x: 72, y: 600, width: 180, height: 40 };

for (const width of [375, 1280])
  test(`a member orders from a template at ${width} pixels, on accessible pages`, async () => {
    const { opened, page } = await site.open({ width });
    const form = orderForm({
      name: "Lease",
      svc_sign: "true",
      roles: JSON.stringify([{ name: "Tenant" }]),
      fields: JSON.stringify([{ ...signature, signer: 1 }]),
    });
    await fetch(`${site.service.baseUrl}/api/partner/templates`, {
      method: "POST",
      headers: site.acme.headers,
      body: form,
    });
    await page.goto(`${site.service.baseUrl}/dashboard/templates`);
    await assertGood(opened);
    await page.getByRole("link", { name: "Make a template" }).click();
    await assertGood(opened);
    await page.goBack();
    await page.getByRole("link", { name: "Lease" }).first().click();
    await assertGood(opened);
    await page.getByRole("link", { name: "Many orders from a list" }).click();
    await assertGood(opened);
    await page.goBack();
    await page.getByRole("link", { name: "Place an order from it" }).click();
    await assertGood(opened);
    await page.getByLabel("Client’s email").fill("client@example.com");
    const tenant = page.getByRole("group", { name: "Tenant" });
    await tenant.getByLabel("Name").fill("Jane Doe");
    await tenant.getByLabel("Email").fill("jane@example.com");
    await page.getByRole("checkbox", { name: /client’s own document/ }).check();
    await press(page, "Place the test order");
    await page.getByText("The order was placed.").waitFor();
  });

const columns = (signatureForms().find(({ name }) => name === "two columns of parties") ?? assert.fail()).pdf;
const file = (name: string, buffer: Buffer) => ({ name, mimeType: "application/pdf", buffer });
const editor = (page: Page) => page.getByRole("dialog", { name: "Fields on the pages" });
const openButton = (page: Page) => page.getByRole("button", { name: /^(Place|Change the) fields on the pages$/ });
const done = (page: Page) => editor(page).getByRole("button", { name: "Done" }).click();
const role = (page: Page, n: number) => page.getByRole("group", { name: `Role ${n}`, exact: true }).getByLabel("Name");

async function openEditor(page: Page): Promise<void> {
  await openButton(page).click();
  await editor(page).locator(".viewer-page canvas").first().waitFor();
}

async function placeProposed(page: Page, name: string): Promise<void> {
  await editor(page)
    .getByRole("button", { name: `Signature, ${name}? Proposed on page 1: place it for ${name}` })
    .first()
    .click();
}

for (const width of [375, 1280])
  test(`a member places a new template's fields on its pages, and changes them in the next version, at ${width} pixels`, async () => {
    const { opened, page } = await site.open({ width, height: 800 });
    await page.goto(`${site.service.baseUrl}/dashboard/templates/new`);
    assert.equal(await openButton(page).isDisabled(), true, "before a PDF is chosen");
    await page.getByLabel("PDF", { exact: true }).setInputFiles(file("deed.pdf", columns));
    await page.getByRole("textbox", { name: "Name", exact: true }).first().fill("Deed");
    await role(page, 1).fill("Buyer");
    await role(page, 2).fill("Seller");
    await openEditor(page);
    await placeProposed(page, "Buyer");
    await placeProposed(page, "Seller");
    await done(page);
    await page.getByText("Buyer: 1 field. Seller: 1 field.").waitFor();
    await assertGood(opened);
    await press(page, "Make the template");
    const rows = page.getByRole("table", { name: "The fields of the template" }).getByRole("row");
    assert.deepEqual(
      (await rows.allTextContents()).slice(1).map((row) => /Buyer|Seller/.exec(row)?.[0]),
      ["Buyer", "Seller"],
    );

    await page.getByText("Buyer: 1 field. Seller: 1 field.").waitFor();
    await role(page, 3).fill("Witness");
    await openEditor(page);
    await page.getByLabel("Fields for").selectOption("Witness");
    await editor(page).getByRole("button", { name: "Signature", exact: true }).click();
    const sheet = editor(page).locator(".viewer-page").first();
    const { width: across } = (await sheet.boundingBox()) ?? assert.fail("no page");
    await sheet.click({ position: { x: across / 2, y: across / 5 } });
    await done(page);
    await assertGood(opened);
    await press(page, "Save as version 2");
    await page.getByText("Version 2 of 2").waitFor();
    assert.deepEqual(
      (await rows.allTextContents()).slice(1).map((row) => /Buyer|Seller|Witness/.exec(row)?.[0]),
      ["Buyer", "Seller", "Witness"],
    );
  });

test("a role without a field is refused, and what was placed and typed stays", async () => {
  const { page } = await site.open({ width: 1280, height: 800 });
  await page.goto(`${site.service.baseUrl}/dashboard/templates/new`);
  await page.getByLabel("PDF", { exact: true }).setInputFiles(file("deed.pdf", columns));
  await page.getByRole("textbox", { name: "Name", exact: true }).first().fill("Deed");
  await role(page, 1).fill("Buyer");
  await role(page, 2).fill("Seller");
  await openEditor(page);
  await placeProposed(page, "Buyer");
  await done(page);
  await press(page, "Make the template");
  await page
    .getByText(/fields must contain a signature for|has no signature|each/)
    .first()
    .waitFor();
  assert.equal(JSON.parse(await page.locator("#field-fields").inputValue()).length, 1);
  assert.equal(await role(page, 2).inputValue(), "Seller");
});

test("a file with fewer pages drops the fields of the missing pages, and says so", async () => {
  const { page } = await site.open({ width: 1280, height: 800 });
  const fields = [1, 2].map((n) => ({ ...signature, page: n, signer: 1 }));
  const sent = {
    name: "Note",
    svc_sign: "true",
    roles: JSON.stringify([{ name: "Maker" }]),
    fields: JSON.stringify(fields),
  };
  const made = await fetch(`${site.service.baseUrl}/api/partner/templates`, {
    method: "POST",
    headers: site.acme.headers,
    body: orderForm(sent, makePdf({ pages: 2 })),
  });
  const { templateId } = (await made.json()) as { templateId: string };
  await page.goto(`${site.service.baseUrl}/dashboard/templates/${templateId}`);
  await page.getByText("Maker: 2 fields.").waitFor();
  await page.getByLabel("PDF").setInputFiles(file("note.pdf", makePdf({ pages: 1 })));
  await page.getByText("1 field removed: this file does not have their pages.").waitFor();
  await press(page, "Save as version 2");
  await page.getByText("Version 2 of 2").waitFor();
});
