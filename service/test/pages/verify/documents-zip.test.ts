import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { readSealPurpose } from "@signsealship/evidence/seal";
import { startBrowser } from "@signsealship/testing/browser";
import { forTests } from "@signsealship/testing/for-tests";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { makeZip } from "@signsealship/testing/inputs/zip-maker";
import { temporaryFolder } from "@signsealship/testing/service";
import { needs } from "@signsealship/testing/tools/tools";
import { until } from "@signsealship/testing/until";
import { unzipSync } from "fflate";
import { verify } from "../../../../packages/verifier/test/fixtures.ts";
import { checkFiles } from "../../../src/pages/verify/browser/check.ts";
import type { VerifyConfig } from "../../../src/pages/verify/browser/config.ts";
import type { FailedOutcome, Outcome } from "../../../src/pages/verify/browser/outcome.ts";
import { bannerOf } from "../../../src/pages/verify/browser/outcome-banner.ts";
import { headlineOf } from "../../../src/pages/verify/browser/outcome-view.ts";
import { unpacked } from "../../../src/pages/verify/browser/unpack.ts";
import { newMember } from "../../firms/members/signed-in-member.ts";
import { openCeremonyService, signBy } from "../../signing/envelopes/ceremony/ceremony-service.ts";

const folder = temporaryFolder();
await forTests(Promise.resolve({ close: async () => folder.remove() }));
const running = await forTests(openCeremonyService());
const { baseUrl } = running.service;
const key = running.headers.Authorization.replace("Bearer ", "");
const agent = (await newMember(running.service, "agent@title.example", key)).headers;

const orders: string[] = [];
/** A closing with two documents that Jane signed. Waits until the log has all seals. @returns its zip */
async function closing(name: string): Promise<Uint8Array> {
  const { roomCode } = await running.client.post<{ roomCode: string }>("/api/rooms", { name, reference: "2026-1187" });
  for (const text of ["Deed", "Note"]) {
    const jane = { name: "Jane Doe", email: `jane-${text}@${name.toLowerCase()}.example` };
    const orderCode = await running.order([jane], {}, makePdf({ pages: 2, text: `${text} of ${name}` }));
    orders.push(orderCode);
    await running.client.post(`/api/rooms/${roomCode}/orders`, { orderCode });
    await signBy(running.ceremony, await running.linkOf(jane.email), "Jane Doe");
  }
  await running.client.post(`/api/rooms/${roomCode}/passport`);
  return until(async () => {
    const answer = await fetch(`${baseUrl}/dashboard/rooms/${roomCode}/zip`, { headers: agent });
    assert.equal(answer.status, 200);
    const zip = new Uint8Array(await answer.arrayBuffer());
    // The zip has the proofs of five PDFs: two documents, their custody certificates, and the closing certificate.
    return proofsIn(zip).length === 5 ? zip : null;
  });
}
const namesIn = (zip: Uint8Array): string[] => Object.keys(unzipSync(zip));
const proofsIn = (zip: Uint8Array): string[] => namesIn(zip).filter((name) => name.endsWith(".tlog-proof"));

const zip = await closing("Ortega");
const files = Object.entries(unzipSync(zip)).map(([name, bytes]) => ({ name, bytes }));
const named = (end: RegExp) => files.find(({ name }) => end.test(name)) ?? assert.fail(String(end));
const page = Buffer.from(named(/verify\.html$/).bytes).toString();
const config = JSON.parse(/id="verify-config">([^<]+)</.exec(page)?.[1] ?? "") as VerifyConfig;
const check = (...zips: Uint8Array[]): Promise<Outcome[]> =>
  checkFiles({
    files: zips.map((bytes, i) => ({ name: `closing-${i}.zip`, bytes })),
    config,
    trust: { seal: "", timeStamping: "" },
    at: Date.now(),
    subtle: crypto.subtle,
  });
const verdictOf = (outcome: Outcome) => (outcome.kind === "failed" ? outcome.why : outcome.verdict);
/** The zip with some of its files changed. */
const changed = (end: RegExp, change: (bytes: Uint8Array) => Uint8Array) =>
  makeZip(files.map(({ name, bytes }) => ({ name, bytes: end.test(name) ? change(bytes) : bytes })));
const flipped = (bytes: Uint8Array): Uint8Array => {
  const copy = Uint8Array.from(bytes);
  copy[700] = (copy[700] ?? 0) ^ 1;
  return copy;
};
const claimIn = (outcome: Outcome | undefined, name: string) =>
  outcome?.kind === "failed" ? undefined : outcome?.claims.find((claim) => claim.name === name)?.state;

test("a closing's zip dropped whole is checked file by file: documents, their signers, the closing and all proofs", async () => {
  const outcomes = await check(zip);
  assert.equal(outcomes.length, 5, JSON.stringify(outcomes.map(verdictOf)));
  for (const outcome of outcomes) assert.equal(verdictOf(outcome), "verified", JSON.stringify(outcome));
  const [room, ...others] = outcomes;
  assert.equal(claimIn(room, "certificate.v1.log_inclusion"), "holds");
  const documents = others.filter((outcome) => outcome.kind === "proof" && outcome.purpose?.kind === "signed");
  const custody = others.filter((outcome) => outcome.kind === "proof" && outcome.purpose?.kind === "custody");
  assert.deepEqual([documents.length, custody.length], [2, 2]);
  for (const outcome of others) assert.equal(claimIn(outcome, "log_inclusion"), "holds");
  for (const outcome of documents) {
    assert.equal(claimIn(outcome, "document_of_this_room"), "holds");
    assert.ok(outcome.kind === "proof" && outcome.hasCustody);
  }
  for (const outcome of custody) assert.deepEqual(outcome.kind === "proof" && outcome.custody?.signers, ["Jane Doe"]);
  assert.equal(headlineOf(outcomes), "5 files were checked. None of them failed. Read each result.");
});

test("one changed byte in one document of a zip fails that document alone, and its custody certificate names it", async () => {
  const outcomes = await check(changed(/01 .*signed\.pdf$/, flipped));
  const failing = outcomes.filter((outcome) => bannerOf(outcome).tone === "refuted");
  assert.deepEqual(
    failing.map((outcome) => outcome.kind === "proof" && outcome.purpose?.kind),
    ["signed"],
  );
  const unmatched = outcomes.flatMap((outcome) => (outcome.kind === "proof" ? (outcome.unmatched ?? []) : []));
  assert.equal(unmatched.length, 1);
  assert.match(unmatched[0] ?? "", /01 .*signed\.pdf$/);
  assert.match(headlineOf(outcomes), /^5 files were checked\. 1 failed, shown first\.$/);
});

test("a proof that is named after another document of the zip fails that document", async () => {
  const [first, second] = [named(/Evidence\/01 .*tlog-proof$/), named(/Evidence\/02 .*tlog-proof$/)];
  const outcomes = await check(changed(/Evidence\/01 .*tlog-proof$/, () => second.bytes));
  assert.notDeepEqual(first.bytes, second.bytes);
  assert.deepEqual(outcomes.filter((outcome) => claimIn(outcome, "log_inclusion") === "fails").map(verdictOf), [
    "not_verified",
  ]);
});

test("a document is hashed once, however many custody certificates of one dropping are compared with it", async (t) => {
  const pdfs = files.filter(({ name }) => name.endsWith(".pdf"));
  const purposes = await Promise.all(pdfs.map(({ bytes }) => readSealPurpose(bytes)));
  const certificate = pdfs.findLast((_, i) => purposes[i]?.kind === "custody") ?? assert.fail();
  const document = named(/01 .*signed\.pdf$/);
  const { digest } = crypto.subtle;
  let hashed = 0;
  t.mock.method(crypto.subtle, "digest", (algorithm: "SHA-256", data: Uint8Array<ArrayBuffer>) => {
    if (data.buffer === document.bytes.buffer && data.byteOffset === document.bytes.byteOffset) hashed++;
    return digest.call(crypto.subtle, algorithm, data);
  });
  const digests = async (copies: number) => {
    hashed = 0;
    // The copies differ in a byte of the comment that the file begins with.
    const bytes = Array.from({ length: copies }, (_, i) => certificate.bytes.with(12, 128 + i));
    const dropped = [...pdfs, ...bytes.map((each, i) => ({ name: `copy-${i}.pdf`, bytes: each }))];
    await checkFiles({
      files: dropped.map(({ name, bytes: each }) => ({ name, bytes: each })),
      config,
      trust: { seal: "", timeStamping: "" },
      at: Date.now(),
      subtle: crypto.subtle,
    });
    return hashed;
  };
  const [few, many] = [await digests(1), await digests(12)];
  assert.ok(few > 0);
  assert.equal(many, few);
});

test("a PDF that pretends to be the README of a zip is judged like each PDF", async () => {
  const outcomes = await check(changed(/README\.txt$/, () => makePdf({ text: "Other terms" })));
  assert.equal(outcomes.length, 6);
  const [stray] = outcomes.filter((outcome) => outcome.kind === "proof" && /README\.txt$/.test(outcome.name));
  assert.equal(stray && verdictOf(stray), "unsigned");
});

test("two zips at once keep their files apart, although these have the same names", async () => {
  const other = await closing("Nguyen");
  const below = (one: Uint8Array) => namesIn(one).map((name) => name.slice(name.indexOf("/")));
  assert.deepEqual(below(other), below(zip));
  const outcomes = await check(zip, other);
  const judged = outcomes.filter((outcome) => outcome.kind === "proof");
  assert.equal(judged.length, 8);
  for (const outcome of judged) assert.equal(claimIn(outcome, "log_inclusion"), "holds", outcome.name);
});

test("zips of several files unpack to no more than the bound together, and zips in zips to nothing", () => {
  const bomb = (name: string) => makeZip([{ name, bytes: new Uint8Array(1_000_000), deflated: true }]);
  const failures: FailedOutcome[] = [];
  const given = ["a/1", "sealed.bin", "b/2"].map((name) => ({
    name: `${name.replace("/", "")}.zip`,
    bytes: bomb(name),
  }));
  const found = unpacked(given, failures, 2_500_000);
  assert.deepEqual(
    found.map(({ name }) => name),
    ["1/a/1", "sealed.bin"],
  );
  assert.deepEqual(
    failures.map(({ name }) => name),
    ["b2.zip"],
  );
  assert.match(failures[0]?.why ?? "", /too large\. Unpack it/);
  const nested = unpacked([{ name: "out.zip", bytes: makeZip([{ name: "a/in.zip", bytes: bomb("a/1") }]) }], failures);
  assert.deepEqual(
    nested.map(({ name }) => name),
    ["a/in.zip"],
  );
});

test("the command line verifies the same zip whole, or unpacked, and says which document of it fails", async () => {
  const trust = join(folder.path, "trust.json");
  writeFileSync(trust, await (await fetch(`${baseUrl}/seal/trust.json`)).text());
  const run = async (name: string, bytes: Uint8Array) => {
    writeFileSync(join(folder.path, name), bytes);
    return verify([join(folder.path, name), "--trust", trust], { now: Date.now });
  };
  const { code, json } = await run("closing.zip", zip);
  assert.deepEqual(
    [code, json.verdict],
    [0, "verified_test"],
    JSON.stringify(json.checks.filter(({ result }) => result !== "holds")),
  );
  const states = (claim: string, of = json) =>
    of.checks.filter((one) => one.claim === claim).map(({ result }) => result);
  assert.deepEqual(states("log_inclusion"), Array(5).fill("holds"));
  assert.deepEqual(states("document_of_this_room"), ["holds", "holds"]);
  const bad = await run("bad.zip", changed(/01 .*signed\.pdf$/, flipped));
  assert.deepEqual([bad.code, bad.json.verdict], [1, "not_verified"]);
  const faulty = bad.json.checks.filter(({ result }) => result === "fails").map(({ target = "" }) => target);
  assert.ok(
    faulty.length > 0 && faulty.every((target) => /01 .*signed\.pdf$|custody certificate/.test(target)),
    faulty.join(),
  );
  const unpackedAs = async (name: string, contents: Uint8Array) => {
    for (const [path, bytes] of Object.entries(unzipSync(contents))) {
      mkdirSync(dirname(join(folder.path, name, path)), { recursive: true });
      writeFileSync(join(folder.path, name, path), bytes);
    }
    return verify([join(folder.path, name), "--trust", trust], { now: Date.now });
  };
  const whole = await unpackedAs("unpacked", zip);
  assert.deepEqual([whole.code, whole.json.checks.length], [0, 1], JSON.stringify(whole.json.checks));
  assert.equal((await unpackedAs("bad", changed(/01 .*signed\.pdf$/, flipped))).code, 1);
  const ofOrder = await fetch(`${baseUrl}/dashboard/orders/${orders[0]}/zip`, { headers: agent });
  const order = await run("order.zip", new Uint8Array(await ofOrder.arrayBuffer()));
  assert.deepEqual([order.code, order.json.verdict], [0, "verified_test"]);
  assert.deepEqual(
    [states("log_inclusion", order.json), states("document_hash", order.json)],
    [["holds", "holds"], ["holds"]],
  );
  assert.equal((await run("none.zip", makeZip([{ name: "a/README.txt", bytes: Buffer.from("x") }]))).code, 1);
});

test("the page in the zip checks the zip itself from a disk, with no network", needs("chromium"), async () => {
  const browser = await forTests(startBrowser());
  writeFileSync(join(folder.path, "verify.html"), page);
  writeFileSync(join(folder.path, "whole.zip"), zip);
  const opened = await browser.open(pathToFileURL(join(folder.path, "verify.html")).href, { width: 360 });
  await opened.page.context().setOffline(true);
  await opened.page.setInputFiles("#drop-files", join(folder.path, "whole.zip"));
  await opened.page.locator("#outcome article").nth(4).waitFor();
  assert.equal(await opened.page.locator("#outcome article").count(), 5);
  assert.match(
    (await opened.page.locator("#outcome-said").textContent()) ?? "",
    /5 files were checked\. None of them failed/,
  );
  assert.equal(await opened.overflow(), 0);
});
