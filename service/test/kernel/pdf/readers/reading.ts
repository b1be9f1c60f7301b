/** A reader's reading of a file, in terms that both readers share. */
export type Reading = {
  /** The cross-reference sections, newest first: kind, hybrid stream, where the trailer is, /Prev. */
  readonly sections: readonly string[];
  /** Where each object is, by its number. */
  readonly entries: readonly string[];
  /** The value of each object, or why the reader refuses it. */
  readonly objects: readonly Read<string>[];
  /** The form: each field by its number, with its type. */
  readonly fields: Read<readonly string[]>;
  /** How many fields hold a signature, and what certification and locks permit. */
  readonly signatures: Read<number>;
  readonly permission: Read<1 | 2 | 3 | null>;
};

/** The reading, or the reason for a refusal. */
export type Read<T> = { readonly value: T } | { readonly refusal: string };

/** Objects beyond this number are not compared: a file may claim millions. */
export const MOST_OBJECTS = 300;
/** How deep values are compared. */
export const MOST_DEPTH = 24;

/** Decimal fractions that readers compute in different ways are the same to nine digits. */
export const numberText = (value: number): string => String(Number(value.toPrecision(9)));
