import assert from "node:assert/strict";
import {
  after,
  assertGoodLooks,
  type Browser,
  before,
  type OpenPage,
  startBrowser,
  test,
} from "@signsealship/testing/browser";
import { freePort } from "@signsealship/testing/free-port";
import { type Harness, openHarness } from "@signsealship/testing/harness";
import { minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { fakeDevices } from "@signsealship/testing/media";
import { newPartner, temporaryFolder } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import { liveWords } from "../../../src/pages/ui/live/words/languages.ts";
import { addNotary, guestWords } from "../../../src/signing/notaries/notaries.ts";
import { mailsTo, postForm } from "../../firms/members/signed-in-member.ts";
import { newOperator } from "../../firms/operators/console-people.ts";
import { certificateFiles } from "../../signing/notaries/certificate-files.ts";
import { liveSettings } from "../../signing/notaries/sessions/live-rules.ts";

const folder = temporaryFolder();
const { pem: certificate } = certificateFiles(folder.path)("Nora Ames", { key: "p256" });

let running: Harness;
let browser: Browser;
let person: Awaited<ReturnType<typeof newOperator>>;
let partner: Awaited<ReturnType<typeof newPartner>>;
const at = (path: string) => running.service.baseUrl + path;
const asNotary = (path: string, typed: Record<string, string>) =>
  postForm(at(`/operator/notary${path}`), typed, { cookie: person.cookie, Accept: "text/html" });

before(async () => {
  const port = String(await freePort());
  const own = { PORT: port, BASE_URL: `http://127.0.0.1:${port}` };
  [running, browser] = await Promise.all([
    openHarness({ ...liveSettings(folder.path, { witnesses: "true" }), ...own }),
    startBrowser(fakeDevices),
  ]);
  person = await newOperator(running, { roles: ["notary"], environment: "test", passkey: false });
  partner = await newPartner(running.service);
  const commission = {
    commissionName: "Nora Ames",
    state: "OH",
    county: "Franklin",
    commissionNumber: "1",
    status: "active",
    commissionExpires: "2040-01-31",
    ronRegistration: "R",
    ronExpires: "2040-01-31",
    certificate,
  };
  await addNotary({ db: running.db, clock: () => new Date() }, person.id, commission, "operator");
  const hours = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"].map((day) => [`hours_${day}`, "00:00-23:59"]);
  const typed = { zone: "America/Chicago", ...Object.fromEntries(hours) };
  assert.equal((await asNotary("/hours", typed)).status, 303);
});
after(async () => {
  await browser.close();
  await running.close();
  folder.remove();
});

/** A test order that waits for a notary, and the appointment page of its signer. */
async function waitingOrder(email: string) {
  const { headers } = partner;
  const body = orderForm({ ...minimal, email, svc_notary: "true", name: "Jane Doe" }, makePdf({ text: "Deed" }));
  const placed = await fetch(at("/api/partner/orders"), { method: "POST", headers, body });
  const { orderCode: code } = (await placed.json()) as { orderCode: string };
  await fetch(at(`/api/partner/sandbox/orders/${code}/advance`), { method: "POST", headers });
  assert.equal((await postForm(at(`/orders/${code}/appointment`), {})).status, 303);
  const path = await until(
    () => mailsTo(running.service, email).flatMap((mail) => /\/appointments\/[0-9a-f]{40}/.exec(mail)?.[0] ?? [])[0],
  );
  return { code, path };
}

test("a signer on a phone books a time, checks the device before the notary opens the room, and gets into it", async () => {
  const { code, path } = await waitingOrder("room@example.com");
  const signer = await browser.open(at(path), { width: 390 });
  const { page } = signer;
  const { device } = liveWords.en;
  assert.equal(await page.getByRole("button", { name: device.start }).count(), 0, "nothing to check without a room");
  await page.getByLabel("Time", { exact: true }).selectOption({ index: 3 });
  await page.getByRole("button", { name: "Book" }).click();
  await page.getByText("The room is not open yet.").waitFor();
  const isCameraOn = () =>
    page.evaluate(
      "globalThis.opened.some((stream) => stream.getTracks().some(({ readyState }) => readyState === 'live'))",
    );
  await page.evaluate(`{
    globalThis.opened = [];
    const open = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
    navigator.mediaDevices.getUserMedia = async (wanted) => {
      const stream = await open(wanted);
      globalThis.opened.push(stream);
      return stream;
    };
  }`);
  const said = page.locator("#device-said");
  const start = page.getByRole("button", { name: device.start });
  await start.focus();
  await page.keyboard.press("Enter");
  await said.filter({ hasText: device.running }).waitFor();
  assert.equal(await isCameraOn(), true);
  await said.filter({ hasText: device.good }).waitFor();
  await until(async () => (await isCameraOn()) === false);
  await page.getByRole("button", { name: device.tone }).click();
  await said.filter({ hasText: device.toneHint }).waitFor();
  await assertGoodLooks(signer);
  // Testing the devices again opens a new connection.
  await start.click();
  await said.filter({ hasText: device.good }).waitFor();

  await page.evaluate(
    "navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException('', 'NotAllowedError'))",
  );
  await start.click();
  await said.filter({ hasText: device.denied }).waitFor();
  // Allows only connections over a relay, and there is none. This simulates a network that blocks all media.
  await page.reload();
  await page.evaluate(`{
    const Line = RTCPeerConnection;
    globalThis.RTCPeerConnection = class extends Line {
      constructor(options) { super({ ...options, iceTransportPolicy: "relay" }); }
    };
  }`);
  await start.click();
  await said.filter({ hasText: device.noLine }).waitFor();

  assert.equal((await asNotary(`/orders/${code}/session`, { act: "jurat" })).status, 303);
  await page.reload();
  const enter = page.getByRole("link", { name: "Go to the room" });
  await enter.waitFor();
  assert.equal(await start.count(), 0, "the room has a check of its own");
  await assertGoodLooks(signer);
  await enter.click();
  await page.waitForURL(/\/notary-room\/[0-9a-f]{40}/);
  assert.deepEqual(signer.troubles, []);
  await signer.close();
});

/** Asserts that the page is accessible and fits, on a phone and on a desktop. */
async function isGoodOnBoth(opened: OpenPage): Promise<void> {
  for (const width of [375, 1280]) {
    await opened.page.setViewportSize({ width, height: 800 });
    assert.deepEqual(await opened.axe(), [], `${opened.page.url()} ${width}`);
    assert.equal(await opened.overflow(), 0, `${opened.page.url()} ${width}`);
  }
}

test("a witness reads when and as what they are expected, checks the device, and reaches the waiting room", async () => {
  const { code, path } = await waitingOrder("signer@example.com");
  const signer = await browser.open(at(path), { width: 1280 });
  await signer.page.getByLabel("Time", { exact: true }).selectOption({ index: 9 });
  await signer.page.getByRole("button", { name: "Book" }).click();
  await signer.page.getByText("The room is not open yet.").waitFor();
  const wanda = { role: "witness", name: "Wanda Watt", email: "wanda@example.com", language: "en" };
  assert.equal((await asNotary(`/orders/${code}/guests`, wanda)).status, 303);
  const mailed = (pattern: RegExp) =>
    until(() => mailsTo(running.service, wanda.email).flatMap((mail) => pattern.exec(mail)?.[1] ?? [])[0]);
  const witness = await browser.open(at(await mailed(/(\/appointments\/[0-9a-f]{40})/)), { width: 375 });
  const { page } = witness;
  await page.getByText(guestWords.en.roles.witness).waitFor();
  assert.equal(await page.getByRole("button", { name: "Book" }).count(), 0);
  await isGoodOnBoth(witness);
  await page.getByRole("button", { name: liveWords.en.device.start }).click();
  await page
    .locator("#device-said")
    .filter({ hasText: /line work|loses packets/ })
    .waitFor();
  await isGoodOnBoth(witness);

  assert.equal((await asNotary(`/orders/${code}/session`, { act: "jurat" })).status, 303);
  const room = await mailed(/(\/notary-room\/[0-9a-f]{40})/);
  await page.reload();
  await page.locator(`a[href^="${room}"]`).click();
  await page.getByRole("button", { name: "Email me the code" }).click();
  await page.getByLabel("Code").fill(await mailed(/Your code is (\d{6})\./));
  await page.getByRole("button", { name: "Go on" }).click();
  await page.getByRole("heading", { name: "The recording" }).waitFor();
  await isGoodOnBoth(witness);
  await page.getByLabel("City where you are").fill("Columbus");
  await page.getByLabel("State or province where you are").fill("Ohio");
  await page.getByLabel("Nobody makes me do this.").check();
  await page.getByRole("button", { name: "I agree to the recording" }).click();
  await page.getByRole("heading", { name: "Waiting room" }).waitFor();
  await isGoodOnBoth(witness);
  assert.deepEqual(witness.troubles, []);
  assert.equal((await asNotary(`/orders/${code}/session/end`, { outcome: "technical" })).status, 303);
});
