import { createHash } from "node:crypto";
import {
  type DerValue,
  encode,
  nullValue,
  OID,
  octetString,
  oid,
  raw,
  sequence,
  set,
} from "@signsealship/evidence/asn1";
import { cmsOver, withLowS } from "../../../../../packages/evidence/test/signer.ts";
import { collection, type Expectation, type Made, notVerified, verified } from "./case.ts";
import { chains, identified, leafDer } from "./cms-chains.ts";
import * as edit from "./parts/der-edit.ts";
import { document, oddSeal, type SealOptions } from "./sealing.ts";
import * as by from "./signers.ts";

type Change = (cms: Uint8Array) => Uint8Array;

const sign = (data: Uint8Array) => withLowS(by.seal.sign?.(data) ?? data);
const at =
  (path: readonly number[], change: edit.Edit): Change =>
  (cms) =>
    edit.withEdit(cms, path, change);
const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");
const then =
  (hex: string): edit.Edit =>
  (value) => [value, Buffer.from(hex, "hex")];
const hashOf = (...ders: readonly Uint8Array[]) => {
  const hash = createHash("sha256");
  for (const der of ders) hash.update(der);
  return Uint8Array.from(hash.digest());
};

/**
 * Reads the signature's byte range and the original length from the signed bytes, for a CMS that the PDF writer doesn't
 * make.
 */
function placeIn(signed: Uint8Array) {
  const text = Buffer.from(signed).toString("latin1");
  const numbers = (name: RegExp) => text.match(name)?.at(-1)?.match(/\d+/g)?.map(Number) ?? [];
  const [originalLength = 0] = numbers(/\/SSSOriginalLength \d+/g);
  return { byteRange: numbers(/\/ByteRange\[[\d ]+/g).slice(0, 4), originalLength };
}

/**
 * A seal with the usual key, whose CMS is changed after signing. Without `isStated`, the seal does not state its
 * position, like older seals.
 */
const changed =
  (change: Change, isStated: boolean, more: Parameters<typeof cmsOver>[2] = {}) =>
  (signed: Uint8Array): Uint8Array =>
    change(cmsOver(hashOf(signed), by.seal, { ...(isStated && { place: placeIn(signed) }), ...more }));

const STATEMENT = hexOf(encode(oid(OID.sealStatement)).subarray(2));
const SIGNER = [1, 0, 4, 0] as const;
const loose = notVerified({ seal_signature_valid: "fails" });
/**
 * The expected result when at least one of the seven checks of the CMS fails (docs/evidence-format.md, section 3.2).
 * The claims that depend on these checks are left open.
 */
const unsound: Expectation = {
  verdict: "not_verified",
  claims: { pdf_readable: "holds", whole_file_covered: "holds", seal_signature_valid: "fails" },
};
const attribute = (type: string, ...values: readonly DerValue[]) => hexOf(encode(sequence(oid(type), set(...values))));

const token = (cms: Uint8Array) => by.stamp(edit.valueAt(cms, [...SIGNER, 5]).content as Uint8Array);
/**
 * Adds unsigned attributes.
 * @param attributes the hex DER of each attribute
 */
const unsigned = (...attributes: readonly string[]): Change =>
  at([...SIGNER, 5], then(hexOf(wrapped(attributes.join("")))));
const wrapped = (hex: string) => edit.explicitOf(1, Buffer.from(hex, "hex"));
const stampAttribute = (...tokens: readonly Uint8Array[]) => attribute(OID.idAaTimeStampToken, ...tokens.map(raw));
const tokens =
  (count: number, inOne = false): Change =>
  (cms) => {
    const one = token(cms);
    const list = Array.from({ length: count }, () => one);
    return unsigned(...(inOne ? [stampAttribute(...list)] : list.map((each) => stampAttribute(each))))(cms);
  };

type Row = readonly [name: string, change: Change, expect: Expectation, teaches: string, options?: SealOptions];

/**
 * Seals of older releases whose CMS has parts that the signature does not cover (docs/evidence-format.md, section 3.2,
 * "nothing loose").
 */
function looseParts(): readonly Row[] {
  const nothing = "A part that the signature does not cover could be changed unnoticed (3.2, nothing loose).";
  const timed = verified({ time_stamp_valid: "holds" });
  const named = edit.becomes;
  return [
    ["as it should be", (cms) => cms, verified(), "What follows differs from this."],
    ["revocation lists", at([1, 0, 3], then("a100")), loose, nothing],
    ["a certificate of another kind", at([1, 0, 3, 0], then("a200")), loose, nothing],
    ["two digest algorithms", at([1, 0, 1, 0], then("300b0609608648016503040202")), loose, nothing],
    ["no digest algorithm", at([1, 0, 1, 0], edit.dropped), loose, nothing],
    ["another digest algorithm", at([1, 0, 1, 0], named("300b0609608648016503040202")), loose, nothing],
    [
      "digest parameters that are NULL",
      at([1, 0, 1, 0], edit.longerBy("0500")),
      verified(),
      "Absent or NULL, in a seal of before.",
    ],
    ["digest parameters that hold something", at([1, 0, 1, 0], edit.longerBy("050100")), loose, nothing],
    ["a signer of version 3", at([...SIGNER, 0], edit.holding("03")), loose, nothing],
    ["SignedData of version 3", at([1, 0, 0], edit.holding("03")), loose, nothing],
    ["a foreign unsigned attribute", unsigned(attribute("1.2.3.4", nullValue)), loose, nothing],
    ["a token", tokens(1), timed, "The one unsigned attribute that a seal has."],
    ["two tokens", tokens(2), timed, "In a seal of before at most four tokens."],
    ["four tokens", tokens(4), timed, "In a seal of before at most four tokens."],
    ["five tokens", tokens(5), unsound, "At most four tokens."],
    [
      "two tokens in one attribute",
      tokens(2, true),
      notVerified({ seal_signature_valid: "fails", time_stamp_valid: "holds" }),
      nothing,
    ],
    ["a token's attribute without a token", unsigned(attribute(OID.idAaTimeStampToken)), loose, nothing],
    [
      "a token with revocation lists",
      (cms) => unsigned(stampAttribute(edit.withEdit(token(cms), [1, 0, 3], then("a100"))))(cms),
      notVerified({ seal_signature_valid: "fails", time_stamp_valid: null }),
      "A token inside a seal has nothing loose, either.",
    ],
    ["its certificate twice", at([1, 0, 3, 0], edit.repeated(2)), loose, "Every included certificate is there once."],
    [
      "another certificate",
      at([1, 0, 3, 0], then(hexOf(by.tsa.certificate.der))),
      loose,
      "Every included certificate is needed.",
    ],
    ["a content of its own", at([1, 0, 2, 0], then("a003040141")), unsound, "A seal is detached."],
    ["two signers", at(SIGNER, edit.repeated(2)), unsound, "One SignerInfo."],
    ["no signer", at(SIGNER, edit.dropped), unsound, "One SignerInfo."],
    ["no certificate", at([1, 0, 3], edit.dropped), unsound, "The certificate is included."],
    [
      "a certificate named by its SHA-1 alone",
      renamed,
      loose,
      "Version 1 of signing-certificate is not enough for PAdES.",
    ],
  ];
}

/** Replaces signing-certificate-v2 by the older signing-certificate. */
const renamed: Change = (cms) => {
  const index = edit.attributeIndex(cms, "2a864886f70d010910022f");
  const sha1 = createHash("sha1").update(by.seal.certificate.der).digest();
  const v1 = encode(
    sequence(oid(OID.idAaSigningCertificate), set(sequence(sequence(sequence(octetString(Uint8Array.from(sha1))))))),
  );
  return edit.resigned(cms, [index], edit.becomes(hexOf(v1)), sign);
};

/** Replaces one value in the seal's statement of its position, and signs again. */
const stating =
  (path: readonly number[], change: edit.Edit): Change =>
  (cms) =>
    edit.resigned(cms, [edit.attributeIndex(cms, STATEMENT), ...path], change, sign);

/** Seals that state their position, but deviate from the only permitted form (docs/evidence-format.md, section 3.2). */
function oneForm(): readonly Row[] {
  const form = "A seal that states its place has one form alone, byte by byte (3.2).";
  const place = notVerified({ seal_place: "fails" });
  const other = "A statement that is not as defined is not understood (seal_place).";
  const timed = verified({ time_stamp_valid: "holds" });
  return [
    ["as it should be, stated", (cms) => cms, verified(), "What follows differs from this."],
    ["a token, stated", tokens(1), timed, "The sealer puts one token in."],
    [
      "two tokens, stated",
      tokens(2),
      notVerified({ seal_signature_valid: "fails", time_stamp_valid: "holds" }),
      "At most one token.",
    ],
    ["digest parameters that are NULL, stated", at([1, 0, 1, 0], edit.longerBy("0500")), loose, form],
    ["the signer's digest parameters NULL", at([...SIGNER, 2], edit.longerBy("0500")), loose, form],
    [
      "attributes in another order",
      (cms) =>
        edit.resigned(
          cms,
          [],
          ({ tag, content }) => [{ tag, content: (content as readonly edit.Tree[]).toReversed() }],
          sign,
        ),
      verified(),
      "The signed attributes count as they stand.",
    ],
    [
      "a certificate's hash that is another",
      stating([1, 0, 3], edit.holding("11".repeat(32))),
      loose,
      "The certificates are those whose hash it states.",
    ],
    ["a statement of version 2", stating([1, 0, 0], edit.holding("02")), place, other],
    ["a statement of version 0", stating([1, 0, 0], edit.holding("00")), place, other],
    ["a statement with a member more", stating([1, 0], edit.longerBy("0500")), place, other],
    ["a statement without a certificate's hash", stating([1, 0, 3], edit.dropped), place, other],
    ["a statement that is a text", stating([1, 0], edit.becomes("0c0141")), place, other],
    ["a statement of no value", stating([1, 0], edit.dropped), place, other],
    ["a statement of two values", stating([1, 0], edit.repeated(2)), place, other],
    ["two statements", stating([], edit.repeated(2)), place, other],
    ["a statement of three numbers", stating([1, 0, 1, 3], edit.dropped), place, other],
    ["a statement of five numbers", stating([1, 0, 1, 3], edit.repeated(2)), place, other],
    [
      "a statement whose gap begins elsewhere",
      stating([1, 0, 1, 1], edit.holding("01")),
      place,
      "The place that it signs is another.",
    ],
    [
      "a statement of another end",
      stating([1, 0, 1, 3], edit.holding("01")),
      place,
      "The place that it signs is another.",
    ],
    [
      "a statement of another start",
      stating([1, 0, 1, 0], edit.holding("01")),
      place,
      "The place that it signs is another.",
    ],
    [
      "a statement of another length",
      stating([1, 0, 2], edit.holding("01")),
      place,
      "The length of the original is signed, too.",
    ],
  ];
}

/** Seals whose CMS is of another form than the sealer's. */
export function cmsForms(): Made {
  const { add, put, trust, made, slug } = collection("cms-forms");
  const one = (
    name: string,
    contents: NonNullable<SealOptions["contents"]>,
    expect: Expectation,
    teaches: string,
    more: object = {},
  ) =>
    add({
      name,
      kind: "sealed_pdf",
      files: { sealed: put(`${slug(name)}.pdf`, oddSeal(document(), { contents, reserve: 5200 })) },
      expect,
      teaches,
      ...more,
    });
  for (const [name, change, expect, teaches] of looseParts())
    one(`in a seal of before: ${name}`, changed(change, false), expect, teaches);
  for (const [name, change, expect, teaches] of oneForm()) one(name, changed(change, true), expect, teaches);
  const early = new Date(by.validFrom - 1000).toISOString();
  const late = new Date(by.validTo + 1000).toISOString();
  for (const [name, at] of [
    ["before its certificate", early],
    ["after its certificate", late],
  ] as const) {
    const untimely = notVerified({
      seal_certificate_trusted: "unchecked",
      seal_certificate_valid_at_time: "fails",
    });
    const contents = changed((cms) => cms, true);
    one(`verified ${name}, none trusted`, contents, untimely, "The certificate counts at the instant.", {
      trust: [],
      at,
    });
  }
  const anchors = [trust("forms-leaf.pem", by.pem(leafDer)), trust("forms-named.pem", by.pem(identified))];
  for (const [name, contents, expect, teaches] of chains())
    one(`a chain in a seal of before: ${name}`, contents, expect, teaches, { trust: anchors });
  return made();
}
