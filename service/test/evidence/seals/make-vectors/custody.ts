import { hash } from "node:crypto";
import type { JsonObject } from "@signsealship/evidence/manifest";
import { sealReasons } from "@signsealship/evidence/seal";
import { certifiedName } from "@signsealship/evidence/x509";
import { sealedFor } from "../../../../../packages/evidence/test/seal/closing-pdf.ts";
import {
  appendRevision,
  bodyOf,
  bytesOf,
  endOf,
  latin1,
} from "../../../../../packages/evidence/test/seal/signed-pdf.ts";
import { tokenOver } from "../../../../../packages/evidence/test/signer.ts";
import { collection, type Made, type NewCase, notVerified, type State, verified, verifiedTest } from "./case.ts";
import { oddActs, twiceAttached, twoOverOne } from "./custody-acts.ts";
import { emptyCertificate, falseEnds, furtherCustody } from "./custody-more.ts";
import { notarized } from "./custody-notarized.ts";
import { document } from "./sealing.ts";
import * as by from "./signed-envelope.ts";
import { pem, seal, sealPem, stampedAt, stranger } from "./signers.ts";

type Claims = Readonly<Record<string, State>>;

/** Every claim about a good custody certificate with its document (docs/evidence-format.md, section 20.2). */
const ALL: Claims = {
  custody_purpose: "holds",
  custody_environment: "holds",
  envelope_readable: "holds",
  envelope_canonical: "holds",
  trail_chain: "holds",
  trail_begins: "holds",
  trail_sealed: "holds",
  acts_recorded: "holds",
  act_hashes: "holds",
  revision_table: "holds",
  document_hash: "holds",
  document_revisions: "holds",
  document_acts: "holds",
  act_certificate: "holds",
  act_place: "holds",
  act_time_stamp: "holds",
  document_seal: "holds",
  document_signatures: "holds",
};
const good = (changes: Claims = {}) => verified({ ...ALL, ...changes });
const bad = (changes: Claims) => notVerified({ ...ALL, ...changes });

const ann = { name: "Ann Lee", by: by.signerOf("Ann Lee", 24) };
const bob = { name: "Bob Ray", by: by.signerOf("Bob Ray", 25) };
const stamped = { token: by.stampedBy() };
const changed = (index: number, change: JsonObject) => (records: readonly JsonObject[]) =>
  records.map((record, at) => (at === index ? { ...record, ...change } : record));
const evidence = (change: (envelope: JsonObject) => JsonObject) => ({ evidence: change });

/** Custody certificates with the documents that they certify (docs/evidence-format.md, section 20). */
export async function custodySets(): Promise<Made> {
  const { add, put, trust, made, slug } = collection("custody");
  const entry = (der: Uint8Array, more: JsonObject = {}) => ({ pem: pem(der), ...more });
  const list = (name: string, signers: readonly JsonObject[]) =>
    trust(
      name,
      `${JSON.stringify({ format: 1, sealCertificates: [{ pem: sealPem }], signerCertificates: signers }, null, 1)}\n`,
    );
  const published = list("signers.json", [entry(by.authorityCertificate.der)]);
  /**
   * The paths of the written files by hash. Most faulty certificates certify the same document, which is written once.
   */
  const written = new Map<string, string>();
  const once = (name: string, bytes: Uint8Array): string => {
    const key = hash("sha256", bytes);
    const path = written.get(key) ?? put(name, bytes);
    written.set(key, path);
    return path;
  };
  const set = (name: string, envelope: by.Envelope, teaches: string, expect = good(), more: Partial<NewCase> = {}) => {
    const files = {
      certificate: once(`${slug(name)}-certificate.pdf`, envelope.certificate),
      document: once(`${slug(name)}.pdf`, envelope.document),
    };
    add({ name, kind: "custody_set", files, trust: [published], expect, teaches, ...more });
  };

  const honest = by.signedEnvelope([{ ...ann, ...stamped }, bob]);
  set("signed by two", honest, "All of it holds; the one has a time stamp, the other none, and the records say so.");
  const authorityOpen = good({ act_certificate: "unchecked" });
  set(
    "signed by two, the seal alone trusted",
    honest,
    "Without an authority of signers nobody can say who issued: that is open, and lowers nothing.",
    authorityOpen,
    { trust: ["trust/seal.pem"] },
  );
  const withAuthority = (one: by.Doing) => ({ ...one, above: [by.authorityCertificate] });
  set(
    "signed by two, their root trusted",
    by.signedEnvelope([ann, bob].map(withAuthority)),
    "A root among the seal's anchors counts for signers; the authority between came along.",
    good(),
    { trust: ["trust/seal.pem", trust("signers-root.pem", pem(by.rootCertificate.der))] },
  );
  set(
    "signed by two, no authority of time trusted",
    honest,
    "The token is the one of the record; whose it is was not asked.",
    good({ act_time_stamp: "unchecked" }),
    { tsaTrust: [] },
  );
  set(
    "signed in a test",
    by.signedEnvelope([ann, bob], { environment: "test" }),
    "The same of the test environment.",
    verifiedTest(ALL),
  );

  const mixed = "Yael \u05db\u05d4\u05df";
  const long = "Maria ".repeat(12).trim();
  set(
    "signed by names that are certified in another form",
    by.signedEnvelope([
      { name: mixed, by: by.signerOf(certifiedName(mixed), 28) },
      { name: long, by: by.signerOf(certifiedName(long), 29) },
    ]),
    "The forms of section 4.4: a name that mixes directions, and one of more than 64 characters.",
  );
  set(
    "signed by a name that was certified before there were forms",
    by.signedEnvelope([{ name: mixed, by: by.signerOf(mixed, 32) }, bob]),
    "The name itself counts, too.",
  );

  const certificate = bad({ act_certificate: "fails" });
  const withBy = (one: typeof ann, signer: by.Doing["by"]) => ({ ...one, by: signer });
  const forged = (name: string, acts: readonly by.Doing[], teaches: string, expect = certificate) =>
    set(name, by.signedEnvelope(acts), teaches, expect);
  forged("each by the other's certificate", [withBy(ann, bob.by), withBy(bob, ann.by)], "The subject is the signer.");
  forged("both by one certificate", [ann, withBy(bob, ann.by)], "It is the certificate of one of them.");
  forged("both by the seal's certificate", [withBy(ann, seal), withBy(bob, seal)], "The seal's is no signer's.");
  forged(
    "by a signer's certificate of the seal's key",
    [withBy(ann, by.withSealKey("Ann Lee")), bob],
    "The seal's key signs for nobody, whatever its certificate says.",
  );
  forged(
    "two certificates of one key",
    [
      ann,
      withBy(
        bob,
        by.signerOf("Bob Ray", 26, { key: { key: ann.by.key, sign: ann.by.sign ?? (() => new Uint8Array()) } }),
      ),
    ],
    "A key is one signer's.",
  );
  forged(
    "by a certificate without the policy",
    [withBy(ann, by.signerOf("Ann Lee", 27, { isSigners: false })), bob],
    "Signers' certificates have the policy of section 4.1.",
  );
  forged("issued by a stranger", [withBy(ann, by.byStranger("Ann Lee")), bob], "No path to an authority given.");
  const retiredList = (name: string, reason: string) =>
    list(name, [entry(by.authorityCertificate.der, { retiredAt: "2026-03-01T00:00:00.000Z", reason })]);
  set(
    "the authority's key stolen later",
    by.signedEnvelope([ann, bob].map((one) => ({ ...one, ...stamped }))),
    "Each act is proven to be older than the theft.",
    good(),
    { trust: [retiredList("signers-stolen.json", "key-compromise")] },
  );
  set(
    "the authority's key stolen later, one act without a time stamp",
    honest,
    "Nothing proves that Bob's act is older.",
    certificate,
    { trust: [retiredList("signers-stolen.json", "key-compromise")] },
  );
  set("the authority superseded later", honest, "Its key was not said to be stolen: open.", authorityOpen, {
    trust: [retiredList("signers-superseded.json", "superseded")],
  });

  const place = bad({ act_place: "fails" });
  forged(
    "a statement of another place",
    [{ ...ann, statement: (one) => ({ ...one, byteRange: one.byteRange.with(1, (one.byteRange[1] ?? 0) - 2) }) }, bob],
    "The act signs where its value belongs.",
    place,
  );
  forged(
    "a statement of another length",
    [{ ...ann, statement: (one) => ({ ...one, originalLength: one.originalLength - 1 }) }, bob],
    "The act signs how long the file was that it follows.",
    place,
  );
  forged(
    "another length in the dictionary",
    [{ ...ann, originalLength: (length) => length - 1 }, bob],
    "/SSSOriginalLength is the length of the revision before.",
    place,
  );
  forged("no statement of the place", [{ ...ann, statement: () => null }, bob], "An act without it is none.", place);

  const time = bad({ act_time_stamp: "fails" });
  const { stampRecord } = by;
  forged("a time stamp that is missing", [{ ...ann, recorded: stampRecord }, bob], "The record names one.", time);
  forged("a time stamp that no record names", [{ ...ann, ...stamped, recorded: null }, bob], "And none.", time);
  forged(
    "a time stamp of another instant",
    [{ ...ann, ...stamped, recorded: { ...stampRecord, at: "2026-01-15T12:00:02.000Z" } }, bob],
    "The record names the token's genTime.",
    time,
  );
  forged(
    "a time stamp over something else",
    [{ ...ann, token: () => by.stampedBy()(new Uint8Array(8)), recorded: stampRecord }, bob],
    "The token is over the signature value.",
    time,
  );
  forged(
    "another token than the recorded one",
    [{ ...ann, ...stamped, recorded: { ...stampRecord, tokenSha256: "ab".repeat(32) } }, bob],
    "Where the record has the token's hash, it is compared.",
    time,
  );
  forged(
    "a time stamp by nobody known",
    [{ ...ann, token: (signature) => tokenOver(signature, stranger, stampedAt) }, bob],
    "A time stamp's certificate is for time stamps alone.",
    time,
  );

  set(
    "a hash of another act",
    by.signedEnvelope([{ ...ann, actSha256: () => "ab".repeat(32) }, bob]),
    "The signature bears the hash of its act.",
    bad({ document_acts: "fails" }),
  );
  set(
    "a document sealed for another purpose",
    by.signedEnvelope([ann, bob], { documentReason: sealReasons.proof.live }),
    "Anybody may have a proof seal.",
    bad({ document_seal: "fails" }),
  );
  const other = by.signedEnvelope([ann]);
  set(
    "the document of another signing",
    { ...honest, document: other.document },
    "Another document than the one named.",
    notVerified({ document_hash: "fails", document_acts: "fails" }),
    { anotherFile: true },
  );
  const table = (name: string, options: by.Options, changes: Claims, teaches: string) =>
    set(name, by.signedEnvelope([ann, bob], options), teaches, notVerified(changes));
  table("a purpose of another kind", { reason: sealReasons.proof.live }, { custody_purpose: "fails" }, "Section 2.5.");
  table(
    "the other environment",
    { reason: sealReasons.custody.test },
    { custody_environment: "fails" },
    "Seal and envelope are of one environment.",
  );
  table(
    "not canonical",
    { attached: (text) => ` ${text}` },
    { envelope_readable: "holds", envelope_canonical: "fails" },
    "One text.",
  );
  table("cut short", { attached: (text) => text.slice(0, -1) }, { envelope_readable: "fails" }, "No JSON.");
  table(
    "a version of later",
    evidence((envelope) => ({ ...envelope, version: 2 })),
    { envelope_readable: "fails" },
    "What a later version asks is not known: an older reader must not take it for less.",
  );
  table(
    "a member more",
    evidence((envelope) => ({ ...envelope, more: 1 })),
    { envelope_readable: "fails" },
    "The object is closed.",
  );
  table(
    "a record changed",
    evidence((envelope) => ({
      ...envelope,
      trail: changed(1, { at: "2026-01-15T12:00:09.000Z" })(envelope.trail as JsonObject[]),
    })),
    { trail_chain: "fails" },
    "The record after it names its hash.",
  );
  table(
    "another order created",
    { records: changed(0, { orderCode: "ab".repeat(20) }) },
    { trail_chain: "holds", trail_begins: "fails" },
    "The first record is of this order.",
  );
  table(
    "a record behind the seal",
    { records: (records) => [...records, { event: "opened", signer: 1 }] },
    { trail_sealed: "fails" },
    "The last record is the seal.",
  );
  table(
    "an act recorded for the other",
    { records: changed(1, { signer: 2 }) },
    { acts_recorded: "fails" },
    "The record, the act and the table name one signer.",
  );
  table(
    "another hash recorded",
    { records: changed(1, { actSha256: "ab".repeat(32) }) },
    { act_hashes: "fails", document_acts: "fails" },
    "The hash of the act's canonical JSON.",
  );
  table(
    "an act left out",
    { records: (records) => records.toSpliced(2, 1) },
    { acts_recorded: "fails", revision_table: "fails" },
    "Each signer has one.",
  );
  set(
    "an act left out, and the document of another signing",
    {
      ...by.signedEnvelope([ann, bob], { records: (records) => records.toSpliced(2, 1) }),
      document: other.document,
    },
    "Nobody can say of a certificate that fails which file it is about.",
    notVerified({ acts_recorded: "fails", revision_table: "fails", document_hash: "fails", document_acts: "fails" }),
  );
  set(
    "the document of another signing, sealed once more for a proof passport",
    { ...honest, document: sealedFor(sealReasons.proof.live, { signer: seal }, other.document) },
    "Anybody may have a proof seal: it does not make a file the document of another signing.",
    notVerified({ document_hash: "fails", document_acts: "fails", document_seal: "fails" }),
  );

  add({
    name: "a custody certificate alone",
    kind: "custody_set",
    files: { certificate: once("signed-by-two-certificate.pdf", honest.certificate) },
    trust: [published],
    expect: verified({ ...certificateAlone(), document_hash: "unchecked" }),
    teaches: "Without the document nothing of it is checked.",
  });

  const sealedPdf = (name: string, bytes: Uint8Array, state: State, teaches: string, more = {}) =>
    add({
      name,
      kind: "sealed_pdf",
      files: { sealed: once(`${slug(name)}.pdf`, bytes) },
      expect: verified({ signing_complete: state }),
      teaches,
      ...more,
    });
  const proof = (bytes: Uint8Array) => sealedFor(sealReasons.proof.live, { signer: seal }, bytes);
  const [first = document(), second = document()] = honest.states;
  sealedPdf("a signed document", honest.document, "holds", "The seal for a signed document follows the acts.");
  sealedPdf("a signed document, sealed once more", proof(honest.document), "holds", "It still does.");
  sealedPdf(
    "cut behind the first act",
    proof(first),
    "fails",
    "A proof seal ends no signing. The verdict is the seal's.",
  );
  sealedPdf("cut behind the last act", proof(second), "fails", "Nobody but the seal says that it was the last.");
  sealedPdf(
    "cut behind the first act, ended by a stranger",
    proof(sealedFor(sealReasons.signed.live, { signer: stranger }, first)),
    "unchecked",
    "Anybody can write that reason: whose seal it is was not confirmed.",
  );
  const text = latin1(first);
  const field = endOf(text).size - 1;
  const later = (name: string, number: number, change: (body: string) => string, teaches: string) =>
    sealedPdf(
      `cut behind the first act, ${name}`,
      proof(bytesOf(appendRevision(text, [[number, change(bodyOf(text, number))]]))),
      "fails",
      teaches,
    );
  const withoutHash = (body: string) => body.replace(/\/SSSActSha256<[0-9a-f]*>/, "");
  later(
    "whose hash a later revision took away",
    field - 1,
    withoutHash,
    "It was an act in the revision that it signed.",
  );
  later(
    "which a later revision took out of its field",
    field,
    (body) => body.replace(/ \/V \d+ 0 R/, ""),
    "The form does not tell of it. The bytes do.",
  );
  later(
    "whose field a later revision took away",
    1,
    (body) => body.replace(/\/Fields \[.*?\]/, "/Fields []"),
    "Likewise.",
  );
  for (const [title, bytes] of falseEnds(ann, first)) {
    sealedPdf(title, proof(bytes), "fails", "The seal that seems to end it is not the service's.");
  }
  const signedBy = (signer: typeof seal, bytes: Uint8Array, more = {}) =>
    sealedFor(sealReasons.signed.live, { signer, ...more }, bytes);
  sealedPdf(
    "cut behind the first act, a proof seal and then one for a signed document",
    signedBy(seal, proof(first)),
    "fails",
    "The seal that ends a signing follows its last act.",
  );
  sealedPdf(
    "an act beside another signature, sealed",
    proof(by.signedEnvelope([{ ...ann, written: twoOverOne }]).states[0] ?? first),
    "fails",
    "Of two signatures over an act's revision nobody can say which is the act.",
  );
  const ended = signedBy(seal, first);
  sealedPdf(
    "a signed document, and a stranger's seal that says that it ends the same act",
    signedBy(stranger, ended, { originalLength: first.length }),
    "holds",
    "The first seal that follows the acts ends their signing.",
    { expect: { verdict: "not_verified", claims: { signing_complete: "holds" } } },
  );
  const stolen = retiredList("signers-stolen.json", "key-compromise");
  const sets = [...furtherCustody(ann, bob, stolen), ...oddActs(ann, bob), ...notarized(ann, bob)];
  for (const [title, files, verdict, changes, teaches, more] of sets) {
    const { document: about = null } = files;
    add({
      name: title,
      kind: "custody_set",
      files: {
        certificate: once(`${slug(title)}-certificate.pdf`, files.certificate),
        ...(about && { document: once(`${slug(title)}.pdf`, about) }),
      },
      trust: [published],
      expect: { ...good(changes), verdict },
      teaches,
      ...more,
    });
  }
  add({
    name: "a custody certificate without an envelope",
    kind: "custody_set",
    files: { certificate: once("empty-certificate.pdf", emptyCertificate()) },
    trust: [published],
    expect: { verdict: "not_verified", claims: { envelope_readable: "fails" } },
    teaches: "Nothing is attached under its name.",
  });
  add({
    name: "a custody certificate whose attachments stand there twice",
    kind: "custody_set",
    files: { certificate: once("attached-twice-certificate.pdf", twiceAttached()) },
    trust: [published],
    expect: { verdict: "not_verified", claims: { envelope_readable: "fails" } },
    teaches: "Of a key that stands twice one reader takes the first, another the last.",
  });
  const unsealed = by.signedEnvelope([ann, bob], { sealing: { contents: () => Uint8Array.of(0x30, 0x00) } });
  set(
    "a signature value without a certificate",
    unsealed,
    "The seal is none: what the acts say is judged all the same.",
    {
      verdict: "not_verified",
      claims: { ...ALL, seal_signature_valid: "fails" },
    },
  );
  return made();
}

function certificateAlone(): Claims {
  const { document_hash: _, ...rest } = ALL;
  return Object.fromEntries(
    Object.entries(rest).filter(([name]) => !/^(document|act)_/.test(name) || name === "act_hashes"),
  );
}
