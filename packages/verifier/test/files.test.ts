import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { concatBytes } from "@signsealship/evidence/bytes";
import { parseSignedData, signatureTimeStampTokens } from "@signsealship/evidence/cms";
import { writeDetached } from "@signsealship/evidence/ots";
import { sealReasons } from "@signsealship/evidence/seal";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { makeZip, unicodePath } from "@signsealship/testing/inputs/zip-maker";
import { withAttachment } from "../../evidence/test/seal/closing-pdf.ts";
import { forgeries } from "../../evidence/test/seal/forge.ts";
import { appendRevision, bytesOf, latin1 } from "../../evidence/test/seal/signed-pdf.ts";
import { tokenOver } from "../../evidence/test/signer.ts";
import * as f from "./fixtures.ts";

/** The time-stamp token in a sealed PDF. */
function tokenInside(sealed: Uint8Array): Uint8Array {
  const hex = /\/Contents <([0-9a-f]+)>/.exec(Buffer.from(sealed).toString("latin1"))?.[1] ?? "";
  const [signer] = parseSignedData(Buffer.from(hex, "hex"), { trailing: "zeros" }).signerInfos;
  const [token] = signer === undefined ? [] : signatureTimeStampTokens(signer);
  if (token === undefined) throw new Error("no token");
  return token;
}

const root = "3ba3edfd7a7b12b27ac72c3e67768f617fc81bc3888a51323a9fb8aa4b1e5e4a";
const genesis = `01000000${"00".repeat(32)}${root}29ab5f49ffff001d1dac2b7c`;
const trusting = ["--trust", "trust.pem", "--tsa-trust", "tsa.pem"];

/**
 * Writes the files and the certificates to trust to a new folder. `run` runs the command there: an argument that names
 * one of these files becomes its path.
 */
function inFolder(t: TestContext, files: Readonly<Record<string, Uint8Array | string>>) {
  const all = { "trust.pem": f.pemOf(f.seal), "tsa.pem": f.pemOf(f.tsa), ...files };
  const folder = f.folderWith(t, all);
  const run = (...argv: string[]) =>
    f.verify(argv.map((word) => (Object.hasOwn(all, word) ? join(folder, word) : word)));
  return { folder, run };
}

const merkle = (sealedPdf: Uint8Array) => {
  const digest = Buffer.from(f.hex(sealedPdf), "hex");
  const header = Buffer.from(genesis, "hex");
  digest.copy(header, 36);
  header.writeUInt32LE(f.stampedAt / 1000, 68);
  return { headers: `# a made-up block\n7 ${header.toString("hex")}\n`, digest };
};
const otsOf = (digest: Uint8Array, height = 7) =>
  writeDetached({ fileHashOp: "sha256", digest, timestamp: [{ attestation: { kind: "bitcoin", height } }] });

test("a trusted seal without a known purpose is intact and never verified", async (t) => {
  const files = { "none.pdf": f.proofPdf({ reason: null }), "other.pdf": f.proofPdf({ reason: "Something else" }) };
  const { run } = inFolder(t, files);
  for (const name of Object.keys(files)) {
    const { code, json } = await run(name, ...trusting);
    assert.equal(json.verdict, "intact", name);
    assert.equal(code, 1);
    assert.deepEqual(f.failing(json), ["seal_purpose"]);
  }
});

test("reports that another program's signature is not a seal of this service, and that a damaged one failed", async (t) => {
  const foreign = { reason: null, originalLength: "absent", unstated: true, signer: f.stranger } as const;
  const sound = f.proofPdf(foreign);
  const changed = Uint8Array.from(sound);
  changed[20] = (changed[20] ?? 0) ^ 1;
  const behind = bytesOf(appendRevision(latin1(sound), [[200, "<< >>"]]));
  const stamped = f.proofPdf({
    ...foreign,
    stamp: (signature) => tokenOver(concatBytes([signature, signature]), f.tsa, 1),
  });
  const files = {
    "sound.pdf": sound,
    "changed.pdf": changed,
    "behind.pdf": behind,
    "stamped.pdf": stamped,
    "length.pdf": f.proofPdf({ ...foreign, originalLength: 7 }),
  };
  const { run } = inFolder(t, files);
  for (const name of Object.keys(files)) {
    const { text, code, json } = await run(name, ...trusting);
    assert.deepEqual([code, json.verdict], [1, "not_verified"], name);
    assert.equal(/not a seal of this service/.test(text), name === "sound.pdf", name);
  }
});

test("a sealed PDF is verified with trust and intact without it, with the right exit codes", async (t) => {
  const { run } = inFolder(t, { "a.pdf": f.proofPdf(), "original.pdf": f.original });
  const good = await run("a.pdf", "--doc", "original.pdf", ...trusting);
  assert.equal(good.code, 0);
  assert.equal(good.json.verdict, "verified");
  assert.ok(good.json.checks.every(({ result }) => result === "holds"));
  assert.equal(f.results(good.json).document_hash_as_expected, "holds");
  assert.match(good.text, /✓ The seal covers the whole file/);
  assert.match(good.text, /VERIFIED\. Everything/);
  const unknown = await run("a.pdf");
  assert.equal(unknown.code, 1);
  assert.equal(unknown.json.verdict, "intact");
  assert.match(unknown.text, /INTACT, NOT VERIFIED/);
});

test("no forgery of any published class is verified", async (t) => {
  const other = f.proofPdf({}, Uint8Array.from(makePdf({ text: "Another" })));
  for (const { attack, name, bytes } of forgeries(f.proofPdf(), other)) {
    const { run } = inFolder(t, { "forged.pdf": bytes });
    const { code, json } = await run("forged.pdf", ...trusting);
    assert.equal(code, 1, `${attack}: ${name}`);
    assert.notEqual(json.verdict, "verified");
  }
});

test("a seal of another certificate, another document and a time before the certificate are not verified", async (t) => {
  const files = { "a.pdf": f.proofPdf({ signer: f.stranger }), "b.pdf": f.proofPdf(), "other.pdf": "another" };
  const { run } = inFolder(t, files);
  assert.deepEqual(f.failing((await run("a.pdf", ...trusting)).json), ["seal_certificate_trusted"]);
  assert.deepEqual(f.failing((await run("b.pdf", "--doc", "other.pdf", ...trusting)).json), [
    "document_hash_as_expected",
  ]);
  const early = await run("b.pdf", "--at", "2020-01-01", "--trust", "trust.pem");
  assert.ok(f.failing(early.json).includes("seal_certificate_valid_at_time"));
});

test("a file that is not evidence, an unsigned file, and a certificate alone are named as such, with exit code 1", async (t) => {
  const files = { "a.pdf": f.original, "b.pdf": "text", "c.bin": "text", "d.pem": f.pemOf(f.seal), "e.tst": "0junk" };
  const { run } = inFolder(t, files);
  const verdicts = [];
  for (const name of Object.keys(files)) {
    const { code, json } = await run(name);
    assert.equal(code, 1, name);
    verdicts.push(json.verdict);
  }
  assert.deepEqual(verdicts, ["unsigned", "not_a_pdf", "not_a_pdf", "not_verified", "not_verified"]);
});

test("a seal made in a test environment is verified as a test only", async (t) => {
  const { run } = inFolder(t, { "a.pdf": f.proofPdf({ reason: sealReasons.proof.test }) });
  const { code, json, text } = await run("a.pdf", ...trusting);
  assert.equal(code, 0);
  assert.equal(json.verdict, "verified_test");
  assert.match(text, /VERIFIED \(TEST\)/);
});

test("a sealed document with a manifest of its own is a sealed document, and no closing certificate", async (t) => {
  const [v1] = await f.chainOf(1);
  assert.ok(v1);
  const { run } = inFolder(t, {
    "a.pdf": f.proofPdf({}, withAttachment(v1.bytes)),
    "b.pdf": f.certificateOf(v1.bytes),
  });
  const proof = await run("a.pdf", ...trusting);
  assert.equal(proof.json.kind, "sealed_pdf");
  assert.equal(f.results(proof.json).attached_manifest, "unchecked");
  assert.equal((await run("a.pdf", "--with", "b.pdf", ...trusting)).json.verdict, "not_verified");
  const closing = await run("b.pdf", ...trusting);
  assert.equal(closing.code, 0);
  assert.equal(closing.json.kind, "closing_certificate");
  assert.equal(closing.json.facts.manifestSha256, v1.manifestSha256);
});

test("manifests and certificates of one room are verified together", async (t) => {
  const [v1, v2] = await f.chainOf(2);
  assert.ok(v1 && v2);
  const files = { "v1.json": v1.bytes, "v1.pdf": f.certificateOf(v1.bytes), "v2.pdf": f.certificateOf(v2.bytes) };
  const { run } = inFolder(t, files);
  const alone = await run("v1.json");
  assert.equal(alone.json.verdict, "unsigned");
  const together = await run("v1.json", "--with", "v1.pdf", "--with", "v2.pdf", ...trusting);
  assert.equal(together.json.verdict, "verified");
  assert.equal(f.results(together.json)["manifest.v2.link"], "holds");
  assert.equal((await run("v1.json", "--with", "v2.pdf", ...trusting)).json.verdict, "verified");
  const { code, errors } = await run("v1.json", "--with", "trust.pem");
  assert.equal(code, 2);
  assert.match(errors, /use --with only for files of one room/);
});

test("an OpenTimestamps proof is verified with its file and a block header, and undecided without them", async (t) => {
  const pdf = f.proofPdf();
  const { headers, digest } = merkle(pdf);
  const wrong = headers.replace("7 01", "7 02").replaceAll(digest.toString("hex"), root);
  const files = {
    "a.pdf": pdf,
    "a.pdf.ots": otsOf(digest),
    "b.ots": otsOf(digest),
    headers,
    wrong,
    "x.pdf": f.original,
  };
  const { run } = inFolder(t, files);
  assert.equal((await run("b.ots", "--headers", "headers")).json.verdict, "unchecked");
  assert.equal((await run("a.pdf.ots")).json.verdict, "unchecked");
  const good = await run("a.pdf.ots", "--headers", "headers");
  assert.equal(good.json.verdict, "verified");
  assert.equal(good.code, 0);
  assert.deepEqual(f.failing((await run("a.pdf.ots", "--headers", "wrong")).json), ["ots.bitcoin"]);
  assert.deepEqual(f.failing((await run("b.ots", "--doc", "x.pdf")).json), ["ots.digest"]);
});

test("a time-stamp token or response is verified with its message, and undecided without it", async (t) => {
  const vectors = join(import.meta.dirname, "../../evidence/vectors");
  const files = {
    "a.tst": tokenOver(f.original, f.tsa, f.stampedAt),
    "no-usage.tst": tokenOver(f.original, f.stranger, f.stampedAt),
    "rsa.tsr": readFileSync(join(vectors, "rfc3161/rsa.tsr")),
    "rejected.tsr": readFileSync(join(vectors, "rfc3161/rejected.tsr")),
    "original.pdf": f.original,
    "a.pdf": f.proofPdf(),
  };
  const { run } = inFolder(t, files);
  assert.equal((await run("a.tst")).json.verdict, "unchecked");
  assert.equal((await run("a.tst", "--doc", "original.pdf")).json.verdict, "intact");
  const good = await run("a.tst", "--doc", "original.pdf", "--tsa-trust", "tsa.pem");
  assert.equal(good.json.verdict, "verified");
  assert.equal((await run("rsa.tsr", "--at", "2036-01-01")).json.verdict, "unchecked");
  assert.equal((await run("rejected.tsr", "--at", "2036-01-01")).json.verdict, "not_verified");
  assert.deepEqual(f.failing((await run("a.tst", "--doc", "a.pdf")).json), ["messageImprint"]);
  assert.equal((await run("no-usage.tst", "--doc", "original.pdf")).json.verdict, "not_verified");
});

test("a time stamp over a signature value does not count for a file into which the value was copied", async (t) => {
  const sealed = f.proofPdf();
  const token = tokenInside(sealed);
  const changed = Buffer.from(sealed);
  changed.write("K", changed.indexOf("(Contract") + 1, "latin1");
  const { run } = inFolder(t, { "a.tst": token, "sealed.pdf": sealed, "changed.pdf": changed });
  const good = await run("a.tst", "--doc", "sealed.pdf", "--tsa-trust", "tsa.pem");
  assert.equal(good.json.verdict, "verified");
  assert.match(good.text, /VERIFIED\..+nothing of a seal/);
  const bad = await run("a.tst", "--doc", "changed.pdf", "--tsa-trust", "tsa.pem");
  assert.deepEqual([bad.json.verdict, f.failing(bad.json)], ["not_verified", ["messageImprint"]]);
});

const evidencePdf = f.proofPdf();
const recordOf = (pdf: Uint8Array) => ({
  format: 1,
  verifyCode: "a".repeat(26),
  environment: "live",
  status: "sealed",
  sealedSha256: f.hex(pdf),
  docSha256: f.hex(f.original),
});

/** The files of an evidence zip as the service writes it. */
function evidence(changes: Readonly<Record<string, Uint8Array | string | null>> = {}) {
  const pdf = evidencePdf;
  const record = recordOf(pdf);
  const files: Record<string, Uint8Array | string | null> = {
    "sealed.pdf": pdf,
    "timestamp.tst": tokenOver(pdf, f.tsa, f.stampedAt),
    "sealed.pdf.ots": otsOf(Buffer.from(f.hex(pdf), "hex")),
    "seal-certificates.pem": f.pemOf(f.seal),
    "passport.json": JSON.stringify(record),
    "README.txt": "Evidence",
    ...changes,
  };
  const entries = Object.entries(files).flatMap(([name, bytes]) =>
    bytes === null ? [] : [{ name, bytes: Buffer.from(bytes) }],
  );
  return { pdf, record, zip: makeZip(entries) };
}

test("an evidence zip is verified completely: PDF, token, proof, record and certificates", async (t) => {
  const { pdf, zip } = evidence();
  const { run } = inFolder(t, { "evidence.zip": zip, headers: merkle(pdf).headers });
  const { code, json } = await run("evidence.zip", "--headers", "headers", ...trusting);
  assert.equal(code, 0);
  const found = f.results(json);
  for (const claim of [
    "zip_readable",
    "separate_time_stamp_valid",
    "anchored_in_block",
    "record_sealed_hash",
    "record_document_hash",
    "certificates_are_the_seals",
  ]) {
    assert.equal(found[claim], "holds", claim);
  }
  assert.equal((await run("evidence.zip")).json.verdict, "intact");
});

test("a part of an evidence zip that belongs to something else fails by its own name", async (t) => {
  const { record } = evidence();
  const recorded = (changes: object) => JSON.stringify({ ...record, ...changes });
  const cases: readonly (readonly [string, Uint8Array | string, string])[] = [
    ["timestamp.tst", tokenOver(f.original, f.tsa, f.stampedAt), "separate_time_stamp_valid"],
    ["timestamp.tst", "junk", "separate_time_stamp_valid"],
    ["sealed.pdf.ots", otsOf(Buffer.alloc(32)), "anchored_in_block"],
    ["seal-certificates.pem", f.pemOf(f.stranger), "certificates_are_the_seals"],
    ["seal-certificates.pem", "junk", "certificates_are_the_seals"],
    ["passport.json", recorded({ sealedSha256: "0".repeat(64) }), "record_sealed_hash"],
    ["passport.json", recorded({ docSha256: "0".repeat(64) }), "record_document_hash"],
    ["passport.json", recorded({ docSha256: 7 }), "record_readable"],
    ["passport.json", recorded({ environment: null }), "record_readable"],
    ["passport.json", recorded({ format: 2 }), "record_readable"],
    ["passport.json", "[]", "record_readable"],
    ["passport.json", `\ufeff${recorded({})}`, "record_readable"],
    ["passport.json", `{"environment":"test",${recorded({}).slice(1)}`, "record_readable"],
    ["passport.json", "{", "record_readable"],
    ["sealed.pdf", f.original, "whole_file_covered"],
    ["deed.pdf", f.original, "other_files"],
    ["deed", f.proofPdf(), "other_files"],
    ["README.txt", f.proofPdf(), "other_files"],
    ["README.txt", `${" ".repeat(1023)}%PDF-1.7`, "other_files"],
  ];
  for (const [name, bytes, claim] of cases) {
    const { run } = inFolder(t, { "evidence.zip": evidence({ [name]: bytes }).zip });
    const { code, json } = await run("evidence.zip", ...trusting);
    assert.equal(code, 1, claim);
    assert.ok(f.failing(json).includes(claim), `${claim}: ${f.failing(json)}`);
  }
});

test("evidence from which unzip would extract another sealed PDF is refused, like every extra field", async (t) => {
  const files = { "sealed.pdf": f.proofPdf(), "README.txt": f.original };
  const swapped = { "sealed.pdf": "README.txt", "README.txt": "sealed.pdf" } as const;
  const zip = makeZip(
    (["sealed.pdf", "README.txt"] as const).map((name) => ({
      name,
      bytes: files[name],
      extra: unicodePath(name, swapped[name]),
    })),
  );
  const { run } = inFolder(t, { "evidence.zip": zip });
  const { code, json } = await run("evidence.zip", ...trusting);
  assert.deepEqual([code, ...f.failing(json)], [1, "zip_readable"]);
  assert.match(json.checks[0]?.detail ?? "", /\(extra-field\)/);
});

test("a record of a test lowers the verdict, and files that nothing covers are named", async (t) => {
  const test = JSON.stringify({ ...evidence().record, environment: "test" });
  const { run } = inFolder(t, { "evidence.zip": evidence({ "passport.json": test, "notes.txt": "x" }).zip });
  const { json } = await run("evidence.zip", ...trusting);
  assert.equal(json.verdict, "verified_test");
  assert.match(json.checks.find(({ claim }) => claim === "other_files")?.detail ?? "", /notes\.txt/);
});

test("evidence without the sealed PDF is undecided until the reader gives their own copy", async (t) => {
  const { pdf, zip } = evidence({ "sealed.pdf": null });
  const { run } = inFolder(t, { "evidence.zip": zip, "mine.pdf": pdf, "other.pdf": f.original });
  assert.equal((await run("evidence.zip", ...trusting)).json.verdict, "unchecked");
  assert.equal((await run("evidence.zip", "--doc", "mine.pdf", ...trusting)).json.verdict, "verified");
  assert.equal((await run("evidence.zip", "--doc", "other.pdf", ...trusting)).json.verdict, "not_verified");
  const foreign = evidence({ "sealed.pdf": null, "sealed.pdf.ots": otsOf(Buffer.alloc(32)) }).zip;
  const { run: again } = inFolder(t, { "evidence.zip": foreign });
  assert.deepEqual(f.failing((await again("evidence.zip")).json), ["ots.digest"]);
});

test("a file with the name of a PDF is judged as a PDF, even if it is also a zip of good evidence", async (t) => {
  const { run } = inFolder(t, { "both.pdf": evidence().zip });
  const { code, json } = await run("both.pdf", ...trusting);
  assert.equal(code, 1);
  assert.notEqual(json.kind, "evidence");
});

test("a record alone is judged: undecided without its file, and never better than the file", async (t) => {
  const { pdf, record } = evidence();
  const answer = { verdict: "verified_test", verifyCode: record.verifyCode, sealedSha256: f.hex(pdf) };
  const files = {
    "a.json": JSON.stringify(record),
    "answer.json": JSON.stringify({ ...answer, docSha256: record.docSha256 }),
    "bad.json": JSON.stringify(answer),
    "mine.pdf": pdf,
    "other.pdf": f.original,
  };
  const { run } = inFolder(t, files);
  assert.equal((await run("a.json")).json.verdict, "unchecked");
  assert.equal((await run("a.json", "--doc", "mine.pdf", ...trusting)).json.verdict, "verified");
  assert.equal((await run("answer.json", "--doc", "mine.pdf", ...trusting)).json.verdict, "verified_test");
  assert.ok(f.failing((await run("a.json", "--doc", "other.pdf")).json).includes("record_sealed_hash"));
  assert.deepEqual(f.failing((await run("bad.json", "--doc", "mine.pdf")).json), ["record_readable"]);
});

test("a room's answer that was saved is judged as a record, by itself and with its certificate", async (t) => {
  const { manifest, certificate, record } = await f.roomRecord();
  const saved = (changes: object) => JSON.stringify({ ...record, ...changes });
  const wrong: Record<string, readonly [object, string]> = {
    "hash.json": [{ manifestSha256: "0".repeat(64) }, "manifest.v1.hash"],
    "sealed.json": [{ sealedSha256: "0".repeat(64) }, "certificate.v1.hash"],
    "version.json": [{ version: 2 }, "manifest.v2.version"],
    "chain.json": [{ chainOk: false }, "service_chain_ok"],
    "null.json": [{ manifest: null }, "record_readable"],
    "text.json": [{ chainOk: "true" }, "record_readable"],
  };
  const { run } = inFolder(t, {
    "v1.pdf": certificate,
    "v1.json": saved({}),
    "manifest.json": manifest,
    ...Object.fromEntries(Object.entries(wrong).map(([name, [changes]]) => [name, saved(changes)])),
  });
  const alone = await run("v1.json");
  assert.deepEqual([alone.json.kind, alone.json.verdict], ["room_record", "unsigned"]);
  const together = await run("v1.json", "--with", "v1.pdf", "--with", "manifest.json", ...trusting);
  assert.equal(together.json.verdict, "verified");
  assert.equal(f.results(together.json)["certificate.v1.hash"], "holds");
  for (const [name, [, claim]] of Object.entries(wrong)) {
    if (claim === "record_readable") {
      assert.deepEqual(f.failing((await run(name)).json), [claim]);
      const { code, json } = await run("v1.pdf", "--with", name);
      assert.ok(code === 1 && f.failing(json).includes(claim), name);
    } else {
      const { code, json } = await run("v1.pdf", "--with", name, ...trusting);
      assert.ok(code === 1 && f.failing(json).includes(claim), `${name}: ${f.failing(json)}`);
    }
  }
});

test("a claim names the trust that was not given", async (t) => {
  const folder = f.folderWith(t, { "a.pdf": f.proofPdf(), "own.pem": f.pemOf(f.seal) });
  const io = { trustedByDefault: [join(folder, "own.pem")] };
  const found = await f.verify([join(folder, "a.pdf")], io);
  assert.equal(found.json.verdict, "verified");
  assert.equal(f.results(found.json).seal_certificate_source, "holds");
  assert.match(found.text, /No --trust was given: .*own\.pem/);
  const given = await f.verify([join(folder, "a.pdf"), "--trust", join(folder, "own.pem")], io);
  assert.equal(f.results(given.json).seal_certificate_source, undefined);
});

test("a wrong command line exits with 2 and names the mistake", async (t) => {
  const { folder, run } = inFolder(t, {
    "a.pdf": f.proofPdf(),
    "bad.pem": "junk",
    bad: "7 zz",
    twice: `7 ${genesis}\n07 ${genesis}`,
  });
  const cases: readonly (readonly [string[], RegExp])[] = [
    [[], /usage: verify TARGET/],
    [["a.pdf", "a.pdf"], /usage: verify TARGET/],
    [["a.pdf", "--colour"], /--colour/],
    [["missing.pdf"], /missing\.pdf cannot be read \(ENOENT\)/],
    [["a.pdf", "--trust", "missing.pem"], /missing\.pem cannot be read/],
    [["a.pdf", "--trust", "bad.pem"], /--trust: .*No certificate/],
    [["a.pdf", "--headers", "bad"], /line 1 is not HEIGHT HEADER_HEX/],
    [["a.pdf", "--headers", "twice"], /line 2 has a height for the second time/],
    [["a.pdf", "--at", "yesterday"], /--at must be an instant/],
    [["https://example.com/"], /not a verify URL/],
    [[folder, "--doc", "a.pdf"], /--doc goes with one file/],
  ];
  for (const [argv, message] of cases) {
    const { code, errors, json } = await run(...argv);
    assert.equal(code, 2, argv.join(" "));
    assert.match(errors, message);
    assert.match(json.error ?? "", message);
  }
});

test("text from the evidence cannot control the terminal", async (t) => {
  const { run } = inFolder(t, { "evidence.zip": evidence({ "\u001b[2J\u202e.txt": "x" }).zip });
  const { text } = await run("evidence.zip");
  assert.ok(!text.includes("\u001b") && !text.includes("\u202e"));
});
