import { sameValue } from "../same-value.ts";
import type { PdfDictionary, PdfReference, PdfValue } from "../values.ts";
import type { Level } from "./levels.ts";
import type { Reach } from "./reach.ts";
import type { Role } from "./roles.ts";
import type { Stored, View } from "./view.ts";

/** The step from one revision to the next. */
export type Step = {
  readonly earlier: View;
  readonly later: View;
  /** The roles that objects had before the revision. */
  readonly reach: Reach;
  /** The signature fields that the revision adds, and their widgets, by object number. */
  readonly newFields: ReadonlyMap<number, NewField>;
  /** The fields that the form computes (/CO). */
  readonly computed: () => ReadonlySet<number>;
  /** Classifies how a value changed, according to its role. */
  readonly between: (role: Role, before: PdfValue | undefined, after: PdfValue | undefined) => Level;
  /** Records that a field was changed. */
  readonly touch: (touched: Touched) => void;
};

/** A field that a revision changed, including the fields below it. */
export type Touched = {
  /** The name of the field; null when the revision touches all fields of the form. */
  readonly name: string | null;
  /** True if this change is permitted even when a lock covers the field. */
  readonly whenLocked: boolean;
  /**
   * True for a new invisible field. A lock in a signature (FieldMDP) applies to such a field. The /Lock entry of a
   * signature field doesn't.
   */
  readonly isNew?: boolean;
  /** True for a read-only field whose value readers compute from other fields. */
  readonly readOnly: boolean;
};

type NewField = { readonly level: Level };

/** The old and new version of a value; undefined where it is absent. */
export type Change = {
  readonly before: Stored | undefined;
  readonly after: Stored | undefined;
  /** The number of the changed object; undefined if the rule for another value passes this value on. */
  readonly number: number | undefined;
};

/** Classifies a change of a value in one role. */
export type Rule = (change: Change, step: Step) => Level;

/** The keys with different values, including keys that only one version has. */
export function changedKeys(before: PdfDictionary | undefined, after: PdfDictionary): string[] {
  const keys = new Set([...(before?.entries.keys() ?? []), ...after.entries.keys()]);
  return [...keys].filter((key) => !sameValue(before?.entries.get(key), after.entries.get(key)));
}

/** The items added to a list, and the items removed from it. */
export type ListChange = { readonly inserted: readonly PdfReference[]; readonly removed: readonly PdfReference[] };

/**
 * The change of a list of references. Null when the remaining references are in another order, or when a value that is
 * not a reference was added. If the old list contains such a value, the only permitted change is to append references.
 * Null for any other change.
 */
export function listChange(before: readonly PdfValue[], after: readonly PdfValue[]): ListChange | null {
  const direct = before.filter((item) => item.kind !== "reference").length;
  // Direct values can't be identified, so they must keep their positions.
  if (direct > 0) {
    const head = after.slice(0, before.length);
    if (!before.every((item, index) => sameValue(item, head[index]))) return null;
    const inserted = after.slice(before.length).filter((item) => item.kind === "reference");
    return inserted.length === after.length - before.length ? { inserted, removed: [] } : null;
  }
  const [old, now] = [referencesIn(before), referencesIn(after)];
  if (now.length !== after.length) return null;
  const [oldKeys, nowKeys] = [new Set(old.map(keyOf)), new Set(now.map(keyOf))];
  const stayed = old.map(keyOf).filter((key) => nowKeys.has(key));
  const still = now.map(keyOf).filter((key) => oldKeys.has(key));
  if (stayed.length !== still.length || stayed.some((key, index) => key !== still[index])) return null;
  return {
    inserted: now.filter((item) => !oldKeys.has(keyOf(item))),
    removed: old.filter((item) => !nowKeys.has(keyOf(item))),
  };
}

function referencesIn(items: readonly PdfValue[]): PdfReference[] {
  return items.filter((item) => item.kind === "reference");
}

const keyOf = ({ number, generation }: PdfReference): string => `${number} ${generation}`;
