import type { Environment } from "../../../kernel/identity/identity.ts";
import { deletedMessage } from "../../../kernel/retention/retention.ts";
import type { SealedParts } from "./sealed-parts.ts";

export type ReadmeFacts = {
  environment: Environment;
  verifyUrl: string;
  docSha256: string;
  sealedSha256: string;
  /** The byte offsets of the parts of the sealed PDF; null when it is not stored or can't be read. */
  parts: SealedParts | null;
  /** The time when the retention plan deleted the sealed PDF; null when it did not. */
  deletedAt: Date | null;
  /** The time in the time-stamp token; null without a token. */
  stampedAt: Date | null;
  anchored: boolean;
  /** True if the seal's proof from the transparency log is among the files. */
  logged: boolean;
  /** The number of time-stamp tokens for the checkpoint in the log proof. */
  rootStamps: number;
  rootAnchored: boolean;
};

/**
 * The commands that check each file of the evidence, for a shell with openssl 3, coreutils, xxd, poppler and
 * opentimestamps-client.
 */
export function evidenceReadme(facts: ReadmeFacts): string {
  const { parts } = facts;
  const sections = [
    `Evidence of a proof passport\n${facts.verifyUrl}`,
    facts.environment === "test"
      ? "A TEST: its seal means nothing outside of testing, whatever the checks below say."
      : null,
    inShort(facts),
    parts ? sealedFile(facts, parts) : withoutDocument(facts),
    parts ? seal(facts, parts) : null,
    facts.stampedAt
      ? timeStamp(parts, facts.stampedAt)
      : "Time stamp: none was obtained when this document was sealed.",
    facts.anchored ? anchor(facts) : "OpenTimestamps: no proof was obtained when this document was sealed.",
    facts.logged ? logged(facts) : null,
    "To check everything at once, offline, with the service's open-source verifier: bin/signsealship verify EVIDENCE.zip",
  ];
  return `${sections.filter((section) => section !== null).join("\n\n")}\n`;
}

/** The summary for readers without a command line. */
function inShort({ verifyUrl, parts, stampedAt, anchored }: ReadmeFacts): string {
  const shown = [
    "not a byte of sealed.pdf has changed since it was sealed",
    "which certificate sealed it",
    stampedAt
      ? "the seal existed at the time that an independent authority confirmed"
      : "not when it was sealed: only the service states the time",
    ...(anchored ? ["the file existed when a Bitcoin block was made, once a block has confirmed its proof"] : []),
  ];
  return `sealed.pdf is a document exactly as it was handed in, with a seal added at its end. Anybody can check ${parts ? "with the files here" : "with these files and it"}:

${shown.map((one) => `- ${one}`).join(";\n")}.

These files do not show whether the content of the document is true, who signed or agreed to it before, or for whom it was sealed.

Without commands: choose this zip${parts ? "" : " and your copy of sealed.pdf"} at ${new URL("/verify", verifyUrl).href}; your browser checks ${parts ? "it, and sends it" : "them, and sends them"} nowhere.
Keep that check as a file that needs no network: ${new URL("/verify/offline", verifyUrl).href}
The commands below do not need the service. They need openssl 3, coreutils, xxd, poppler and opentimestamps-client.`;
}

function sealedFile({ docSha256, sealedSha256 }: ReadmeFacts, { originalLength }: SealedParts): string {
  return `The file is the one that was sealed. Expect ${sealedSha256}

  sha256sum sealed.pdf

It begins with the document as it was handed in, unchanged. Expect ${docSha256}

  head -c ${originalLength} sealed.pdf | sha256sum`;
}

function withoutDocument({ docSha256, sealedSha256, deletedAt }: ReadmeFacts): string {
  const why = deletedAt ? deletedMessage("The sealed PDF", deletedAt) : "The sealed PDF is not kept by the service.";
  return `${why} With your own copy of it, expect ${sealedSha256}

  sha256sum sealed.pdf

and for the document that was handed in ${docSha256}`;
}

/** The commands validate certificates as of the proven time, because the certificates may have expired since. */
const attime = (instant: Date): string => `-attime ${Math.floor(instant.getTime() / 1000)}`;

function seal({ verifyUrl, stampedAt }: ReadmeFacts, { gapStart, gapEnd, cmsLength }: SealedParts): string {
  return `The seal is a PAdES signature over the whole file; PDF readers show it, and so does poppler:

  pdfsig sealed.pdf

Expect "Signature is Valid" and "Total document signed". pdfsig reports that the issuer "isn't Trusted" for every certificate that
your computer was not told to trust. The steps below show whose certificate it is.

With openssl alone: extract the signature, join the bytes that it covers, and verify it.

  tail -c +${gapStart + 2} sealed.pdf | head -c ${2 * cmsLength} | xxd -r -p > seal.p7s
  { head -c ${gapStart} sealed.pdf; tail -c +${gapEnd + 1} sealed.pdf; } > covered.bin
  openssl cms -verify -binary -inform DER -in seal.p7s -content covered.bin \\
    -CAfile seal-certificates.pem -partial_chain -purpose any${stampedAt ? ` ${attime(stampedAt)}` : ""} \\
    -signer signer.pem -out /dev/null
  openssl x509 -in signer.pem -noout -subject -serial -dates -fingerprint -sha256

signer.pem is the seal's own certificate. seal-certificates.pem came with this archive, so it proves nothing by itself: compare
the fingerprint with that of a certificate that you got from the service in another way: from ${new URL("/seal/certificate.pem", verifyUrl).href},
from a printed certificate, or from any older file that it sealed. No command here shows whether that certificate was retired later.
${new URL("/seal/trust.json", verifyUrl).href} shows it, and the check in the browser uses that list.${stampedAt ? " -attime is the time of the time stamp: the certificate had to be valid then." : ""}`;
}

function timeStamp(parts: SealedParts | null, stampedAt: Date): string {
  const show = "  openssl ts -reply -token_in -in timestamp.tst -text";
  if (!parts) return `The time stamp (RFC 3161) covers the signature value of the seal. To show it:\n\n${show}`;
  return `The time stamp (RFC 3161) covers the signature value of the seal. Get the authority's root certificate from the authority and
save it as tsa.pem. To show and to verify the time stamp:

${show}
  tail -c +${parts.signatureStart + 1} seal.p7s | head -c ${parts.signatureLength} > signature.bin
  openssl ts -verify -data signature.bin -token_in -in timestamp.tst -CAfile tsa.pem ${attime(stampedAt)}`;
}

function anchor({ sealedSha256 }: ReadmeFacts): string {
  return `The OpenTimestamps proof covers the hash of the sealed PDF. Any client can complete the proof. The usual client replaces its input
file and keeps the old one as .bak, so give it a copy. You must allow a calendar that is not public: ots -l URL upgrade.

  cp sealed.pdf.ots upgraded.ots
  ots upgrade upgraded.ots

Of the two commands below, the first shows the merkle root of the block that the proof names. The second verifies it with your own
Bitcoin Core node, or with one that you name (ots --bitcoin-node URL verify):

  ots info upgraded.ots
  ots verify -d ${sealedSha256} upgraded.ots`;
}

function logged({ sealedSha256, rootStamps, rootAnchored }: ReadmeFacts): string {
  const anchors = [
    rootStamps > 0
      ? `\n\ncheckpoint-1.tst is a time stamp over that checkpoint with only the log's own signature:

  sed '1,/^$/d' sealed.pdf.tlog-proof | sed '/^$/,$ { /^$/n; q }' > checkpoint
  openssl ts -verify -data checkpoint -token_in -in checkpoint-1.tst -CAfile tsa.pem`
      : "",
    rootAnchored ? "\n\ncheckpoint.ots is an OpenTimestamps proof of the checkpoint's root, its third line." : "",
  ];
  return `The transparency log has a line for this seal. Nobody can remove or backdate that line unnoticed. sealed.pdf.tlog-proof (C2SP
tlog-proof) leads from the line to a checkpoint that the log signed. These commands print the line, and the hash with which the proof begins:

  printf 'seal/v1 ${sealedSha256}\\n'
  printf '\\0seal/v1 ${sealedSha256}\\n' | sha256sum${anchors.join("")}`;
}
