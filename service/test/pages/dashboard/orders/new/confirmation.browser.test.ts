import assert from "node:assert/strict";
import { after, assertGoodLooks, type Browser, before, startBrowser, test } from "@signsealship/testing/browser";
import { type Harness, openHarness } from "@signsealship/testing/harness";
import { asService } from "@signsealship/testing/row-mac";
import { newPartner } from "@signsealship/testing/service";
import { sql } from "../../../../../src/kernel/platform/database/sql.ts";
import { codeTo } from "../../../../firms/members/signed-in-member.ts";
import { signedIn } from "../../signed-in-page.ts";

let running: Harness;
let browser: Browser;

before(async () => {
  [running, browser] = await Promise.all([openHarness(), startBrowser()]);
});
after(async () => {
  await browser.close();
  await running.close();
});

for (const javaScript of [true, false])
  test(`a webhook form survives the question for a code, ${javaScript ? "with" : "without"} script`, async () => {
    const { key } = await newPartner(running.service);
    const email = `dana-${javaScript}@harbor-title.com`;
    const opened = await signedIn(running.service, browser, { key, email, width: 360, javaScript });
    const { page } = opened;
    await asService(running, sql`UPDATE sessions SET confirmed_at = confirmed_at - interval '16 min'`);
    await page.goto(`${running.service.baseUrl}/dashboard/webhooks`);
    await page.getByLabel("URL").fill("https://hooks.example.com/typed");
    await page.getByLabel("order.created").check();
    await page.getByRole("button", { name: "Create webhook" }).click();
    await page.getByRole("heading", { name: "Confirm that it is you" }).waitFor();
    await page.getByLabel("Code").fill("12");
    await page.getByRole("button", { name: "Confirm and continue" }).click();
    await page.getByRole("alert").getByText("This code is not right").waitFor();
    if (javaScript) await assertGoodLooks(opened);
    await page.getByLabel("Code").fill(await codeTo(running.service, email));
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "signing secret" }).waitFor();
    await page.goto(`${running.service.baseUrl}/dashboard/webhooks`);
    await page.getByRole("link", { name: "hooks.example.com/typed" }).waitFor();
    const serious = opened.troubles.filter((trouble) => !trouble.includes("status of 403"));
    assert.deepEqual(serious, []);
    await opened.close();
  });
