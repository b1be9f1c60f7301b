import { columnCipher } from "./column-cipher.ts";
import type { Log } from "./logs.ts";
import type { SecretBytes } from "./secrets.ts";
import { isVisible } from "./text.ts";

export const documentNameColumn = "document_name";

const longest = 200;
// Controls, and marks that turn the direction of what follows: a name is shown among other words.
const unshown = /[\p{Cc}\p{Cs}\uFFFD\u061C\u200B-\u200F\u2028-\u202E\u2060-\u2069\uFEFF]/gu;
// What programs call a file that has no name.
const unnamed = /^(?:document|file|blob|upload|unnamed|untitled)$/i;

/** What a document is called, by the name of the file that it came as: without folders and `.pdf`; null when that says nothing. */
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
  return [...name].slice(0, longest).join("");
}

/** Names of documents are kept encrypted, each bound to what has it: the code of an order, the id of a passport. */
export type DocumentNames = {
  seal: (name: string | null, holder: string) => Buffer | null;
  /** Null also for one that was altered, which is logged: whatever else its row says is shown. */
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
