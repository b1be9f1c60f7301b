import type { SealedParts } from "./sealed-parts.ts";

export type ReadmeFacts = {
  verifyUrl: string;
  docSha256: string;
  sealedSha256: string;
  /** Null when the sealed PDF is not kept. */
  parts: SealedParts | null;
  timeStamped: boolean;
  anchored: boolean;
};

/** The commands that check each file of the evidence, for a shell with openssl 3, sha256sum and xxd. */
export function evidenceReadme(facts: ReadmeFacts): string {
  const { parts } = facts;
  const sections = [
    `Evidence of a proof passport\n${facts.verifyUrl}`,
    parts ? sealedFile(facts, parts) : notKept(facts),
    parts ? seal(parts) : null,
    facts.timeStamped ? timeStamp(parts) : "Time stamp: none was obtained when this document was sealed.",
    facts.anchored ? anchor(facts) : "OpenTimestamps: no proof was obtained when this document was sealed.",
    "All of it at once, offline: signsealship verify EVIDENCE.zip",
  ];
  return `${sections.filter((section) => section !== null).join("\n\n")}\n`;
}

function sealedFile({ docSha256, sealedSha256 }: ReadmeFacts, { originalLength }: SealedParts): string {
  return `The file is the one that was sealed. Expect ${sealedSha256}

  sha256sum sealed.pdf

It begins with the document as it was handed in, unchanged. Expect ${docSha256}

  head -c ${originalLength} sealed.pdf | sha256sum`;
}

function notKept({ docSha256, sealedSha256 }: ReadmeFacts): string {
  return `The sealed PDF is not kept by the service. With your own copy of it, expect ${sealedSha256}

  sha256sum sealed.pdf

and for the document that was handed in ${docSha256}`;
}

function seal({ gapStart, gapEnd, cmsLength }: SealedParts): string {
  return `The seal is a PAdES signature over the whole file; PDF readers show it, and so does poppler:

  pdfsig sealed.pdf

With openssl alone: take the signature out, put together what it covers, verify.

  tail -c +${gapStart + 2} sealed.pdf | head -c ${2 * cmsLength} | xxd -r -p > seal.p7s
  { head -c ${gapStart} sealed.pdf; tail -c +${gapEnd + 1} sealed.pdf; } > covered.bin
  openssl cms -verify -binary -inform DER -in seal.p7s -content covered.bin \\
    -CAfile seal-certificates.pem -partial_chain -purpose any -out /dev/null

seal-certificates.pem came with this archive: compare it with the one that you had from the service.`;
}

function timeStamp(parts: SealedParts | null): string {
  const show = "  openssl ts -reply -token_in -in timestamp.tst -text";
  if (!parts) return `The time stamp (RFC 3161) is over the signature value of the seal. To show it:\n\n${show}`;
  return `The time stamp (RFC 3161) is over the signature value of the seal. To show and to verify it, with the authority's
root certificate from the authority itself as tsa.pem:

${show}
  tail -c +${parts.signatureStart + 1} seal.p7s | head -c ${parts.signatureLength} > signature.bin
  openssl ts -verify -data signature.bin -token_in -in timestamp.tst -CAfile tsa.pem`;
}

function anchor({ sealedSha256 }: ReadmeFacts): string {
  return `The OpenTimestamps proof is of the sealed PDF's hash. It can be completed and verified with any client:

  ots upgrade sealed.pdf.ots
  ots verify -d ${sealedSha256} sealed.pdf.ots`;
}
