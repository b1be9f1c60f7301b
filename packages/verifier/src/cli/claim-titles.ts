import type { CustodyClaimName } from "@signsealship/evidence/envelope";
import type { RecordClaimName } from "@signsealship/evidence/records";
import type { TimeStampClaimName } from "@signsealship/evidence/rfc3161";
import type { AttachedClaimName, EarlierClaimName, ProofClaimName } from "@signsealship/evidence/seal";

type Titles = Readonly<
  Record<
    AttachedClaimName | CustodyClaimName | ProofClaimName | EarlierClaimName | TimeStampClaimName | RecordClaimName,
    string
  > &
    Record<string, string>
>;

/** The titles of claims in plain words, by the name of the claim. For the command line and for pages. */
const TITLES: Titles = {
  pdf_readable: "The file is a PDF that can be read",
  whole_file_covered: "The seal covers the whole file",
  signature_structure: "The seal sits where it should",
  document_unchanged_since_seal: "Not a byte has changed since the seal",
  seal_signature_valid: "The seal's signature is genuine",
  seal_place: "The seal belongs where it stands",
  seal_purpose: "The seal says what it was made for",
  seal_certificate_trusted: "The seal is by a known certificate",
  seal_certificate_valid_at_time: "The certificate was valid at the time",
  seal_certificate_not_retired: "The seal is older than its certificate's retirement",
  seal_certificate_environment: "A certificate of tests seals tests alone",
  time_stamp_valid: "The time stamp of an independent authority",
  original_document_hash: "The document inside is told apart from its seal",
  certification_respected: "Limits set by the document's author were kept",
  sealed_hash_as_expected: "It is the sealed file expected",
  document_hash_as_expected: "It contains the document expected",
  separate_time_stamp_valid: "The separate time-stamp token is for this seal",
  anchored_in_block: "Anchored in the Bitcoin block chain",
  log_inclusion: "The transparency log has this seal",
  log_checkpoint_signed: "A known log signed its state with this seal",
  log_not_retracted: "The operator stands by this seal",
  log_checkpoint_stamped: "Independent authorities stamped that state of the log",
  log_checkpoint_anchored: "That state of the log is anchored in the Bitcoin block chain",
  log_carried: "The seal carries a state of the log",
  log_sandwich: "The seal entered the log when it says that it was made",
  log_witnessed: "Independent witnesses saw that state of the log",
  archival_time_stamp: "Only archival time stamps and metadata follow the sealed file",
  seal_environment: "What the seal was made for",
  attached_manifest: "The attached manifest",
  record_attached: "What it speaks of is attached to it",
  receipt_events: "The providers' events are attached as listed",
  receipt_signatures: "The providers' signatures of the events",
  record_readable: "The record can be read",
  record_verify_code: "The record is of the code asked for",
  record_sealed_hash: "The record is of this sealed file",
  record_document_hash: "The record is of this document",
  certificates_are_the_seals: "The certificate file belongs to the seal",
  other_files: "Other files",
  zip_readable: "The zip can be read",
  sealed_pdf: "The sealed PDF",
  service_record: "The service's record",
  evidence: "There is evidence that can be read",
  service_chain_ok: "The service's word on the chain",
  seal_certificate_source: "Where the trust in the certificate comes from",
  signature_present: "It is still in the document",
  revision_covered: "It covers a state of the document",
  signature_valid: "The signature is intact",
  later_changes_permitted: "Later changes were permitted ones",
  "ots.format": "The proof can be read",
  "ots.digest": "The proof is for this file",
  "ots.bitcoin": "A Bitcoin block commits to it",
  "ots.litecoin": "A Litecoin block commits to it",
  "ots.ethereum": "An Ethereum block commits to it",
  "ots.pending": "A calendar has promised a proof",
  "ots.unknown": "An attestation of an unknown kind",
  status: "The authority granted the time stamp",
  nonce: "The time stamp answers the request",
  messageImprint: "The time stamp is over these bytes",
  contentType: "The token contains a time stamp",
  messageDigest: "The time stamp is whole",
  signature: "The authority's signature is valid",
  signingCertificate: "The certificate is one for time stamps alone",
  chain: "The authority's certificate is trusted",
  token_readable: "The time stamp can be read",
  "chain.versions": "No version is missing",
  kind: "The kind of file",
  file_readable: "The file can be read",
  folder: "The folder",
  verdict: "Verdict",
  custody_purpose: "The seal was made for a custody certificate",
  custody_environment: "Seal and envelope are both live, or both a test",
  envelope_readable: "The envelope's evidence can be read",
  envelope_canonical: "The evidence is in its one canonical form",
  trail_chain: "No record of the trail was changed, added or left out",
  trail_begins: "The trail begins with the document",
  trail_sealed: "The trail ends with the seal",
  acts_recorded: "Everybody signed once, one state after the other",
  act_hashes: "Each act has the hash stated",
  revision_table: "The states of the file follow one another",
  trail_rows: "The trail is what was written",
  custody_certificate: "The custody certificate has this evidence",
  document_hash: "The document is the one named",
  document_continues: "It continues the signed document, sealed as notarized",
  document_revisions: "Every state of the file is in the document",
  document_acts: "Each signature in the document bears its act",
  act_certificate: "Each signer signed with their own certificate",
  act_place: "Each signature belongs where it is",
  act_time_stamp: "The signatures have the time stamps on record",
  signing_complete: "The signing was completed in this file",
  custody_of_this_record: "The custody certificate is of this page's record",
  document_of_this_room: "Which document of the closing it is",
  closing_of_this_record: "The closing certificate is of this page's record",
  document_seal: "The document's own seal is genuine",
  document_signatures: "Each signer's signature is intact",
};

const OF_VERSION: Readonly<Record<string, string>> = {
  "manifest.schema": "the manifest can be read",
  "manifest.canonical": "the manifest is in its one canonical form",
  "manifest.hash": "the manifest has the hash stated",
  "manifest.version": "the manifest names its version",
  "manifest.room": "the manifest is of this room",
  "manifest.link": "it links to the version before",
  "certificate.seal": "the certificate's seal is genuine",
  "certificate.trusted": "the seal is by a known certificate",
  "certificate.purpose": "the seal was made for a closing certificate",
  "certificate.manifest": "the manifest is attached to the certificate",
  "certificate.hash": "it is the certificate on record",
};

/** The names of all claims, with N for the number of a version or signature. */
export const claimNames: readonly string[] = [
  ...Object.keys(TITLES),
  ...Object.keys(OF_VERSION).map((name) => name.replace(".", ".vN.")),
];

/** The title of a claim, or its name when there is no title. */
export function titleOf(claim: string): string {
  const title = TITLES[claim];
  if (title !== undefined) return title;
  const [, number, finding = ""] = /^earlier\.(\d+)\.(.+)$/.exec(claim) ?? [];
  if (number !== undefined) return `Earlier signature ${number}: ${TITLES[finding] ?? finding}`;
  const [, subject = "", version = "", what = ""] = /^(manifest|certificate)\.v(\d+|\?)\.(.+)$/.exec(claim) ?? [];
  const ofVersion = OF_VERSION[`${subject}.${what}`] ?? TITLES[what];
  return ofVersion === undefined ? claim : `Version ${version}: ${ofVersion}`;
}
