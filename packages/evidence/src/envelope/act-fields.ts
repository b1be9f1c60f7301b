import { EvidenceError } from "../errors.ts";
import { documentAt, revisionEndingAt } from "../pdf/changes/history.ts";
import { changedKeys } from "../pdf/changes/step.ts";
import { createView, dictionaryOf, entriesOfRevision } from "../pdf/changes/view.ts";
import { loadRevisions, lookUp, type PdfDocument } from "../pdf/document.ts";
import { walkFields } from "../pdf/field-texts.ts";
import { fieldTexts } from "../pdf/pdf.ts";
import { sameValue } from "../pdf/same-value.ts";

/**
 * The kinds of fields that an act fills in. A `mark` repeats the signature; a `radio` is one option of a radio field.
 */
export type ActFieldKind =
  | "signature"
  | "mark"
  | "initials"
  | "date"
  | "name"
  | "text"
  | "number"
  | "checkbox"
  | "radio"
  | "dropdown";

/**
 * The signer's own fields by fully qualified name. The names of a radio field's options differ only after the last dot.
 */
export type ActFields = ReadonlyMap<string, ActFieldKind>;

const drawn = ["V", "AP"];
/**
 * The only keys of a checkbox or radio option that an act may change. /AP (appearances) is not among them: the prepared
 * document has an appearance for each state. A new appearance could show something that nobody checked.
 */
const stated = ["V", "AS"];

const isButton = (kind: ActFieldKind): boolean => kind === "checkbox" || kind === "radio";

/**
 * True if an act changes only the signer's own fields, and in each field only the keys that filling in needs. Each
 * checkbox must be in one of its two states. At most one option of a radio field may be on. PDF readers are less
 * strict: they let a revision redraw a checkbox.
 *
 * @param end the length of the document without the act
 * @throws EvidenceError when the fields of the document are unreadable
 */
export function fillsOwnFields(document: PdfDocument, end: number, fields: ActFields): boolean {
  const replaced = replacedSince(document, end);
  if (replaced === null) return false;
  const isFilling = replaced.every(({ field, keys }) => {
    const kind = field === null ? undefined : fields.get(field);
    if (kind === undefined || keys === null) return false;
    const allowed = isButton(kind) ? stated : drawn;
    return keys.every((key) => allowed.includes(key));
  });
  return isFilling && areStates(fieldTexts(document), fields);
}

function areStates(texts: ReadonlyMap<string, string | null>, fields: ActFields): boolean {
  const chosen = new Set<string>();
  return [...fields].every(([name, kind]) => {
    if (!isButton(kind)) return true;
    const state = texts.get(name);
    if (kind === "checkbox" || state !== "On") return state === "On" || state === "Off";
    const radio = name.slice(0, name.lastIndexOf("."));
    if (chosen.has(radio)) return false;
    chosen.add(radio);
    return true;
  });
}

/** An object that later revisions redefined or deleted. */
type Replaced = {
  /** The object's fully qualified field name; null if the object is not a field, or has several names. */
  readonly field: string | null;
  /** The keys that changed; null when the old or the new object is not a dictionary. */
  readonly keys: readonly string[] | null;
};

/**
 * Lists the objects in the first `end` bytes that later revisions replaced. Includes the catalog if the trailer now
 * names another catalog. New objects are not listed, because readers reach them only through replaced ones.
 * @returns null when the first `end` bytes are not a revision of the document, or a later revision is unreadable
 */
function replacedSince(document: PdfDocument, end: number): readonly Replaced[] | null {
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
      // No test for a repeated key is needed here, because `walkFields` throws for a field that has one.
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
    // Several /Kids or field lists may contain the same field. An object that has two different field names is
    // ambiguous: its name becomes null.
    if (number !== undefined) names.set(number, names.has(number) && names.get(number) !== name ? null : name);
  });
  return names;
}
