// Characters that an operating system forbids in file names, and characters that are invisible or change the direction
// of text.
const notInNames = /[<>:"/\\|?*\p{Cc}\u061C\u200B-\u200F\u2028-\u202E\u2060-\u2069\uFEFF]/gu;

/**
 * Writes a `Content-Disposition` header (RFC 6266). A name with characters beyond ASCII gets two parameters: an ASCII
 * `filename`, and the whole name in `filename*` (RFC 8187). Older programs read only the first.
 * @param name the file's name, in any script
 */
export function contentDisposition(disposition: "inline" | "attachment", name: string): string {
  const safe = name.toWellFormed().replaceAll(notInNames, "-");
  const plain = safe
    .normalize("NFKD")
    .replaceAll(/\p{M}/gu, "")
    .replaceAll(/[^ -~]/g, "_");
  const extended =
    plain === safe ? "" : `; filename*=UTF-8''${encodeURIComponent(safe).replaceAll(/[!'()*]/g, escaped)}`;
  return `${disposition}; filename="${plain}"${extended}`;
}

const escaped = (character: string): string => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
