import { appendRevision, endOf, type NewObject } from "../../../seal/signed-pdf.ts";
import { type FormSignature, type OBJECT, stream } from "../document.ts";

/**
 * The kind of a signature, which decides which later changes it permits. A number is the /P of a certification.
 * `approval` is a signature without /P.
 */
export type Permission = 1 | 2 | 3 | "approval";

/** An attack on a signed form, and the signatures that must not permit it. */
export type Attack = {
  readonly name: string;
  /** The forger's preparation of the document before it was signed. */
  readonly prepared?: Partial<Record<keyof typeof OBJECT, string>>;
  readonly preparedRevision?: (pdf: string) => string;
  readonly signature?: Partial<FormSignature>;
  readonly forbidden: readonly Permission[];
  /** True if the signed document is refused even before the attack. */
  readonly unsound?: boolean;
  readonly make: (signed: string, original: string) => string;
};

export const ALL = [1, 2, 3, "approval"] as const;
/** The signatures that do not permit changes of annotations: all except a certification of level 3. */
export const BUT_3 = [1, 2, "approval"] as const;

export const EVIL = "BT /Helv 18 Tf 72 720 Td (Pay 900 to Mallet) Tj ET";
export const evil = stream(EVIL);
export const sizeOf = (pdf: string) => endOf(pdf).size;

export type AddedObjects = readonly NewObject[] | ((signed: string) => readonly NewObject[]);

/** An attack that consists of one ordinary incremental update. */
export function update(name: string, objects: AddedObjects, more: Partial<Attack> = {}): Attack {
  const made = (signed: string) => (typeof objects === "function" ? objects(signed) : objects);
  return { name, forbidden: ALL, make: (signed) => appendRevision(signed, made(signed)), ...more };
}
