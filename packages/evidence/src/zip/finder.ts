import { indexOfText, isTextAt } from "../pdf/search.ts";

/**
 * The names of entries that the Finder of macOS adds when somebody unpacks a zip and zips its folder. They are
 * `FOLDER/.DS_Store` and, for a file with macOS attributes, `__MACOSX/FOLDER/._FILE` and the folders above it.
 */
const FINDER = /^(?:(?:[^/]+\/){1,2}\.DS_Store|__MACOSX\/(?:[^/]+\/){0,2}(?:\._[^/]+)?)$/;

/**
 * The path of the file or folder that a Finder entry describes, without leading dots. Empty for `__MACOSX/`; null for a
 * name that the Finder does not write.
 */
export const finderSubject = (name: string): string | null =>
  FINDER.test(name) ? name.replace(/^__MACOSX\//, "").replace(/(^|\/)(?:\._)?\.?([^/]+)$/, "$1$2") : null;

/** True if a file begins with the bytes that its name requires, and no program could open the file as a PDF. */
export function isFinderFile(name: string, bytes: Uint8Array): boolean {
  // AppleDouble (RFC 1740, appendix B) has the magic number 00051607.
  const magic = name.endsWith("/.DS_Store") ? "\0\0\0\u0001Bud1" : "\0\u0005\u0016\u0007";
  // PDF readers accept a header that begins within the first 1,024 bytes.
  return isTextAt(bytes, magic, 0) && indexOfText(bytes, "%PDF-", 0, Math.min(bytes.length, 1028)) < 0;
}
