import { createHash } from "node:crypto";
import { ENDING, endingIn, RUNNING_OVER } from "../../../../../packages/evidence/test/seal/running-over.ts";
import { bytesOf, latin1 } from "../../../../../packages/evidence/test/seal/signed-pdf.ts";
import {
  changedBytes,
  collection,
  type Expectation,
  intact,
  type Made,
  type NewCase,
  notCovered,
  notVerified,
  unsigned,
  verified,
} from "./case.ts";
import { document, oddSeal, sealed, stamped } from "./sealing.ts";
import * as by from "./signers.ts";

const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");
const instant = (ms: number): string => new Date(ms).toISOString();
const withTime = { time_stamp_valid: "holds" } as const;

/** Seals with each key, purpose and time, verified with different trust and at different instants. */
export async function sealedFiles(): Promise<Made> {
  const { add, put, made } = collection("sealed");
  const contract = document();
  const one = (file: string, name: string, teaches: string, more: Partial<NewCase>) =>
    add({ name, kind: "sealed_pdf", files: { sealed: file }, teaches, expect: verified(), ...more });

  const bb = put("p256-b-b.pdf", await sealed(contract));
  const bt = put("p256-b-t.pdf", await stamped(contract));
  const rsa = put("rsa-b-b.pdf", await sealed(contract, { cms: by.rsaCms }));
  const rsaTime = put("rsa-b-t.pdf", await stamped(contract, { cms: by.rsaCms }));
  const byRsa = { trust: ["trust/seal-rsa.pem"] } as const;
  one(bb, "B-B by P-256", "The smallest seal: no time stamp, and its absence lowers nothing.", {
    absent: ["signing_complete"],
  });
  one(bt, "B-T by P-256", "A trusted token in the seal proves when it existed.", { expect: verified(withTime) });
  one(rsa, "B-B by RSA", "The service's own self-signed certificate, RSA PKCS#1 v1.5.", byRsa);
  one(rsaTime, "B-T by RSA", "The same with a token.", { ...byRsa, expect: verified(withTime) });
  one(bt, "B-T, no authority trusted", "An intact token of nobody trusted proves no time, and is no fault.", {
    tsaTrust: [],
  });
  one(bt, "B-T, another authority trusted", "A token without a path to the anchors given fails.", {
    tsaTrust: ["trust/other-tsa.pem"],
    expect: notVerified({ time_stamp_valid: "fails" }),
  });
  one(bb, "no seal trusted", "Without trust anybody could have made it: intact.", {
    trust: [],
    expect: intact({ seal_certificate_trusted: "unchecked" }),
  });
  one(bb, "another seal trusted", "A seal without a path to the anchors given fails.", {
    trust: ["trust/other-seal.pem"],
    expect: notVerified({ seal_certificate_trusted: "fails" }),
  });
  one(bb, "two seals trusted", "One of the anchors is enough.", { trust: ["trust/other-seal.pem", "trust/seal.pem"] });
  const outside = notVerified({ seal_certificate_trusted: "unchecked", seal_certificate_valid_at_time: "fails" });
  one(
    bb,
    "B-B before the certificate's time",
    "A path that fails for a validity period alone leaves trust unchecked.",
    {
      at: instant(by.validFrom - 1000),
      expect: outside,
    },
  );
  one(bb, "B-B at notBefore", "The first second is inside.", { at: instant(by.validFrom) });
  one(bb, "B-B at notAfter", "The last second is inside.", { at: instant(by.validTo) });
  one(bb, "B-B within the second of notAfter", "notAfter names a whole second.", { at: instant(by.validTo + 999) });
  one(bb, "B-B a second after notAfter", "Without proven time the instant of verification counts.", {
    at: instant(by.validTo + 1000),
    expect: outside,
  });
  one(bt, "B-T after notAfter", "A proven time outlives the certificates.", {
    at: instant(by.validTo + 86_400_000),
    expect: verified(withTime),
  });
  one(bt, "B-T after notAfter, no authority trusted", "What is not proven doesn't outlive them.", {
    at: instant(by.validTo + 86_400_000),
    tsaTrust: [],
    expect: outside,
  });
  one(bt, "B-T, verified before it was stamped", "A token more than five minutes ahead of the verifier fails.", {
    at: instant(by.stampedAt - 301_000),
    expect: notVerified({ time_stamp_valid: "fails" }),
  });
  one(bb, "hashes as told", "Both hashes are those that somebody stated.", {
    expected: { sealedSha256: sha256(await sealed(contract)), docSha256: sha256(contract) },
    expect: verified({ sealed_hash_as_expected: "holds", document_hash_as_expected: "holds" }),
  });
  one(bb, "another document's hash told", "docSha256 is that of the bytes before the seal.", {
    expected: { docSha256: sha256(document("Contrast")) },
    expect: notVerified({ document_hash_as_expected: "fails" }),
  });
  one(bb, "another sealed file's hash told", "sealedSha256 is that of the whole file.", {
    expected: { sealedSha256: sha256(contract) },
    expect: notVerified({ sealed_hash_as_expected: "fails" }),
  });
  return made();
}

/**
 * Documents whose last object has an unusual header, or none. Most of these objects are an unclosed string. `isOver`:
 * true if the seal's bytes become part of the object.
 */
function oddHeaders(): readonly (readonly [what: string, original: Uint8Array, isOver: boolean])[] {
  const named = (header: string) =>
    bytesOf(latin1(endingIn("(", "named behind a comment")).replace("0 obj\n(", `${header}\n(`));
  const unnamed = (value: string) => endingIn(`(x)\nendobj\n${value}`);
  const spaces = (count: number) => `9 0${" ".repeat(count)}obj (`;
  return [
    ["a string not closed, its header behind a comment", named("0 obj"), true],
    ["a string closed, its header behind a comment", endingIn("(x)\nendobj", "named behind a comment"), false],
    ["a string not closed, its header without a generation", named("  obj"), false],
    ["a string not closed, its header without obj", named("0 obx"), false],
    ["a string not closed, that no section names", unnamed("9 0 obj ("), true],
    ["a string not closed, 32 spaces before obj", unnamed(spaces(32)), true],
    ["a string not closed, 33 spaces before obj", unnamed(spaces(33)), false],
    ["a string not closed, behind obj without numbers", unnamed("% obj ("), false],
    ["an image whose length leads nowhere", endingIn(`<< /Length 99 0 R >>\nstream\nq\nendstream\nendobj`), false],
  ];
}

/** Values whose end a reader finds only if it reads them token by token. */
const WORDS: readonly (readonly [what: string, value: string, isOver: boolean])[] = [
  ["a brace before the word that closes", "}endobj\n(", false],
  ["an image whose length leads past its end", "<< /Length 4096 >>\nstream\nq\nendstream\nendobj", true],
  ["an array in an array that is not closed", "[[ 1 ] endobj (", true],
  ["a number sign in what is no name", "<< /A x#y 4096 /Length 2 >>\nstream\nab\nendstream\nendobj", false],
  ["a word that begins as the one that closes", "endobjs (", true],
  ["a length inside another dictionary", "<< /A << /Length 4096 >> /Length 2 >>\nstream\nab\nendstream\nendobj", false],
  ["a single bracket in a dictionary", "<< /A > endobj (", true],
  ["a key that begins as /Length", "<< /Length1 4096 /Length 2 >>\nstream\nab\nendstream\nendobj", false],
];

/**
 * Documents whose last object does not end before the seal, so that the seal's bytes become part of the object. Then
 * similar documents, whose last object does end.
 */
export async function runningOver(): Promise<Made> {
  const { add, put, made, slug } = collection("running-over");
  const one = async (what: string, value: string, expect: Expectation, teaches: string) =>
    add({
      name: `a document that ends with ${what}`,
      kind: "sealed_pdf",
      files: { sealed: put(`${slug(what)}.pdf`, await stamped(endingIn(value))) },
      expect,
      teaches,
    });
  for (const [what, value] of Object.entries(RUNNING_OVER)) {
    const expect = notVerified({ ...withTime, signature_structure: "fails" });
    await one(what, value, expect, "The token can be taken out without a key: nothing shown may be made of it.");
  }
  for (const [what, value] of Object.entries(ENDING))
    await one(what, value, verified(withTime), "An object has to end before the seal begins, and no more.");
  const headers = "Objects are those that a section names, and all else that begins as N G obj (2.3).";
  const words = WORDS.map(([what, value, isOver]) => [what, endingIn(value), isOver] as const);
  for (const [what, original, isOver] of [...oddHeaders(), ...words]) {
    const files = { sealed: put(`${slug(what)}.pdf`, oddSeal(original)) };
    const expect = isOver ? notVerified({ signature_structure: "fails" }) : verified();
    add({ name: `a document that ends with ${what}`, kind: "sealed_pdf", files, expect, teaches: headers });
  }
  return made();
}

/** Bytes changed in a good file by somebody without the key. */
export async function changed(): Promise<Made> {
  const { add, put, made, slug } = collection("changed");
  const good = await stamped(document());
  const text = Buffer.from(good).toString("latin1");
  const gap = text.lastIndexOf("/Contents <") + "/Contents <".length;
  const digest = Buffer.from(good.subarray(0, gap - 1));
  const at = (index: number, value: number): Uint8Array => {
    const bytes = good.slice();
    bytes[index] = value;
    return bytes;
  };
  const one = (name: string, bytes: Uint8Array, expect: Expectation, teaches: string) =>
    add({ name, kind: "sealed_pdf", files: { sealed: put(`${slug(name)}.pdf`, bytes) }, expect, teaches });
  const other = notVerified({ ...changedBytes, time_stamp_valid: "holds" });
  one("a letter of the page", at(digest.indexOf("(Contract") + 1, 0x4b), other, "The bytes are not those signed.");
  one("a digit of /M", at(digest.lastIndexOf("/M(D:2026") + 8, 0x37), other, "The dictionary is signed, too.");
  const last = text.lastIndexOf("00>/ByteRange");
  one(
    "a digit of the padding",
    at(last, 0x31),
    notCovered,
    "Behind the value there are zeros alone (padding-not-zero).",
  );
  one(
    "one line feed behind",
    Uint8Array.from([...good, 10]),
    notCovered,
    "The seal is the signature that ends at the last byte.",
  );
  one(
    "the last byte missing",
    good.slice(0, -1),
    notCovered,
    "/ByteRange reaches past the end (byte-range-outside-file).",
  );
  one("the original alone", document(), unsigned, "No signature at all: unsigned.");
  one(
    "no PDF",
    Buffer.from("This is no PDF.\n"),
    { verdict: "not_a_pdf", claims: {} },
    "No %PDF- in the first 1,024 bytes.",
  );
  return made();
}
