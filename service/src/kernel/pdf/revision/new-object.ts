import { hasWord, type Ref, type Span, skipSpace } from "../lexer.ts";
import { PdfRefusal } from "../refusal.ts";

/** An object of an appended revision. */
export type NewObject = {
  readonly ref: Ref;
  /** The object as latin1 text without its header: any value, or the dictionary of `stream`. */
  readonly body: string;
  /** True if the object's strings are not encrypted yet. False for strings copied from an encrypted file. */
  readonly clear: boolean;
  /** The data of a stream as written (latin1). /Length is in the dictionary. */
  readonly stream?: string;
};

/**
 * Refuses an object that is a stream. The caller writes the object's new version as a dictionary or array, so the
 * stream's data would be lost.
 * @throws PdfRefusal `needs_repair`
 */
export function refuseStream(old: Span, ref: Ref): void {
  if (isStream(old)) throw new PdfRefusal("needs_repair", `object ${ref.num} is a stream where a dictionary belongs`);
}

/** True if a dictionary is that of a stream. */
export const isStream = ({ bytes, end }: Span): boolean => hasWord(bytes, skipSpace(bytes, end), "stream");
