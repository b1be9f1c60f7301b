import { equalBytes } from "@signsealship/evidence/bytes";
import { EvidenceError } from "@signsealship/evidence/errors";
import { isLogProof } from "@signsealship/evidence/log";
import { detachedMagic } from "@signsealship/evidence/ots";
import { evidenceNames, type JsonKind, jsonKindOf, parseStrictObject } from "@signsealship/evidence/records";

/** A file in memory. */
export type NamedBytes = { readonly name: string; readonly bytes: Uint8Array };

export type FileKind =
  | "pdf"
  | "zip"
  | "ots"
  | "log"
  | "record"
  | "room_record"
  | "json"
  | "certificates"
  | "der"
  | "unknown";

const headerWindow = 1024;
const maxSigningBytes = 32 * 1024 * 1024;

const kinds: Readonly<Record<JsonKind, FileKind>> = {
  manifest: "json",
  room_record: "room_record",
  proof_record: "record",
  other: "unknown",
  broken: "json",
};

/** The kind of a file, from its name or its bytes. A file whose name ends in .pdf is always treated as a PDF. */
export function kindOf(file: NamedBytes): FileKind {
  const { name, bytes } = file;
  if (/\.pdf$/i.test(name)) return "pdf";
  // Files from an evidence zip keep their names after unpacking. So a file with the record's name is treated as a
  // record.
  if (name === evidenceNames.record) return "record";
  if (name === evidenceNames.certificates) return "certificates";
  if (bytes[0] === 0x50 && bytes[1] === 0x4b && (bytes[2] === 3 || bytes[2] === 5)) return "zip";
  if (equalBytes(bytes.subarray(0, detachedMagic.length), detachedMagic)) return "ots";
  const head = new TextDecoder("latin1").decode(bytes.subarray(0, headerWindow));
  if (head.includes("%PDF-")) return "pdf";
  if (isLogProof(bytes)) return "log";
  if (head.trimStart().startsWith("{")) return isOfSigning(bytes) ? "unknown" : kinds[jsonKindOf(bytes)];
  return bytes[0] === 0x30 ? "der" : "unknown";
}

/**
 * True if the file is the evidence of a signing. Such a file is sealed inside the custody certificate, and proves
 * nothing by itself.
 */
function isOfSigning(bytes: Uint8Array): boolean {
  try {
    const { trail, revisions } = parseStrictObject(bytes, maxSigningBytes);
    return trail !== undefined && revisions !== undefined;
  } catch (error) {
    if (error instanceof EvidenceError) return false;
    throw error;
  }
}
