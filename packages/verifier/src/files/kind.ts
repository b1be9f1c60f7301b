import { equalBytes } from "@signsealship/evidence/bytes";
import { isLogProof } from "@signsealship/evidence/log";
import { detachedMagic } from "@signsealship/evidence/ots";

export type FileKind = "pdf" | "zip" | "ots" | "log" | "json" | "pem" | "der" | "unknown";

const HEADER_WINDOW = 1024;

/**
 * Detects the kind of a file by its first bytes. But a file whose name ends in `.pdf` is verified as a PDF, whatever
 * else it is, because PDF readers open it.
 */
export function kindOf(name: string, bytes: Uint8Array): FileKind {
  if (/\.pdf$/i.test(name)) return "pdf";
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, HEADER_WINDOW));
  if (head.indexOf("PK\x03\x04", 0, "latin1") === 0 || head.indexOf("PK\x05\x06", 0, "latin1") === 0) return "zip";
  if (equalBytes(bytes.subarray(0, detachedMagic.length), detachedMagic)) return "ots";
  if (head.includes("%PDF-", 0, "latin1")) return "pdf";
  if (isLogProof(bytes)) return "log";
  const text = head.toString("latin1").trimStart();
  if (text.startsWith("{")) return "json";
  if (text.startsWith("-----BEGIN ")) return "pem";
  return head[0] === 0x30 ? "der" : "unknown";
}
