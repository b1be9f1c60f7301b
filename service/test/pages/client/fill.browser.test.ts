import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, assertGoodLooks, type Browser, before, startBrowser, test } from "@signsealship/testing/browser";
import { forTests } from "@signsealship/testing/for-tests";
import { orderForm } from "@signsealship/testing/inputs/order-form";
import { temporaryFolder } from "@signsealship/testing/service";
import { openMembersService } from "../../firms/members/members-service.ts";
import { newMember } from "../../firms/members/signed-in-member.ts";
import { everyKind } from "../../orders/fills/made-form.ts";

const running = await forTests(openMembersService());
const folder = temporaryFolder();
let browser: Browser;

before(async () => {
  browser = await startBrowser();
});
after(() => browser.close());

async function firm() {
  const { key } = await running.newPartner();
  const { baseUrl } = running.service;
  const headers = { Authorization: `Bearer ${key}` };
  const send = async (path: string, body: FormData | string) => {
    const type = typeof body === "string" ? { "Content-Type": "application/json" } : {};
    const answer = await fetch(`${baseUrl}/api/partner/${path}`, {
      method: "POST",
      headers: { ...headers, ...type },
      body,
    });
    assert.equal(answer.status, 201);
    return (await answer.json()) as { templateId: string; url: string; fillId: string };
  };
  const roles = JSON.stringify([{ name: "Buyer" }]);
  const { templateId } = await send("templates", orderForm({ name: "Deed", svc_sign: "true", roles }, everyKind()));
  const made = () =>
    send("fills", JSON.stringify({ template: templateId, name: "Jane Doe", email: "jane@example.com" }));
  return { key, templateId, made };
}

test("a client fills the form in by the keyboard on a phone, and each page is accessible", async () => {
  const { url } = await (await firm()).made();
  const opened = await browser.open(`${url}?lang=en`, { width: 375 });
  const { page } = opened;
  await assertGoodLooks(opened);
  await page.getByLabel("Full name of the buyer").fill("Jane Doe");
  await page.getByText("Saved.").waitFor();
  await page.reload();
  assert.equal(await page.getByLabel("Full name of the buyer").inputValue(), "Jane Doe");
  await page.evaluate("document.querySelector('[name=q3]').removeAttribute('maxlength')");
  await page.getByLabel("ZIP code").fill("1234567");
  await page.getByText("Saved, except an answer that is not accepted.").waitFor();
  await page.getByLabel("I have read the terms").press("Space");
  await page.getByRole("button", { name: "Save and check your answers" }).press("Enter");
  await page.getByRole("link", { name: "ZIP code" }).press("Enter");
  await assertGoodLooks(opened);
  await page.getByLabel("ZIP code").fill("12345");
  await page.getByRole("button", { name: "Save and check your answers" }).press("Enter");
  await page.getByRole("heading", { name: "Check your answers" }).waitFor();
  await assertGoodLooks(opened);
  await page.getByRole("button", { name: "Finish and use this document" }).press("Enter");
  await page.getByRole("heading", { name: "Thank you" }).waitFor();
  await assertGoodLooks(opened);
  // The browser itself reports the status 400 of the response as an error.
  assert.deepEqual(
    opened.troubles.filter((trouble) => !trouble.includes("400")),
    [],
  );
  await opened.close();
});

test("without a script, and in each language, the form is the same", async () => {
  const { url } = await (await firm()).made();
  for (const [lang, button] of [
    ["es", "Guardar y revisar sus respuestas"],
    ["zh", "保存并检查您的回答"],
  ] as const) {
    const opened = await browser.open(`${url}?lang=${lang}`, { width: 375, javaScript: false });
    const { page } = opened;
    await page.getByLabel("Full name of the buyer").fill("陈");
    await page.getByLabel("I have read the terms").check();
    await page.getByRole("button", { name: button }).click();
    await page.getByText("陈").waitFor();
    assert.ok(page.url().includes(`lang=${lang}`));
    await opened.close();
  }
});

/** Answers and completes a form by its link, like a client on a phone. */
async function answer(url: string, more: Record<string, string> = {}): Promise<void> {
  const { page, close } = await browser.open(url, { width: 375 });
  for (const [label, text] of Object.entries({ "Full name of the buyer": "Jane Doe", ...more }))
    await page.getByLabel(label).fill(text);
  await page.getByLabel("I have read the terms").check();
  await page.getByRole("button", { name: "Save and check your answers" }).click();
  await page.getByRole("button", { name: "Finish and use this document" }).click();
  await page.getByRole("heading", { name: "Thank you" }).waitFor();
  await close();
}

test("a member chooses a catalog document that has a form, and orders it filled in, by keyboard on a phone", async () => {
  const form = join(folder.path, "affidavit.pdf");
  writeFileSync(form, everyKind());
  await running.service.cli("catalog", "form", "add", "affidavit", form, "--test");
  const { key } = await running.newPartner();
  const { headers } = await newMember(running.service, running.somebody(), key);
  const { baseUrl } = running.service;
  const opened = await browser.open(`${baseUrl}/dashboard/fills`, { width: 375, cookie: headers.Cookie });
  const { page } = opened;
  await assertGoodLooks(opened);
  await page.getByRole("link", { name: "Have General affidavit filled in" }).press("Enter");
  await page.getByLabel("Name").fill("Jane Doe");
  await page.getByLabel("Email").fill("jane@example.com");
  await assertGoodLooks(opened);
  await page.getByRole("button", { name: "Make the form" }).press("Enter");
  await page.getByText("Waits for answers").waitFor();
  const fill = page.url().split("?")[0] ?? "";
  await answer((await page.locator("#link code").textContent()) ?? "");
  await page.reload();
  await page.getByRole("link", { name: "Place an order with it" }).press("Enter");
  await page.getByText("General affidavit.pdf").waitFor();
  const placing = page.url();
  await assertGoodLooks(opened);
  await page.locator("#field-byod_confirmed").check();
  await page.getByRole("button", { name: "Place the test order" }).press("Enter");
  await page.waitForURL(/\/dashboard\/orders\/[0-9a-f]{40}/);
  const order = new URL(page.url()).pathname;
  await page.goto(placing);
  assert.equal(page.url(), fill, "the form that an order has is no dead end");
  await assertGoodLooks(opened);
  await page.getByRole("link", { name: "The order with this document" }).press("Enter");
  await page.waitForURL(`**${order}`);
  assert.deepEqual(opened.troubles, []);
  await opened.close();
});

test("a member has a form filled in, passes on its link, and orders the document", async () => {
  const { key, templateId } = await firm();
  const { headers } = await newMember(running.service, running.somebody(), key);
  const { baseUrl } = running.service;
  const opened = await browser.open(`${baseUrl}/dashboard/templates/${templateId}/fill`, {
    width: 1280,
    cookie: headers.Cookie,
  });
  const { page } = opened;
  await assertGoodLooks(opened);
  await page.getByLabel("Name").fill("Jane Doe");
  await page.getByLabel("Email").fill("jane@example.com");
  await page.getByLabel(/field Text 9/).fill("Parcel number");
  await page.getByRole("button", { name: "Make the form" }).click();
  await page.getByText("Waits for answers").waitFor();
  await assertGoodLooks(opened);
  const url = (await page.locator("#link code").textContent()) ?? "";
  await answer(url, { "Parcel number": "12-345" });
  await page.reload();
  await page.getByRole("link", { name: "Place an order with it" }).click();
  await page.getByText("The form that Jane Doe filled in online.").waitFor();
  await page.getByRole("group", { name: "Buyer" }).getByLabel("Name").fill("Jane Doe");
  await page.getByRole("group", { name: "Buyer" }).getByLabel("Email").fill("jane@example.com");
  await page.locator("#field-byod_confirmed").check();
  await page.getByRole("button", { name: "Place the test order" }).click();
  await page.waitForURL(/\/dashboard\/orders\/[0-9a-f]{40}/);
  await page.goto(`${baseUrl}/dashboard/fills`);
  await page.getByText("Ordered", { exact: true }).waitFor();
  await assertGoodLooks(opened);
  assert.deepEqual(opened.troubles, []);
  await opened.close();
});
