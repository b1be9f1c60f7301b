import { createECDH, createHash, createPrivateKey, type KeyObject } from "node:crypto";
import { readFileSync } from "node:fs";
import { encode, integer, sequence } from "@signsealship/evidence/asn1";
import { encodePem } from "@signsealship/evidence/x509";
import { type TestSigner, testSigner, tokenOver } from "../../../../../packages/evidence/test/signer.ts";
import { type CmsSigner, createCmsSigner } from "../../../../src/evidence/seals/cms/cms.ts";
import { sealKeyOf } from "../../../../src/evidence/seals/keys/file-key.ts";
import type { SealKey } from "../../../../src/evidence/seals/keys/seal-key.ts";
import { selfSigned } from "../signers.ts";

/** The times of the seals, their time stamps and their verification, unless a case sets others. */
export const sealedAt = new Date("2026-01-15T12:00:00Z");
export const stampedAt = Date.UTC(2026, 0, 15, 12, 0, 1);
export const verifiedAt = "2026-06-01T00:00:00.000Z";
/**
 * Validity of the test's certificates. The RSA certificate is an exception: it is self-signed, and valid for ten years
 * from `sealedAt`.
 */
export const validFrom = Date.UTC(2025, 0, 1);
export const validTo = Date.UTC(2035, 0, 1);

const ORDER = 0xffffffff_00000000_ffffffff_ffffffff_bce6faad_a7179e84_f3b9cac2_fc632551n;
const numberOf = (bytes: Uint8Array): bigint => BigInt(`0x${Buffer.from(bytes).toString("hex")}`);
const bytesOf = (value: bigint): Buffer => Buffer.from(value.toString(16).padStart(64, "0"), "hex");
const sha256 = (...chunks: readonly (Uint8Array | string)[]): Buffer => {
  const hash = createHash("sha256");
  for (const chunk of chunks) hash.update(chunk);
  return hash.digest();
};
const scalarOf = (...seed: readonly (Uint8Array | string)[]): bigint => (numberOf(sha256(...seed)) % (ORDER - 1n)) + 1n;

function inverse(value: bigint): bigint {
  let [old, rest, oldFactor, factor] = [value, ORDER, 1n, 0n];
  while (rest !== 0n) {
    const times = old / rest;
    [old, rest] = [rest, old - times * rest];
    [oldFactor, factor] = [factor, oldFactor - times * factor];
  }
  return ((oldFactor % ORDER) + ORDER) % ORDER;
}

function pointOf(scalar: bigint): Buffer {
  const ecdh = createECDH("prime256v1");
  ecdh.setPrivateKey(bytesOf(scalar));
  return ecdh.getPublicKey();
}

/**
 * A P-256 key that is derived from a name. Its signatures depend only on the signed bytes. Test keys protect nothing,
 * so they need no randomness.
 */
export function fixedKey(name: string): { readonly key: KeyObject; readonly sign: (data: Uint8Array) => Uint8Array } {
  const d = scalarOf("SignSealShip vectors: ", name);
  const point = pointOf(d);
  const jwk = {
    kty: "EC",
    crv: "P-256",
    d: bytesOf(d).toString("base64url"),
    x: point.subarray(1, 33).toString("base64url"),
    y: point.subarray(33).toString("base64url"),
  };
  const sign = (data: Uint8Array) => {
    const digest = sha256(data);
    const k = scalarOf(bytesOf(d), digest);
    const r = numberOf(pointOf(k).subarray(1, 33)) % ORDER;
    const s = (inverse(k) * (numberOf(digest) + r * d)) % ORDER;
    return encode(sequence(integer(r), integer(s)));
  };
  return { key: createPrivateKey({ key: jwk, format: "jwk" }), sign };
}

const fixedSigner = (kind: Parameters<typeof testSigner>[0], name: string = kind, from = validFrom, to = validTo) =>
  testSigner(kind, from, to, fixedKey(name));

/** The signer of most cases' seals, with a P-256 key. */
export const seal = fixedSigner("seal");
/** Another service's seal. */
const otherSeal = fixedSigner("seal", "other seal");
export const tsa = fixedSigner("tsa");
/** An authority that the cases do not trust. */
export const otherTsa = fixedSigner("tsa", "other tsa");
/** The key of other people's signatures, which were made before the document was sealed. */
export const stranger = fixedSigner("stranger");

/** A seal key whose signatures are the same in each run. */
export function sealKeyOver({ key, sign }: Omit<TestSigner, "certificate">): SealKey {
  const plain = sealKeyOf(key, "vectors");
  return sign === undefined ? plain : { ...plain, sign: async (data) => sign(data) };
}

const rsaKey = sealKeyOf(createPrivateKey(readFileSync(new URL("rsa-2048.pem", import.meta.url))), "vectors");
const rsaCertificate = await selfSigned(rsaKey, sealedAt.getTime());
/** The service's own CMS writer, with the RSA key and with the P-256 key of the seals. */
export const rsaCms: CmsSigner = createCmsSigner({ key: rsaKey, chain: [rsaCertificate] });
export const p256Cms: CmsSigner = createCmsSigner({ key: sealKeyOver(seal), chain: [seal.certificate] });

/** A token of the authority that the cases trust. */
export const stamp = (message: Uint8Array): Uint8Array => tokenOver(message, tsa, stampedAt);

export const pem = (der: Uint8Array): string => encodePem(der, "CERTIFICATE");
export const sealPem = pem(seal.certificate.der);
/** A later certificate of the key of `seal`. */
export const renewedSealPem = pem(fixedSigner("seal", "seal", validFrom + 86_400_000).certificate.der);
/** The certificates that the cases may trust, by file name. */
export const trustFiles = {
  "trust/seal.pem": sealPem,
  "trust/seal-rsa.pem": pem(rsaCertificate.der),
  "trust/other-seal.pem": pem(otherSeal.certificate.der),
  "trust/tsa.pem": pem(tsa.certificate.der),
  "trust/other-tsa.pem": pem(otherTsa.certificate.der),
} as const;
