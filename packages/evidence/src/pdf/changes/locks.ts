import { stringText } from "../text.ts";
import { integerOf, nameOf, type PdfDictionary } from "../values.ts";
import type { Touched } from "./step.ts";
import { itemsOf, plainDictionary, storedOf, type View } from "./view.ts";

/**
 * The restrictions that a signature's locks add: which form fields may not change, and which changes the lock's /P
 * forbids (ISO 32000-2 tables 236 and 259).
 */
export type Lock = {
  readonly locks: (field: Touched) => boolean;
  /** The strictest /P that a lock states. */
  readonly permission: 1 | 2 | 3 | null;
};

/** Limit of the nesting of field names. */
const MAX_DEPTH = 32;

/**
 * The locks of a signature: the FieldMDP in the signature, and the /Lock of its field. The /Lock asks the signer's
 * program for a FieldMDP with the same lock. Readers disagree on values that are indirect or of a wrong type, so such a
 * value counts as the strictest.
 *
 * @param view the document at the signed revision
 */
export function lockOf(view: View, signature: PdfDictionary, field: PdfDictionary | undefined): Lock {
  const stated = field?.entries.get("Lock");
  const asked = stated === undefined || stated.kind === "null" ? [] : [plainDictionary(view, stated)];
  const signed: (PdfDictionary | undefined)[] = [];
  for (const item of itemsOf(view, signature.entries.get("Reference"))) {
    const reference = plainDictionary(view, item);
    if (reference !== undefined && nameOf(reference, "TransformMethod") !== "FieldMDP") continue;
    signed.push(reference && plainDictionary(view, reference.entries.get("TransformParams")));
  }
  const [bySignature, byField] = [signed, asked].map((all) => all.map((one) => fieldTest(view, one)));
  const permissions = [...signed, ...asked].map((one) => (one === undefined ? 1 : permissionOf(one)));
  const permission = ([1, 2, 3] as const).find((level) => permissions.includes(level)) ?? null;
  return {
    permission,
    locks: ({ name, whenLocked, isNew = false }) => {
      const tests = [...(bySignature ?? []), ...(isNew ? [] : (byField ?? []))];
      return !whenLocked && tests.some((test) => test(name));
    },
  };
}

function permissionOf(parameters: PdfDictionary): 1 | 2 | 3 | null {
  if (!parameters.entries.has("P")) return null;
  const level = integerOf(parameters, "P");
  return level === 2 || level === 3 ? level : 1;
}

/**
 * Returns a function that is true for the name of a locked field. A null name means all fields: true if any field is
 * locked.
 * @param parameters undefined when unreadable: then all fields are locked
 */
function fieldTest(view: View, parameters: PdfDictionary | undefined): (name: string | null) => boolean {
  const action = parameters && nameOf(parameters, "Action");
  if (parameters === undefined || (action !== "Include" && action !== "Exclude")) return () => true;
  const listed = storedOf(view, parameters.entries.get("Fields"))?.value;
  const items = listed?.kind === "array" ? listed.items : null;
  const list = (items ?? []).flatMap((item) => (item.kind === "string" ? [stringText(item)] : []));
  const paths = list.map(pathsTo);
  const names = new Set(list);
  const isNamed = (name: string | null) => name !== null && pathsTo(name)?.some((path) => names.has(path)) === true;
  if (action === "Exclude") return (name) => !isNamed(name);
  if (items?.length !== list.length || paths.includes(null)) return () => true;
  // A change of a field also changes the fields below it. So a lock on a field also forbids changes of the fields above
  // it.
  const above = new Set(paths.flatMap((one) => one ?? []));
  return (name) => (name === null || pathsTo(name) === null ? names.size > 0 : above.has(name) || isNamed(name));
}

/** The names of the fields above a field, and its own name last; null when nested too deeply. */
function pathsTo(name: string): string[] | null {
  const parts = name.split(".", MAX_DEPTH + 1);
  return parts.length > MAX_DEPTH ? null : parts.map((_, index) => parts.slice(0, index + 1).join("."));
}
