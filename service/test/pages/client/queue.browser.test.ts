import assert from "node:assert/strict";
import { after, assertGoodLooks, type Browser, before, startBrowser, test } from "@signsealship/testing/browser";
import { freePort } from "@signsealship/testing/free-port";
import { type Harness, openHarness } from "@signsealship/testing/harness";
import { minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { newPartner, temporaryFolder } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import { addNotary } from "../../../src/signing/notaries/notaries.ts";
import { mailsTo, postForm } from "../../firms/members/signed-in-member.ts";
import { newOperator } from "../../firms/operators/console-people.ts";
import { certificateFiles } from "../../signing/notaries/certificate-files.ts";
import { liveSettings } from "../../signing/notaries/sessions/live-rules.ts";

const folder = temporaryFolder();
const { pem: certificate } = certificateFiles(folder.path)("Nora Ames", { key: "p256" });
const email = "queue@example.com";

let running: Harness;
let browser: Browser;
let person: Awaited<ReturnType<typeof newOperator>>;

before(async () => {
  const port = String(await freePort());
  const own = { PORT: port, BASE_URL: `http://127.0.0.1:${port}` };
  [running, browser] = await Promise.all([openHarness({ ...liveSettings(folder.path), ...own }), startBrowser()]);
  person = await newOperator(running, { roles: ["notary"], environment: "test", passkey: false });
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
});
after(async () => {
  await browser.close();
  await running.close();
  folder.remove();
});

const at = (path: string) => running.service.baseUrl + path;

/** Places an order for a notary. @returns the path of its signer's appointment page, from the mail */
async function pageOfSigner(): Promise<string> {
  const { headers } = await newPartner(running.service);
  const body = orderForm({ ...minimal, email, svc_notary: "true", name: "Jane Doe" }, makePdf({ text: "Deed" }));
  const placed = await fetch(at("/api/partner/orders"), { method: "POST", headers, body });
  const { orderCode } = (await placed.json()) as { orderCode: string };
  await fetch(at(`/api/partner/sandbox/orders/${orderCode}/advance`), { method: "POST", headers });
  assert.equal((await postForm(at(`/orders/${orderCode}/appointment`), {})).status, 303);
  return until(
    () => mailsTo(running.service, email).flatMap((mail) => /\/appointments\/[0-9a-f]{40}/.exec(mail)?.[0] ?? [])[0],
  );
}

test("a signer on a phone asks, waits and gets to the room, while both pages refresh by themselves", async () => {
  const path = await pageOfSigner();
  const desk = await browser.open(at("/operator/notary"), { width: 1280, cookie: person.cookie });
  await desk.page.getByText("Nobody whom you may meet is waiting.").waitFor();
  await desk.page.getByRole("button", { name: "Go on duty" }).click();
  await desk.page.getByText(/You are on duty until/).waitFor();

  const signer = await browser.open(at(path), { width: 390 });
  const ask = signer.page.getByRole("button", { name: "Ask to meet now" });
  await ask.focus();
  await signer.page.keyboard.press("Enter");
  await signer.page.getByText("You are number 1 in the queue.").waitFor();
  await signer.page.getByText("A notary who may meet you is free now.").waitFor();
  await assertGoodLooks(signer);

  // From here on, no page is reloaded, except by the notary's own actions.
  const call = desk.page.getByRole("button", { name: "Call the next" });
  await call.waitFor();
  await assertGoodLooks(desk);
  await call.click();
  await desk.page.waitForURL(/\/operator\/notary\/orders\/[0-9a-f]{40}/);
  await signer.page.getByText("Nora Ames has taken your request and opens the room now. Stay here.").waitFor();
  const session = desk.page.locator("#session");
  await session.getByLabel("Act").selectOption("jurat");
  await session.getByRole("button").first().click();
  const enter = signer.page.getByRole("link", { name: "Go to the room" });
  await enter.waitFor();
  await assertGoodLooks(signer);
  await enter.click();
  await signer.page.waitForURL(/\/notary-room\/[0-9a-f]{40}/);
  for (const each of [desk, signer]) {
    assert.deepEqual(each.troubles, []);
    await each.close();
  }
});
