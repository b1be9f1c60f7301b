import { equalBytes } from "@signsealship/evidence/bytes";
import { detachedMagic } from "@signsealship/evidence/ots";

/** A file in memory. */
export type NamedBytes = { readonly name: string; readonly bytes: Uint8Array };

export type FileKind = "pdf" | "zip" | "ots" | "record" | "json" | "der" | "unknown";

const headerWindow = 1024;

/** The hashes in a service's record of a sealed document (`passport.json` of an evidence zip); null for any other file. */
export function recordIn({ bytes }: NamedBytes): { sealedSha256: string; docSha256: string } | null {
  const { sealedSha256, docSha256 } = parsed(bytes);
  return isSha256(sealedSha256) && isSha256(docSha256) ? { sealedSha256, docSha256 } : null;
}

const isSha256 = (value: unknown): value is string => typeof value === "string" && /^[0-9a-f]{64}$/.test(value);

function parsed(bytes: Uint8Array): Record<string, unknown> {
  try {
    return Object(JSON.parse(new TextDecoder().decode(bytes)));
  } catch {
    return {};
  }
}

/** What a file is, by its first bytes. One that is named a PDF is judged as one, whatever else it may be. */
export function kindOf(file: NamedBytes): FileKind {
  const { name, bytes } = file;
  if (/\.pdf$/i.test(name)) return "pdf";
  if (bytes[0] === 0x50 && bytes[1] === 0x4b && (bytes[2] === 3 || bytes[2] === 5)) return "zip";
  if (equalBytes(bytes.subarray(0, detachedMagic.length), detachedMagic)) return "ots";
  const head = new TextDecoder("latin1").decode(bytes.subarray(0, headerWindow));
  if (head.includes("%PDF-")) return "pdf";
  if (head.trimStart().startsWith("{")) return recordIn(file) ? "record" : "json";
  return bytes[0] === 0x30 ? "der" : "unknown";
}
