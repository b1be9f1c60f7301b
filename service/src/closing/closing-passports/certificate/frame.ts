import {
  type Colour,
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
import { statement } from "./statement.ts";

/** The firm's own color, where it has one. */
const accentOf = ({ firm }: CertificateContent): Colour => (firm.accentColor ?? "#1f3d6d") as Colour;

/** What stands at the top of the first page: whose certificate it is, of what, and whether of a test. */
export function title(sheets: Sheets, flow: Flow, typeset: Typeset, content: CertificateContent): void {
  const { passport } = content.manifest;
  sheets.rectangle(0, pageSize.height - 5, pageSize.width, 5, accentOf(content));
  letterhead(sheets, flow, typeset, "Closing Passport certificate");
  const beside = firmHead(sheets, flow, { name: firmName(content.firm), logo: content.firm.logo });
  flow.skip(3);
  flow.text(passport.roomName, titleLook, beside);
  flow.skip(3);
  flow.text(`Version ${passport.version} of the room’s Closing Passport`, { size: 10.5, colour: muted });
  if (content.environment === "test") testNotice(sheets, flow);
  flow.skip(10);
}

/** What is certified, and the seal under it. */
export function certification(sheets: Sheets, flow: Flow, typeset: Typeset, content: CertificateContent): void {
  flow.text(statement(content), { size: 10.5, leading: 1.5 });
  flow.skip(10);
  sealBlock(sheets, flow, typeset, {
    holder: firmName(content.firm),
    at: dateText(content.manifest.passport.generatedAtUtc),
    url: content.verifyUrl,
    certificate: `Certificate: ${content.issuer.certificate}`,
    colour: accentOf(content),
  });
}
