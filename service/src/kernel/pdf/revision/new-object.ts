import { hasWord, type Ref, type Span, skipSpace } from "../lexer.ts";
import { PdfRefusal } from "../refusal.ts";

/** An object of an appended revision. */
export type NewObject = {
  readonly ref: Ref;
  /** Latin1 text without the object's header: any value, or the dictionary of `stream`. */
  readonly body: string;
  /** False for strings that stand as they stood in the file itself: in an encrypted file they are encrypted already. */
  readonly clear: boolean;
  /** The data of a stream as it is written, latin1; /Length is in the dictionary. */
  readonly stream?: string;
};

/** @throws PdfRefusal `needs_repair` for a stream: without its data it would be another object, or take others with it */
export function refuseStream(old: Span, ref: Ref): void {
  if (isStream(old)) throw new PdfRefusal("needs_repair", `object ${ref.num} is a stream where a dictionary belongs`);
}

/** Whether a dictionary is that of a stream. */
export const isStream = ({ bytes, end }: Span): boolean => hasWord(bytes, skipSpace(bytes, end), "stream");
