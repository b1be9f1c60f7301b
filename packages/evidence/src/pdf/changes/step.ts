import { sameValue } from "../same-value.ts";
import type { PdfDictionary, PdfReference, PdfValue } from "../values.ts";
import type { Level } from "./levels.ts";
import type { Reach } from "./reach.ts";
import type { Role } from "./roles.ts";
import type { Stored, View } from "./view.ts";

/** What one revision did to the one before it. */
export type Step = {
  readonly earlier: View;
  readonly later: View;
  /** What the objects were for before the revision. */
  readonly reach: Reach;
  /** The signature fields that the revision adds, and their widgets, by object. */
  readonly newFields: ReadonlyMap<number, NewField>;
  /** The fields that the form has computed (/CO). */
  readonly computed: () => ReadonlySet<number>;
  /** Judges the change of a value by its role. */
  readonly between: (role: Role, before: PdfValue | undefined, after: PdfValue | undefined) => Level;
  /** Notes that a field was changed. */
  readonly touch: (touched: Touched) => void;
};

/** A field that a revision changed, with those below it. */
export type Touched = {
  /** Null for every field of the form. */
  readonly name: string | null;
  /** A lock does not forbid what was done. */
  readonly whenLocked: boolean;
  /** A new field that does not show: only what was signed (FieldMDP) locks it, and not what a field asks for (/Lock). */
  readonly isNew?: boolean;
  /** It was read-only, and is computed from others. */
  readonly readOnly: boolean;
};

type NewField = { readonly level: Level };

/** Two versions of one thing; undefined where there is none. */
export type Change = {
  readonly before: Stored | undefined;
  readonly after: Stored | undefined;
  /** Its number, where it is an object of its own that was there before. */
  readonly number: number | undefined;
};

/** Judges a change of a thing in one role. */
export type Rule = (change: Change, step: Step) => Level;

/** The keys whose values differ, those only one of them has included. */
export function changedKeys(before: PdfDictionary | undefined, after: PdfDictionary): string[] {
  const keys = new Set([...(before?.entries.keys() ?? []), ...after.entries.keys()]);
  return [...keys].filter((key) => !sameValue(before?.entries.get(key), after.entries.get(key)));
}

/** What a list gained and lost. */
export type ListChange = { readonly inserted: readonly PdfReference[]; readonly removed: readonly PdfReference[] };

/** How a list of references changed; null when what stayed has another order, or it is no such list. */
export function listChange(before: readonly PdfValue[], after: readonly PdfValue[]): ListChange | null {
  const direct = before.filter((item) => item.kind !== "reference").length;
  // Values that are no references can't be distinguished: they stay where they are.
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
