import assert from "node:assert/strict";
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import fs from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { appendRevision, bytesOf, latin1 } from "../../evidence/test/seal/signed-pdf.ts";
import { tokenOver } from "../../evidence/test/signer.ts";
import * as f from "./fixtures.ts";

const files = { "trust.pem": f.pemOf(f.seal), "tsa.pem": f.pemOf(f.tsa) };
const trusting = (folder: string) => ["--trust", join(folder, "trust.pem"), "--tsa-trust", join(folder, "tsa.pem")];
const pdf = f.proofPdf();
const forged = bytesOf(appendRevision(latin1(pdf), [[200, "<< >>"]]));

test("hundreds of sealed PDFs are verified in parallel, one line for each, and the only forgery is named", async (t) => {
  const trust = f.folderWith(t, files);
  const many = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`${i}.pdf`, pdf]));
  const folder = f.folderWith(t, many);
  let drawn = "";
  const io = { errIsTty: true, err: (text: string) => (drawn += text) };
  const good = await f.verify([folder, ...trusting(trust)], io);
  assert.equal(good.code, 0);
  assert.equal(good.json.checks.length, 300);
  assert.equal(good.json.facts.verified, "300");
  assert.match(drawn, /\[#{30}\] 300\/300, 0 not verified/);
  writeFileSync(join(folder, "77.pdf"), forged);
  const bad = await f.verify([folder, ...trusting(trust)]);
  assert.equal(bad.code, 1);
  assert.equal(bad.json.facts.verified, "299");
  assert.deepEqual(
    [...new Set(bad.json.checks.filter(({ result }) => result === "fails").map(({ target }) => target))],
    ["77.pdf"],
  );
  assert.ok(f.failing(bad.json).includes("whole_file_covered"));
});

test("the closing set of a room is verified together, and several rooms separately", async (t) => {
  const trust = f.folderWith(t, files);
  const [v1, v2] = await f.chainOf(2);
  assert.ok(v1 && v2);
  const folder = f.folderWith(t, {
    "v1.json": v1.bytes,
    "v1.pdf": f.certificateOf(v1.bytes),
    "v2.pdf": f.certificateOf(v2.bytes),
  });
  const good = await f.verify([folder, ...trusting(trust)]);
  assert.equal(good.json.verdict, "verified");
  assert.equal(f.results(good.json)["manifest.v2.link"], "holds");
  writeFileSync(join(folder, "v2.pdf"), f.certificateOf(v2.bytes, { signer: f.stranger }));
  const bad = await f.verify([folder, ...trusting(trust)]);
  assert.ok(f.failing(bad.json).includes("certificate.v2.trusted"));
  const unsigned = await f.verify([f.folderWith(t, { "v1.json": v1.bytes })]);
  assert.equal(unsigned.code, 1);
});

test("a room's saved answer is judged with the certificates of its room, and unrelated JSON is counted", async (t) => {
  const trust = f.folderWith(t, files);
  const { certificate, record } = await f.roomRecord();
  const folder = f.folderWith(t, { "v1.pdf": certificate, "v1.json": JSON.stringify(record), "own.json": "{}" });
  const good = await f.verify([folder, ...trusting(trust)]);
  assert.deepEqual([good.json.verdict, good.json.facts.passedOver], ["verified", "1"]);
  assert.equal(f.results(good.json)["certificate.v1.hash"], "holds");
  for (const [changes, claim] of [
    [{ manifestSha256: "0".repeat(64) }, "manifest.v1.hash"],
    [{ chainOk: false }, "service_chain_ok"],
    [{ chainOk: null }, "record_readable"],
  ] as const) {
    writeFileSync(join(folder, "v1.json"), JSON.stringify({ ...record, ...changes }));
    const bad = await f.verify([folder, ...trusting(trust)]);
    assert.ok(bad.code === 1 && f.failing(bad.json).includes(claim), claim);
  }
});

test("an unpacked evidence zip, and a proof next to its PDF, are verified together with their files", async (t) => {
  const trust = f.folderWith(t, files);
  const folder = f.folderWith(t, { "a.pdf": pdf, "a.pdf.ots": "junk" });
  mkdirSync(join(folder, "evidence"));
  writeFileSync(join(folder, "evidence", "sealed.pdf"), pdf);
  writeFileSync(join(folder, "evidence", "timestamp.tst"), tokenOver(pdf, f.tsa, f.stampedAt));
  writeFileSync(join(folder, "evidence", "README.txt"), "Evidence");
  const { json } = await f.verify([folder, ...trusting(trust)]);
  assert.deepEqual(f.failing(json), ["verdict", "anchored_in_block", "ots.format"]);
  assert.equal(json.facts.verified, "1");
  writeFileSync(join(folder, "evidence", "deed.pdf"), f.original);
  const more = await f.verify([join(folder, "evidence"), ...trusting(trust)]);
  assert.deepEqual([more.json.facts.verified, more.json.facts.unsigned, more.code], ["1", "1", 1]);
});

test("other evidence beside the files of a zip of documents is judged, too", async (t) => {
  const trust = f.folderWith(t, files);
  const folder = f.folderWith(t, { "a.pdf": pdf, "contents.json": "{}", "verify.html": "" });
  const alone = await f.verify([folder, ...trusting(trust)]);
  assert.equal(alone.code, 0);
  writeFileSync(join(folder, "evidence.zip"), "forged");
  const { code, json } = await f.verify([folder, ...trusting(trust)]);
  assert.equal(code, 1);
  assert.ok(json.checks.some(({ target }) => target?.endsWith("evidence.zip")));
});

/** Replaces a function of the file system until the test ends. */
function replaced<Name extends "opendir" | "stat">(t: TestContext, name: Name, by: (typeof fs)[Name]): void {
  const before = fs[name];
  fs[name] = by;
  syncBuiltinESMExports();
  t.after(() => {
    fs[name] = before;
    syncBuiltinESMExports();
  });
}

test("a file of a zip of documents that is exchanged while the folder is listed does not end the run", async (t) => {
  const trust = f.folderWith(t, files);
  const folder = f.folderWith(t, { "a.pdf": pdf, "b.pdf": pdf, "contents.json": "{}", "verify.html": "" });
  const { stat } = fs;
  replaced(t, "stat", (async (path: string) => {
    const isGone = path === join(folder, "b.pdf");
    if (isGone) rmSync(path);
    const found = await stat(path).finally(() => isGone && writeFileSync(path, pdf));
    return found;
  }) as typeof stat);
  assert.equal((await f.verify([folder, ...trusting(trust)])).code, 0);
});

test("a folder that is not a zip of documents is not read whole to find that out", async (t) => {
  const trust = f.folderWith(t, files);
  const folder = f.folderWith(t, { "a.pdf": pdf, "contents.json": "{}", "verify.html": "" });
  for (let n = 0; n < 5_000; n++) mkdirSync(join(folder, `${n}`));
  let opened = 0;
  const { opendir } = fs;
  replaced(t, "opendir", ((path: string) => {
    opened++;
    return opendir(path);
  }) as typeof opendir);
  const { json } = await f.verify([folder, ...trusting(trust)]);
  assert.equal(json.facts.verified, "1");
  // The command runs twice, and each run opens each folder once.
  assert.equal(opened, 2 * 5_002);
});

test("a proof next to a file of another kind is judged with that file", async (t) => {
  const trust = f.folderWith(t, files);
  for (const name of ["notes.txt", "package.json"]) {
    const folder = f.folderWith(t, { "a.pdf": pdf, [name]: "{}", [`${name}.ots`]: "junk" });
    const { json, code } = await f.verify([folder, ...trusting(trust)]);
    assert.deepEqual([code, json.facts.verified, f.failing(json)], [1, "1", ["verdict", "ots.format"]], name);
  }
});

test("refuses a folder without evidence, or with a broken or unsigned file; passes over other files", async (t) => {
  const trust = f.folderWith(t, files);
  const folder = f.folderWith(t, { "notes.txt": "x", "package.json": "{}" });
  symlinkSync(join(trust, "trust.pem"), join(folder, "link.pdf"));
  const empty = await f.verify([folder, ...trusting(trust)]);
  assert.equal(empty.code, 1);
  assert.deepEqual(f.failing(empty.json), ["folder"]);
  writeFileSync(join(folder, "a.pdf"), pdf);
  const one = await f.verify([folder, ...trusting(trust)]);
  assert.equal(one.code, 0);
  assert.equal(one.json.facts.passedOver, "3");
  writeFileSync(join(folder, "broken.json"), '{"passport":');
  assert.equal((await f.verify([folder, ...trusting(trust)])).code, 1);
  writeFileSync(join(folder, "broken.json"), "{}");
  writeFileSync(join(folder, "unsigned.pdf"), f.original);
  assert.equal((await f.verify([folder, ...trusting(trust)])).code, 1);
});
