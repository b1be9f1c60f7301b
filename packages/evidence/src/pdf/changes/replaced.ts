import { EvidenceError } from "../../errors.ts";
import { loadRevisions, lookUp, type PdfDocument } from "../document.ts";
import { walkFields } from "../field-texts.ts";
import { sameValue } from "../same-value.ts";
import { documentAt, revisionEndingAt } from "./history.ts";
import { changedKeys } from "./step.ts";
import { createView, dictionaryOf, entriesOfRevision } from "./view.ts";

/** An object that later revisions wrote again or deleted. */
export type Replaced = {
  /** The field that it is, fully qualified; null for any other object, or one that is several fields. */
  readonly field: string | null;
  /** The keys that changed; null where the old or the new object is not a dictionary. */
  readonly keys: readonly string[] | null;
};

/**
 * The objects of the first `end` bytes that later revisions replaced, the catalog also when the trailer names another one. New
 * objects are not listed: they show only through replaced ones.
 * @returns null when those bytes are not a revision of the document, or later revisions are unreadable
 */
export function replacedSince(document: PdfDocument, end: number): readonly Replaced[] | null {
  try {
    const index = revisionEndingAt(document, end);
    if (index < 0) return null;
    const earlier = documentAt(document, index);
    const names = fieldNames(earlier);
    const [before, after] = [earlier, document].map((at) => createView(at, (number) => lookUp(at, number), new Map()));
    const later = loadRevisions(document).slice(0, index);
    const numbers = new Set(later.flatMap((revision) => [...entriesOfRevision(document, revision).keys()]));
    const [root, newRoot] = [earlier, document].map(({ trailer }) => trailer.entries.get("Root"));
    const catalog: Replaced[] = sameValue(root, newRoot) ? [] : [{ field: null, keys: null }];
    const objects = [...numbers].flatMap((number): Replaced[] => {
      const old = before?.get(number);
      if (old === undefined) return [];
      const [was, is] = [dictionaryOf(old), dictionaryOf(after?.get(number))];
      // A field that states a key twice has been refused by the walk over the fields.
      return [{ field: names.get(number) ?? null, keys: was && is ? changedKeys(was, is) : null }];
    });
    return [...catalog, ...objects];
  } catch (error) {
    if (error instanceof EvidenceError) return null;
    throw error;
  }
}

function fieldNames(document: PdfDocument): ReadonlyMap<number, string | null> {
  const names = new Map<number, string | null>();
  walkFields(document, ({ name, number }) => {
    // A field that is listed twice is one field.
    if (number !== undefined) names.set(number, names.has(number) && names.get(number) !== name ? null : name);
  });
  return names;
}
