import { createHash } from "node:crypto";
import { sealReasons } from "@signsealship/evidence/seal";
import {
  appendRevision,
  bodyOf,
  bytesOf,
  endOf,
  latin1,
  type NewObject,
  type SignOptions,
  signPdf,
} from "../../../../packages/evidence/test/seal/signed-pdf.ts";
import { cmsOver, testSigner, tokenOver } from "../../../../packages/evidence/test/signer.ts";
import { collection, type Expectation, type Made, notVerified, type State, verified } from "./case.ts";
import { issue, type Subject } from "./issued.ts";
import { document, oddSeal } from "./sealing.ts";
import { fixedKey, pem, seal, stranger, validFrom } from "./signers.ts";
import { plain } from "./way.ts";

type Step = (pdf: Uint8Array) => Uint8Array;
type Earlier = NonNullable<Expectation["earlier"]>[number];
type Row = {
  readonly name: string;
  readonly steps: readonly Step[];
  readonly earlier?: readonly Earlier[];
  readonly respected?: readonly State[];
  readonly verdict?: "verified" | "not_verified";
  readonly trust?: readonly string[];
  readonly teaches: string;
};

const sha256 = (bytes: Uint8Array) => Uint8Array.from(createHash("sha256").update(bytes).digest());
const foreign = { signer: stranger, originalLength: "absent", reserve: 900 } as const;
const signed =
  (options: Partial<SignOptions> = {}): Step =>
  (pdf) =>
    signPdf(pdf, { ...foreign, ...options });
const sealedAs =
  (kind: keyof typeof sealReasons, options: Partial<SignOptions> = {}): Step =>
  (pdf) =>
    oddSeal(pdf, { reason: sealReasons[kind].live, ...options });
const revised =
  (objects: (pdf: string) => readonly NewObject[]): Step =>
  (pdf) =>
    bytesOf(appendRevision(latin1(pdf), objects(latin1(pdf))));
const visible = signed({ visible: true });
const proof = sealedAs("proof");

const state = (later: State, valid: State = "holds"): Earlier => ({
  revision_covered: "holds",
  signature_valid: valid,
  later_changes_permitted: later,
});

/** An annotation that is no widget. */
const noted = revised((pdf) => {
  const number = endOf(pdf).size;
  const page = bodyOf(pdf, 5);
  return [
    [5, page.replace(/(\/Annots \[[^\]]*)\]/, `$1 ${number} 0 R]`)],
    [number, "<< /Type /Annot /Subtype /Text /Rect [10 10 20 20] /Contents (x) >>"],
  ];
});
/** The newest signature's field emptied. */
const emptied = revised((pdf) => {
  const field = endOf(pdf).size - 1;
  return [[field, bodyOf(pdf, field).replace(/ \/V \d+ 0 R/, "")]];
});
/** Another page under the same seal. */
const rewritten = revised((pdf) => {
  const number = endOf(pdf).size;
  const data = "BT /F1 18 Tf 72 720 Td (Another text) Tj ET";
  return [
    [5, bodyOf(pdf, 5).replace("/Contents 6 0 R", `/Contents ${number} 0 R`)],
    [number, `<< /Length ${data.length} >>\nstream\n${data}\nendstream`],
  ];
});
/** The same, by a section that leads past the sealed revision. */
const bypassed: Step = (pdf) =>
  bytesOf(latin1(rewritten(pdf)).replace(/\/Prev \d+(?![\s\S]*\/Prev)/, `/Prev ${endOf(plain).startxref}`));
/** A font that no reader can read, and none needs. */
const damaged = revised((pdf) => [
  [5, bodyOf(pdf, 5).replace("/F1 3 0 R", "/F1 3 0 R /F2 20 0 R")],
  [20, "<< /A 7x >>"],
]);

const reference = "/Reference [<< /Type /SigRef /TransformMethod /DocMDP /TransformParams << /P 3 >> >>] ";
const permissive = signed({ dictionary: (text) => text.replace("/Contents", `${reference}/Contents`) });

function signatures(): readonly Row[] {
  const once = (name: string, options: Partial<SignOptions>, valid: State, teaches: string): Row => ({
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
    {
      name: "two signatures, of which a later revision takes the second away",
      steps: [signed(), signed(), emptied, proof],
      earlier: [state("fails"), { ...state("fails"), signature_present: "fails" }],
      teaches: "Those that are gone are found in the bytes, also behind one that is still there (7).",
    },
  ];
}

const root: Subject = { name: "Test root", key: fixedKey("root") };
const leaf: Subject = { name: "Test issued seal", key: fixedKey("issued seal") };
const rootCertificate = issue(root, root, { serial: 11, isAuthority: true });
const bySeal = {
  key: leaf.key.key,
  sign: leaf.key.sign,
  certificate: issue(leaf, root, { serial: 14, isAuthority: false }),
};
const bySigner = { ...bySeal, certificate: issue(leaf, root, { serial: 16, isAuthority: false, isSigners: true }) };
const farTsa = testSigner("tsa", validFrom, Date.UTC(2060, 0, 1), fixedKey("far tsa"));

/** Seals of the service, which end a document: section 7.2. */
function seals(): readonly Row[] {
  const ends = "A seal of the service ends the document that it seals (7.2).";
  const broken = "What can't be judged is not permitted, and a seal of the service permits no more for it (7.1, 7.2).";
  return [
    {
      name: "a seal of the service, and another page",
      steps: [sealedAs("signed"), rewritten, proof],
      earlier: [state("fails")],
      respected: ["fails"],
      teaches: ends,
    },
    {
      name: "a seal of the service over a document with a broken font, and another page",
      steps: [damaged, sealedAs("signed"), rewritten, proof],
      earlier: [{ signature_valid: "holds", later_changes_permitted: "fails" }],
      respected: ["fails"],
      teaches: broken,
    },
    {
      name: "a seal of the service that the sections lead past",
      steps: [sealedAs("signed"), bypassed, proof],
      earlier: [{ signature_present: "fails", signature_valid: "holds", later_changes_permitted: "fails" }],
      respected: ["fails"],
      teaches: broken,
    },
    {
      name: "a seal of the service that is not valid, then a visible signature",
      steps: [sealedAs("signed", { contents: (bytes) => cmsOver(sha256(bytes.subarray(1)), seal) }), visible, proof],
      earlier: [state("holds", "fails"), state("holds")],
      teaches: "One that is not valid is judged as any other signature (7.2).",
    },
    {
      name: "a signer's certificate in the form of a seal, then a visible signature",
      steps: [sealedAs("signed", { signer: bySigner }), visible, sealedAs("proof", { signer: bySeal })],
      earlier: [state("holds"), state("holds")],
      trust: ["trust/root.pem"],
      teaches: "A signer's certificate makes no seal of the service (7.2).",
    },
    {
      name: "a seal of the service with a token that nobody trusts, then a visible signature",
      steps: [
        sealedAs("signed", { stamp: (value) => tokenOver(value, farTsa, Date.UTC(2050, 0, 1)), reserve: 1900 }),
        visible,
        proof,
      ],
      respected: ["fails"],
      teaches: "Its certificate counts at the instant of a trusted time stamp in it, else of its /M (7.2).",
    },
    {
      name: "signed, notarized, and then a visible signature",
      steps: [sealedAs("signed"), visible, sealedAs("notarized"), visible, proof],
      earlier: [state("fails"), state("holds"), state("fails"), state("holds")],
      respected: ["fails", "fails"],
      teaches:
        "Behind a seal for Signed the table alone decides as far as the last seal for Notarized, and no further (7.2).",
    },
    {
      name: "notarized, then signed and notarized",
      steps: [sealedAs("notarized"), sealedAs("signed"), visible, sealedAs("notarized")],
      earlier: [state("fails"), state("holds"), state("holds")],
      respected: ["fails", "holds"],
      teaches: "The seal for Notarized that ends a notarization is a later one (7.2).",
    },
    {
      name: "a seal of the service, then a stranger's invisible signature over the whole file",
      steps: [proof, signed()],
      earlier: [state("fails")],
      respected: ["fails"],
      verdict: "not_verified",
      teaches: "What covers the whole file counts as a seal when it is in the form of one (7.2).",
    },
  ];
}

/** Texts on the page that look like signatures to a search. */
function texts(): readonly Row[] {
  const teaches = "A signature that is gone was one over a revision of its own (7).";
  const passing = (): Uint8Array => {
    const digits = (value: number) => String(value).padStart(6, "0");
    const text = (numbers: readonly number[]) => document(`<00>/ByteRange [${numbers.map(digits).join(" ")}]`);
    const at = Buffer.from(text([0, 0, 0, 0])).indexOf("<00>/ByteRange");
    return text([0, at, at + 4, 60]);
  };
  const row = (name: string, pdf: () => Uint8Array): Row => ({ name, steps: [pdf, proof], earlier: [], teaches });
  return [
    row("a text that begins as a /ByteRange", () => document("/ByteRange [0 7x")),
    row("a text that passes for a signature over what is no document", passing),
    row("a signature without a value, taken away", () =>
      emptied(signed({ contents: () => Uint8Array.of(255, 255) })(document())),
    ),
  ];
}

/** Two signatures to the same end, of which the second is taken away; the first is not valid, since its bytes were changed. */
function twoToOneEnd(): Row {
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

/** What is said of signatures that the sealed document held before: section 7. */
export function earlierRules(): Made {
  const { add, put, trust, made, slug } = collection("earlier");
  trust("root.pem", pem(rootCertificate.der));
  for (const row of [...signatures(), ...seals(), ...texts(), twoToOneEnd()]) {
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
  return made();
}
