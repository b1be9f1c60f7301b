import { appendRevision, endOf, type NewObject } from "../../../seal/signed-pdf.ts";
import type { Permission } from "../attacks/attack.ts";
import type { FormSignature, OBJECT } from "../document.ts";

/** An honest program's update of a signed form, and the signatures that permit it. */
export type Honest = {
  readonly name: string;
  readonly prepared?: Partial<Record<keyof typeof OBJECT, string>>;
  readonly preparedRevision?: (pdf: string) => string;
  readonly signature?: Partial<FormSignature>;
  readonly permitted: readonly Permission[];
  readonly make: (signed: string, signer: FormSignature["signer"], tsa: Stamp) => string;
};
type Stamp = (signed: Uint8Array) => Uint8Array;

export const ALL = [1, 2, 3, "approval"] as const;
export const FORMS = [2, 3, "approval"] as const;
export const NOTES = [3] as const;
export const sizeOf = (pdf: string) => endOf(pdf).size;

export function update(
  name: string,
  permitted: readonly Permission[],
  objects: (signed: string) => readonly NewObject[],
  more: Partial<Honest> = {},
): Honest {
  return { name, permitted, make: (signed) => appendRevision(signed, objects(signed)), ...more };
}

export const INVISIBLE = "/Type /Annot /Subtype /Widget /FT /Sig /T (Later) /F 132 /Rect [0 0 0 0] /P 10 0 R";
