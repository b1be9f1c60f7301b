import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { startTsa } from "@signsealship/testing/doubles/tsa";
import { forTests } from "@signsealship/testing/for-tests";
import { changeFirm } from "@signsealship/testing/row-mac";
import { needs } from "@signsealship/testing/tools/tools";
import { brokenRules } from "@signsealship/testing/tools/verapdf";
import { openCertificates } from "../../../src/closing/closing-passports/certificate/certificate.ts";
import { prepareSeal } from "../../../src/evidence/seals/pdf/seal-pdf.ts";
import { sql } from "../../../src/kernel/platform/database/sql.ts";
import { openRoomsService } from "../rooms/rooms-service.ts";
import { certificateContent } from "./certificate-content.ts";
import { download, sealFingerprint, sealRoom, textOf, withPdf } from "./seal-room.ts";

const tsa = await forTests(startTsa());
const running = await forTests(openRoomsService({ TSA_URLS: tsa.url }));
const acme = await running.partner("ClosingDesk", "Acme Title & Escrow LLC");
await changeFirm(running.db, acme.partnerId, sql`brand_name = ${"Acme Title"}, accent_color = ${"#8a1c4a"}`);
const room = await acme.room();
const orderCode = await acme.order({ external_reference: "Deed 2207" });
await acme.ok("POST", `/api/rooms/${room}/orders`, { orderCode });

const sealed = async () => download(running.service.baseUrl, (await sealRoom(acme, room)).verifyCode);

test("the sealed certificate is still PDF/A-3a and PDF/UA-1", needs("verapdf", "openssl"), async () => {
  const certificate = await sealed();
  assert.deepEqual(brokenRules({ certificate }), []);
});

test("the seal is visible on the first page, and readers accept it", needs("poppler", "openssl"), async () => {
  const certificate = await sealed();
  const signatures = withPdf(certificate, (run) => run("pdfsig", "certificate.pdf"));
  assert.match(signatures, /Signature Field Name: SignSealShip-Seal\n/);
  assert.match(signatures, /Signature is Valid/);
  assert.match(signatures, /Total document signed/);
  assert.equal(signatures.match(/Signature #/g)?.length, 1);
  const first = withPdf(certificate, (run) => run("pdftotext", "-l", "1", "-layout", "certificate.pdf", "-"));
  assert.match(first, /Sealed by SignSealShip\s+on behalf of Acme Title\n/);
});

test(
  "states the recorded facts about firm and documents, and names the authority of its time stamp, which openssl verifies",
  needs("poppler", "openssl"),
  async () => {
    const certificate = await sealed();
    const text = textOf(certificate).replace(/\s+/g, " ");
    assert.match(text, /On behalf of Acme Title \(Acme Title & Escrow LLC\)/);
    assert.match(
      text,
      /Deed 2207 Status Ready to pay \(stated by this service, not evidence\) Pages 1 As uploaded, SHA-256 [0-9a-f]{64}/,
    );
    assert.match(text, /Seal certificate CN=SignSealShip TEST seal /);
    assert.ok(text.includes(`Certificate, SHA-256 ${await sealFingerprint(running.service.baseUrl)} `));
    assert.match(
      text,
      /Time stamp \d{4}-\d\d-\d\d [\d:]{8} UTC over the manifest, by \S.* \(http:\/\/127\.0\.0\.1:\d+/,
    );
    withPdf(certificate, (run, folder) => {
      run("pdfdetach", "-saveall", "certificate.pdf");
      writeFileSync(join(folder, "root.pem"), tsa.caPem);
      const verify = ["ts", "-verify", "-token_in", "-in", "manifest.tst", "-CAfile", "root.pem", "-data"];
      assert.match(run("openssl", ...verify, "manifest.json"), /Verification: OK/);
      assert.throws(() => run("openssl", ...verify, "root.pem"));
    });
  },
);

test(
  "a room is sealed even if no authority answers, and its certificate says so",
  needs("poppler", "openssl"),
  async () => {
    tsa.order("server-error");
    const text = textOf(await sealed()).replace(/\s+/g, " ");
    tsa.order("proper");
    assert.match(text, /Time stamp none was obtained for the manifest; only this service states the time/);
  },
);

test("the reserved field is filled only in the service's own documents: an upload gets an invisible field of its own", async () => {
  const original = await openCertificates()(certificateContent(["Deed"]));
  const description = { original, at: new Date(0), reserve: 64 };
  const own = prepareSeal({ ...description, isOwn: true }).tail.toString("latin1");
  assert.match(own, /\/T\(SignSealShip-Seal\).*\/V \d+ 0 R/);
  assert.doesNotMatch(own, /SignSealShip-Seal-|\/Rect\[0 0 0 0\]/);
  const upload = prepareSeal(description).tail.toString("latin1");
  assert.match(upload, /\/T\(SignSealShip-Seal-[0-9a-f]{32}\)\/F 132\/Rect\[0 0 0 0\]/);
  assert.doesNotMatch(upload, /\/T\(SignSealShip-Seal\)/);
});
