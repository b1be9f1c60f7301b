/** The content of a file, in terms that both readers share. */
export type Reading = {
  /**
   * The cross-reference sections, newest first: each with its kind (table, stream or hybrid), its trailer's offset, and
   * its /Prev.
   */
  readonly sections: readonly string[];
  /** The location of each object, by its number. */
  readonly entries: readonly string[];
  /** The value of each object, or the reason why the reader rejects the object. */
  readonly objects: readonly Read<string>[];
  /** The form's fields: the object number and the type of each. */
  readonly fields: Read<readonly string[]>;
  /** The number of fields with a signature. `permission` is the kind of changes that certification and locks permit. */
  readonly signatures: Read<number>;
  readonly permission: Read<1 | 2 | 3 | null>;
};

/** A value, or the reason why the reader rejects it. */
export type Read<T> = { readonly value: T } | { readonly refusal: string };

/** Objects above this number are not compared, because a file may claim millions. */
export const MAX_OBJECTS = 300;
/** The depth to which values are compared. */
export const MAX_DEPTH = 24;

/** Readers compute decimal fractions differently, so nine digits are compared. */
export const numberText = (value: number): string => String(Number(value.toPrecision(9)));
