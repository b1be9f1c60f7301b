/** Names of the verifier's claims in plain words. */
export const claimTitles: Readonly<Record<string, string>> = {
  pdf_readable: "The file is a PDF that can be read",
  whole_file_covered: "The seal covers the whole file",
  signature_structure: "The seal sits where it should",
  document_unchanged_since_seal: "Not a byte has changed since the seal",
  seal_signature_valid: "The seal's signature is genuine",
  seal_certificate_trusted: "The seal is by a known certificate",
  seal_certificate_valid_at_time: "The certificate was valid at the time",
  time_stamp_valid: "An independent authority stamped the time",
  original_document_hash: "The document inside is told apart from its seal",
  certification_respected: "Limits set by the document's author were kept",
  sealed_hash_as_expected: "It is the sealed file on record",
  document_hash_as_expected: "It holds the document on record",
  separate_time_stamp_valid: "The time-stamp token beside it is for this seal",
  anchored_in_block: "Anchored in the Bitcoin block chain",
  revision_covered: "It covers a state of the document",
  signature_valid: "The signature is intact",
  later_changes_permitted: "Later changes were permitted ones",
  "ots.format": "The proof can be read",
  "ots.digest": "The proof is for this file",
  "ots.bitcoin": "A Bitcoin block commits to it",
  "ots.pending": "A calendar has promised a proof",
  "ots.litecoin": "A Litecoin block commits to it",
  "ots.ethereum": "An Ethereum block commits to it",
  "ots.unknown": "An attestation of an unknown kind",
  "chain.versions": "No version is missing",
};

const versioned: Readonly<Record<string, string>> = {
  "manifest.schema": "the manifest can be read",
  "manifest.canonical": "the manifest is in its one canonical form",
  "manifest.hash": "the manifest has the hash stated",
  "manifest.version": "the manifest names its version",
  "manifest.room": "the manifest is of this room",
  "manifest.link": "it links to the version before",
  "certificate.seal": "the certificate's seal holds",
  "certificate.trusted": "the seal is by a known certificate",
  "certificate.purpose": "the seal was made for a closing certificate",
  "certificate.manifest": "the manifest is attached to the certificate",
  "certificate.hash": "it is the certificate on record",
};

/** `manifest.v3.hash` as "Version 3: the manifest has the hash stated". */
export function chainTitle(name: string): string {
  const [subject, version = "", check] = name.split(".");
  const words = versioned[`${subject}.${check}`];
  return words ? `Version ${version.slice(1)}: ${words}` : (claimTitles[name] ?? name);
}
