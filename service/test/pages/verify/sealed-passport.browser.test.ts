import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { startBrowser, test } from "@signsealship/testing/browser";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { newPartner, startService, temporaryFolder } from "@signsealship/testing/service";

test("anyone with the codes sees passports and a room of the running service, and checks their PDFs", async () => {
  const folder = temporaryFolder();
  const [service, browser] = await Promise.all([startService({ DATA_DIR: folder.path }), startBrowser()]);
  try {
    const live = await newPartner(service, { tier: "ProOffice", live: true });
    const form = new FormData();
    form.set("file", new Blob([Uint8Array.from(makePdf({ text: "Deed" }))], { type: "application/pdf" }), "deed.pdf");
    const sealed = await fetch(`${service.baseUrl}/api/passport/seal`, {
      method: "POST",
      headers: live.headers,
      body: form,
    });
    const passport = (await sealed.json()) as { verifyCode: string; docSha256: string };
    assert.equal(sealed.status, 200, JSON.stringify(passport));
    const document = await fetch(`${service.baseUrl}/api/passport/verify/${passport.verifyCode}/document`);
    const evidence = await fetch(`${service.baseUrl}/api/passport/verify/${passport.verifyCode}/evidence`);
    const [pdf, zip] = [join(folder.path, "deed.pdf"), join(folder.path, "evidence.zip")];
    writeFileSync(pdf, Buffer.from(await document.arrayBuffer()));
    writeFileSync(zip, Buffer.from(await evidence.arrayBuffer()));

    const opened = await browser.open(`${service.baseUrl}/verify/${passport.verifyCode}`, { width: 360 });
    const { page } = opened;
    assert.match(
      String(await page.locator("main").textContent()),
      new RegExp(`sealed here[\\s\\S]*${passport.docSha256}`),
    );
    for (const given of [pdf, zip]) {
      await page.evaluate("document.getElementById('outcome').replaceChildren()");
      await page.setInputFiles("#drop-files", given);
      await page.getByRole("heading", { name: "This document is unchanged since it was sealed" }).waitFor();
    }
    assert.deepEqual(opened.troubles, []);
    assert.equal(
      (await fetch(`${service.baseUrl}/verify/${"a".repeat(26)}`, { headers: { accept: "text/html" } })).status,
      404,
    );

    const tester = await newPartner(service, { tier: "ProOffice", name: "Trial & Sons" });
    const made = await fetch(`${service.baseUrl}/api/rooms`, {
      method: "POST",
      headers: { ...tester.headers, "Content-Type": "application/json" },
      body: JSON.stringify({ name: "12 Elm Street" }),
    });
    const { roomUrl } = (await made.json()) as { roomUrl: string };
    const room = await browser.open(service.baseUrl + roomUrl, { width: 360 });
    const text = String(await room.page.locator("main").textContent());
    for (const said of ["12 Elm Street", "This is a test", "Trial & Sons", "No orders yet"])
      assert.ok(text.includes(said), said);
    assert.deepEqual(room.troubles, []);
    const seal = { method: "POST", headers: tester.headers };
    await fetch(`${service.baseUrl}/api${roomUrl}/passport`, seal);
    const second = await fetch(`${service.baseUrl}/api${roomUrl}/passport`, seal);
    const { verifyUrl, verifyCode } = (await second.json()) as { verifyUrl: string; verifyCode: string };
    const certificate = await fetch(`${service.baseUrl}/api/verify/room/${verifyCode}/pdf`);
    const certificatePath = join(folder.path, "certificate.pdf");
    writeFileSync(certificatePath, Buffer.from(await certificate.arrayBuffer()));
    const closing = await browser.open(service.baseUrl + verifyUrl, { width: 360 });
    await closing.page.getByText("everything matches").waitFor();
    assert.equal(await closing.page.locator("svg.chain circle").count(), 2);
    await closing.page.setInputFiles("#drop-files", certificatePath);
    await closing.page.getByRole("heading", { name: "A test certificate, unchanged" }).waitFor();
    assert.match(
      String(await closing.page.locator("#outcome").textContent()),
      /Version 2: it is the certificate on record/,
    );
    assert.deepEqual(closing.troubles, []);
    assert.equal(await closing.overflow(), 0);
  } finally {
    await browser.close();
    await service.stop();
    folder.remove();
  }
});
