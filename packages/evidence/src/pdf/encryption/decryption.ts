import { EvidenceError } from "../../errors.ts";

/** Decrypts the bytes of a string. Bytes that can't be ciphertext are returned unchanged. */
export type StringDecryption = (encrypted: Uint8Array) => Uint8Array;

/** Decrypts the strings and streams of an encrypted document (ISO 32000-2 section 7.6). */
export type Decryption = {
  /** Returns the decryption for the strings of one object; undefined when strings are not encrypted. */
  readonly strings: (number: number, generation: number) => StringDecryption | undefined;
  /**
   * Decrypts the data of one object's stream.
   * @throws EvidenceError when the data can't be ciphertext
   */
  readonly stream: (data: Uint8Array, number: number, generation: number) => Uint8Array;
};

/** Stands for the decryption when the key is unknown: reading a string or stream fails; everything else can be read. */
export const LOCKED: Decryption = {
  strings: () => () => {
    throw new EvidenceError("unsupported", "an encrypted string");
  },
  stream: () => {
    throw new EvidenceError("unsupported", "an encrypted object stream");
  },
};
