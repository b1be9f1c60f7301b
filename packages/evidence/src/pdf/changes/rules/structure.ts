import { sameValue } from "../../same-value.ts";
import { nameOf, type PdfDictionary, type PdfValue } from "../../values.ts";
import { type Level, worst } from "../levels.ts";
import { ROLE } from "../roles.ts";
import { changedKeys, type Rule, type Step } from "../step.ts";
import { dictionaryOf, itemsOf, plainDictionary, storedOf } from "../view.ts";

/** Limit of the nesting depth of new structure elements. */
const MAX_DEPTH = 4;
/** Limit of the values in a list that are neither references nor numbers, and so must be compared one by one. */
const MAX_DIRECT = 1000;
const ELEMENT_KEYS = new Set(["Type", "S", "P", "K", "Pg", "ID", "T", "Lang", "Alt", "A"]);

/**
 * Classifies a change of the structure tree root, which holds the tags (ISO 32000-2 section 14.7.2). Tags for new
 * annotations may be added.
 */
export const structureRoot: Rule = ({ before, after }, step) => {
  const [old, now] = [dictionaryOf(before), dictionaryOf(after)];
  if (old === undefined || now === undefined) return "other";
  return worst(
    changedKeys(old, now).map((key) => {
      const [was, is] = [old.entries.get(key), now.entries.get(key)];
      if (key === "K") return step.between(ROLE.structure, was, is);
      if (key === "ParentTree") return step.between(ROLE.parentTree, was, is);
      return key === "ParentTreeNextKey" && is?.kind === "number" ? "signatures" : "other";
    }),
  );
};

/** Classifies a change of a structure element (a tag), or of the list of its children. */
export const structure: Rule = ({ before, after }, step) => {
  // A tag never has stream data, so an object with stream data also has another purpose.
  if (before?.data !== undefined || after?.data !== undefined) return "other";
  const [old, now] = [dictionaryOf(before), dictionaryOf(after)];
  // A single object reference (OBJR) may become a list, so it is not compared as an element.
  const isElement = old !== undefined && now !== undefined && nameOf(old, "Type") !== "OBJR";
  if (!isElement) return kids(listOf(before?.value), listOf(after?.value), step);
  return worst(
    changedKeys(old, now).map((key) => {
      if (key !== "K") return "other";
      return kids(kidsOf(step, "earlier", old), kidsOf(step, "later", now), step);
    }),
  );
};

/** Classifies a change of the number tree that connects annotations to their tags. */
export const parentTree: Rule = ({ before, after }, step) => {
  const [old, now] = [dictionaryOf(before), dictionaryOf(after)];
  if (old !== undefined && now !== undefined) {
    const levels = changedKeys(old, now).map((key) => {
      if (key === "Limits") return isLimits(now.entries.get(key)) ? "signatures" : "other";
      return key === "Nums" || key === "Kids"
        ? step.between(ROLE.parentTree, old.entries.get(key), now.entries.get(key))
        : "other";
    });
    return worst(levels);
  }
  const [was, is] = [before?.value, after?.value];
  if (was?.kind !== "array" || is?.kind !== "array") return "other";
  const added = addedTo(was.items, is.items);
  return added === null ? "other" : worst(added.map((item) => numberedLevel(step, item, 0)));
};

function isLimits(value: PdfValue | undefined): boolean {
  return value?.kind === "array" && value.items.length === 2 && value.items.every(({ kind }) => kind === "number");
}

/** The level of an addition to a parent tree: the tag of a new annotation, or a node that contains such tags. */
function numberedLevel(step: Step, value: PdfValue, depth: number): Level {
  const node = plainDictionary(step.later, value);
  if (node === undefined || !node.entries.has("Nums")) return tagLevel(step, "later", value, 0);
  const { entries } = node;
  const fits = [...entries.keys()].every((key) => key === "Nums" || key === "Limits");
  const isNew = value.kind === "reference" && !step.earlier.inUse(value.number);
  if (!isNew || !fits || !isLimits(entries.get("Limits")) || depth > MAX_DEPTH) return "other";
  const added = addedTo([], itemsOf(step.later, entries.get("Nums")));
  return added === null ? "other" : worst(["signatures", ...added.map((item) => numberedLevel(step, item, depth + 1))]);
}

function listOf(value: PdfValue | undefined): readonly PdfValue[] {
  if (value === undefined) return [];
  return value.kind === "array" ? value.items : [value];
}

function kidsOf(step: Step, which: "earlier" | "later", element: PdfDictionary): readonly PdfValue[] {
  const value = element.entries.get("K");
  const found = storedOf(step[which], value)?.value;
  return found?.kind === "array" ? found.items : value === undefined ? [] : [value];
}

/** The level of a change in an element's children: tags of annotations may be added and removed. */
function kids(before: readonly PdfValue[], after: readonly PdfValue[], step: Step): Level {
  step.later.spend(before.length + after.length);
  const inBefore = membership(before);
  const inAfter = membership(after);
  if (inBefore === null || inAfter === null) return "other";
  if (!isSame(before.filter(inAfter), after.filter(inBefore))) return "other";
  return worst([
    ...after.filter((item) => !inBefore(item)).map((item) => tagLevel(step, "later", item, 0)),
    ...before
      .filter((item) => !inAfter(item))
      .map((item) => worst(["annotations", tagLevel(step, "earlier", item, 0)])),
  ]);
}

/**
 * Returns a function that is true for a value in the list; null when too many values would have to be compared one by
 * one.
 */
function membership(list: readonly PdfValue[]): ((item: PdfValue) => boolean) | null {
  const simple = new Set(list.map(keyOf));
  const others = list.filter((item) => keyOf(item) === null);
  if (others.length > MAX_DIRECT) return null;
  return (item) => {
    const key = keyOf(item);
    return key === null ? others.some((one) => sameValue(one, item)) : simple.has(key);
  };
}

function keyOf(item: PdfValue): string | null {
  if (item.kind === "reference") return `${item.number} ${item.generation} R`;
  return item.kind === "number" ? String(item.value) : null;
}

function isSame(one: readonly PdfValue[], other: readonly PdfValue[]): boolean {
  return one.length === other.length && one.every((item, index) => sameValue(item, other[index]));
}

/**
 * The values added to a list of a number tree: in /Nums, the value of each added pair; in /Kids, each added node. Null
 * for any other change.
 */
function addedTo(before: readonly PdfValue[], after: readonly PdfValue[]): readonly PdfValue[] | null {
  const isTree = (before[0] ?? after[0])?.kind === "number";
  const width = isTree ? 2 : 1;
  const added: PdfValue[] = [];
  let at = 0;
  for (let index = 0; index < after.length; index += width) {
    const entry = after.slice(index, index + width);
    const [number, value] = isTree ? entry : [undefined, entry[0]];
    if (at < before.length && isSame(before.slice(at, at + width), entry)) at += width;
    else if (value !== undefined && (!isTree || number?.kind === "number")) added.push(value);
    else return null;
  }
  return at >= before.length ? added : null;
}

/** Classifies a change of an annotation's tag, or of a group of such tags, like a change of the annotation. */
function tagLevel(step: Step, which: "earlier" | "later", value: PdfValue, depth: number): Level {
  const view = step[which];
  const isNew = value.kind !== "reference" || which === "earlier" || !step.earlier.inUse(value.number);
  const element = plainDictionary(view, value);
  if (element === undefined || !isNew || depth > MAX_DEPTH) return "other";
  if (nameOf(element, "Type") === "OBJR") {
    const target = element.entries.get("Obj");
    if (target?.kind !== "reference" || step.reach.fields.has(target.number)) return "other";
    return step.newFields.get(target.number)?.level ?? "annotations";
  }
  if ([...element.entries.keys()].some((key) => !ELEMENT_KEYS.has(key))) return "other";
  const items = kidsOf(step, which, element);
  return worst(items.map((item) => tagLevel(step, which, item, depth + 1)));
}
