import assert from "node:assert/strict";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { after, type Browser, before, startBrowser, test } from "@signsealship/testing/browser";
import { startMailCatcher } from "@signsealship/testing/doubles/mail-catcher";
import { type Service, startService, temporaryFolder } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";

const folder = temporaryFolder();
const pdf = fileURLToPath(new URL("../../../../examples/lien-release.pdf", import.meta.url));
let mails: Awaited<ReturnType<typeof startMailCatcher>>;
let service: Service;
let browser: Browser;

before(async () => {
  mails = await startMailCatcher();
  [service, browser] = await Promise.all([
    startService({ DATA_DIR: folder.path, SMTP_URL: mails.url }),
    startBrowser(),
  ]);
});
after(async () => {
  await browser.close();
  await service.stop();
  await mails.close();
  folder.remove();
});

for (const width of [360, 1280])
  test(`${width} pixels wide, a newcomer requests access, gets a key by mail, and clicks through to a verified passport`, async () => {
    const email = `dana@harbor-${width}.com`;
    const mailed = (subject: string) =>
      until(() => mails.caught.find((mail) => mail.to === email && mail.subject === subject));
    const opened = await browser.open(service.baseUrl, { width });
    const { page } = opened;
    const main = page.getByRole("main");
    const press = (name: string | RegExp) => main.getByRole("button", { name }).first().click();
    const follow = (name: string | RegExp) => page.getByRole("link", { name }).first().click();
    const title = () => page.getByRole("heading", { level: 1 }).textContent();

    await follow("Request access");
    await page.getByLabel("Firm").fill("Harbor Title Co.");
    await page.getByLabel("Your name").fill("Dana Reyes");
    await page.getByLabel("Work email").fill(email);
    await page
      .getByLabel("What you plan to use it for")
      .fill("We are a title company and want our closings notarized online before the deeds are recorded.");
    await press("Send request");
    assert.equal(await title(), "Your test key is on its way");
    const key = /svc_pk_test_[a-z2-7]{52}/.exec((await mailed("Your trial key")).text)?.[0] ?? "";

    await main.getByRole("link", { name: "Sign in" }).click();
    await page.getByLabel("Work email").fill(email);
    await press("Send me a link");
    await page.getByRole("heading", { name: "Check your email" }).waitFor();
    const way = /(\/sign-in\/[0-9a-f]{40})/.exec((await mailed("Your sign-in link")).text)?.[1];
    await page.goto(service.baseUrl + way);
    await press("Sign in");
    await page.getByLabel("API key").fill(key);
    await press("Connect");
    assert.equal(await title(), "Welcome, Harbor Title Co.");

    await main.getByRole("link", { name: "Place a test order" }).click();
    await page.getByLabel(/^File(?! number)/).setInputFiles(pdf);
    await page.getByLabel("Client’s email").fill("signer@example.com");
    await page.getByLabel("Signing").check();
    await page.getByLabel("Online notarization").check();
    await page.getByLabel("This is the client’s own document").check();
    await press("Place the test order");
    await page.getByLabel("Add a page for signatures at the end").check();
    await press("Place the test order");
    const orderCode = /\/dashboard\/orders\/([0-9a-f]{40})/.exec(page.url())?.[1] ?? "";
    assert.notEqual(orderCode, "");
    await press(/^Pay$/);
    await press("Complete the order");
    assert.match((await page.locator(".status-card").textContent()) ?? "", /All done/);

    await follow("Rooms");
    await page.getByLabel("Name", { exact: true }).fill("12 Elm Street");
    await press("Create room");
    await page.getByRole("group", { name: "Your latest orders" }).getByRole("checkbox").first().check();
    await press("Add order");
    await press("Seal version 1");
    await page.locator("#passport").getByRole("link", { name: "Verify version 1" }).click();
    await page.waitForURL(/\/v\/room\/[a-z2-7]{26}/);
    assert.match((await main.textContent()) ?? "", /A test closing certificate/);

    await page.goto(`${service.baseUrl}/dashboard`);
    await follow("Sealed PDFs");
    await page.locator("#seal-file").setInputFiles(pdf);
    await press("Seal document");
    await page.waitForURL(/\/dashboard\/passports\/[0-9a-f-]{36}/);
    await follow("Open the verification page");
    await page.waitForURL(/\/verify\/[a-z2-7]{26}/);
    const download = page.waitForEvent("download");
    await follow(/sealed PDF/i);
    const file = join(folder.path, `sealed-${width}.pdf`);
    await (await download).saveAs(file);
    await page.locator("#drop-files").setInputFiles(file);
    const verdict = page.locator("#outcome h2");
    await verdict.waitFor();
    assert.equal(await verdict.textContent(), "A test document, unchanged");

    await page.goto(`${service.baseUrl}/dashboard`);
    assert.match((await main.textContent()) ?? "", /Steps done on the way to real orders: 4 of 5/);
    // Nobody needs a webhook to go live.
    assert.match(
      (await main.textContent()) ?? "",
      /Next: Place real orders \(go live\)[\s\S]*for your own system\s*Optional/,
    );
    assert.equal(await page.getByRole("link", { name: "Ask for live" }).getAttribute("href"), "/dashboard/settings");
    assert.deepEqual(await opened.axe(), []);
    assert.equal(await opened.overflow(), 0);
    // The browser reports the status of the rejected form as an error, so that line is ignored.
    assert.deepEqual(
      opened.troubles.filter((line) => !/status of 400/.test(line)),
      [],
    );
    await opened.close();
  });
