import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { sealReasons } from "@signsealship/evidence/seal";
import { sealedFor, withAttachments } from "../../evidence/test/seal/closing-pdf.ts";
import { tokenOver } from "../../evidence/test/signer.ts";
import * as f from "./fixtures.ts";

const text = (value: unknown): Uint8Array => Uint8Array.from(Buffer.from(JSON.stringify(value)));

/** A PDF with these files attached, sealed for a purpose. */
const sealedWith = (files: Readonly<Record<string, Uint8Array>>, reason: string): Uint8Array =>
  sealedFor(reason, { signer: f.seal }, withAttachments(files));

const proof = f.proofPdf();
const record = {
  format: 1,
  verifyCode: "a".repeat(26),
  environment: "live",
  status: "sealed",
  docSha256: f.hex(f.original),
  sealedSha256: f.hex(proof),
};
const { certificate: certificateReasons, receipt: receiptReasons } = sealReasons;
const certificate = (changes: object = {}, reason: string = certificateReasons.live) =>
  sealedWith({ "passport.json": text({ ...record, ...changes }) }, reason);

const event = text({ data: { event_type: "fax.delivered" } });
const headers = { "telnyx-timestamp": "1780000000", "telnyx-signature-ed25519": `${"A".repeat(86)}==` };
const listed = { file: "event-01.json", provider: "telnyx", type: "fax.delivered", sha256: f.hex(event) };
const receiptJson = { format: "signsealship-receipt", version: 1, kind: "fax_certificate", environment: "live" };

function receipt(
  changes: object = {},
  files: Readonly<Record<string, Uint8Array | null>> = {},
  reason: string = receiptReasons.live,
): Uint8Array {
  const all = Object.entries({
    "receipt.json": text({ ...receiptJson, events: [listed], ...changes }),
    "event-01.json": event,
    "event-01.headers.json": text(headers),
    ...files,
  });
  const kept = all.filter((entry): entry is [string, Uint8Array] => entry[1] !== null);
  return sealedWith(Object.fromEntries(kept), reason);
}

/** Verifies the first of the files together with those that `more` names. */
async function judge(
  t: Parameters<typeof f.folderWith>[0],
  files: Readonly<Record<string, Uint8Array | string>>,
  ...more: string[]
) {
  const folder = f.folderWith(t, { ...files, "trust.pem": f.pemOf(f.seal), "tsa.pem": f.pemOf(f.tsa) });
  const path = (name: string) => join(folder, name);
  const target = path(Object.keys(files)[0] ?? "");
  const trust = ["--trust", path("trust.pem"), "--tsa-trust", path("tsa.pem")];
  const found = await f.verify([target, ...more.flatMap((name) => ["--with", path(name)]), ...trust]);
  return { ...found, verdict: found.json.verdict, failing: found.json.checks ? f.failing(found.json) : [] };
}

test("verifies a proof certificate by its record, and with the given sealed file", async (t) => {
  const alone = await judge(t, { "c.pdf": certificate() });
  assert.deepEqual([alone.verdict, f.results(alone.json)["record_attached"]], ["verified", "holds"]);
  const both = await judge(t, { "c.pdf": certificate(), "s.pdf": proof }, "s.pdf");
  assert.equal(both.verdict, "verified");
  const { record_sealed_hash, record_document_hash } = f.results(both.json);
  assert.deepEqual([record_sealed_hash, record_document_hash], ["holds", "holds"]);
  const test = certificate({ environment: "test" }, certificateReasons.test);
  assert.equal((await judge(t, { "c.pdf": test })).verdict, "verified_test");
});

test("refuses a proof certificate with garbage, nothing, or a record of another environment attached", async (t) => {
  const bad: Record<string, Uint8Array> = {
    nothing: sealedWith({}, certificateReasons.live),
    "another name": sealedWith({ "record.json": text(record) }, certificateReasons.live),
    garbage: sealedWith({ "passport.json": Uint8Array.from(Buffer.from("garbage")) }, certificateReasons.live),
    "no hash": certificate({ sealedSha256: undefined }),
    "a test record, live": certificate({ environment: "test" }),
    "a test verdict, live": certificate({ verdict: "verified_test" }),
    "a live record, test": certificate({}, certificateReasons.test),
  };
  for (const [name, bytes] of Object.entries(bad)) {
    const { verdict, failing, code } = await judge(t, { "c.pdf": bytes });
    assert.deepEqual(
      { verdict, failing, code },
      { verdict: "not_verified", failing: ["record_attached"], code: 1 },
      name,
    );
  }
});

test("refuses a proof certificate with another or a changed sealed file", async (t) => {
  const other = f.proofPdf({}, Uint8Array.from(f.proofPdf()));
  const wrong = await judge(t, { "c.pdf": certificate(), "s.pdf": other }, "s.pdf");
  assert.equal(wrong.verdict, "not_verified");
  assert.ok(wrong.failing.includes("record_sealed_hash"));
  const plain = await judge(t, { "c.pdf": certificate(), "s.pdf": f.original }, "s.pdf");
  assert.equal(plain.verdict, "not_verified");
});

test("verifies a receipt whose attached events equal the listed ones", async (t) => {
  const good = await judge(t, { "r.pdf": receipt() });
  assert.equal(good.verdict, "verified");
  const { record_attached, receipt_events, receipt_signatures } = f.results(good.json);
  assert.deepEqual([record_attached, receipt_events, receipt_signatures], ["holds", "holds", "unchecked"]);
  const none = receipt({ events: [] }, { "event-01.json": null, "event-01.headers.json": null });
  const empty = await judge(t, { "r.pdf": none });
  assert.deepEqual([empty.verdict, f.results(empty.json)["receipt_events"]], ["verified", "unchecked"]);
  const test = receipt({ environment: "test" }, {}, receiptReasons.test);
  assert.equal((await judge(t, { "r.pdf": test })).verdict, "verified_test");
});

test("refuses a receipt without attachments, or whose events differ from the listed ones", async (t) => {
  const bad: Record<string, readonly [Uint8Array, string]> = {
    nothing: [sealedWith({}, receiptReasons.live), "record_attached"],
    "no receipt.json": [receipt({}, { "receipt.json": null }), "record_attached"],
    "another format": [receipt({ format: "x" }), "record_attached"],
    "another version": [receipt({ version: 2 }), "record_attached"],
    "another kind": [receipt({ kind: "x" }), "record_attached"],
    "no list of events": [receipt({ events: null }), "record_attached"],
    "another name of an event": [receipt({ events: [{ ...listed, file: "passport.json" }] }), "record_attached"],
    "a provider that is not known": [receipt({ events: [{ ...listed, provider: "me" }] }), "record_attached"],
    "no hash": [receipt({ events: [{ ...listed, sha256: "" }] }), "record_attached"],
    "a test record, live": [receipt({ environment: "test" }), "record_attached"],
    "headers that are no object": [receipt({}, { "event-01.headers.json": text([]) }), "record_attached"],
    "no event": [receipt({}, { "event-01.json": null }), "receipt_events"],
    "another event": [receipt({}, { "event-01.json": text({ data: {} }) }), "receipt_events"],
    "no headers": [receipt({}, { "event-01.headers.json": null }), "receipt_events"],
    "no signature": [receipt({}, { "event-01.headers.json": text({}) }), "receipt_events"],
    "a signature of another form": [
      receipt({}, { "event-01.headers.json": text({ ...headers, "telnyx-signature-ed25519": "x" }) }),
      "receipt_events",
    ],
    "an event more": [receipt({}, { "event-02.json": event }), "receipt_events"],
    "an event that is not listed": [receipt({ events: [] }), "receipt_events"],
  };
  for (const [name, [bytes, claim]] of Object.entries(bad)) {
    const { verdict, failing } = await judge(t, { "r.pdf": bytes });
    assert.deepEqual({ verdict, failing }, { verdict: "not_verified", failing: [claim] }, name);
  }
});

test("tries each of several files that may be the document of a certificate", async (t) => {
  const files = { "c.pdf": certificate(), "a.pdf": f.proofPdf({}, Uint8Array.from(proof)), "s.pdf": proof };
  const found = await judge(t, files, "a.pdf", "s.pdf");
  assert.equal(found.verdict, "verified");
  assert.match(found.json.checks.find(({ claim }) => claim === "other_files")?.detail ?? "", /not judged: .*a\.pdf/);
  const reversed = await judge(
    t,
    { "s.pdf": proof, "c.pdf": files["c.pdf"], "a.pdf": files["a.pdf"] },
    "a.pdf",
    "c.pdf",
  );
  assert.equal(reversed.verdict, "verified");
});

test("judges a sealed PDF with a separate time stamp", async (t) => {
  const token = tokenOver(proof, f.tsa, f.stampedAt);
  const good = await judge(t, { "s.pdf": proof, "t.tst": token }, "t.tst");
  assert.deepEqual([good.verdict, f.results(good.json)["separate_time_stamp_valid"]], ["verified", "holds"]);
  const bad = await judge(t, { "s.pdf": proof, "t.tst": tokenOver(f.original, f.tsa, f.stampedAt) }, "t.tst");
  assert.deepEqual([bad.verdict, bad.failing], ["not_verified", ["separate_time_stamp_valid"]]);
});

test("explains the fault when none of the files belongs to another", async (t) => {
  const token = Uint8Array.of(0x30, 0);
  const cases: readonly (readonly [Record<string, Uint8Array>, RegExp])[] = [
    [{ "s.pdf": proof, "o.pdf": f.original }, /a sealed PDF goes with one time stamp and one proof/],
    [{ "s.pdf": proof, "t.tst": token, "u.tst": token }, /one time stamp and one proof/],
    [{ "t.tst": token, "u.tst": token }, /one time stamp and one proof/],
    [{ "c.pdf": certificate(), "d.pdf": certificate() }, /one custody or proof certificate/],
    [{ "c.pdf": certificate(), "s.pdf": proof, "t.tst": token }, /one custody or proof certificate/],
  ];
  for (const [files, message] of cases) {
    const { code, errors } = await judge(t, files, ...Object.keys(files).slice(1));
    assert.equal(code, 2);
    assert.match(errors, message);
  }
});

test("fails by name for a refused record that is given with its certificate", async (t) => {
  const room = await f.roomRecord();
  for (const changes of [{ version: 1.5 }, { format: 2 }, { format: null }, { manifest: null }]) {
    const answer = JSON.stringify({ ...room.record, ...changes });
    const { verdict, failing, code } = await judge(t, { "v1.pdf": room.certificate, "v1.json": answer }, "v1.json");
    assert.deepEqual({ verdict, code }, { verdict: "not_verified", code: 1 });
    assert.ok(failing.includes("record_readable"), answer);
  }
});
