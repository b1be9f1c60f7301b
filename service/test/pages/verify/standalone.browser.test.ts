import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { after, type Browser, before, startBrowser, test } from "@signsealship/testing/browser";
import { temporaryFolder } from "@signsealship/testing/service";
import { filesOf, type WholeCase, wholeCases, wholeFolder } from "../../../../packages/evidence/test/whole-cases.ts";
import { contract, sealer } from "../ui/samples.ts";

const folder = temporaryFolder();
const tool = fileURLToPath(new URL("../../../../tools/build-verifier.ts", import.meta.url));
const at = (name: string) => join(folder.path, name);
const build = (...args: string[]) =>
  execFileSync(process.execPath, ["--disable-warning=ExperimentalWarning", tool, ...args], { encoding: "utf8" });

let browser: Browser;
before(async () => {
  const { pem, seal } = await sealer();
  const { bytes } = await seal(contract);
  const changed = Buffer.from(bytes);
  changed.writeUInt8((changed[700] ?? 0) ^ 1, 700);
  writeFileSync(at("sealed.pdf"), bytes);
  writeFileSync(at("changed.pdf"), changed);
  writeFileSync(at("seal.pem"), pem);
  build("--out", at("verifier.html"));
  build("--out", at("knowing.html"), "--trust", at("seal.pem"));
  browser = await startBrowser();
});
after(async () => {
  await browser.close();
  folder.remove();
});

for (const width of [360, 1280]) {
  test(`the single file verifies from a disk, ${width} pixels wide, with no network and no request`, async () => {
    for (const [name, verdict] of [
      ["verifier.html", "Unchanged, but sealed by whom?"],
      ["knowing.html", "This document is unchanged since it was sealed"],
    ] as const) {
      const opened = await browser.open(pathToFileURL(at(name)).href, { width, colorScheme: "dark" });
      const { page } = opened;
      await page.context().setOffline(true);
      const asked: string[] = [];
      page.context().on("request", (request) => asked.push(request.url()));
      await page.setInputFiles("#drop-files", at("sealed.pdf"));
      await page.getByRole("heading", { name: verdict }).waitFor();
      await page.setInputFiles("#drop-files", at("changed.pdf"));
      await page.getByRole("heading", { name: "This document failed" }).waitFor();
      assert.deepEqual(
        asked.filter((url) => !url.startsWith("blob:")),
        [],
      );
      assert.deepEqual(await opened.axe(), []);
      assert.equal(await opened.overflow(), 0);
      assert.deepEqual(
        opened.troubles.filter((trouble) => !/^foreign: (file|blob):/.test(trouble)),
        [],
      );
      assert.equal(await page.evaluate("fetch('https://example.com/').then(() => true, () => false)"), false);
      await opened.close();
    }
  });
}

/** The heading of a document's card, by the verdict of the document and its closing certificate together. */
const headings: Readonly<Record<string, RegExp>> = {
  verified: /^This document is unchanged since it was sealed$|^The closing certificate names this file$/,
  verified_test: /^A test document, unchanged$/,
  unchecked: /^Unchanged, but not a document of this closing certificate$|^This PDF has no seal$/,
  not_verified: /^This document failed the check$/,
};

test("the single file says which document of a closing a file is, as the service's page does", async () => {
  build("--out", at("closings.html"), "--trust", fileURLToPath(new URL("trust/seal.pem", wholeFolder)));
  const opened = await browser.open(pathToFileURL(at("closings.html")).href, { width: 1280 });
  const { page } = opened;
  // The saved file trusts no time-stamping authority, so it can't verify a document with an archival time stamp.
  const cases = wholeCases.filter(({ kind, name }) => kind === "room_document" && !/time stamp/.test(name));
  const pathsOf = (one: WholeCase) =>
    ["certificate", "document"].flatMap((role) =>
      filesOf(one, role).map(({ path }) => fileURLToPath(new URL(path, wholeFolder))),
    );
  assert.ok(cases.length > 12);
  for (const one of cases) {
    await page.reload();
    await page.setInputFiles("#drop-files", pathsOf(one));
    await page
      .getByRole("heading", { name: /closing certificate|^This certificate is genuine$|^A test certificate/ })
      .first()
      .waitFor();
    const shown = await page.getByRole("heading").allTextContents();
    assert.ok(
      shown.some((text) => headings[one.verdict]?.test(text.trim())),
      `${one.name}: ${shown.join(" | ")}`,
    );
  }
  await opened.close();
});

test("the same sources give the same file, byte for byte", () => {
  build("--out", at("again.html"));
  assert.ok(readFileSync(at("again.html")).equals(readFileSync(at("verifier.html"))));
});

test("the command prints the hash of its output, and refuses a certificate file without certificates", () => {
  assert.match(build("--out", at("again.html")), /^[0-9a-f]{64} {2}.*again\.html/);
  writeFileSync(at("empty.pem"), "nothing");
  assert.throws(() => build("--out", at("no.html"), "--trust", at("empty.pem")), /No certificate in the PEM text/);
});
