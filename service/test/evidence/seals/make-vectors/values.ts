import { tokenOver } from "../../../../../packages/evidence/test/signer.ts";
import { changedBytes, collection, type Expectation, type Made, notVerified, verified } from "./case.ts";
import { document, oddSeal, type Sealing, type SealOptions } from "./sealing.ts";
import * as by from "./signers.ts";

/** Signature values that a seal must not have, created with the seal's own key. */
export function oddValues(): Made {
  const { add, put, made, slug } = collection("values");
  const one = (
    name: string,
    options: SealOptions | undefined,
    expect: Expectation,
    teaches: string,
    more: object = {},
  ) =>
    add({
      name,
      kind: "sealed_pdf",
      files: { sealed: put(`${slug(name)}.pdf`, oddSeal(document(), options)) },
      expect,
      teaches,
      ...more,
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
    "a stated length that is another, and the document's hash told",
    { originalLength: document().length - 2 },
    notVerified({
      original_document_hash: "fails",
      signature_structure: null,
      document_hash_as_expected: "unchecked",
    }),
    "Without the document's length nobody can tell its hash.",
    { expected: { docSha256: "ab".repeat(32) } },
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
