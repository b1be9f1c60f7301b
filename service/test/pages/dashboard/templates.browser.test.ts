import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { orderForm } from "@signsealship/testing/inputs/order-form";
import { assertGood, openOrdersPages, press } from "./orders-pages.ts";

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
