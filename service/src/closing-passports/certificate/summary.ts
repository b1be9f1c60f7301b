import { body, code, type Flow, fine, instantText, section } from "@signsealship/certificate";
import { type CertificateContent, firmName } from "./content.ts";

/** Who issued the certificate, by what it can be told, and what it is of. */
export function summary(flow: Flow, content: CertificateContent): void {
  const { manifest, manifestSha256, verifyCode, issuer, firm } = content;
  const { prevManifestSha256 } = manifest.passport;
  const legal = firmName(firm) === firm.name ? "" : ` (${firm.name})`;
  section(flow, "Issued by", 150);
  flow.row("Issuer", `SignSealShip, ${issuer.url}`, body);
  flow.row("On behalf of", `${firmName(firm)}${legal}`, body);
  flow.row("Seal certificate", issuer.certificate, body);
  flow.row("Certificate, SHA-256", issuer.fingerprint, code);
  flow.row("Time stamp", timeStampText(content), body);
  flow.row("Verify code", verifyCode, { ...code, size: 9.5 });
  flow.row("Manifest, SHA-256", manifestSha256, code);
  const before = prevManifestSha256 ?? "none: this is the first version";
  flow.row("Version before, SHA-256", before, prevManifestSha256 === null ? fine : code);
  flow.skip(10);
}

const timeStampText = ({ timeStamp }: CertificateContent): string =>
  timeStamp
    ? `${instantText(timeStamp.at.toISOString())} over the manifest, by ${timeStamp.name} (${timeStamp.authority})`
    : "none was to be had over the manifest: the time is this service’s own word";
