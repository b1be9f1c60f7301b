import { EvidenceError } from "../errors.ts";
import { type Certificate, parseCertificate } from "./certificate.ts";

const BLOCK = /-----BEGIN ([A-Z0-9 ]{1,40})-----([A-Za-z0-9+/=\s]*)-----END \1-----/g;

/** The DER of the PEM blocks with this label (RFC 7468), in order. Text around the blocks is passed over. @throws EvidenceError `x509` on bad base64. */
function pemBlocks(text: string, label: string): Uint8Array<ArrayBuffer>[] {
  const blocks: Uint8Array<ArrayBuffer>[] = [];
  for (const [, found, body] of text.matchAll(BLOCK)) if (found === label) blocks.push(decodeBase64(body ?? ""));
  return blocks;
}

/** The certificates of a PEM text, in order. @throws EvidenceError `x509` when there is none, else like `parseCertificate`. */
export function parseCertificatesPem(text: string): Certificate[] {
  const certificates = pemBlocks(text, "CERTIFICATE").map(parseCertificate);
  if (certificates.length === 0) throw new EvidenceError("x509", "No certificate in the PEM text");
  return certificates;
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
