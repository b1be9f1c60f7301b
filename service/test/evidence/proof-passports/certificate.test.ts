import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { readSealPurpose, verifyAttachedRecord } from "@signsealship/evidence/seal";
import { startTsa } from "@signsealship/testing/doubles/tsa";
import { forTests } from "@signsealship/testing/for-tests";
import { openHarness } from "@signsealship/testing/harness";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { authenticateFirms } from "@signsealship/testing/row-mac";
import { newPartner } from "@signsealship/testing/service";
import { needs } from "@signsealship/testing/tools/tools";
import { brokenRules } from "@signsealship/testing/tools/verapdf";
import { createNodeCrypto } from "@signsealship/verifier/node-crypto";
import { sql } from "../../../src/kernel/platform/database/sql.ts";
import { sealFingerprint, textOf, withPdf } from "../../closing/closing-passports/seal-room.ts";
import { bytesOf, type Caller, postSeal, type SealAnswer } from "./seal-document.ts";

const document = makePdf({ text: "Deed of trust" });

const tsa = await forTests(startTsa());
const harness = await forTests(openHarness({ TSA_URLS: tsa.url }));
const { service, db } = harness;
const firm = async (options: object) => ({ ...(await newPartner(service, options)), baseUrl: service.baseUrl });
const [acme, stranger] = [await firm({ live: true }), await firm({ live: true })];
const form = new FormData();
form.append("file", new Blob([new Uint8Array(document)], { type: "application/pdf" }), "Kaufvertrag 売買契約書.pdf");
const sealed = (await (await postSeal(acme, form)).json()) as SealAnswer;
await db.query(sql`UPDATE partners SET brand_name = 'Änderung Title', accent_color = '#8a1c4a'
  WHERE id = (SELECT partner_id FROM passports WHERE id = ${sealed.passportId})`);
await authenticateFirms(db);

const get = (path: string, caller?: Caller): Promise<Response> =>
  fetch(harness.service.baseUrl + path, caller ? { headers: caller.headers } : {});
const ofPublic = () => get(`/api/passport/verify/${sealed.verifyCode}/certificate`);
const ofOwner = () => get(`/api/passport/${sealed.passportId}/certificate`, acme);

test(
  "anybody with the code gets a page that certifies the content, the time and the seal, and never the firm",
  needs("poppler", "openssl"),
  async () => {
    const response = await ofPublic();
    assert.equal(response.status, 200);
    assert.equal(response.headers.get("content-type"), "application/pdf");
    assert.equal(response.headers.get("cache-control"), "no-store");
    const certificate = await bytesOf(response);
    const context = { trust: { sealAnchors: [], tsaAnchors: [] }, at: Date.now(), crypto: createNodeCrypto() };
    const purpose = { kind: "certificate", environment: "live" } as const;
    const file = await bytesOf(await get(`/api/passport/verify/${sealed.verifyCode}/document`));
    const { claims } = await verifyAttachedRecord(certificate, purpose, file, context);
    assert.deepEqual(
      claims.map(({ name, state }) => `${name}: ${state}`),
      ["record_attached: holds", "record_sealed_hash: holds", "record_document_hash: holds"],
    );
    const text = textOf(certificate).replace(/\s+/g, " ");
    assert.match(
      text,
      new RegExp(
        `SignSealShip certifies that on \\w+ \\d+, \\d{4}, [\\d:]{8} UTC it sealed the document “Kaufvertrag 売買契約書” of 1 page and ${document.length.toLocaleString("en-US")} bytes, whose SHA-256`,
      ),
    );
    for (const fact of [sealed.docSha256, sealed.sealedSha256, sealed.verifyCode]) assert.ok(text.includes(fact), fact);
    assert.match(text, /Time stamp \d{4}-\d\d-\d\d [\d:]{8} UTC, by \S.* \(http:/);
    assert.match(text, /Transparency log (logged: entry \d+ of|queued for) localhost:\d+\/log\/live/);
    assert.match(text, /Seal certificate CN=SignSealShip seal /);
    const fingerprint = await sealFingerprint(harness.service.baseUrl, "live");
    assert.ok(text.includes(`Certificate, SHA-256 ${fingerprint} This page’s seal, SHA-256 ${fingerprint} `), text);
    assert.match(text, /Page 1 of 1/);
    assert.doesNotMatch(text, /Änderung|on behalf of|Test environment/i);
  },
);

test("the owner's page names the firm; to others it is unknown", needs("poppler"), async () => {
  const text = textOf(await bytesOf(await ofOwner())).replace(/\s+/g, " ");
  assert.match(text, /SignSealShip, on behalf of Änderung Title, certifies that/);
  for (const [path, caller, status] of [
    [`/api/passport/${sealed.passportId}/certificate`, stranger, 404],
    [`/api/passport/${sealed.passportId}/certificate`, undefined, 401],
    ["/api/passport/no-id/certificate", acme, 404],
    [`/api/passport/verify/${"a".repeat(26)}/certificate`, undefined, 404],
    ["/api/passport/verify/x/certificate", undefined, 404],
  ] as const) {
    const response = await get(path, caller);
    assert.equal(response.status, status, path);
    if (status === 404 && path.includes("verify")) assert.equal(await response.text(), '{"verdict":"unknown"}');
  }
});

test(
  "it has a seal with its own purpose, is PDF/A-3a and PDF/UA-1, and leaves the sealed file unchanged",
  needs("poppler", "verapdf", "openssl"),
  async () => {
    const certificate = await bytesOf(await ofOwner());
    assert.deepEqual(brokenRules({ certificate }), []);
    assert.deepEqual(await readSealPurpose(certificate), { kind: "certificate", environment: "live" });
    const signatures = withPdf(certificate, (run) => run("pdfsig", "certificate.pdf"));
    assert.match(signatures, /Signature is Valid/);
    assert.match(signatures, /Total document signed/);
    const file = await bytesOf(await get(`/api/passport/verify/${sealed.verifyCode}/document`));
    assert.equal(createHash("sha256").update(file).digest("hex"), sealed.sealedSha256);
    withPdf(file, (run, folder) => {
      writeFileSync(join(folder, "own.pdf"), certificate);
      const [command = ""] = /head -c \d+ sealed\.pdf/.exec(run("pdftotext", "-layout", "own.pdf", "-")) ?? [];
      assert.equal(command, `head -c ${document.length} sealed.pdf`);
    });
  },
);

test(
  "it is made from the record: repeated requests get the same page, and no authority is asked for it",
  needs("poppler", "openssl"),
  async () => {
    const asked = tsa.requestCount();
    const [first, second] = [await bytesOf(await ofPublic()), await bytesOf(await ofPublic())];
    assert.deepEqual(second, first);
    assert.equal(tsa.requestCount(), asked);
  },
);

test(
  "a test passport's page says that it is a test, and one without a stored PDF states the remaining facts",
  needs("poppler"),
  async () => {
    const folder = await openHarness({ KEEP_SEALED: "off" });
    const { service } = folder;
    const firm = { ...(await newPartner(service)), baseUrl: service.baseUrl };
    const form = new FormData();
    form.append("file", new Blob([new Uint8Array(document)]), "file.pdf");
    const { verifyCode, docSha256 } = (await (await postSeal(firm, form)).json()) as SealAnswer;
    const response = await fetch(`${service.baseUrl}/api/passport/verify/${verifyCode}/certificate`);
    const text = textOf(await bytesOf(response)).replace(/\s+/g, " ");
    await folder.close();
    assert.match(text, /Test environment: made with a test key/);
    assert.match(text, /it sealed a document whose SHA-256 is shown below/);
    assert.match(text, /Time stamp none was obtained; only this service states the time/);
    assert.ok(text.includes(docSha256));
  },
);
