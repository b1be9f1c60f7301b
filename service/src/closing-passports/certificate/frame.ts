import {
  type Flow,
  letterhead,
  muted,
  type Sheets,
  type Typeset,
  testNotice,
  titleLook,
} from "@signsealship/certificate";
import type { CertificateContent } from "./content.ts";

/** What stands at the top of the first page: whose certificate it is, of what, and whether of a test. */
export function title(sheets: Sheets, flow: Flow, typeset: Typeset, content: CertificateContent): void {
  const { passport } = content.manifest;
  letterhead(sheets, flow, typeset, "Closing Passport certificate");
  flow.text(passport.roomName, titleLook);
  flow.skip(3);
  flow.text(`Version ${passport.version} of the room’s Closing Passport. Made for ${content.partnerName}.`, {
    size: 10.5,
    colour: muted,
  });
  if (content.environment === "test") testNotice(sheets, flow);
  flow.skip(14);
}
