import { appendRevision, endOf, type NewObject } from "../../../seal/signed-pdf.ts";
import { type FormSignature, type OBJECT, stream } from "../document.ts";

/** A permission that a signature gives: /P of a certification, or none stated. */
export type Permission = 1 | 2 | 3 | "approval";

/** What somebody does to a signed form, and which signatures must not call it permitted. */
export type Attack = {
  readonly name: string;
  /** What the forger put into the document before it was signed. */
  readonly prepared?: Partial<Record<keyof typeof OBJECT, string>>;
  readonly preparedRevision?: (pdf: string) => string;
  readonly signature?: Partial<FormSignature>;
  readonly forbidden: readonly Permission[];
  /** What was signed can't be judged to begin with. */
  readonly unsound?: boolean;
  readonly make: (signed: string, original: string) => string;
};

export const ALL = [1, 2, 3, "approval"] as const;
/** What only a certification of level 3 permits: annotations. */
export const BUT_3 = [1, 2, "approval"] as const;

export const EVIL = "BT /Helv 18 Tf 72 720 Td (Pay 900 to Mallet) Tj ET";
export const evil = stream(EVIL);
export const sizeOf = (pdf: string) => endOf(pdf).size;

export type Made = readonly NewObject[] | ((signed: string) => readonly NewObject[]);

/** An attack that is one ordinary incremental update. */
export function update(name: string, objects: Made, more: Partial<Attack> = {}): Attack {
  const made = (signed: string) => (typeof objects === "function" ? objects(signed) : objects);
  return { name, forbidden: ALL, make: (signed) => appendRevision(signed, made(signed)), ...more };
}
