import { nameOf } from "../../values.ts";
import { type Level, worst } from "../levels.ts";
import { ROLE } from "../roles.ts";
import { changedKeys, listChange, type Rule, type Step } from "../step.ts";
import { dictionaryOf, storedOf } from "../view.ts";

/**
 * Classifies a change of a page: only its annotations and their tab order may change. Nodes of the page tree may not
 * change.
 */
export const page: Rule = ({ before, after }, step) => {
  const [old, now] = [dictionaryOf(before), dictionaryOf(after)];
  if (old === undefined || now === undefined || old.entries.has("Kids")) return "other";
  return worst(
    changedKeys(old, now).map((key) => {
      const is = now.entries.get(key);
      if (key === "Annots") return step.between(ROLE.annots, old.entries.get(key), is);
      return key === "Tabs" && is?.kind === "name" ? "signatures" : "other";
    }),
  );
};

/** Classifies a change of a page's list of annotations, which is in drawing order. */
export const annots: Rule = ({ before, after }, step) => {
  const lists = [before, after].map((one) =>
    one === undefined ? [] : one.value.kind === "array" ? one.value.items : null,
  );
  const [old, now] = lists;
  if (!old || !now) return "other";
  step.later.spend(old.length + now.length);
  const change = listChange(old, now);
  if (change === null) return "other";
  return worst([
    ...change.inserted.map(
      (item) => step.newFields.get(item.number)?.level ?? annotationLevel(storedOf(step.later, item)),
    ),
    ...change.removed.map((item) => annotationLevel(storedOf(step.earlier, item))),
  ]);
};

/** Classifies a change of an existing annotation. The widget of a form field is handled as a field instead. */
export const annotation: Rule = ({ before, after, number }, step) => {
  if (isWidget(before) || isWidget(after)) return isFieldStill(before, number, step) ? "none" : "other";
  return worst([before, after].flatMap((one) => (one === undefined ? [] : [annotationLevel(one)])));
};

/** Any change of a part of an annotation counts as a change of annotations. */
export const annotationPart: Rule = () => "annotations";

function isFieldStill(before: Parameters<Rule>[0]["before"], number: number | undefined, { reach }: Step): boolean {
  return isWidget(before) && number !== undefined && ((reach.roles.get(number) ?? 0) & ROLE.field) !== 0;
}

function isWidget(stored: Parameters<Rule>[0]["before"]): boolean {
  const dictionary = dictionaryOf(stored);
  return dictionary !== undefined && nameOf(dictionary, "Subtype") === "Widget";
}

/**
 * The level of a change of an annotation: `other` for a widget, and for an object that is not an annotation; otherwise
 * `annotations`, even if it has keys of a form field.
 */
function annotationLevel(stored: Parameters<Rule>[0]["before"]): Level {
  const dictionary = dictionaryOf(stored);
  const subtype = dictionary && nameOf(dictionary, "Subtype");
  if (subtype === undefined || subtype === "Widget") return "other";
  if (dictionary?.entries.has("Type") && nameOf(dictionary, "Type") !== "Annot") return "other";
  return "annotations";
}
