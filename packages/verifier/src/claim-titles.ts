const TITLES: Readonly<Record<string, string>> = {
  pdf_readable: "The file is a PDF that can be read",
  whole_file_covered: "The seal covers the whole file",
  signature_structure: "The seal sits where a seal belongs",
  document_unchanged_since_seal: "Nothing has changed since the seal was made",
  seal_signature_valid: "The seal's signature is valid",
  seal_certificate_trusted: "The seal's certificate is trusted",
  seal_certificate_valid_at_time: "The certificate was valid at the time of the seal",
  time_stamp_valid: "An independent authority stamped the time of the seal",
  original_document_hash: "The document as it was handed in",
  certification_respected: "The document's own certification allows the seal",
  sealed_hash_as_expected: "The sealed file has the hash expected",
  document_hash_as_expected: "The document is the one given with --doc",
  separate_time_stamp_valid: "The time stamp kept beside the file is of this seal",
  anchored_in_block: "The sealed file is anchored in the Bitcoin chain",
  seal_environment: "What the seal was made for",
  attached_manifest: "The attached manifest",
  record_readable: "The record can be read",
  record_sealed_hash: "The record is of this sealed file",
  record_document_hash: "The record is of this document",
  certificates_are_the_seals: "The certificate file belongs to the seal",
  other_files: "Other files",
  zip_readable: "The zip can be read",
  sealed_pdf: "The sealed PDF",
  service_record: "The service's record",
  service_chain_ok: "The service's word on the chain",
  seal_certificate_source: "Where the trust in the certificate comes from",
  "ots.format": "The proof can be read",
  "ots.digest": "The proof is about this file",
  "ots.bitcoin": "A Bitcoin block confirms it",
  "ots.litecoin": "A Litecoin block is named",
  "ots.ethereum": "An Ethereum block is named",
  "ots.pending": "A calendar has promised a proof",
  "ots.unknown": "An attestation of an unknown kind",
  status: "The authority granted the time stamp",
  nonce: "The time stamp answers the request",
  messageImprint: "The time stamp is over these bytes",
  contentType: "The token holds a time stamp",
  messageDigest: "The time stamp is whole",
  signature: "The authority's signature is valid",
  signingCertificate: "The certificate is one for time stamps alone",
  chain: "The authority's certificate is trusted",
  token_readable: "The time stamp can be read",
  "chain.versions": "The versions are there, each once",
  kind: "The kind of file",
  file_readable: "The file can be read",
  folder: "The folder",
  verdict: "Verdict",
};

const OF_VERSION: Readonly<Record<string, string>> = {
  "manifest.schema": "the manifest is one",
  "manifest.canonical": "the manifest's bytes are canonical",
  "manifest.hash": "the manifest has its hash",
  "manifest.version": "the manifest names this version",
  "manifest.room": "the manifest is of this room",
  "manifest.link": "the link to the version before",
  "certificate.seal": "the seal of the certificate",
  "certificate.trusted": "the certificate of the seal is trusted",
  "certificate.purpose": "the seal is that of a closing certificate",
  "certificate.manifest": "the certificate holds the manifest",
  "certificate.hash": "the certificate has its hash",
};

/** A claim's name in plain words; the name itself where there are none. */
export function titleOf(claim: string): string {
  const title = TITLES[claim];
  if (title !== undefined) return title;
  const [, subject = "", version = "", what = ""] = /^(manifest|certificate)\.v(\d+|\?)\.(.+)$/.exec(claim) ?? [];
  const ofVersion = OF_VERSION[`${subject}.${what}`] ?? TITLES[what];
  return ofVersion === undefined ? claim : `Version ${version}: ${ofVersion}`;
}
