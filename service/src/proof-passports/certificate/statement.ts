import { dateText } from "@signsealship/certificate";
import type { ProofCertificate } from "./content.ts";

const count = new Intl.NumberFormat("en-US");

/** Who certifies what, for whom, and as of when: in one sentence. */
export function statement({ record, firm, document }: ProofCertificate): string {
  const behalf = firm ? `, on behalf of ${firm.name},` : "";
  const named = record.name === null ? "a document" : `the document “${record.name}”`;
  const pages = document?.pages ? `${document.pages} ${document.pages === 1 ? "page" : "pages"} and ` : "";
  const size = document ? ` of ${pages}${count.format(document.bytes)} bytes,` : "";
  return (
    `SignSealShip${behalf} certifies that on ${dateText(record.sealedAt.toISOString())} it sealed ${named}${size} whose SHA-256 is shown ` +
    "below; and that the seal changed no byte of it: the sealed file begins with the document as it was handed in."
  );
}
