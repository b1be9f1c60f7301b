import { nameText } from "@signsealship/evidence/x509";
import type { Environment } from "../identity/identity.ts";
import { type ChainPems, leafOf } from "./chains.ts";

/** Who seals a document of this service's own, as the document says it: the service's address, and the certificate of its seal. */
export type Issuer = {
  url: string;
  /** Its subject. */
  certificate: string;
  /** SHA-256 of its DER, hex. */
  fingerprint: string;
};

/** @param chainPem PEM of the certificates that this process seals with: another one's come with another start, so what is drawn is what seals. */
export function issuerOf(
  { chainPem, baseUrl }: { chainPem: ChainPems; baseUrl: string },
  environment: Environment,
): Issuer {
  const { certificate, fingerprint } = leafOf(chainPem[environment]);
  return { url: baseUrl, certificate: nameText(certificate.subject), fingerprint };
}
