import { equalBytes } from "@signsealship/evidence/bytes";
import { detachedMagic } from "@signsealship/evidence/ots";

/** A file in memory. */
export type NamedBytes = { readonly name: string; readonly bytes: Uint8Array };

export type FileKind = "pdf" | "zip" | "ots" | "json" | "der" | "unknown";

const headerWindow = 1024;

/** What a file is, by its first bytes. One that is named a PDF is judged as one, whatever else it may be. */
export function kindOf({ name, bytes }: NamedBytes): FileKind {
  if (/\.pdf$/i.test(name)) return "pdf";
  if (bytes[0] === 0x50 && bytes[1] === 0x4b && (bytes[2] === 3 || bytes[2] === 5)) return "zip";
  if (equalBytes(bytes.subarray(0, detachedMagic.length), detachedMagic)) return "ots";
  const head = new TextDecoder("latin1").decode(bytes.subarray(0, headerWindow));
  if (head.includes("%PDF-")) return "pdf";
  if (head.trimStart().startsWith("{")) return "json";
  return bytes[0] === 0x30 ? "der" : "unknown";
}
