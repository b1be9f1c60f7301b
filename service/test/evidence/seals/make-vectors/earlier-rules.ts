import { type DerValue, encode, nullValue, OID, oid, sequence } from "@signsealship/evidence/asn1";
import {
  bodyOf,
  bytesOf,
  endOf,
  latin1,
  type NewObject,
  type SignOptions,
  signPdf,
} from "../../../../../packages/evidence/test/seal/signed-pdf.ts";
import { cmsOver } from "../../../../../packages/evidence/test/signer.ts";
import { collection, type Made, notCovered, notVerified, type State, unreadable, unsigned, verified } from "./case.ts";
import { earlierRoot, earlierSeals, lockedRows, textRows } from "./earlier-seals.ts";
import {
  type EarlierRow,
  emptied,
  foreign,
  HOLE,
  holding,
  noted,
  permissive,
  proof,
  ranged,
  revised,
  type Step,
  sha256,
  signed,
  state,
} from "./earlier-steps.ts";
import * as edit from "./parts/der-edit.ts";
import { document } from "./sealing.ts";
import { stranger } from "./signers.ts";
import { plain } from "./way.ts";

const referring = (reference: string): Step =>
  signed({ dictionary: (text) => text.replace("/Contents", `${reference} /Contents`) });

/** Replaces the algorithm identifier in a signature. The signature does not cover this identifier. */
const algorithmOf =
  (algorithm: DerValue) =>
  (bytes: Uint8Array): Uint8Array => {
    const hex = Buffer.from(encode(algorithm)).toString("hex");
    return edit.withEdit(cmsOver(sha256(bytes), stranger), [1, 0, 4, 0, 4], edit.becomes(hex));
  };

function signatures(): readonly EarlierRow[] {
  const once = (name: string, options: Partial<SignOptions>, valid: State, teaches: string): EarlierRow => ({
    name,
    steps: [signed(options), proof],
    earlier: [state("holds", valid)],
    teaches,
  });
  const old = "It rests on SHA-1, and was not judged (7).";
  const pkcs7 = "adbe.pkcs7.detached";
  const other = (bytes: Uint8Array) => cmsOver(sha256(bytes.subarray(1)), stranger);
  return [
    once("a signature of PKCS#7", { subFilter: pkcs7 }, "holds", "The seven checks without signingCertificate (7)."),
    once("a signature of PKCS#7 over something else", { subFilter: pkcs7, contents: other }, "fails", "It is invalid."),
    once("a signature of PKCS#7 by SHA-1", { subFilter: pkcs7, sha1: true }, "unchecked", old),
    once("a signature of adbe.pkcs7.sha1", { subFilter: "adbe.pkcs7.sha1" }, "unchecked", old),
    once("a signature of adbe.x509.rsa_sha1", { subFilter: "adbe.x509.rsa_sha1" }, "unchecked", old),
    once(
      "a signature of PKCS#7 by a signature algorithm of SHA-1 that is not read",
      { subFilter: pkcs7, contents: algorithmOf(sequence(oid(OID.ecdsaWithSha1), nullValue)) },
      "unchecked",
      old,
    ),
    once(
      "a signature of PKCS#7 by RSASSA-PSS with SHA-1",
      { subFilter: pkcs7, contents: algorithmOf(sequence(oid(OID.rsassaPss), sequence())) },
      "unchecked",
      old,
    ),
    once(
      "a signature of a /SubFilter that is not known",
      { subFilter: "X.y" },
      "fails",
      "Any other is never valid (7).",
    ),
    once(
      "a signature of PKCS#7 without signed attributes",
      { subFilter: pkcs7, contents: (bytes) => cmsOver(sha256(bytes), stranger, { bare: bytes }) },
      "holds",
      "The signature then is over the signed bytes themselves (7).",
    ),
    once(
      "a PAdES signature without signed attributes",
      { contents: (bytes) => cmsOver(sha256(bytes), stranger, { bare: bytes }) },
      "fails",
      "PAdES has signed attributes.",
    ),
    {
      name: "a signature whose /Reference is null, and a visible one",
      steps: [referring("/Reference null"), signed({ visible: true }), proof],
      earlier: [state("holds"), state("holds")],
      teaches: "null is as good as nothing (7.2).",
    },
    {
      name: "a signature whose value is none",
      steps: [signed({ contents: () => Uint8Array.of(255, 255) }), proof],
      earlier: [{ revision_covered: "fails" }],
      teaches: "Its /ByteRange is not usable: that is a finding (7).",
    },
    {
      name: "an approval, then a certification that permits notes, and a note",
      steps: [signed(), permissive, noted, proof],
      earlier: [state("fails"), state("holds")],
      respected: ["holds"],
      teaches:
        "What a certification permits is inherited by what was signed behind it, and by nothing before it (7.2).",
    },
    {
      name: "a certification that permits notes, then an approval, and a note",
      steps: [permissive, signed(), noted, proof],
      earlier: [state("holds"), state("holds")],
      respected: ["holds"],
      teaches: "What a certification permits is inherited by what was signed behind it (7.2).",
    },
    ...lockedRows(),
    {
      name: "two signatures, of which a later revision takes the second away",
      steps: [signed(), signed(), emptied, proof],
      earlier: [state("fails"), { ...state("fails"), signature_present: "fails" }],
      teaches: "Those that are gone are found in the bytes, also behind one that is still there (7).",
    },
  ];
}

/**
 * Two signatures whose signed ranges end at the same byte. The second is removed later; the first is not valid, because
 * its bytes were changed.
 */
function twoToOneEnd(): EarlierRow {
  const [field, value] = [40, 41];
  const hole = "AAAAAAAAAA BBBBBBBBBB CCCCCCCCCC";
  const another = (list: readonly NewObject[]): NewObject[] => [
    ...list.map(([number, body]): NewObject => [number, body.replace("/Fields [", `/Fields [${field} 0 R `)]),
    [field, `<< /FT /Sig /T (b) /V ${value} 0 R >>`],
    [value, `<< /Type /Sig /SubFilter /adbe.pkcs7.sha1 /Contents <3003020100> /ByteRange [0 ${hole}] >>`],
  ];
  const both: Step = (pdf) => {
    const text = latin1(signPdf(pdf, { ...foreign, objects: another }));
    const start = text.indexOf("<3003020100>");
    const end = start + 12;
    const numbers = [start, end, text.length - end].map((number) => String(number).padEnd(10));
    return bytesOf(text.replace(hole, numbers.join(" ")));
  };
  const without = revised((pdf) => [[field, bodyOf(pdf, field).replace(/ \/V \d+ 0 R/, "")]]);
  return {
    name: "two signatures to the same end, of which the second is taken away",
    steps: [both, without, proof],
    earlier: [
      { signature_valid: "fails" },
      { signature_present: "fails", signature_valid: "unchecked", later_changes_permitted: "fails" },
    ],
    teaches: "Each signature that is gone is found once, and none that is there (7).",
  };
}

function counted(): readonly EarlierRow[] {
  const bound = "More than 64 signatures, those that are gone included, are not judged (6.3).";
  return [
    {
      name: "70 signatures that are gone, of two revisions",
      steps: [holding(60), holding(10), holding(0), proof],
      respected: ["fails"],
      teaches: bound,
    },
    {
      name: "60 signatures that are gone",
      steps: [holding(60), holding(0), proof],
      teaches: "Without a permission it is a finding that they are gone (7).",
    },
    {
      name: "a signature that ends before the only section",
      steps: [inOneRevision, proof],
      earlier: [{ revision_covered: "fails", signature_valid: "unchecked", later_changes_permitted: "fails" }],
      teaches: "What it covers is no document: that is a finding, since no permission is known (7).",
    },
    {
      name: "a signature of no revision with a text that passes for its /ByteRange",
      steps: [insideText, holding(0), proof],
      teaches: "A signature that is gone is found by its own /ByteRange, and was one over a revision of its own (7).",
    },
  ];
}

/**
 * A signature with /P 1 whose /Reason contains the text of another /ByteRange. That range would end where the revision
 * ends.
 */
const insideText: Step = (pdf) => {
  const permission = "/Reference [<< /TransformMethod /DocMDP /TransformParams << /P 1 >> >>]";
  const waiting = "DDDDDDDDDD EEEEEEEEEE FFFFFFFFFF";
  const text = latin1(holding(1, `${permission} /Reason (<00>/ByteRange [0 ${waiting}]) `)(pdf));
  const start = text.indexOf("<00>");
  const numbers = [start, start + 4, text.length - start - 4].map((number) => String(number).padEnd(10));
  return bytesOf(text.replace(waiting, numbers.join(" ")));
};

/** A document of one revision, whose signed range ends before the cross-reference section. */
const inOneRevision: Step = () => {
  const at = endOf(plain).startxref;
  const padding = "/PieceInfo << /Padding << /Private 4 0 R >> >>";
  const form = "/AcroForm << /SigFlags 3 /Fields [7 0 R] >>".padEnd(padding.length);
  const field = "7 0 obj\n<< /FT /Sig /T (a) /V 8 0 R >>\nendobj\n";
  const value = `8 0 obj\n<< /Type /Sig /SubFilter /adbe.pkcs7.sha1 /Contents <3003020100> /ByteRange [0 ${HOLE}] >>\nendobj\n`;
  const row = (offset: number) => `${String(offset).padStart(10, "0")} 00000 n \n`;
  const objects = field + value;
  const table = plain
    .slice(at)
    .replace("xref\n0 7\n", "xref\n0 9\n")
    .replace("/Size 7", "/Size 9")
    .replace("trailer", `${row(at)}${row(at + field.length)}trailer`)
    .replace(/startxref\n\d+/, `startxref\n${at + objects.length}`);
  return bytesOf(ranged(plain.slice(0, at).replace(padding, form) + objects + table, table.length));
};

/** Vectors for claims about signatures from before the seal (docs/evidence-format.md, section 7). */
export function earlierRules(): Made {
  const { add, put, trust, made, slug } = collection("earlier");
  trust("root.pem", earlierRoot);
  for (const row of [...signatures(), ...earlierSeals(), ...textRows(), twoToOneEnd(), ...counted()]) {
    const { name, steps, earlier = [], respected = [], teaches, trust: anchors } = row;
    const pdf = steps.reduce((before, step) => step(before), document());
    const isRespected = !respected.includes("fails");
    const claims = respected.length === 0 ? {} : { certification_respected: respected };
    const verdict = isRespected ? verified() : notVerified();
    const usual = { ...verdict, claims: { ...verdict.claims, ...claims } };
    const expect = row.verdict === undefined ? usual : { verdict: row.verdict, claims };
    const files = { sealed: put(`${slug(name)}.pdf`, pdf) };
    add({
      name,
      kind: "sealed_pdf",
      files,
      expect: { ...expect, earlier },
      teaches,
      ...(anchors && { trust: anchors }),
    });
  }
  add({
    name: "two signatures that cover the whole file",
    kind: "sealed_pdf",
    files: { sealed: put("two-signatures-that-cover-the-whole-file.pdf", holding(2)(document())) },
    expect: notCovered,
    teaches: "The seal is the one signature that ends at the last byte: of two neither is (6.1).",
  });
  const twice = { "a signature": "/Reference [] /Reference []", "a reference": "/Reference [<< /P 1 /P 2 >>]" };
  for (const [what, reference] of Object.entries(twice)) {
    add({
      name: `a key twice in ${what} of before`,
      kind: "sealed_pdf",
      files: { sealed: put(`${slug(`a key twice in ${what}`)}.pdf`, proof(referring(reference)(document()))) },
      expect: unreadable,
      teaches: "A key that stands twice where a permission is stated is refused (2.6).",
    });
  }
  const form = "/AcroForm << /Fields [<< /FT /Tx /T (a) /V << /Type /Sig >> >>] >>";
  const field = revised((pdf) => [[1, bodyOf(pdf, 1).replace(/ >>$/, ` ${form} >>`)]]);
  add({
    name: "a text field whose value is a dictionary without /ByteRange",
    kind: "sealed_pdf",
    files: { sealed: put("a-text-field-whose-value-is-a-dictionary.pdf", field(document())) },
    expect: unsigned,
    teaches: "A signature is the value of a field of the type /Sig, or has a /ByteRange (2.6).",
  });
  return made();
}
