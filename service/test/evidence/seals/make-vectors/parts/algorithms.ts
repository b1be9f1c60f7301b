import { constants, createPrivateKey, createPublicKey, sign } from "node:crypto";
import { readFileSync } from "node:fs";
import {
  type DerValue,
  encode,
  integer,
  nullValue,
  OID,
  octetString,
  oid,
  raw,
  sequence,
} from "@signsealship/evidence/asn1";
import { withLowS } from "../../../../../../packages/evidence/test/signer.ts";
import { certificateOf } from "../certificates.ts";
import * as edit from "./der-edit.ts";
import {
  contentType,
  digestOf,
  ecdsa,
  essOf,
  type Form,
  type FormRow,
  MD5,
  own,
  SHA256,
  SHA384,
  SHA512_256,
  signer,
} from "./form.ts";

const rsaKey = createPrivateKey(readFileSync(new URL("../rsa-2048.pem", import.meta.url)));
const spkiOf = (key: Uint8Array) => encode(sequence(sequence(oid(OID.rsaEncryption), nullValue), raw(edit.bits(key))));
const rsaSpki = Uint8Array.from(createPublicKey(rsaKey).export({ type: "spki", format: "der" }));
const modulusOf = (bits: number) => (1n << BigInt(bits - 1)) + 1n;
const keyOf = (modulus: bigint, exponent: bigint) => encode(sequence(integer(modulus), integer(exponent)));
const byRsa = (spki: Uint8Array, serial: number) => certificateOf(signer, signer, { serial, spki });

/**
 * Makes s one octet too long: its first octet equals the last octet of r. A careless reader copies r, and then s, each
 * right-aligned into 32 octets. The extra octet of s then overwrites the last octet of r with an equal one. So such a
 * reader accepts the signature.
 */
function overlapping(data: Uint8Array): Uint8Array {
  const signature = withLowS(signer.key.sign(data));
  const [r, s] = [0, 1].map((index) => Buffer.from(edit.valueAt(signature, [index]).content as Uint8Array));
  const last = BigInt(r?.at(-1) ?? 0);
  if (last === 0n) throw new Error("a first number that ends in 0");
  const number = (last << 256n) | BigInt(`0x${s?.toString("hex")}`);
  return edit.withEdit(signature, [1], edit.becomes(Buffer.from(encode(integer(number))).toString("hex")));
}

/**
 * Vectors for signature algorithms and keys (docs/evidence-format.md, section 3.2, `algorithms`, and the keys of
 * section 4.2).
 */
export function ofAlgorithms(): readonly FormRow[] {
  const rsa = byRsa(rsaSpki, 31);
  const pkcs1 = (data: Uint8Array) => Uint8Array.from(sign("sha256", data, rsaKey));
  const pss = (data: Uint8Array) =>
    Uint8Array.from(sign("sha256", data, { key: rsaKey, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 0 }));
  const withRsa = (algorithm: DerValue, form: Form = {}): Form => ({
    certificate: rsa,
    sign: pkcs1,
    algorithm,
    ...form,
  });
  const field = (tag: number, value: DerValue) => raw(edit.explicitOf(tag, encode(value)));
  const mgf1 = (hash: string) => sequence(oid(OID.mgf1), sequence(oid(hash)));
  const byPss = (...parameters: DerValue[]): Form =>
    withRsa(sequence(oid(OID.rsassaPss), sequence(...parameters)), { sign: pss });
  const [hash, mask, salt] = [field(0, SHA256), field(1, mgf1(OID.sha256)), field(2, integer(0))] as const;
  const wrong = ["algorithms", "signature"];
  const weak = (modulus: bigint, exponent: bigint, serial: number): Form => {
    const certificate = byRsa(spkiOf(keyOf(modulus, exponent)), serial);
    return { certificate, algorithm: sequence(oid(OID.sha256WithRsa), nullValue) };
  };
  const odd = (algorithm: DerValue, serial: number): Form => ({
    certificate: certificateOf(signer, signer, {
      serial,
      spki: encode(sequence(algorithm, raw(edit.bits(Uint8Array.of(4, ...Buffer.alloc(64, 1)))))),
    }),
  });
  const digest = (oidText: string, hashName: string): Form => ({
    digest: sequence(oid(oidText)),
    attributes: [contentType, digestOf(hashName), essOf(own)],
  });
  const bent =
    (change: edit.Edit, ...path: readonly number[]) =>
    (data: Uint8Array) =>
      edit.withEdit(withLowS(signer.key.sign(data)), path, change);
  const long = edit.holding("11".repeat(33));
  const offCurve = odd(sequence(oid(OID.ecPublicKey), oid(OID.p256)), 42);
  return [
    ["by RSA", withRsa(sequence(oid(OID.sha256WithRsa), nullValue)), []],
    ["by RSA, without parameters", withRsa(sequence(oid(OID.sha256WithRsa))), []],
    ["by RSA, named as rsaEncryption", withRsa(sequence(oid(OID.rsaEncryption), nullValue)), []],
    ["by RSA, with other parameters", withRsa(sequence(oid(OID.sha256WithRsa), integer(0))), wrong],
    [
      "by RSA, with a NULL that holds something",
      withRsa(sequence(oid(OID.sha256WithRsa), raw(Uint8Array.of(5, 1, 0)))),
      wrong,
    ],
    [
      "by RSA, with an octet string that is empty",
      withRsa(sequence(oid(OID.sha256WithRsa), octetString(new Uint8Array(0)))),
      wrong,
    ],
    ["a signature with a value more", { sign: bent(edit.longerBy("0500")) }, ["signature"]],
    ["a signature whose first number is too long", { sign: bent(long, 0) }, ["signature"]],
    ["a signature whose second number is too long", { sign: bent(long, 1) }, ["signature"]],
    ["a signature whose second number begins with the end of its first", { sign: overlapping }, ["signature"]],
    ["a key that is no point of its curve", offCurve, ["signature"]],
    ["by ECDSA, with NULL", { algorithm: sequence(oid(OID.ecdsaWithSha256), nullValue) }, wrong],
    ["by RSA, said to be ECDSA", withRsa(ecdsa), wrong],
    ["by ECDSA, said to be RSA", { algorithm: sequence(oid(OID.sha256WithRsa), nullValue) }, wrong],
    ["by ECDSA with SHA-384, and a digest by SHA-256", { algorithm: sequence(oid(OID.ecdsaWithSha384)) }, wrong],
    ["by ECDSA with SHA-1", { algorithm: sequence(oid(OID.ecdsaWithSha1)) }, wrong],
    ["by an algorithm that is not read", { algorithm: sequence(oid("1.2.3.4")) }, wrong],
    ["a digest by SHA-1", digest(OID.sha1, "sha1"), [...wrong, "messageDigest"]],
    ["a digest by MD5", digest(MD5, "md5"), [...wrong, "messageDigest"]],
    ["a digest that is not read", digest(SHA512_256, "sha512-256"), [...wrong, "messageDigest"]],
    ["by RSASSA-PSS", byPss(hash, mask, salt), []],
    ["by RSASSA-PSS, trailer 1", byPss(hash, mask, salt, field(3, integer(1))), []],
    ["by RSASSA-PSS, trailer 2", byPss(hash, mask, salt, field(3, integer(2))), wrong],
    ["by RSASSA-PSS of two hashes", byPss(hash, field(1, mgf1(SHA384)), salt), wrong],
    [
      "by RSASSA-PSS of another mask",
      byPss(hash, field(1, sequence(oid("1.2.3.4"), sequence(oid(OID.sha256)))), salt),
      wrong,
    ],
    ["by RSASSA-PSS of a mask without a hash", byPss(hash, field(1, sequence(oid(OID.mgf1))), salt), wrong],
    [
      "by RSASSA-PSS of a hash that is not read",
      byPss(field(0, sequence(oid(SHA512_256))), field(1, mgf1(SHA512_256)), salt),
      wrong,
    ],
    ["by RSASSA-PSS without parameters", withRsa(sequence(oid(OID.rsassaPss)), { sign: pss }), wrong],
    ["by RSASSA-PSS, everything by default", byPss(), wrong],
    ["by RSASSA-PSS with a salt of 513 bytes", byPss(hash, mask, field(2, integer(513))), wrong],
    ["a key of 1,024 bits", weak(modulusOf(1024), 65537n, 32), wrong],
    ["a key of 2,047 bits", weak(modulusOf(2047), 65537n, 33), wrong],
    ["a key of 8,193 bits", weak(modulusOf(8193), 65537n, 34), wrong],
    ["an exponent of 1", weak(modulusOf(2048), 1n, 35), wrong],
    ["an even exponent", weak(modulusOf(2048), 65536n, 36), wrong],
    ["an exponent of nine octets", weak(modulusOf(2048), (1n << 64n) + 1n, 37), wrong],
    ["a key of another kind", odd(sequence(oid("1.2.3.4"), oid("1.2.840.10045.3.1.7")), 38), wrong],
    ["a curve that is not named", odd(sequence(oid("1.2.840.10045.2.1"), sequence()), 39), wrong],
    ["a curve of another name", odd(sequence(oid("1.2.840.10045.2.1"), oid("1.3.132.0.10")), 40), wrong],
    ["a key without parameters", odd(sequence(oid("1.2.840.10045.2.1")), 41), wrong],
  ];
}
