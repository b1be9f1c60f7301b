import { columnCipher } from "./column-cipher.ts";
import type { Log } from "./logs.ts";
import type { SecretBytes } from "./secrets.ts";
import { isVisible } from "./text.ts";

export const documentNameColumn = "document_name";

const maxLength = 200;
// Control characters, and characters that change the direction of the text after them. Names must not contain them,
// because they could distort the words around the name.
const unshown = /[\p{Cc}\p{Cs}\uFFFD\u061C\u200B-\u200F\u2028-\u202E\u2060-\u2069\uFEFF]/gu;
// The default file names of other software.
const unnamed = /^(?:document|file|blob|upload|unnamed|untitled)$/i;

/** A document's title from its file name, without folders and `.pdf`; null when the name is not informative. */
export function documentName(filename: string | undefined): string | null {
  const base = (filename ?? "").split(/[/\\]/).at(-1) ?? "";
  const name = base
    .normalize("NFC")
    .replaceAll(unshown, " ")
    .replaceAll(/\s+/g, " ")
    .trim()
    .replace(/\.pdf$/i, "")
    .trim();
  if (!isVisible(name) || unnamed.test(name)) return null;
  return [...name].slice(0, maxLength).join("");
}

/**
 * Encrypts document names. Each encrypted name is bound to its owner: the code of an order, or the id of a passport (a
 * sealed document's verification record).
 */
export type DocumentNames = {
  seal: (name: string | null, holder: string) => Buffer | null;
  /**
   * Decrypts a name. On failure (an altered name, a missing key) it logs the error and returns null, so that a page can
   * still show the rest of the row.
   */
  open: (sealed: Buffer | null, holder: string) => string | null;
};

export function openDocumentNames({ secrets, log }: { secrets: SecretBytes; log: Log }): DocumentNames {
  const cipher = columnCipher(secrets, documentNameColumn);
  return {
    seal: (name, holder) => (name === null ? null : cipher.encrypt(Buffer.from(name), holder)),
    open(sealed, holder) {
      if (sealed === null) return null;
      try {
        return cipher.decrypt(sealed, holder).toString();
      } catch (error) {
        log.error({ err: error }, "the name of a document can't be decrypted");
        return null;
      }
    },
  };
}
