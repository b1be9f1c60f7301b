import { sameValue } from "../../same-value.ts";
import { flagsOf, type PdfDictionary } from "../../values.ts";
import type { Field } from "../edges.ts";
import type { Level } from "../levels.ts";
import { filledLevel } from "../signature-field.ts";
import { type Change, changedKeys, type Rule, type Step } from "../step.ts";
import { dictionaryOf, plainDictionary, storedOf } from "../view.ts";

/**
 * Keys that programs change when they fill in a field: its value, its appearance, and the time (ISO 32000-2 sections
 * 12.7.4 and 12.7.5).
 */
const VALUE_KEYS = new Set(["V", "AP", "AS", "RV", "I", "TI", "M", "DA", "Q", "F", "Ff", "Type"]);
const SIGNATURE_KEYS = new Set(["V", "AP", "M", "F", "Ff", "Type"]);
/** Keys that programs change when they lock a field: they set its read-only flag. */
const LOCK_KEYS = new Set(["Ff", "Type"]);
/**
 * Invisible, Hidden, NoZoom, NoRotate, NoView and ToggleNoView (ISO 32000-2, table 167). These flags determine whether
 * and where a widget is visible.
 */
const VISIBILITY = 0x1 | 0x2 | 0x8 | 0x10 | 0x20 | 0x100;
const READ_ONLY = 0x1;
/** ReadOnly, Required and NoExport (ISO 32000-2, table 227). A field's other flags determine how its value is shown. */
const COMMON_FLAGS = 0x7;

/**
 * Classifies a change of a form field or its widget: the field may be filled in, and an empty signature field may be
 * signed.
 */
export const field: Rule = ({ before, after, number }, step) => {
  const [old, now] = [dictionaryOf(before), dictionaryOf(after)];
  const reached = number === undefined ? undefined : step.reach.fields.get(number);
  if (old === undefined || now === undefined || reached === undefined || reached.ambiguous) return "other";
  const keys = changedKeys(old, now);
  const isSignature = reached.type === "Sig";
  const allowed = isSignature ? SIGNATURE_KEYS : VALUE_KEYS;
  if (keys.some((key) => !allowed.has(key)) || !keys.every((key) => fits(key, old, now, reached, step))) {
    return "other";
  }
  if (keys.every((key) => LOCK_KEYS.has(key))) return "signatures";
  if (!isSignature) return filled(reached, step, number);
  return signed(reached, step);
};

function fits(key: string, old: PdfDictionary, now: PdfDictionary, { type, flags }: Field, step: Step): boolean {
  const value = now.entries.get(key);
  if (key === "Type") return !old.entries.has(key) && value?.kind === "name" && value.value === "Annot";
  if (key === "F") return sameFlags(old, now, key, VISIBILITY);
  if (key === "Ff") {
    // A read-only field must stay read-only. Otherwise one revision could unlock the field and the next revision could
    // fill it in.
    const set = now.entries.has(key) ? flagsOf(now, key) : 0;
    const opened = flags === null || ((flags & READ_ONLY) !== 0 && ((set ?? 0) & READ_ONLY) === 0);
    return !opened && sameFlags(old, now, key, ~COMMON_FLAGS);
  }
  if (key === "AP") return value === undefined || isAppearance(step, plainDictionary(step.later, value));
  // Only a signature field may have a dictionary as its value. So no other field can be mistaken for a signature field.
  return key !== "V" || type === "Sig" || plainDictionary(step.later, value) === undefined;
}

function sameFlags(old: PdfDictionary, now: PdfDictionary, key: string, mask: number): boolean {
  const [was, is] = [flagsOf(old, key), flagsOf(now, key)];
  return was !== null && is !== null && (was & mask) === (is & mask);
}

/**
 * True if an /AP contains only appearances: each a stream, or a dictionary of states. The entries of such a dictionary
 * are not tested.
 */
function isAppearance(step: Step, appearance: PdfDictionary | undefined): boolean {
  if (appearance === undefined) return false;
  return [...appearance.entries].every(
    ([key, value]) => ["N", "R", "D"].includes(key) && storedOf(step.later, value)?.value.kind === "dictionary",
  );
}

/**
 * Classifies a change of a field's value. People can't fill in a read-only field, but readers compute the values of
 * some read-only fields from other fields.
 */
function filled({ name, flags }: Field, step: Step, number: number | undefined): Level {
  const readOnly = flags === null || (flags & READ_ONLY) !== 0;
  if (readOnly && !isComputed(step, number)) return "other";
  step.touch({ name, whenLocked: false, readOnly });
  return "forms";
}

/** True if the form's calculation order names a field or one of its ancestors. */
function isComputed({ reach, computed }: Step, number: number | undefined): boolean {
  for (let at = number; at !== undefined; at = reach.fields.get(at)?.parent.node) if (computed().has(at)) return true;
  return false;
}

function signed({ name, holder }: Field, step: Step): Level {
  const level = filledLevel(step, holder);
  if (level === null) return "other";
  step.touch({ name, whenLocked: level === "validation", readOnly: false });
  return level;
}

/** Classifies a change of an appearance or value as a change of the only field that uses it. */
function ofOwner({ number }: Change, step: Step): Level {
  const owners = number === undefined ? undefined : step.reach.owners.get(number);
  const [owner, another] = owners ?? [];
  const reached = owner === undefined ? undefined : step.reach.fields.get(owner);
  if (reached === undefined || another !== undefined || reached.ambiguous) return "other";
  return reached.type === "Sig" ? signed(reached, step) : filled(reached, step, owner);
}

/** Classifies a change of an /AP that is an indirect object. */
export const appearance: Rule = (change, step) => {
  const [old, now] = [dictionaryOf(change.before), dictionaryOf(change.after)];
  return old !== undefined && isAppearance(step, now) ? ofOwner(change, step) : "other";
};

/**
 * Classifies a change of an appearance stream. A stream that is added, removed or given another /Subtype is `other`. A
 * rewritten one is classified by the field that uses it.
 */
export const appearanceStream: Rule = (change, step) => {
  const { before, after } = change;
  if (before?.data === undefined || after?.data === undefined || !after.closed) return "other";
  const [old, now] = [before.value, after.value];
  if (old.kind !== "dictionary" || now.kind !== "dictionary") return "other";
  if (!sameValue(old.entries.get("Subtype"), now.entries.get("Subtype"))) return "other";
  return ofOwner(change, step);
};

/** Classifies a change of a field's value that is an indirect object. */
export const fieldValue: Rule = (change, step) => {
  const { after } = change;
  if (after === undefined || dictionaryOf(after) !== undefined) return "other";
  return ofOwner(change, step);
};
