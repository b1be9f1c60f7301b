import { createHash } from "node:crypto";
import { sealReasons } from "@signsealship/evidence/seal";
import { tokenOver } from "../../../../packages/evidence/test/signer.ts";
import {
  changedBytes,
  collection,
  intact,
  type Made,
  notCovered,
  notVerified,
  unsigned,
  verified,
  verifiedTest,
} from "./case.ts";
import { document, oddSeal, type Sealing, sealed, stamped } from "./sealing.ts";
import * as by from "./signers.ts";

const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");
const instant = (ms: number): string => new Date(ms).toISOString();
const withTime = { time_stamp_valid: "holds" } as const;

/** Seals of each key, purpose and time, and what trust and the instant make of them. */
export async function sealedFiles(): Promise<Made> {
  const { add, put, made } = collection("sealed");
  const contract = document();
  const one = (file: string, name: string, teaches: string, more: Partial<Parameters<typeof add>[0]>) =>
    add({ name, kind: "sealed_pdf", files: { sealed: file }, teaches, expect: verified(), ...more });

  const bb = put("p256-b-b.pdf", await sealed(contract));
  const bt = put("p256-b-t.pdf", await stamped(contract));
  const rsa = put("rsa-b-b.pdf", await sealed(contract, { cms: by.rsaCms }));
  const rsaTime = put("rsa-b-t.pdf", await stamped(contract, { cms: by.rsaCms }));
  const byRsa = { trust: ["trust/seal-rsa.pem"] } as const;
  one(bb, "B-B by P-256", "The smallest seal: no time stamp, and its absence lowers nothing.", {});
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

/** /Reason: the eight purposes, and none of them. */
export async function purposes(): Promise<Made> {
  const { add, put, made, slug } = collection("purposes");
  for (const [kind, reasons] of Object.entries(sealReasons)) {
    // A closing purpose without a manifest is judged with the closing sets.
    if (kind === "closing") continue;
    for (const reason of Object.values(reasons)) {
      const test = reason !== reasons.live;
      add({
        name: reason,
        kind: "sealed_pdf",
        files: { sealed: put(`${slug(reason)}.pdf`, await sealed(document(), { reason })) },
        expect: test ? verifiedTest() : verified(),
        teaches: test ? "A test's seal is never verified without saying so." : "A purpose that a verifier takes.",
      });
    }
  }
  const none = intact({ seal_purpose: "fails" });
  const odd: readonly (readonly [string, string | null])[] = [
    ["another text", "Something else"],
    ["another case", "proof passport"],
    ["a space behind", "Proof passport "],
    ["an environment of its own", "Proof passport (live)"],
    ["empty", ""],
    ["none at all", null],
  ];
  for (const [name, reason] of odd) {
    const bytes = oddSeal(document(), { reason });
    add({
      name: `/Reason: ${name}`,
      kind: "sealed_pdf",
      files: { sealed: put(`reason-${slug(name)}.pdf`, bytes) },
      expect: none,
      teaches: "Only the eight texts are purposes; without one the verdict is intact at most.",
    });
  }
  const twice = oddSeal(document(), {
    reason: "Proof passport",
    dictionary: (text) => text.replace("/M(D:20260101000000Z)", "/Reason(Signed)/M()  ".padEnd(21)),
  });
  add({
    name: "/Reason twice",
    kind: "sealed_pdf",
    files: { sealed: put("reason-twice.pdf", twice) },
    expect: notCovered,
    teaches: "A key that stands twice in the signature dictionary makes the signature unusable (repeated-key).",
  });
  return made();
}

/** Signature values that a seal must not have, signed with the seal's own key. */
export function oddValues(): Made {
  const { add, put, made, slug } = collection("values");
  const one = (
    name: string,
    options: Parameters<typeof oddSeal>[1],
    expect: Parameters<typeof add>[0]["expect"],
    teaches: string,
  ) =>
    add({
      name,
      kind: "sealed_pdf",
      files: { sealed: put(`${slug(name)}.pdf`, oddSeal(document(), options)) },
      expect,
      teaches,
    });
  one(
    "a seal of before, without seal-statement",
    { unstated: true },
    verified(),
    "/Contents /ByteRange[ stands in the signed bytes once: place and length of the gap follow (2.9, rule 2).",
  );
  one(
    "a signing-time",
    { signingTime: by.sealedAt.getTime() },
    notVerified({ seal_signature_valid: "fails" }),
    "PAdES baseline forbids the CMS signing-time attribute.",
  );
  one(
    "no signing-certificate-v2",
    { withoutSigningCertificate: true },
    notVerified({ seal_signature_valid: "fails", document_unchanged_since_seal: null }),
    "Without it the certificate could be exchanged for another of the same key.",
  );
  one(
    "the greater s",
    { highS: true },
    notVerified({ seal_signature_valid: "fails" }),
    "(r, n - s) signs the same: a seal that states its place has one form alone (3.2).",
  );
  one(
    "the greater s in a seal of before",
    { highS: true, unstated: true },
    verified(),
    "Seals without seal-statement may have either form.",
  );
  one(
    "another subfilter",
    { subFilter: "adbe.pkcs7.detached" },
    notVerified({ seal_signature_valid: "fails", signature_structure: null }),
    "Only /ETSI.CAdES.detached gives a PAdES level.",
  );
  one(
    "a stated place that is another",
    { place: { byteRange: [0, 1, 2, 3], originalLength: document().length } },
    notVerified({ seal_place: "fails" }),
    "A seal that states another place than its own contradicts itself.",
  );
  one(
    "a stated length that is another",
    { originalLength: document().length - 2 },
    notVerified({ original_document_hash: "fails", signature_structure: null }),
    "/SSSOriginalLength is believed only where the tail begins (2.4).",
  );
  one(
    "no /SSSOriginalLength",
    { originalLength: "absent" },
    notVerified({
      original_document_hash: "unchecked",
      signature_structure: "fails",
      seal_place: null,
      seal_purpose: "fails",
    }),
    "Any other program's signature over the whole file is not a seal.",
  );
  const stamps: readonly (readonly [string, NonNullable<Sealing["stamp"]>, string])[] = [
    ["a token over something else", () => by.stamp(Buffer.from("other")), "A token is over this signature value."],
    [
      "a token by a key that may not stamp",
      (value) => tokenOver(value, by.stranger, by.stampedAt),
      "The authority's certificate has the critical timeStamping usage alone.",
    ],
    ["a token that is none", () => Uint8Array.of(0x30, 0x03, 0x02, 0x01, 0x07), "A token that can't be read."],
  ];
  for (const [name, stamp, teaches] of stamps) {
    const unread = name.endsWith("is none");
    const expect = notVerified(
      unread
        ? {
            ...changedBytes,
            seal_certificate_trusted: null,
            seal_certificate_valid_at_time: null,
            time_stamp_valid: null,
            seal_place: null,
          }
        : { time_stamp_valid: "fails" },
    );
    one(name, { stamp, reserve: 1500 }, expect, teaches);
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
  const one = (name: string, bytes: Uint8Array, expect: Parameters<typeof add>[0]["expect"], teaches: string) =>
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
