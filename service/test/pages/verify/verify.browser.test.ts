import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { sealReasons } from "@signsealship/evidence/seal";
import {
  after,
  assertGoodLooks,
  type Browser,
  before,
  describe,
  type OpenPage,
  startBrowser,
  test,
} from "@signsealship/testing/browser";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { makeZip } from "@signsealship/testing/inputs/zip-maker";
import { temporaryFolder } from "@signsealship/testing/service";
import { withAttachment } from "../../../../packages/evidence/test/seal/closing-pdf.ts";
import type { ClosingVersionRecord } from "../../../src/pages/verify/closing/page.ts";
import {
  brokenClosingCode,
  closingCode,
  closingRecord,
  contract,
  proofCode,
  proofRecord,
  sealer,
  testProofCode,
} from "../ui/samples.ts";
import { servePages } from "../ui/serve-pages.ts";

const folder = temporaryFolder();
const file = (name: string, bytes: Uint8Array): string => {
  writeFileSync(join(folder.path, name), bytes);
  return join(folder.path, name);
};

const lastOnlyCode = "mfrggzdfmztwq2lknnwg23tpof";
const withoutText = (version: ClosingVersionRecord): ClosingVersionRecord => ({ ...version, manifestText: null });

let site: Awaited<ReturnType<typeof servePages>>;
let browser: Browser;
let own: Awaited<ReturnType<typeof sealer>>;
let stranger: Awaited<ReturnType<typeof sealer>>;
let paths: Record<
  "sealed" | "changed" | "plain" | "other" | "strange" | "test" | "certificate" | "manifest2" | "text",
  string
>;
let zip: string;
let strangersPem: string;

before(async () => {
  [own, stranger, browser] = await Promise.all([sealer(), sealer(), startBrowser()]);
  const sealed = await own.seal(contract);
  const changed = Buffer.from(sealed.bytes);
  changed.writeUInt8((changed[700] ?? 0) ^ 1, 700);
  const closing = await closingRecord(3);
  const manifest = Buffer.from(closing.versions.at(-1)?.manifestText ?? "");
  const certificate = await own.seal(Buffer.from(withAttachment(manifest)), sealReasons.closing.live);
  const [first, ...others] = closing.versions.map((one) => ({ ...one, sealedSha256: certificate.sealedSha256 }));
  assert.ok(first);
  paths = {
    sealed: file("sealed.pdf", sealed.bytes),
    changed: file("changed.pdf", changed),
    plain: file("plain.pdf", contract),
    other: file("other.pdf", (await own.seal(makePdf({ text: "Another" }))).bytes),
    strange: file("strange.pdf", (await stranger.seal(contract)).bytes),
    test: file("test.pdf", (await own.seal(contract, sealReasons.proof.test)).bytes),
    certificate: file("certificate.pdf", certificate.bytes),
    manifest2: file("v2.json", Buffer.from(closing.versions[1]?.manifestText ?? "")),
    text: file("letter.pdf", Buffer.from("Dear Sir or Madam")),
  };
  zip = file(
    "evidence.zip",
    makeZip([
      { name: "sealed.pdf", bytes: sealed.bytes },
      { name: "README.txt", bytes: Buffer.from("Read me") },
    ]),
  );
  strangersPem = file("stranger.pem", Buffer.from(stranger.pem));
  const { docSha256, sealedSha256 } = sealed;
  site = await servePages({
    proofs: new Map([
      [proofCode, proofRecord({ docSha256, sealedSha256 })],
      [testProofCode, proofRecord({ environment: "test", timeStamp: null, anchor: null, documentKept: false })],
    ]),
    closings: new Map([
      [closingCode, { ...closing, versions: [first, ...others] }],
      [
        lastOnlyCode,
        { ...closing, versions: [withoutText(first), ...others.map((one, i) => (i === 0 ? withoutText(one) : one))] },
      ],
      [brokenClosingCode, await closingRecord(4, { broken: true })],
    ]),
    sealCertificates: own.pem,
  });
});
after(async () => {
  await browser.close();
  await site.close();
  folder.remove();
});

/** Chooses files in the page's file input. @returns the text of the outcome */
async function give(opened: OpenPage, ...files: string[]): Promise<string> {
  const { page } = opened;
  await page.evaluate("document.getElementById('outcome').replaceChildren()");
  await page.setInputFiles("#drop-files", files);
  await page.locator("#outcome article").last().waitFor();
  return shownIn(opened);
}

const shownIn = ({ page }: OpenPage): Promise<string> =>
  page.evaluate("document.getElementById('outcome').innerText").then(String);

const open = (path: string, width = 1280) => browser.open(site.baseUrl + path, { width });

test("verification pages are accessible and fit, with the result of a check", async () => {
  const opened = await open("/verify", 360);
  const { page } = opened;
  for (const [path, given] of [
    ["/verify", paths.changed],
    [`/verify/${proofCode}`, paths.sealed],
    [`/v/room/${closingCode}`, paths.certificate],
    [`/verify/${testProofCode}`, paths.text],
    [`/v/room/${brokenClosingCode}`, paths.plain],
  ] as const) {
    await page.goto(site.baseUrl + path);
    await give(opened, given);
    for (const summary of await page.locator("summary").all()) await summary.click();
    await assertGoodLooks(opened);
  }
  assert.deepEqual(opened.troubles, []);
  await opened.close();
});

describe("a file that is given to /verify", () => {
  test("is checked by the browser itself: nothing of it is sent", async () => {
    const opened = await open("/verify");
    const asked: string[] = [];
    opened.page
      .context()
      .on("request", (request) => asked.push(`${request.method()} ${request.url()} ${request.postData()}`));
    assert.match(await give(opened, paths.sealed), /This document is unchanged since it was sealed/);
    // The page may load its own script, the same script for the worker, and an icon, but nothing else.
    for (const request of asked) assert.match(request, /^GET http:\/\/127\.0\.0\.1:\d+\/assets\/[\w.]+ null$/);
    await opened.close();
  });

  test("could not be sent even by a hostile script: the policies of the page and the worker forbid it", async () => {
    const opened = await open("/verify");
    const policy = (await (await fetch(`${site.baseUrl}/verify`)).headers.get("content-security-policy")) ?? "";
    assert.match(policy, /connect-src 'none'/);
    assert.match(policy, /form-action 'none'/);
    const script = await opened.page.locator("script[src*=verify]").getAttribute("src");
    const asset = await fetch(site.baseUrl + script);
    assert.match(asset.headers.get("content-security-policy") ?? "", /default-src 'none'/);
    const sent = await opened.page.evaluate(
      "fetch('/verify', {method: 'POST', body: 'x'}).then(() => true, () => false)",
    );
    assert.equal(sent, false);
    await opened.close();
  });

  test("gets the right verdict", async () => {
    const opened = await open("/verify");
    const expected: [string, RegExp][] = [
      [
        paths.sealed,
        /This document is unchanged since it was sealed[\s\S]*sealed\.pdf[\s\S]*Unchanged since\s+Yes Not a single byte/,
      ],
      [paths.changed, /This document failed[\s\S]*Do not rely on it[\s\S]*Not confirmed[\s\S]*Unchanged since\s+No/],
      [paths.plain, /This PDF has no seal/],
      [paths.text, /This is not a PDF/],
      [paths.strange, /This document failed/],
      [paths.test, /A test document, unchanged/],
      [paths.certificate, /This certificate is genuine/],
      [zip, /Not a single byte has changed[\s\S]*sealed\.pdf/],
    ];
    for (const [given, says] of expected) assert.match(await give(opened, given), says, given);
    assert.doesNotMatch(await give(opened, paths.changed), /anyone can compute/);
    await opened.close();
  });

  test("may come with others, and each gets its own result", async () => {
    const opened = await open("/verify");
    const text = await give(opened, paths.sealed, paths.plain, paths.changed);
    for (const said of [
      "sealed.pdf",
      "plain.pdf",
      "changed.pdf",
      "unchanged since it was sealed",
      "no seal",
      "failed",
    ]) {
      assert.ok(text.includes(said), said);
    }
    await opened.close();
  });

  test("can be dropped anywhere on the page, or chosen with the keyboard alone", async () => {
    const opened = await open("/verify");
    const { page } = opened;
    const drop = await page.evaluateHandle(
      "(bytes) => { const data = new DataTransfer(); data.items.add(new File([Uint8Array.from(bytes)], 'dropped.pdf')); return data; }",
    );
    await page.evaluate(
      "document.querySelector('footer').dispatchEvent(new DragEvent('drop', {bubbles: true, cancelable: true, dataTransfer: new DataTransfer()}))",
    );
    await drop.dispose();
    await page.evaluate(
      `{ const data = new DataTransfer(); data.items.add(new File(["%PDF-1.7 nothing"], "dropped.pdf"));
         document.querySelector("footer").dispatchEvent(new DragEvent("drop", {bubbles: true, cancelable: true, dataTransfer: data})); }`,
    );
    await page.getByText("dropped.pdf").first().waitFor();
    const seen: string[] = [];
    await page.evaluate("document.activeElement.blur(); document.querySelector('main').focus()");
    for (let presses = 0; presses < 8; presses++) {
      await page.keyboard.press("Tab");
      seen.push(String(await page.evaluate("document.activeElement.id")));
    }
    assert.ok(seen.includes("drop-files"), seen.join(" "));
    const chooser = page.waitForEvent("filechooser");
    await page.locator("#drop-files").focus();
    await page.keyboard.press("Enter");
    await (await chooser).setFiles(paths.sealed);
    await page.getByRole("heading", { name: "This document is unchanged since it was sealed" }).waitFor();
    assert.equal(
      await page.evaluate("document.activeElement.textContent"),
      "This document is unchanged since it was sealed",
    );
    assert.equal(
      await page.locator("#outcome-said").textContent(),
      "sealed.pdf: This document is unchanged since it was sealed.",
    );
    await opened.close();
  });

  test("of 34 MB is read with progress, and the page stays usable", async () => {
    const opened = await open("/verify");
    const large = file("large.pdf", (await own.seal(makePdf({ bytes: 34 << 20 }))).bytes);
    await opened.page.evaluate(`
      window.seen = [];
      new MutationObserver(() => window.seen.push(document.querySelector("#drop-progress").value))
        .observe(document.querySelector("#drop-progress"), { attributes: true, attributeFilter: ["value"] });`);
    assert.match(await give(opened, large), /This document is unchanged since it was sealed/);
    const seen = (await opened.page.evaluate("window.seen")) as number[];
    assert.ok(new Set(seen).size > 3, seen.join(" "));
    assert.equal(await opened.page.locator("#drop-progress").isVisible(), false);
    await opened.close();
  });

  test("with another's seal is intact, and verified once the reader trusts its certificate", async () => {
    const page = await servePages({});
    const opened = await browser.open(`${page.baseUrl}/verify`, { width: 1280 });
    assert.match(await give(opened, paths.strange), /by whom\?/);
    await opened.page.locator("summary").first().click();
    await opened.page.setInputFiles("#trust-seal", strangersPem);
    await opened.page.getByRole("heading", { name: "This document is unchanged since it was sealed" }).waitFor();
    await opened.close();
    await page.close();
  });
});

describe("a file that is given to a record", () => {
  test("is compared with it", async () => {
    const opened = await open(`/verify/${proofCode}`);
    assert.match(await give(opened, paths.sealed), /This document is unchanged since it was sealed/);
    assert.match(await give(opened, paths.other), /This is not the file on record/);
    assert.match(await give(opened, paths.plain), /This is the document on record, before it was sealed/);
    assert.deepEqual(opened.troubles, []);
    await opened.close();
  });
});

describe("a closing certificate", () => {
  test("is recomputed by the browser: manifest, links, and a dropped certificate", async () => {
    const opened = await open(`/v/room/${closingCode}`);
    await opened.page.getByText("everything matches").waitFor();
    assert.match(
      String(await opened.page.locator("#recheck").textContent()),
      /Version 3: the manifest has the hash stated/,
    );
    assert.match(
      await give(opened, paths.certificate),
      /This certificate is genuine[\s\S]*version 3[\s\S]*Acme Title & Escrow/,
    );
    await opened.close();
  });

  test("whose earlier versions its code does not open says so, and follows the chain through dropped ones", async () => {
    const opened = await open(`/v/room/${lastOnlyCode}`);
    await opened.page.locator("main > div > .technical > summary").click();
    await opened.page.getByText("This link does not open the earlier versions").waitFor();
    const alone = await give(opened, paths.certificate);
    assert.match(alone, /This certificate is genuine/);
    assert.doesNotMatch(alone, /Version 2/);
    await opened.page.locator("#outcome summary").click();
    assert.match(await shownIn(opened), /Not checked Version 3: it links to the version before/);
    await give(opened, paths.certificate, paths.manifest2);
    await opened.page.locator("#outcome summary").click();
    assert.match(await shownIn(opened), /Passed Version 3: it links to the version before/);
    assert.match(await shownIn(opened), /Version 2: the manifest has the hash stated/);
    await opened.close();
  });

  test("with a broken link is reported by the page and by the browser", async () => {
    const opened = await open(`/v/room/${brokenClosingCode}`);
    await opened.page.getByText("1 did not match").waitFor();
    const text = String(await opened.page.locator("main").textContent());
    assert.match(text, /This closing certificate failed/);
    assert.equal(await opened.page.locator("svg.chain .link.broken").count(), 1);
    assert.equal(await opened.page.locator("svg.chain circle").count(), 4);
    await opened.close();
  });
});

test("without script the pages explain the manual steps", async () => {
  for (const path of ["/verify", `/verify/${proofCode}`, `/v/room/${closingCode}`]) {
    const opened = await browser.open(site.baseUrl + path, { width: 360, javaScript: false });
    const text = String(await opened.page.evaluate("document.querySelector('main').innerText"));
    assert.match(text, /allow this page to run its script/i);
    assert.match(text, /pdfsig/);
    assert.equal(await opened.page.locator("#drop-files").isVisible(), false);
    assert.equal(await opened.overflow(), 0);
    await opened.close();
  }
});

test("a printed page has the outcome, and not the area for dropping files", async () => {
  const opened = await open("/verify");
  await give(opened, paths.sealed);
  await opened.page.emulateMedia({ media: "print" });
  assert.equal(await opened.page.locator("#drop").isVisible(), false);
  assert.equal(
    await opened.page.getByRole("heading", { name: "This document is unchanged since it was sealed" }).isVisible(),
    true,
  );
  await opened.close();
});
