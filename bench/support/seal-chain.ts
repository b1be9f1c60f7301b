import { generateKeyPairSync } from "node:crypto";
import { makeRoot } from "../../service/src/evidence/seals/certificate/authority.ts";
import { makeSealCertificate } from "../../service/src/evidence/seals/certificate/certificate.ts";
import { sealKeyOf } from "../../service/src/evidence/seals/keys/file-key.ts";
import type { SealKey } from "../../service/src/evidence/seals/keys/seal-key.ts";

/**
 * The certificates of a seal key, as the first start of a service creates them: the key's own certificate, and the root
 * certificate.
 */
export async function sealChainOf({ publicKey }: SealKey, at: number) {
  const key = sealKeyOf(generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey, "bench");
  const host = "localhost";
  const root = await makeRoot({ host, at, key, serialNumber: Buffer.from("0123456789abcdef") });
  // A signature names its signer's certificate by issuer and serial number (RFC 5652). The root issued itself and the
  // seal's certificate, so their serial numbers must differ.
  const serialNumber = Buffer.from("123456789abcdef0");
  return makeSealCertificate({ at, root, publicKey, subject: host, serialNumber });
}
