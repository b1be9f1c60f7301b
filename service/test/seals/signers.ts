import { generateKeyPairSync, randomInt } from "node:crypto";
import type { Certificate } from "@signsealship/evidence/x509";
import { makeSealCertificate } from "../../src/seals/certificate/certificate.ts";
import { sealKeyOf } from "../../src/seals/keys/file-key.ts";
import type { SealKey } from "../../src/seals/keys/seal-key.ts";

/** An instant in the tests' years: epoch milliseconds. */
export const someInstant = Date.UTC(2026, 0, 15, 12);

/** The randomness that a sealer is given. */
export const randomBelow = (limit: number): number => randomInt(limit);

/** A seal key in memory. */
export function memoryKey(kind: "rsa" | "p-256"): SealKey {
  const { privateKey } =
    kind === "rsa"
      ? generateKeyPairSync("rsa", { modulusLength: 3072 })
      : generateKeyPairSync("ec", { namedCurve: "P-256" });
  return sealKeyOf(privateKey, "memory");
}

/** A self-signed seal certificate for the key, made at the instant. */
export function selfSigned(key: SealKey, at: number = someInstant): Promise<Certificate> {
  return makeSealCertificate({ key, host: "seal.example", serialNumber: Buffer.alloc(16, 0xa7), at });
}
