import { generateKeyPairSync } from "node:crypto";
import { OID, oid, sequence } from "@signsealship/evidence/asn1";
import type { Certificate } from "@signsealship/evidence/x509";
import { preparedKey } from "@signsealship/testing/seal-keys";
import { type Authority, makeRoot, validFor } from "../../../src/evidence/seals/certificate/authority.ts";
import { commonNameOf, extension, keyUsage, writeCertificate } from "../../../src/evidence/seals/certificate/write.ts";
import { sealKeyOf } from "../../../src/evidence/seals/keys/file-key.ts";
import type { SealKey } from "../../../src/evidence/seals/keys/seal-key.ts";

/** An instant in the year of the tests, in epoch milliseconds. */
export const someInstant = Date.UTC(2026, 0, 15, 12);

export function memoryKey(kind: "rsa" | "p-256"): SealKey {
  const key = kind === "rsa" ? preparedKey() : generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
  return sealKeyOf(key, "memory");
}

/**
 * A self-signed seal certificate for the key, valid from the instant. Earlier releases, which had no root, made such
 * certificates.
 */
export function selfSigned(key: SealKey, at: number = someInstant): Promise<Certificate> {
  const name = commonNameOf("SignSealShip seal seal.example");
  const extensions = [
    extension(OID.basicConstraints, true, sequence()),
    keyUsage.signing,
    extension(OID.extKeyUsage, false, sequence(oid(OID.kpDocumentSigning))),
  ];
  const fields = { subject: name, publicKey: key.publicKey, serialNumber: Buffer.alloc(16, 0xa7), extensions };
  return writeCertificate({ ...fields, ...validFor(10, at) }, { key, name });
}

/** A root authority in memory. */
export const memoryRoot = (at: number = someInstant): Promise<Authority> =>
  makeRoot({ key: memoryKey("p-256"), host: "seal.example", serialNumber: Buffer.alloc(16, 0xa8), at });

/** A checkpoint in the form in which seals contain it. Its signature is made up. */
export const sampleCheckpoint = [
  "sign.example.com/log/test",
  "1234567",
  Buffer.alloc(32, 0xab).toString("base64"),
  "",
  `\u2014 sign.example.com/log/test ${Buffer.alloc(68, 0xcd).toString("base64")}`,
  "",
].join("\n");
