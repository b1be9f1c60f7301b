import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { type Browser, startBrowser, test } from "@signsealship/testing/browser";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { until } from "@signsealship/testing/until";
import type { Locator } from "playwright-core";
import { isSealed, sql } from "../../../src/kernel/platform/database/sql.ts";
import { openCeremonyService } from "../../signing/envelopes/ceremony/ceremony-service.ts";
import { signedIn } from "../dashboard/signed-in-page.ts";
import { settled } from "./signing-site.ts";

type Running = Awaited<ReturnType<typeof openCeremonyService>>;

const jane = { name: "Jane Doe", email: "jane@example.com" };
const max = { name: "Max Roe", email: "max@example.com", language: "es", auth: "mail_code" };
const eve = { name: "Eve Low", email: "eve@example.com", routing: 2 };

test("three signers of a served order sign in their browsers, and its document is signed and sealed", async () => {
  const [running, browser] = await Promise.all([openCeremonyService(), startBrowser()]);
  try {
    const code = await running.order([jane, max, eve], { external_reference: "Closing 7" }, makePdf({ pages: 3 }));
    const statusOf = async () => {
      const order = await running.client.ok<{ status: string; envelopeStatus: string }>(
        "GET",
        `/api/partner/orders/${code}`,
      );
      return `${order.status} ${order.envelopeStatus}`;
    };
    await signOnPhone(running, browser, jane.email);
    assert.equal(await statusOf(), "EsignPending PartiallySigned");
    await signInSpanishWithCode(running, browser);
    await signOnPhone(running, browser, eve.email, picture);
    await until(async () => (await statusOf()) === "EsignComplete Completed");
    assert.deepEqual(await keysOf(running, code), ["browser", "service", "browser"]);
    const sha256 = createHash("sha256")
      .update(Buffer.from([0, 0, 0, 255, 255, 255]))
      .digest("hex");
    const ofPicture = { height: 1, kind: "uploaded", maskSha256: null, sha256, width: 2 };
    assert.deepEqual(await marksOf(running, code), [{ kind: "typed", text: jane.name }, ofPicture, ofPicture]);
    const kept = await fetch(`${await urlOf(running, jane.email)}/sealed.pdf`);
    assert.equal(kept.headers.get("content-type"), "application/pdf");
    assert.match(Buffer.from(await kept.arrayBuffer()).toString("latin1", 0, 5), /^%PDF-/);
  } finally {
    await browser.close();
    await running.close();
  }
});

/** A PNG with two pixels, one black and one white. */
const picture = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAIAAAABCAAAAADRSSBWAAAAC0lEQVR4nGNg+A8AAQIBAEK+vGgAAAAASUVORK5CYII=",
  "base64",
);

/** For each act, in order: the holder of its key, which is the service or the signer's browser. */
const keysOf = async (running: Running, code: string) =>
  (await actsOf(running, code)).map(({ keyHeldBy }) => keyHeldBy);
const marksOf = async (running: Running, code: string) => (await actsOf(running, code)).map(({ mark }) => mark);

const actsOf = async ({ db }: Running, code: string) =>
  (
    await db.query<{ act: { keyHeldBy: string; mark: object; channel?: string } }>(sql`
      SELECT t.record::json -> 'act' AS act FROM envelope_events t
        JOIN envelopes e ON e.id = t.envelope_id JOIN orders o ON o.id = e.order_id
      WHERE ${isSealed(sql`o.code`, "order", code)} AND t.record::json ->> 'event' = 'signed' ORDER BY t.position`)
  ).map(({ act }) => act);

test("a member hands a phone to two signers: each signs on it, going back shows nothing of the other, and the member is signed out", async () => {
  const [running, browser] = await Promise.all([openCeremonyService(), startBrowser()]);
  try {
    const code = await running.order([jane, eve]);
    await running.linkOf(jane.email);
    const key = running.headers.Authorization.replace("Bearer ", "");
    const opened = await signedIn(running.service, browser, { key, email: "host@harbor-title.com", width: 390 });
    const { page } = opened;
    await page.goto(`${running.service.baseUrl}/dashboard/orders/${code}`);
    await page.getByText("Sign here, on this device").click();
    await page.getByRole("button", { name: "Sign me out and hand the device over" }).click();
    for (const [signer, other] of [[jane.name, eve.name] as const, [eve.name, jane.name] as const]) {
      await page.getByRole("heading", { name: `Hand the device to ${signer}` }).waitFor();
      assert.deepEqual(await opened.axe(), []);
      assert.equal(await opened.overflow(), 0);
      await page.getByRole("button", { name: `I am ${signer}` }).click();
      await page.getByLabel("I opened the document").check();
      await page.getByRole("button", { name: "I agree" }).click();
      const own = page.url();
      await page.getByText("Checked: the document that you see").waitFor();
      await pressEnter(page.getByRole("button", { name: "Signature, page 3. Fill in" }));
      await page.getByRole("button", { name: "OK" }).click();
      await pressEnter(page.locator("#sign-button"));
      await page.getByText("Your signature is in the document.").waitFor();
      await page.getByRole("button", { name: "Hand the device on" }).click();
      await page.getByRole("heading", { level: 1, name: /Hand the device on|Give the device back/ }).waitFor();
      await page.goBack();
      assert.equal((await page.getByText(signer).count()) + (await page.getByText(other).count()), 0, page.url());
      assert.equal((await page.goto(own))?.status(), 404);
      await page.goto(`${running.service.baseUrl}/in-person`);
    }
    await page.getByRole("heading", { name: "Give the device back to host@harbor-title.com" }).waitFor();
    assert.deepEqual(await opened.axe(), []);
    await page.goto(`${running.service.baseUrl}/dashboard/orders/${code}`);
    await page.getByRole("heading", { name: "Sign in" }).first().waitFor();
    assert.deepEqual(
      (await actsOf(running, code)).map((act) => act.channel),
      ["in_person", "in_person"],
    );
  } finally {
    await browser.close();
    await running.close();
  }
});

test("one signer signs the three documents of a closing on a phone: one link, one consent, and a place in the list", async () => {
  const [running, browser] = await Promise.all([openCeremonyService(), startBrowser()]);
  try {
    const { roomCode } = await running.client.ok<{ roomCode: string }>("POST", "/api/rooms", {
      name: "Ortega closing",
    });
    const papers = ["Warranty deed", "Note", "Letter"];
    const codes: string[] = [];
    for (const label of papers) {
      const code = await running.order([jane], { external_reference: label }, undefined, { pay: false });
      await running.client.ok("POST", `/api/rooms/${roomCode}/orders`, { orderCode: code, label });
      codes.push(code);
    }
    for (const code of codes) await running.client.ok("POST", `/api/partner/sandbox/orders/${code}/checkout`);
    const { token } = await running.linkOf(jane.email);
    const opened = await browser.open(`${running.service.baseUrl}/sign/${token}`, { width: 375, height: 740 });
    const { page } = opened;
    await page.getByLabel("I opened the document").check();
    await page.getByRole("button", { name: "I agree" }).press("Enter");
    for (const n of [1, 2, 3]) {
      await page.waitForURL(new RegExp(`/sign/${token}/${n}(?:\\?|$)`));
      await page.getByText(`Document ${n} of 3`).first().waitFor();
      assert.equal(await page.getByRole("button", { name: "I agree" }).count(), 0, "the consent is asked for once");
      await page.getByText("Checked: the document that you see").waitFor();
      assert.deepEqual(await opened.axe(), []);
      assert.equal(await opened.overflow(), 0);
      await pressEnter(page.locator("#sign-button"));
      await page.getByText(`You have signed ${n} of 3`).first().waitFor();
    }
    assert.deepEqual(await opened.axe(), []);
    for (const code of codes) assert.deepEqual(await keysOf(running, code), ["browser"]);
    await opened.close();
  } finally {
    await browser.close();
    await running.close();
  }
});

test("a browser signs only what was requested: not a tail with another byte, nor a record with another name", async () => {
  const [running, browser] = await Promise.all([openCeremonyService(), startBrowser()]);
  try {
    const code = await running.order([jane]);
    const opened = await browser.open(await urlOf(running, jane.email), { width: 1024 });
    const { page } = opened;
    await page.getByLabel("I opened the document").check();
    await page.getByRole("button", { name: "I agree" }).click();
    for (const alter of [
      (act: Act) => ({ ...act, tail: flipped(act.tail, 100) }),
      (act: Act) => ({ ...act, tail: flipped(act.tail, act.contentsStart + 1) }),
      (act: Act) => ({ ...act, signedAttrs: flipped(act.signedAttrs, 60) }),
      (act: Act) => ({ ...act, record: act.record.replaceAll("Jane Doe", "John Doe") }),
      (act: Act) => ({ ...act, contentsEnd: act.contentsEnd + 1 }),
    ]) {
      await page.route("**/prepare", async (route) => {
        const response = await route.fetch();
        await route.fulfill({ response, json: alter((await response.json()) as Act) });
      });
      await page.getByText("Checked: the document that you see").waitFor();
      await pressEnter(page.locator("#sign-button"));
      await page.getByText("is not the one that would be signed").waitFor();
      assert.deepEqual(await keysOf(running, code), []);
      await page.unroute("**/prepare");
      await page.reload();
    }
    await opened.close();
  } finally {
    await browser.close();
    await running.close();
  }
});

type Act = { tail: string; signedAttrs: string; record: string; contentsStart: number; contentsEnd: number };

function flipped(base64: string, at: number): string {
  const bytes = Buffer.from(base64, "base64");
  bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
  return bytes.toString("base64");
}

/**
 * Presses Enter on the button. First waits until the page accepts presses: it ignores them shortly after its layout
 * moves.
 */
async function pressEnter(button: Locator): Promise<void> {
  await settled(button.page());
  await button.press("Enter");
}

const urlOf = async ({ linkOf, service }: Running, email: string) =>
  `${service.baseUrl}/sign/${(await linkOf(email)).token}`;

async function signOnPhone(running: Running, browser: Browser, email: string, file?: Buffer): Promise<void> {
  const opened = await browser.open(await urlOf(running, email), { width: 390, height: 844 });
  const { page } = opened;
  assert.equal(await page.locator("h1").textContent(), "Closing 7");
  await page.locator(".viewer-page canvas").first().waitFor();
  await page.getByLabel("I opened the document").check();
  await page.getByRole("button", { name: "I agree" }).click();
  await page.getByText("Checked: the document that you see").waitFor();
  // The first field to fill in is on the added last page, which the signer's window already shows.
  await page.getByRole("button", { name: "Fill in: Signature" }).waitFor();
  await pressEnter(page.getByRole("button", { name: "Signature, page 4. Fill in" }));
  if (file) {
    await page.getByLabel("Picture", { exact: true }).check();
    await page
      .getByLabel("Choose a picture")
      .setInputFiles({ name: "me.txt", mimeType: "text/plain", buffer: Buffer.from("no picture") });
    await page.getByText("This picture cannot be read.").waitFor();
    await page.getByLabel("Choose a picture").setInputFiles({ name: "me.png", mimeType: "image/png", buffer: file });
    await page.locator(".sheet-picture canvas").waitFor();
    assert.deepEqual(await opened.axe(), []);
  }
  await page.getByRole("button", { name: "OK" }).click();
  if (file) await page.getByRole("button", { name: "Signature, page 4: A picture. Change" }).waitFor();
  await pressEnter(page.locator("#sign-button"));
  await page.getByText("Your signature is in the document.").waitFor();
  assert.deepEqual(opened.troubles, []);
  await opened.close();
}

/** Signs in Spanish, with a mailed code and without JavaScript. */
async function signInSpanishWithCode(running: Running, browser: Browser): Promise<void> {
  const opened = await browser.open(await urlOf(running, max.email), { width: 390, javaScript: false });
  const { page } = opened;
  await page.getByRole("button", { name: "Enviarme un código" }).click();
  const code = await until(() =>
    running
      .mailsTo(max.email)
      .flatMap((mail) => /\b\d{6}\b/.exec(bodyOf(mail)) ?? [])
      .at(-1),
  );
  await page.getByLabel("Código", { exact: true }).fill(code);
  await page.getByRole("button", { name: "Continuar" }).click();
  await page.getByLabel("Abrí el documento y pude leerlo.").check();
  await page.getByRole("button", { name: "Acepto" }).click();
  await page.getByText("Usar una imagen de su firma").click();
  await page
    .getByLabel("Una imagen de su firma")
    .setInputFiles({ name: "me.png", mimeType: "image/png", buffer: picture });
  await page.getByRole("button", { name: "Usar esta imagen" }).click();
  await page.getByRole("img", { name: "La imagen que se coloca como su firma" }).waitFor();
  assert.deepEqual(await opened.overflow(), 0);
  await page.getByRole("button", { name: "Firmar", exact: true }).click();
  await page.getByText("Su firma está en el documento.").waitFor();
  await opened.close();
}

const bodyOf = (mail: string): string => mail.slice(mail.indexOf("\r\n\r\n"));
