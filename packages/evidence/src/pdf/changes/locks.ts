import { stringText } from "../text.ts";
import { integerOf, nameOf, type PdfDictionary } from "../values.ts";
import type { Touched } from "./step.ts";
import { itemsOf, plainDictionary, type View } from "./view.ts";

/** What a signature locks besides the document: form fields, and what its lock permits (ISO 32000-2 tables 236 and 259). */
export type Lock = {
  readonly locks: (field: Touched) => boolean;
  /** The strictest /P that a lock states. */
  readonly permission: 1 | 2 | 3 | null;
};

/**
 * The locks of a signature: the FieldMDP that it signed, and the /Lock of its field, which asks for the same.
 *
 * @param view the document at the signed revision
 */
export function lockOf(view: View, signature: PdfDictionary, field: PdfDictionary | undefined): Lock {
  const parameters = [plainDictionary(view, field?.entries.get("Lock"))];
  for (const item of itemsOf(view, signature.entries.get("Reference"))) {
    const reference = plainDictionary(view, item);
    if (reference === undefined || nameOf(reference, "TransformMethod") !== "FieldMDP") continue;
    // A lock whose parameters can't be read locks all.
    parameters.push(plainDictionary(view, reference.entries.get("TransformParams")) ?? reference);
  }
  const given = parameters.filter((one) => one !== undefined);
  const tests = given.map((one) => fieldTest(view, one));
  const stated = given.flatMap((one) => permissionOf(one) ?? []);
  const permission = ([1, 2, 3] as const).find((level) => stated.includes(level)) ?? null;
  return { permission, locks: ({ name, whenLocked }) => !whenLocked && tests.some((test) => test(name)) };
}

function permissionOf(parameters: PdfDictionary): 1 | 2 | 3 | null {
  const stated = integerOf(parameters, "P");
  return stated === 1 || stated === 2 || stated === 3 ? stated : null;
}

function fieldTest(view: View, parameters: PdfDictionary): (name: string) => boolean {
  const items = itemsOf(view, parameters.entries.get("Fields"));
  const names = new Set(items.flatMap((item) => (item.kind === "string" ? [stringText(item)] : [])));
  switch (nameOf(parameters, "Action")) {
    case "Include":
      return (name) => isNamed(names, name);
    case "Exclude":
      return (name) => !isNamed(names, name);
    default:
      return () => true;
  }
}

/** Whether a field, or one above it, is named. */
function isNamed(names: ReadonlySet<string>, name: string): boolean {
  for (let end = name.length; end > 0; end = name.lastIndexOf(".", end - 1)) {
    if (names.has(name.slice(0, end))) return true;
  }
  return false;
}
