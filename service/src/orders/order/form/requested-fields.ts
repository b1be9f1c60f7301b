import type { Place } from "../../../kernel/pdf/pages/page-box.ts";
import { invalidAt } from "../../../kernel/platform/errors.ts";
import { jsonList, type Members } from "./json-list.ts";
import { aKind, parseContent, requireOrder, spread } from "./requested-content.ts";
import type { RequestedField, RequestedOption } from "./requested-field.ts";
import { parseRules, requireRules } from "./requested-rules.ts";
import {
  maxFields,
  maxLabelLength,
  maxPages,
  maxPoints,
  requestedFieldSchema,
  requestedKinds,
} from "./signing-schemas.ts";

/** The smallest size of each kind of field, in points. Signers couldn't see or tap a smaller field. */
export const minSize: Readonly<Record<RequestedField["kind"], { width: number; height: number }>> = {
  signature: { width: 8, height: 8 },
  initials: { width: 8, height: 8 },
  date: { width: 8, height: 8 },
  name: { width: 8, height: 8 },
  text: { width: 8, height: 8 },
  number: { width: 24, height: 10 },
  dropdown: { width: 24, height: 10 },
  checkbox: { width: 6, height: 6 },
  radio: { width: 6, height: 6 },
  multiple: { width: 6, height: 6 },
};

/**
 * The largest size of each kind of field, in points. Except for signatures and initials, a field must also be at least
 * 36 points narrower than its page. That limit is checked later, against the document.
 */
export const maxSize: Readonly<Record<RequestedField["kind"], { width: number; height: number }>> = {
  signature: { width: 360, height: 120 },
  initials: { width: 120, height: 60 },
  date: { width: maxPoints, height: 200 },
  name: { width: maxPoints, height: 200 },
  text: { width: maxPoints, height: 200 },
  number: { width: maxPoints, height: 200 },
  dropdown: { width: maxPoints, height: 200 },
  checkbox: { width: 36, height: 36 },
  radio: { width: 36, height: 36 },
  multiple: { width: 36, height: 36 },
};

/**
 * Reads the form's `fields`. Doesn't check whether the fields fit on the document's pages.
 * @param turns the `routing` of each signer; every signer needs a signature field
 * @throws ServiceError naming the member and the rule
 */
export function parseRequestedFields(text: string, turns: readonly number[]): RequestedField[] {
  const fields = parseElements(text, turns.length);
  const missing = turns.flatMap((_, index) =>
    fields.some(({ kind, signer }) => kind === "signature" && signer === index + 1) ? [] : [index + 1],
  );
  if (missing.length > 0) {
    const none = missing.length === 1 ? `signer ${missing[0]} has none` : `signers ${missing.join(", ")} have none`;
    throw invalidAt("fields", `must hold a signature for each signer: ${none}.`);
  }
  return requireRules(fields, turns);
}

/**
 * Reads the fields that were found in the document itself. `elements` has them in the format of the form's `fields`.
 * Their rules may refer to fields of the same signer and to read-only fields.
 * @throws ServiceError as `parseRequestedFields`
 */
export const parseOwnFields = (elements: readonly object[], signers: number): RequestedField[] =>
  elements.length === 0
    ? []
    : requireRules(
        parseElements(JSON.stringify(elements), signers),
        Array.from({ length: signers }, () => 1),
      );

function parseElements(text: string, signers: number): RequestedField[] {
  const rules = { max: maxFields, schema: requestedFieldSchema };
  return jsonList("fields", text, rules, (members, at): RequestedField => {
    const kind = members.requireValue("kind", members.oneOf("kind", requestedKinds));
    const signer = members.requireValue("signer", members.whole("signer", 1, 10));
    if (signer > signers) throw invalidAt(`${at}.signer`, `must be at most ${signers}, the number of signers.`);
    // A checkbox is optional by default, because a box that must be checked offers no choice.
    const required = members.flag("required") ?? kind !== "checkbox";
    if (kind === "signature" && !required) throw invalidAt(`${at}.required`, "must not be false for a signature.");
    const label = members.text("label", maxLabelLength);
    requireOrder(`${at}.label`, label);
    const page = members.requireValue("page", members.whole("page", 1, maxPages));
    const content = parseContent(members, at, kind);
    if (kind === "checkbox" && required && content.value !== undefined && !content.readOnly)
      throw invalidAt(`${at}.value`, "must be left out or false for a required checkbox: the signer checks it.");
    const rules = parseRules(members, at, { kind, isReadOnly: content.readOnly === true });
    const place = spread.includes(kind)
      ? placeOfOptions(members, at, kind, content.options ?? [])
      : placeOf(members, at, kind);
    return { kind, signer, page, ...place, label, required, ...content, ...rules };
  });
}

const measures = ["x", "y", "width", "height"] as const;
type FieldMembers = Members<keyof typeof requestedFieldSchema.properties>;

function placeOf(members: FieldMembers, at: string, kind: RequestedField["kind"]): Place {
  const side = (name: "width" | "height"): number => {
    const value = members.requireValue(name, members.number(name, minSize[kind][name], maxPoints));
    const max = maxSize[kind][name];
    if (value > max) throw invalidAt(`${at}.${name}`, `must be at most ${max} points for ${aKind[kind]}.`);
    return value;
  };
  const corner = (name: "x" | "y") => members.requireValue(name, members.number(name, 0, maxPoints));
  return { x: corner("x"), y: corner("y"), width: side("width"), height: side("height") };
}

/** The rectangle that contains all options of a radio or a multiple choice. Such a field has no position of its own. */
function placeOfOptions(
  members: FieldMembers,
  at: string,
  kind: RequestedField["kind"],
  options: readonly RequestedOption[],
): Place {
  const unexpected = measures.find((name) => members.raw(name) !== null);
  if (unexpected)
    throw invalidAt(`${at}.${unexpected}`, `must be left out for ${aKind[kind]}: each of its options has a place.`);
  const places = options.flatMap(({ place }) => place ?? []);
  const [x, y] = [Math.min(...places.map((each) => each.x)), Math.min(...places.map((each) => each.y))];
  const right = Math.max(...places.map((each) => each.x + each.width));
  const bottom = Math.max(...places.map((each) => each.y + each.height));
  return { x, y, width: right - x, height: bottom - y };
}
