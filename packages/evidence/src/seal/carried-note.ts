import { stringBytes } from "../pdf/text.ts";
import type { PdfDictionary } from "../pdf/values.ts";

/**
 * The checkpoint in a seal's dictionary (/SSSLogCheckpoint), a signed note in UTF-8; null when missing or not a text.
 */
export function carriedNote(dictionary: PdfDictionary): string | null {
  const value = dictionary.entries.get("SSSLogCheckpoint");
  if (value?.kind !== "string" || dictionary.repeated.includes("SSSLogCheckpoint")) return null;
  const bytes = stringBytes(value);
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return null;
    throw error;
  }
}
