import { equalBytes } from "../bytes.ts";
import { stringBytes } from "./text.ts";
import type { PdfString, PdfValue } from "./values.ts";

/**
 * True if two strings have the same decoded bytes. Their written forms may differ: programs use different notations,
 * and encrypting a string twice gives different bytes.
 */
function sameString(one: PdfString, other: PdfString): boolean {
  return equalBytes(stringBytes(one), stringBytes(other));
}

/**
 * True if two values are equal: references by number and generation, strings by their decoded bytes. A dictionary with
 * a repeated key equals no other.
 */
export function sameValue(one: PdfValue | undefined, other: PdfValue | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  switch (one.kind) {
    case "null":
      return other.kind === "null";
    case "boolean":
      return other.kind === "boolean" && one.value === other.value;
    case "number":
      return other.kind === "number" && one.value === other.value;
    case "name":
      return other.kind === "name" && one.value === other.value;
    case "string":
      return other.kind === "string" && sameString(one, other);
    case "reference":
      return other.kind === "reference" && one.number === other.number && one.generation === other.generation;
    case "array":
      return (
        other.kind === "array" &&
        one.items.length === other.items.length &&
        one.items.every((item, index) => sameValue(item, other.items[index]))
      );
    case "dictionary":
      return (
        other.kind === "dictionary" &&
        one.repeated.length === 0 &&
        other.repeated.length === 0 &&
        one.entries.size === other.entries.size &&
        [...one.entries].every(([key, value]) => sameValue(value, other.entries.get(key)))
      );
  }
}
