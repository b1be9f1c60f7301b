import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, assertGoodLooks, type Browser, before, startBrowser, test } from "@signsealship/testing/browser";
import { freePort } from "@signsealship/testing/free-port";
import { type Harness, openHarness } from "@signsealship/testing/harness";
import { newPartner, temporaryFolder } from "@signsealship/testing/service";
import { addNotary } from "../../../../src/signing/notaries/notaries.ts";
import { newOperator, newSession } from "../../../firms/operators/console-people.ts";
import { certificateFiles, password } from "../../../signing/notaries/certificate-files.ts";
import { ohioCommission, ordersToNotarize } from "../../../signing/notaries/orders-to-notarize.ts";
import { withAuthenticator } from "../../dashboard/authenticator.ts";

const folder = temporaryFolder();
const made = certificateFiles(folder.path)("Nora Ames", { key: "p256" });
const pin = "246810";

let running: Harness;
let browser: Browser;
let partner: Awaited<ReturnType<typeof newPartner>>;
let person: Awaited<ReturnType<typeof newOperator>>;

before(async () => {
  const port = String(await freePort());
  [running, browser] = await Promise.all([
    openHarness({ PORT: port, BASE_URL: `http://localhost:${port}` }),
    startBrowser(),
  ]);
  partner = await newPartner(running.service);
  person = await newOperator(running, { roles: ["notary"], environment: "test", passkey: false });
  const { ronRegistration: _, ronExpires: __, ...inPerson } = ohioCommission;
  const commission = { ...inPerson, certificate: made.pem };
  await addNotary({ db: running.db, clock: () => new Date() }, person.id, commission, "operator");
});
after(async () => {
  await browser.close();
  await running.close();
  folder.remove();
});

/** Uses the host name, because passkeys do not work at an IP address. */
const origin = () => running.service.baseUrl.replace("127.0.0.1", "localhost");
const at = (path: string) => origin() + path;
const orders = () => ordersToNotarize(running, partner, origin());

/** An order that the notary has claimed, after a new sign-in. */
async function claimedOrder(): Promise<string> {
  person = { ...person, ...(await newSession(running, person.id, { environment: "test", passkey: false })) };
  const code = await orders().place();
  await orders().claim(code, person.cookie);
  return code;
}

const statusOf = (code: string) => orders().statusOf(code);

test("a notary and a signer complete a jurat on one tablet, by keyboard, and no camera is used", async () => {
  const code = await claimedOrder();
  const opened = await browser.open(at(`/operator/notary/orders/${code}`), { width: 375, cookie: person.cookie });
  const { page, troubles } = opened;
  const asked: string[] = [];
  await page.exposeFunction("mediaWasAsked", (what: string) => asked.push(what));
  await page.addInitScript(() => {
    const devices = navigator.mediaDevices;
    if (devices)
      devices.getUserMedia = async () => {
        await (globalThis as unknown as { mediaWasAsked: (what: string) => Promise<void> }).mediaWasAsked("media");
        throw new Error("no");
      };
  });
  const press = async (name: string | RegExp) => {
    await page.getByRole("button", { name }).focus();
    await page.keyboard.press("Enter");
  };
  const markAs = async (heading: RegExp, after: RegExp) => {
    await page.getByRole("heading", { name: heading, level: 3 }).waitFor();
    await press("Mark as done");
    await page.getByRole("heading", { name: after, level: 3 }).waitFor();
  };
  const part = page.locator("#in-presence");
  await part.getByLabel("Act").selectOption("jurat");
  await part.getByLabel("PIN to get the device back").fill(pin);
  await press("Begin the act");
  await assertGoodLooks(opened);
  await markAs(/^Opening/, /^Appearance/);
  await markAs(/^Appearance/, /^Identity/);
  await page.getByLabel("Principal 1: Full address").first().fill("1 Main Street");
  await page.getByLabel("Principal 1: How you know who it is").selectOption("personal_knowledge");
  await assertGoodLooks(opened);
  await press("Mark as done");
  await page.getByRole("heading", { name: /^Alone/, level: 3 }).waitFor();
  await page.locator("[name=choice]").selectOption("alone");
  await markAs(/^Alone/, /^Aware/);
  await markAs(/^Aware/, /^Reading/);
  await press("Hand to Jane Doe");

  // The signer has the tablet, so no page of the desk can be opened.
  await page.getByText("You read and sign on the notary’s device").waitFor();
  const signerPages = page.url();
  await assertGoodLooks(opened);
  await page.goBack();
  assert.equal(await page.getByRole("heading", { name: /^Reading/ }).count(), 0);
  await page.goto(at("/operator/notary"));
  await page.getByText("For the people who run this service").waitFor();
  await page.goto(signerPages);
  await page.getByLabel(/able to read it/).check();
  await press(/agree/i);
  await page.getByText("The notary’s step comes next").waitFor();
  await assertGoodLooks(opened);
  const back = async () => {
    await page.getByRole("link", { name: "Hand the device to the notary" }).first().focus();
    await page.keyboard.press("Enter");
    await page.getByLabel("PIN").fill("000000");
    await press("Take the device back");
    await page.getByText("This PIN is not right.").waitFor();
    await assertGoodLooks(opened);
    await page.getByLabel("PIN").fill(pin);
    await page.keyboard.press("Enter");
  };
  await back();
  await page.getByRole("heading", { name: /^Oath/, level: 3 }).waitFor();
  await page.reload();
  await page.locator("[name=choice]").selectOption("oath");
  await press("Mark as done");
  await page.getByRole("heading", { name: /^Signature/, level: 3 }).waitFor();
  await press("Hand to Jane Doe");
  await page.getByRole("heading", { name: /Sign/ }).first().waitFor();
  // The signature changes the document. Waits until the page has checked it, because the page's later requests for the
  // old document would be rejected.
  await page.getByText("Checked: the document that you see").waitFor();
  await press(/^Sign$/);
  await page.getByText("You have signed. Hand the device back.").waitFor();
  await back();

  await markAs(/^Closing/, /^Notary’s signature/);

  // The notary notes the act, and signs the document on this page.
  await page.setViewportSize({ width: 1280, height: 900 });
  await page.getByRole("link", { name: "Note the act and sign" }).click();
  const form = page.locator("#act");
  assert.equal(await form.locator("[name=mode]").inputValue(), "ipen");
  assert.equal(await form.getByLabel("Principal 1: Full address").inputValue(), "1 Main Street");
  await form.getByLabel("Kind of document").fill("Deed");
  await form.getByLabel("Fee in dollars").fill("5");
  await form.getByRole("button", { name: "Note the act" }).click();
  const file = join(folder.path, "nora.p12");
  writeFileSync(file, made.p12);
  await page.getByLabel("Certificate file").setInputFiles(file);
  await page.getByLabel("Password of the file").fill(password);
  await page.getByRole("button", { name: "Open the certificate" }).click();
  await page.getByRole("button", { name: "Sign the document" }).click();
  await page.getByRole("heading", { name: /What you signed/ }).waitFor();
  for (const box of await page.getByRole("checkbox").all()) await box.check();
  await page.getByRole("button", { name: "Enter the act and seal the document" }).click();
  await page.waitForURL(/\/operator\/notary(\?|$)/);
  assert.equal(await statusOf(code), "NotarizationComplete");
  assert.deepEqual(asked, []);
  assert.deepEqual(
    troubles.filter((each) => !/40[014]/.test(String(each))),
    [],
  );
});

test("a device in a signer's hands is taken back with the notary's passkey, and not with another person's finger", async () => {
  const code = await claimedOrder();
  const opened = await browser.open(at("/operator/security"), { width: 1280, cookie: person.cookie });
  const { page } = opened;
  const authenticator = await withAuthenticator(opened);
  await page.getByLabel("Name").fill("Nora's tablet");
  await page.getByRole("button", { name: "Add a passkey" }).click();
  await page.getByRole("heading", { name: "Your recovery codes" }).waitFor();
  await page.goto(at(`/operator/notary/orders/${code}`));
  await page.locator("#in-presence").getByLabel("Act").selectOption("acknowledgment");
  await page.getByRole("button", { name: "Begin the act" }).click();
  for (const next of [/^Appearance/, /^Identity/]) {
    await page.getByRole("button", { name: "Mark as done" }).click();
    await page.getByRole("heading", { name: next, level: 3 }).waitFor();
  }
  await page.getByLabel("Principal 1: Full address").first().fill("1 Main Street");
  await page.getByLabel("Principal 1: How you know who it is").selectOption("personal_knowledge");
  await page.getByRole("button", { name: "Mark as done" }).click();
  await page.getByRole("heading", { name: /^Alone/, level: 3 }).waitFor();
  await page.locator("[name=choice]").selectOption("alone");
  await page.getByRole("button", { name: "Mark as done" }).click();
  await page.getByRole("heading", { name: /^Aware/, level: 3 }).waitFor();
  await page.getByRole("button", { name: "Mark as done" }).click();
  await page.getByRole("button", { name: "Hand to Jane Doe" }).click();
  await page.getByText("You read and sign on the notary’s device").waitFor();
  await page.getByRole("link", { name: "Hand the device to the notary" }).first().click();
  // The notary set no PIN when this act began.
  assert.equal(await page.getByLabel("PIN").count(), 0);
  await page.getByRole("link", { name: "Use a passkey" }).click();
  await authenticator.verify(false);
  await page.getByRole("button", { name: "Use your passkey" }).click();
  await page.getByRole("alert").getByText("No passkey came from your browser or device.").waitFor({ timeout: 60_000 });
  const meanwhile = await page.request.get(at(`/operator/notary/orders/${code}`), { maxRedirects: 0 });
  assert.notEqual(meanwhile.status(), 200);
  await authenticator.verify(true);
  await page.getByRole("button", { name: "Use your passkey" }).click();
  await page.waitForURL("**/operator/notary");
  await page.goto(at(`/operator/notary/orders/${code}/sheet`));
  await page.getByRole("button", { name: "I have the device back" }).click();
  await page.getByRole("button", { name: "Hand to Jane Doe" }).waitFor();
  await opened.close();
});
