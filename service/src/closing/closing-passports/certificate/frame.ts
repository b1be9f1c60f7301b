import {
  type Color,
  dateText,
  type Flow,
  firmHead,
  letterhead,
  muted,
  pageSize,
  type Sheets,
  sealBlock,
  type Typeset,
  testNotice,
  titleLook,
} from "@signsealship/certificate";
import { type CertificateContent, firmName } from "./content.ts";

/** The firm's own color; without one, the service's. */
const accentOf = ({ firm }: CertificateContent): Color => (firm.accentColor ?? "#1f3d6d") as Color;

/** The top of the first page: the issuer, the firm, the room, and a notice on test certificates. */
export function title(sheets: Sheets, flow: Flow, typeset: Typeset, content: CertificateContent): void {
  const { passport } = content.manifest;
  sheets.rectangle(0, pageSize.height - 5, pageSize.width, 5, accentOf(content));
  letterhead(sheets, flow, typeset, "Closing Passport certificate");
  const logoSpace = firmHead(sheets, flow, { name: firmName(content.firm), logo: content.firm.logo });
  flow.skip(3);
  flow.text(passport.roomName, titleLook, logoSpace);
  flow.skip(3);
  flow.text(`Version ${passport.version} of the room’s Closing Passport`, { size: 10.5, color: muted });
  if (content.environment === "test") testNotice(sheets, flow);
  flow.skip(10);
}

/** The certified statement, and below it the seal as people see it. */
export function certification(sheets: Sheets, flow: Flow, typeset: Typeset, content: CertificateContent): void {
  flow.text(statement(content), { size: 10.5, leading: 1.5 });
  flow.skip(10);
  sealBlock(sheets, flow, typeset, {
    holder: firmName(content.firm),
    at: dateText(content.manifest.passport.generatedAtUtc),
    url: content.verifyUrl,
    certificate: `Certificate: ${content.issuer.certificate}`,
    color: accentOf(content),
  });
}

/** States what the certificate certifies: names the issuer, the firm, the room and the time. */
function statement({ manifest, firm }: CertificateContent): string {
  const { passport, documents } = manifest;
  const { roomName, reference, version } = passport;
  const file = reference === null ? "" : ` (reference ${reference})`;
  const count = documents.length;
  const held =
    count === 0
      ? "held no documents"
      : count === 1
        ? "held the document listed below"
        : `held the ${count} documents listed below`;
  const computed =
    count === 0
      ? ""
      : " SignSealShip computed every SHA-256 hash shown with a document from the file that it held at that time.";
  const chained =
    version === 1
      ? "is the first version of that record."
      : `is version ${version} of that record. It follows the sealed version ${version - 1}.`;
  return (
    `SignSealShip, on behalf of ${firmName(firm)}, certifies the following. On ${dateText(passport.generatedAtUtc)}, its record of the ` +
    `closing “${roomName}”${file} ${held}.${computed} This certificate ${chained}`
  );
}
