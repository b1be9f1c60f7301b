import { dateText } from "@signsealship/certificate";
import { type CertificateContent, firmName } from "./content.ts";

/** Who certifies what, for whom, and as of when: in one sentence. */
export function statement({ manifest, firm }: CertificateContent): string {
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
      : "; that every SHA-256 hash shown with a document was computed from the file that the service held at that time";
  const chained =
    version === 1
      ? "is the first version of that record"
      : `is version ${version} of that record, and follows version ${version - 1} as it was sealed`;
  return (
    `SignSealShip, on behalf of ${firmName(firm)}, certifies that on ${dateText(passport.generatedAtUtc)} its record of the closing ` +
    `“${roomName}”${file} ${held}${computed}; and that this certificate ${chained}.`
  );
}
