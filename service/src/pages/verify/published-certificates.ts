import { readTrust } from "@signsealship/evidence/seal";
import { nameText } from "@signsealship/evidence/x509";

/**
 * The common name in a certificate's subject, which is text in the form of RFC 4514. Without a common name, the whole
 * subject.
 */
export const commonName = (subject: string): string => /(?:^|,\s*)CN=((?:\\.|[^,\\])+)/.exec(subject)?.[1] ?? subject;

/**
 * Describes the seals and the time-stamp authorities that the page trusts, in one sentence for each.
 * @param trust the page's trust list, or PEM; empty when the page trusts no certificate
 */
export function publishedCertificates(trust: string): string {
  if (trust.trim() === "")
    return "This page knows no certificates. A seal shows that nothing has changed; to know whose seal and whose time stamp it is, add certificates from a source you trust.";
  const { tsaAnchors } = readTrust(trust);
  const authorities = [...new Set(tsaAnchors.map(({ subject }) => commonName(nameText(subject))))];
  const stamps =
    authorities.length > 0
      ? `Time stamps are checked against ${new Intl.ListFormat("en-US").format(authorities)}.`
      : "It knows no time-stamping authority: it reads a time stamp, but can’t check who made it until you add the authority’s certificate.";
  return `Seals are checked against this service’s own certificates. ${stamps}`;
}
