import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { sealReasons } from "@signsealship/evidence/seal";
import {
  after,
  type Browser,
  before,
  describe,
  type OpenPage,
  startBrowser,
  test,
} from "@signsealship/testing/browser";
import { temporaryFolder } from "@signsealship/testing/service";
import { withAttachment } from "../../../../packages/evidence/test/seal/closing-pdf.ts";
import type { EnvelopeRecord } from "../../../src/signing/envelopes/envelopes.ts";
import {
  brokenClosingCode,
  closingCode,
  closingRecord,
  contract,
  proofCode,
  proofRecord,
  sealedAt,
  sealer,
} from "../ui/samples.ts";
import { servePages } from "../ui/serve-pages.ts";

const envelopeCode = "mfrggzdfmztwq2lknnwg23tpog";
const folder = temporaryFolder();
let site: Awaited<ReturnType<typeof servePages>>;
let browser: Browser;
const at = (name: string) => join(folder.path, name);

before(async () => {
  const [own, closing] = await Promise.all([sealer(), closingRecord(3)]);
  const { bytes, docSha256, sealedSha256 } = await own.seal(contract);
  const manifest = Buffer.from(closing.versions.at(-1)?.manifestText ?? "");
  const certificate = await own.seal(Buffer.from(withAttachment(manifest)), sealReasons.closing.live);
  writeFileSync(at("sealed.pdf"), bytes);
  writeFileSync(at("changed.pdf"), Buffer.concat([bytes, Buffer.from("\n")]));
  writeFileSync(at("certificate.pdf"), certificate.bytes);
  const [first, ...others] = closing.versions.map((one) => ({ ...one, sealedSha256: certificate.sealedSha256 }));
  assert.ok(first);
  site = await servePages({
    proofs: new Map([[proofCode, proofRecord({ docSha256, sealedSha256 })]]),
    closings: new Map([
      [closingCode, { ...closing, versions: [first, ...others] }],
      [brokenClosingCode, await closingRecord(4, { broken: true })],
    ]),
    envelopes: new Map([[envelopeCode, signing]]),
    sealCertificates: own.pem,
  });
  browser = await startBrowser();
});
after(async () => {
  await browser.close();
  await site.close();
  folder.remove();
});

/** A completed signing. */
const signing: EnvelopeRecord = {
  verifyCode: envelopeCode,
  environment: "live",
  status: "Completed",
  partnerName: "Acme Title",
  branding: null,
  createdAt: sealedAt,
  endedAt: sealedAt,
  signers: [{ n: 1, name: "J*** D***", email: "j***@example.com", routingOrder: 1, signedAt: sealedAt }],
  document: { originalSha256: "1".repeat(64), sealedSha256: "2".repeat(64), bytes: 2000 },
  revisions: [
    { number: 0, kind: "original", signer: null, bytes: 1000, sha256: "1".repeat(64) },
    { number: 1, kind: "signed", signer: 1, bytes: 1500, sha256: "3".repeat(64) },
    { number: 2, kind: "sealed", signer: null, bytes: 2000, sha256: "2".repeat(64) },
  ],
  custodyCertSha256: "4".repeat(64),
  notarizedSha256: null,
  certificateDeletedAt: null,
  retraction: null,
  log: { state: "logged", cosignatures: 0, witnesses: 0 },
  trail: { records: 9, lastSha256: "5".repeat(64) },
  claims: [{ name: "trail_chain", state: "holds", why: "Nine records follow one another." }],
  chainOk: true,
};

const pages = [
  `/verify/${proofCode}`,
  `/v/room/${closingCode}`,
  `/v/room/${brokenClosingCode}`,
  `/v/envelope/${envelopeCode}`,
];
const six = ["Document", "Firm", "Sealed", "Sealed by", "Unchanged since", "Download"];

const open = (path: string, look: Partial<Parameters<Browser["open"]>[1]> = {}) =>
  browser.open(site.baseUrl + path, { width: 375, ...look });

const textOf = ({ page }: OpenPage, selector: string): Promise<string> => page.locator(selector).first().innerText();

async function give({ page }: OpenPage, name: string): Promise<void> {
  await page.setInputFiles("#drop-files", at(name));
  await page.locator("#outcome article .summary").waitFor();
}

describe("the first screen of a phone", () => {
  test("has the verdict and all six lines, and the rest is folded", async () => {
    const { page, axe, overflow, close } = await open("/verify");
    for (const path of pages) {
      await page.goto(site.baseUrl + path);
      assert.deepEqual(await page.locator(".result .summary dt").allInnerTexts(), six);
      const box = await page.locator(".result").boundingBox();
      assert.ok(box && box.y + box.height <= 800, `${path}: ${JSON.stringify(box)}`);
      assert.ok(Number(await page.evaluate("document.documentElement.scrollHeight")) < 1800, path);
      assert.deepEqual(await axe(), [], path);
      assert.equal(await overflow(), 0, path);
    }
    await close();
  });

  test("describes a checked file in the same six lines, in one screen", async () => {
    const opened = await open("/verify");
    for (const [name, unchanged] of [
      ["sealed.pdf", "Yes"],
      ["changed.pdf", "No"],
      ["certificate.pdf", "Yes"],
    ] as const) {
      await opened.page.evaluate("document.getElementById('outcome').replaceChildren()");
      await give(opened, name);
      assert.deepEqual(await opened.page.locator("#outcome .summary dt").allInnerTexts(), six);
      assert.match(await textOf(opened, "#outcome .summary"), new RegExp(`${name}[^]*Unchanged since\\s+${unchanged}`));
      const { height = 801 } = (await opened.page.locator("#outcome").boundingBox()) ?? {};
      assert.ok(height <= 800, `${name}: ${height}`);
    }
    assert.match(await textOf(opened, "#outcome .summary"), /The seal has no independent time stamp/);
    await opened.page.locator(".trust summary").click();
    assert.match(await textOf(opened, ".trust"), /Seals are checked against.*It knows no time-stamping authority/);
    await opened.close();
  });
});

test("times are in the reader's zone with UTC next to them, and in UTC without a script", async () => {
  for (const [look, said] of [
    [{ timeZone: "America/New_York" }, "October 5, 2026 at 5:08 AM EDT (09:08 UTC)"],
    [{ timeZone: "Pacific/Honolulu" }, "October 4, 2026 at 11:08 PM HST (October 5, 2026 at 09:08 UTC)"],
    [{}, "October 5, 2026 at 09:08 UTC As"],
    [{ timeZone: "America/New_York", javaScript: false }, "October 5, 2026 at 09:08 UTC As"],
  ] as const) {
    const opened = await open(`/verify/${proofCode}`, look);
    const text = (await textOf(opened, ".summary")).replace("Time stamped by", "As");
    assert.ok(text.includes(said), text);
    if (!("javaScript" in look)) {
      await give(opened, "sealed.pdf");
      assert.ok((await textOf(opened, "#outcome .summary")).includes(said));
    }
    await opened.close();
  }
});

test("shows no names of members, fractions of seconds or other words for passed and failed", async () => {
  const opened = await open("/verify");
  for (const [path, name] of [
    ["/verify", "sealed.pdf"],
    [pages[0], "changed.pdf"],
    [pages[1], "certificate.pdf"],
    [pages[2], "sealed.pdf"],
  ] as const) {
    await opened.page.goto(site.baseUrl + path);
    await give(opened, name);
    const text = String(
      await opened.page.evaluate(`
        for (const each of document.querySelectorAll("details")) each.open = true;
        for (const each of document.querySelectorAll("pre")) each.remove();
        document.querySelector("main").innerText`),
    );
    for (const jargon of [/\b[a-z]+(?:[A-Z][a-z]+)+\d*\b/, /\d{4}-\d\d-\d\dT/, /\bholds?\b|\bproven\b|\battested\b/i]) {
      assert.doesNotMatch(text.replaceAll(/\S+\.opentimestamps\.org/g, ""), jargon, `${path}: ${jargon.exec(text)}`);
    }
  }
  await opened.close();
});

describe("a file", () => {
  test("is chosen on a phone, which can't drop files, and its name stays next to the button", async () => {
    const opened = await open("/verify");
    assert.doesNotMatch(await textOf(opened, "main"), /\bdrop\b/i);
    await give(opened, "sealed.pdf");
    const chosen = "document.getElementById('drop-files').files[0]?.name";
    assert.equal(await opened.page.evaluate(chosen), "sealed.pdf");
    await opened.page.evaluate(
      `{ const data = new DataTransfer(); data.items.add(new File(["%PDF-1.7 nothing"], "dropped.pdf"));
         document.dispatchEvent(new DragEvent("drop", {bubbles: true, cancelable: true, dataTransfer: data})); }`,
    );
    await opened.page.locator("#outcome").getByText("dropped.pdf").waitFor();
    assert.equal(await opened.page.evaluate(chosen), "dropped.pdf");
    await opened.close();
    const wide = await open("/verify", { width: 1280 });
    assert.match(await textOf(wide, ".drop"), /Drop the sealed PDF here, or choose it/);
    await wide.close();
  });
});

describe("when printed", () => {
  test("a page has its address as text and as a code, and the date of printing", async () => {
    const opened = await open("/verify");
    for (const path of ["/verify", ...pages.slice(0, 2)]) {
      await opened.page.emulateMedia({ media: "screen" });
      await opened.page.goto(site.baseUrl + path);
      assert.equal(await opened.page.locator(".on-paper").isVisible(), false);
      await opened.page.emulateMedia({ media: "print" });
      const paper = await textOf(opened, ".on-paper");
      assert.ok(paper.includes(`http://localhost${path}`), paper);
      assert.match(paper, new RegExp(`Printed on .*${new Date().getFullYear()}`));
      assert.equal(await opened.page.locator(".on-paper svg path").isVisible(), true);
      for (const idle of ["#drop", ".verify > .technical"])
        assert.equal(await opened.page.locator(idle).isVisible(), false, idle);
    }
    await opened.close();
  });
});

test("without a script a record is summarized, and the commands that check it are unfolded", async () => {
  const opened = await open("/verify", { javaScript: false });
  for (const path of pages) {
    await opened.page.goto(site.baseUrl + path);
    const text = await textOf(opened, "main");
    for (const said of [...six, "sha256sum", "pdfsig"]) assert.ok(text.includes(said), `${path}: ${said}`);
  }
  assert.deepEqual(opened.troubles, []);
  await opened.close();
});
