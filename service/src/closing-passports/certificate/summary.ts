import { body, code, type Flow, qrAtRight, quiet, type Sheets } from "@signsealship/certificate";
import { type CertificateContent, instantText } from "./content.ts";

/** What the certificate is of, beside a QR code of where it is verified. */
export function summary(sheets: Sheets, flow: Flow, content: CertificateContent): void {
  const { manifest, manifestSha256, verifyUrl, verifyCode } = content;
  const { passport, documents } = manifest;
  const beside = qrAtRight(sheets, flow, verifyUrl);
  flow.row("Reference", passport.reference ?? "none", passport.reference === null ? quiet : body, beside);
  flow.row("Snapshot taken", instantText(passport.generatedAtUtc), body, beside);
  flow.row("Orders", String(documents.length), body, beside);
  flow.row("Verify code", verifyCode, { ...code, size: 9.5 }, beside);
  flow.row("Verify at", verifyUrl, { ...code, size: 7 }, beside);
  flow.moveTo(Math.min(flow.y(), beside.bottom) - 10);
  flow.row("Manifest SHA-256", manifestSha256, code);
  flow.row("Version before, SHA-256", passport.prevManifestSha256 ?? "none: this is the first version", {
    ...(passport.prevManifestSha256 === null ? quiet : code),
    leading: 1.6,
  });
  flow.row("Room code", passport.roomCode, code);
  flow.skip(10);
}
