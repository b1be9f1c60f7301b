import { flagsOf } from "../../values.ts";
import { worst } from "../levels.ts";
import { ROLE } from "../roles.ts";
import { changedKeys, listChange, type Rule, type Step } from "../step.ts";
import { dictionaryOf } from "../view.ts";

const NEW_FORM = new Set(["Fields", "SigFlags", "DR", "DA", "Q", "NeedAppearances"]);

/** Keys of the form that determine how readers draw the value of any field. */
const SHOWN_BY = new Set(["DR", "DA", "Q", "NeedAppearances"]);

const touchAll = (step: Step) => step.touch({ name: null, whenLocked: false, readOnly: false });

/** Classifies a change of the form (ISO 32000-2 section 12.7.3): XFA and the calculation order may not change. */
export const form: Rule = ({ before, after }, step) => {
  const [old, now] = [dictionaryOf(before), dictionaryOf(after)];
  if (now === undefined || (before !== undefined && old === undefined)) return "other";
  if (old === undefined && [...now.entries.keys()].some((key) => !NEW_FORM.has(key))) return "other";
  return worst(
    changedKeys(old, now).map((key) => {
      const [was, is] = [old?.entries.get(key), now.entries.get(key)];
      if (SHOWN_BY.has(key)) touchAll(step);
      if (key === "Fields") return step.between(ROLE.fields, was, is);
      if (key === "SigFlags") {
        const [flags, set] = [old === undefined ? 0 : flagsOf(old, key), flagsOf(now, key)];
        return flags !== null && set !== null && (flags & set) === flags ? "validation" : "other";
      }
      if (key === "DR") return old === undefined ? "forms" : step.between(ROLE.resources, was, is);
      return key === "NeedAppearances" || key === "DA" || key === "Q" ? "forms" : "other";
    }),
  );
};

/** Classifies a change of the list of all fields: only signature fields may be added. */
export const fields: Rule = ({ before, after }, step) => {
  const old = before === undefined ? [] : before.value.kind === "array" ? before.value.items : null;
  if (old === null || after?.value.kind !== "array") return "other";
  step.later.spend(old.length + after.value.items.length);
  const change = listChange(old, after.value.items);
  if (change === null || change.removed.length > 0) return "other";
  return worst(change.inserted.map((item) => step.newFields.get(item.number)?.level ?? "other"));
};

/**
 * Classifies a change of /DR. Names may be added to each kind of resource. An existing name must keep its object,
 * because readers may redraw values with it.
 */
export const resources: Rule = ({ before, after }, step) => {
  touchAll(step);
  const [old, now] = [dictionaryOf(before), dictionaryOf(after)];
  if (now === undefined || (before !== undefined && old === undefined)) return "other";
  return worst(
    changedKeys(old, now).map((key) => {
      const was = old?.entries.get(key);
      return was === undefined ? "forms" : step.between(ROLE.resourceNames, was, now.entries.get(key));
    }),
  );
};

export const resourceNames: Rule = ({ before, after }, step) => {
  touchAll(step);
  const [old, now] = [dictionaryOf(before), dictionaryOf(after)];
  if (old === undefined || now === undefined) return "other";
  return changedKeys(old, now).every((key) => !old.entries.has(key)) ? "forms" : "other";
};
