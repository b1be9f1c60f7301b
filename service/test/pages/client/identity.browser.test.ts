import assert from "node:assert/strict";
import { after, assertGoodLooks, type Browser, before, startBrowser, test } from "@signsealship/testing/browser";
import { type IdentityDouble, startIdentity } from "@signsealship/testing/doubles/identity";
import { type QuizDouble, startQuiz } from "@signsealship/testing/doubles/quiz";
import { type Harness, openHarness } from "@signsealship/testing/harness";
import { newPartner, temporaryFolder } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import { addNotary } from "../../../src/signing/notaries/notaries.ts";
import { mailsTo, postForm } from "../../firms/members/signed-in-member.ts";
import { newOperator } from "../../firms/operators/console-people.ts";
import { certificateFiles } from "../../signing/notaries/certificate-files.ts";
import { ohioCommission, ordersToNotarize } from "../../signing/notaries/orders-to-notarize.ts";

const folder = temporaryFolder();
const certificate = certificateFiles(folder.path)("Nora Ames", { key: "p256" }).pem;

let running: Harness;
let browser: Browser;
let stripe: IdentityDouble;
let quiz: QuizDouble;
let cookie: string;

before(async () => {
  [stripe, quiz] = await Promise.all([startIdentity(), startQuiz()]);
  [running, browser] = await Promise.all([
    openHarness({
      IDENTITY_API_KEY: "sk_test_double",
      IDENTITY_API_BASE: stripe.url,
      IDENTITY_WEBHOOK_SECRET: stripe.webhookSecret,
      QUIZ_URL: quiz.url,
      QUIZ_API_KEY: "quiz-key",
      QUIZ_ENVIRONMENT: "test",
    }),
    startBrowser(),
  ]);
  const person = await newOperator(running, { roles: ["notary"], environment: "test", passkey: false });
  ({ cookie } = person);
  const commission = { ...ohioCommission, state: "TX", county: "Travis", certificate };
  await addNotary({ db: running.db, clock: () => new Date() }, person.id, commission, "operator");
});
after(async () => {
  await browser.close();
  await running.close();
  await Promise.all([stripe.close(), quiz.close()]);
  folder.remove();
});

const at = (path: string) => running.service.baseUrl + path;
const post = async (path: string, fields: Record<string, string> = {}) =>
  assert.equal((await postForm(at(path), fields, { cookie })).status, 303);

const seen = new Set<string>();

/** The newest path of this kind that was mailed to the signer. */
async function mailedPath(kind: "identity" | "appointments"): Promise<string> {
  const path = await until(() =>
    mailsTo(running.service, "signer@example.com")
      .flatMap((mail) => new RegExp(`/${kind}/[0-9a-f]{40}`).exec(mail)?.[0] ?? [])
      .find((each) => !seen.has(each)),
  );
  seen.add(path);
  return path;
}

/** The link with which a signer of a test order in Texas proves their identity. */
async function mailedLink(): Promise<string> {
  const orders = ordersToNotarize(running, await newPartner(running.service));
  const orderCode = await orders.place();
  await orders.claim(orderCode, cookie);
  await post(`/operator/notary/orders/${orderCode}/identity`, { person: "1" });
  return mailedPath("identity");
}

test("a person answers the questions and shows a credential, on pages that fit and are accessible", async () => {
  const path = await mailedLink();
  const opened = await browser.open(at(path), { width: 375 });
  await assertGoodLooks(opened);
  const { page } = opened;
  await page.getByLabel("Your home address").fill("1 Main Street, Austin");
  await page.getByLabel("Your date of birth").fill("1980-01-02");
  await page.getByRole("button", { name: "Begin: the time starts" }).click();
  await page.getByText("You have 120 seconds").waitFor();
  assert.deepEqual(await opened.axe(), []);
  assert.equal(await opened.overflow(), 0);
  const questions = page.getByRole("group", { name: /^Question \d/ });
  assert.equal(await questions.count(), 5);
  for (let index = 0; index < 5; index++) await questions.nth(index).getByLabel("Street 3").check();
  await page.getByRole("button", { name: "Send the answers" }).click();
  await page.getByText("Done: the questions were answered.").waitFor();
  await page.getByRole("button", { name: "Begin" }).click();
  const link = page.getByRole("link", { name: "Go on to Stripe" });
  assert.deepEqual(await opened.axe(), []);
  const [id] = [...stripe.sessions.keys()];
  assert.equal(await link.getAttribute("href"), `${stripe.url}/start/${id}`);
  stripe.verify(id ?? "");
  await stripe.deliver(running.service.baseUrl, stripe.event("verified", id ?? ""));
  await until(async () => {
    await page.goto(at(path));
    return page.getByText("You have done everything").isVisible();
  });
  assert.deepEqual(opened.troubles, []);
  await opened.close();
});

test("the page is in the reader’s language, and a refusal says in it what to do", async () => {
  const path = await mailedLink();
  const { page, troubles, close } = await browser.open(at(`${path}?lang=es`), { width: 1280 });
  await page.getByRole("heading", { name: "Compruebe su identidad" }).waitFor();
  stripe.isDown = true;
  await page.getByRole("button", { name: "Comenzar", exact: true }).click();
  await page.getByRole("alert").getByText("El proveedor no responde ahora").waitFor();
  stripe.isDown = false;
  assert.ok(
    troubles.every((each) => /503/.test(each)),
    troubles.join(),
  );
  await close();
});

test("a notary enters hours, and a signer books, moves and cancels, on pages that fit and are accessible", async () => {
  const code = await ordersToNotarize(running, await newPartner(running.service)).place();
  const desk = await browser.open(at("/operator/notary/hours"), { width: 375, cookie });
  await desk.page.getByLabel("Your zone").fill("Mars/Base");
  for (const day of ["Mon", "Tue", "Wed", "Thu", "Fri"]) await desk.page.getByLabel(day).fill("09:00-12:00");
  await desk.page.getByLabel("Link of your tool").fill("https://meet.example/nora");
  await desk.page.getByRole("button", { name: "Save the hours" }).click();
  await desk.page.getByRole("alert").getByText("zone must be a zone like America/Chicago").waitFor();
  await desk.page.getByLabel("Your zone").fill("America/Chicago");
  await desk.page.getByRole("button", { name: "Save the hours" }).click();
  await desk.page.getByText("Your hours are saved.").waitFor();
  await assertGoodLooks(desk);
  await desk.close();
  const opened = await browser.open(at(`/orders/${code}`), { width: 375 });
  const { page } = opened;
  await page.getByRole("link", { name: "Appointment with the notary" }).click();
  await page.getByRole("button", { name: "Mail them the link" }).click();
  await page.getByRole("status").getByText("The link is being mailed").waitFor();
  await assertGoodLooks(opened);
  await page.goto(at(await mailedPath("appointments")));
  // Chooses the last time of the list, because an appointment that begins within two hours can't be canceled.
  const last = await page.getByLabel("Time", { exact: true }).locator("option").last().getAttribute("value");
  await page.getByLabel("Time", { exact: true }).selectOption(last);
  await page.getByRole("button", { name: "Book" }).click();
  await page.getByRole("heading", { name: "Your appointment" }).waitFor();
  await page.getByText("(America/Chicago)").first().waitFor();
  await assertGoodLooks(opened);
  await page.getByRole("button", { name: "Cancel the appointment" }).click();
  await page.getByRole("heading", { name: "Choose a time" }).waitFor();
  assert.deepEqual(opened.troubles, []);
  await opened.close();
});
