import type { Revision } from "../revisions.ts";
import { sameValue } from "../same-value.ts";
import { integerOf, type PdfDictionary, type PdfValue } from "../values.ts";
import type { XrefEntry } from "../xref.ts";
import { type Level, worst } from "./levels.ts";
import { listingLevel } from "./lost.ts";
import type { Reach } from "./reach.ts";
import { ROLE, type Role, rolesIn } from "./roles.ts";
import { catalog, extensions, information, markInfo, metadata } from "./rules/catalog.ts";
import { appearance, appearanceStream, field, fieldValue } from "./rules/field.ts";
import { fields, form, resourceNames, resources } from "./rules/form.ts";
import { annotation, annotationPart, annots, page } from "./rules/page.ts";
import { store, storeList, validation } from "./rules/store.ts";
import { parentTree, structure, structureRoot } from "./rules/structure.ts";
import { type AddedField, addedField } from "./signature-field.ts";
import type { Rule, Step, Touched } from "./step.ts";
import { itemsOf, plainDictionary, sameStored, storedOf, type Table, type View } from "./view.ts";

const unchangeable: Rule = () => "other";

const RULES: Readonly<Record<Role, Rule>> = {
  [ROLE.frozen]: unchangeable,
  [ROLE.drawn]: unchangeable,
  [ROLE.drawnPart]: annotationPart,
  [ROLE.catalog]: catalog,
  [ROLE.page]: page,
  [ROLE.pageKids]: unchangeable,
  [ROLE.annots]: annots,
  [ROLE.annotation]: annotation,
  [ROLE.annotationPart]: annotationPart,
  [ROLE.form]: form,
  [ROLE.fields]: fields,
  [ROLE.field]: field,
  [ROLE.fieldKids]: unchangeable,
  [ROLE.fieldValue]: fieldValue,
  [ROLE.appearance]: appearance,
  [ROLE.appearanceStream]: appearanceStream,
  [ROLE.resources]: resources,
  [ROLE.resourceNames]: resourceNames,
  [ROLE.metadata]: metadata,
  [ROLE.information]: information,
  [ROLE.extensions]: extensions,
  [ROLE.markInfo]: markInfo,
  [ROLE.store]: store,
  [ROLE.storeList]: storeList,
  [ROLE.validation]: validation,
  [ROLE.structureRoot]: structureRoot,
  [ROLE.structure]: structure,
  [ROLE.parentTree]: parentTree,
};

/** The most serious change of one revision, and the changed fields. */
export type StepResult = {
  readonly level: Level;
  readonly touched: readonly Touched[];
  /** Offsets of the values of the revision's new invisible fields. */
  readonly invisible: readonly (number | undefined)[];
};

/** A revision and the entries of its cross-reference sections. */
export type Named = {
  readonly revision: Revision;
  readonly changed: Table;
  /** The numbers of the object streams to which earlier cross-reference sections point. */
  readonly containers: ReadonlySet<number>;
};

/**
 * Classifies a revision by the changes of its trailer and of all objects that its cross-reference sections name.
 *
 * @throws EvidenceError when an object is unreadable, or reading takes too much work
 */
export function judgeStep(
  earlier: View,
  later: View,
  reach: Reach,
  { revision, changed, containers }: Named,
): StepResult {
  const touched: Touched[] = [];
  const added = addedFields(earlier, later, reach);
  let computed: ReadonlySet<number> | undefined;
  const step: Step = {
    earlier,
    later,
    reach,
    newFields: new Map(added.flatMap(({ level, widgets }) => widgets.map((number) => [number, { level }]))),
    computed: () => {
      computed ??= computedFields(earlier);
      return computed;
    },
    between: (role, before, after) =>
      RULES[role]({ before: storedOf(earlier, before), after: storedOf(later, after), number: undefined }, step),
    touch: (one) => touched.push(one),
  };
  for (const { name, whenLocked, isNew } of added) touched.push({ name, whenLocked, isNew, readOnly: false });
  const levels: Level[] = [trailerLevel(step)];
  const held = heldBy(changed);
  for (const number of changed.keys()) {
    levels.push(containerLevel(step, number, containers), objectLevel(step, number));
    if (!isSameEntry(earlier.entry(number), later.entry(number))) {
      levels.push(listingLevel(later.get(number), revision, held.get(number) ?? 0));
    }
  }
  const values = added.flatMap(({ invisible }) => invisible ?? []);
  return { level: worst(levels), touched, invisible: values.map((number) => later.get(number)?.start) };
}

/** Counts, for each object stream, the objects that a revision's cross-reference sections locate in it. */
function heldBy(changed: Table): ReadonlyMap<number, number> {
  const held = new Map<number, number>();
  for (const entry of changed.values()) {
    if (entry.type === "compressed") held.set(entry.stream, (held.get(entry.stream) ?? 0) + 1);
  }
  return held;
}

const MAX_SIZE = 8_388_608;

/**
 * Classifies the change of the trailer: /Root and /Encrypt must stay the same, but /Info may be removed or name another
 * object.
 */
function trailerLevel({ earlier, later, between }: Step): Level {
  const [was, is] = [earlier.trailer.entries, later.trailer.entries];
  for (const key of ["Root", "Encrypt"]) if (!sameValue(was.get(key), is.get(key))) return "other";
  if (later.trailer.repeated.length > 0) return "other";
  // Without a valid /Size, some readers ignore the cross-reference table and search the file for objects.
  const size = integerOf(later.trailer, "Size") ?? 0;
  if (size < 1 || size > MAX_SIZE) return "other";
  const information = is.get("Info");
  if (information === undefined || sameValue(was.get("Info"), information)) return "none";
  return between(ROLE.information, was.get("Info"), information);
}

/**
 * Returns `other` if an object stream of earlier revisions was rewritten. Such a rewrite changes all objects in the
 * stream, although the revision's cross-reference sections do not name these objects.
 */
function containerLevel({ earlier, later }: Step, number: number, containers: ReadonlySet<number>): Level {
  const [was, is] = [earlier.entry(number), later.entry(number)];
  if (containers.has(number) && !isSameEntry(was, is)) return "other";
  const holder = is?.type === "compressed" ? is.stream : undefined;
  // `other` if the object is in a new object stream whose number belonged to an ordinary object before. Some readers
  // cache the ordinary object and don't look for objects inside the stream.
  return holder !== undefined && !containers.has(holder) && earlier.inUse(holder) ? "other" : "none";
}

const REMOVABLE = ROLE.annotation | ROLE.annotationPart | ROLE.drawnPart;

function objectLevel(step: Step, number: number): Level {
  const { earlier, later, reach } = step;
  const roles = reach.roles.get(number) ?? 0;
  const [was, is] = [earlier.inUse(number), later.inUse(number)];
  if (isSameEntry(earlier.entry(number), later.entry(number))) return "none";
  const [before, after] = [earlier.get(number), later.get(number)];
  if (after !== undefined && hasRepeatedKey(after.value)) return "other";
  if (!was && (!is || roles === 0)) return "none";
  if (before !== undefined && after !== undefined && sameStored(later, before, after)) return "none";
  // An object without a role, such as an object stream, may matter to readers in a way that is unknown here.
  if (roles === 0 || (before && after && before.generation !== after.generation)) return "other";
  if ((!was || !is) && (roles & ~REMOVABLE) !== 0) return "other";
  return worst(rolesIn(roles).map((role) => RULES[role]({ before, after, number }, step)));
}

/**
 * True if two cross-reference entries point to the same bytes of the file. For entries in an object stream, the stream
 * itself must be unchanged; `containerLevel` checks that.
 */
function isSameEntry(one: XrefEntry | undefined, other: XrefEntry | undefined): boolean {
  if (one?.type === "offset") {
    return other?.type === "offset" && one.offset === other.offset && one.generation === other.generation;
  }
  return (
    one?.type === "compressed" &&
    other?.type === "compressed" &&
    one.stream === other.stream &&
    one.index === other.index
  );
}

/** True if a value contains a repeated key. Some readers use the first value of such a key, and some the last. */
function hasRepeatedKey(value: PdfValue): boolean {
  if (value.kind === "array") return value.items.some(hasRepeatedKey);
  if (value.kind !== "dictionary") return false;
  return value.repeated.length > 0 || [...value.entries.values()].some(hasRepeatedKey);
}

function formOf(view: View): PdfDictionary | undefined {
  const catalog = plainDictionary(view, view.trailer.entries.get("Root"));
  return plainDictionary(view, catalog?.entries.get("AcroForm"));
}

function computedFields(view: View): ReadonlySet<number> {
  const items = itemsOf(view, formOf(view)?.entries.get("CO"));
  view.spend(items.length);
  return new Set(items.flatMap((item) => (item.kind === "reference" ? [item.number] : [])));
}

/**
 * The signature fields that the later revision added to the form's list. A field that reuses an existing name is not a
 * new field.
 */
function addedFields(earlier: View, later: View, { fields }: Reach): AddedField[] {
  const [old, now] = [earlier, later].map((view) => itemsOf(view, formOf(view)?.entries.get("Fields")));
  if (old === undefined || now === undefined || old === now) return [];
  later.spend(old.length + now.length);
  const oldNumbers = new Set(old.map((item) => (item.kind === "reference" ? item.number : -1)));
  const items = now.filter((item) => item.kind === "reference" && !oldNumbers.has(item.number));
  const names = new Set(items.length === 0 ? [] : [...fields.values()].map(({ name }) => name));
  const added: AddedField[] = [];
  for (const item of items) {
    const one = addedField(earlier, later, item);
    if (one === null || names.has(one.name)) continue;
    names.add(one.name);
    added.push(one);
  }
  return added;
}
