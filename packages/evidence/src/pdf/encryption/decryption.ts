import { EvidenceError } from "../../errors.ts";

/** What the bytes of a string stood for before it was encrypted; the same bytes when they can't have been encrypted. */
export type StringDecryption = (encrypted: Uint8Array) => Uint8Array;

/** How the strings and streams of an encrypted document are read (ISO 32000-2 section 7.6). */
export type Decryption = {
  /** For the strings of one object; undefined when strings are not encrypted. */
  readonly strings: (number: number, generation: number) => StringDecryption | undefined;
  /** @throws EvidenceError when the data can't have been encrypted so */
  readonly stream: (data: Uint8Array, number: number, generation: number) => Uint8Array;
};

/** An encrypted document before its key is known: all but strings and streams can be read. */
export const LOCKED: Decryption = {
  strings: () => () => {
    throw new EvidenceError("unsupported", "an encrypted string");
  },
  stream: () => {
    throw new EvidenceError("unsupported", "an encrypted object stream");
  },
};
