import { generateKeyPairSync } from "node:crypto";
import { makeRoot } from "../../service/src/seals/certificate/authority.ts";
import { makeSealCertificate } from "../../service/src/seals/certificate/certificate.ts";
import { sealKeyOf } from "../../service/src/seals/keys/file-key.ts";
import type { SealKey } from "../../service/src/seals/keys/seal-key.ts";

/** The certificates of a seal key, as a first run makes them: its own, and the root's. */
export async function sealChainOf({ publicKey }: SealKey, at: number) {
  const key = sealKeyOf(generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey, "bench");
  const made = { host: "localhost", serialNumber: Buffer.from("0123456789abcdef"), at };
  const root = await makeRoot({ ...made, key });
  return makeSealCertificate({ ...made, root, publicKey, subject: made.host });
}
