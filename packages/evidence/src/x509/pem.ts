import { EvidenceError } from "../errors.ts";
import { type Certificate, parseCertificate } from "./certificate.ts";

const BLOCK =
  /(?<![^\n])-----BEGIN CERTIFICATE-----[ \t]*\r?\n((?:[A-Za-z0-9+/= \t]*\r?\n)*)-----END CERTIFICATE-----(?=[ \t]*\r?(?:\n|$))/g;
const BOUNDARY = /CERTIFICATE\s*-----/gi;

/**
 * Parses the certificates of a PEM text (RFC 7468), in order. Text around the blocks is ignored, unless another program
 * might read it as a certificate or as the boundary of one.
 *
 * @throws EvidenceError `x509` for such ambiguous text, and when there is no certificate; else like `parseCertificate`
 */
export function parseCertificatesPem(text: string): Certificate[] {
  const bodies = [...text.matchAll(BLOCK)].map(([, body]) => body ?? "");
  if ([...text.matchAll(BOUNDARY)].length !== 2 * bodies.length) {
    throw new EvidenceError("x509", "A certificate in the PEM text that programs read differently");
  }
  if (bodies.length === 0) throw new EvidenceError("x509", "No certificate in the PEM text");
  return bodies.map((body) => parseCertificate(decodeBase64(body)));
}

/** A PEM block: base64 in lines of 64, ending in a newline. */
export function encodePem(der: Uint8Array, label: string): string {
  let binary = "";
  for (const octet of der) binary += String.fromCharCode(octet);
  const lines = btoa(binary).match(/.{1,64}/g) ?? [];
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ""].join("\n");
}

function decodeBase64(body: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(body), (character) => character.charCodeAt(0));
  } catch {
    throw new EvidenceError("x509", "A PEM block is not base64");
  }
}
