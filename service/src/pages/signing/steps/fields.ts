import type { SenderValue, ShownField } from "../../../signing/envelopes/envelopes.ts";
import { checkbox, checkboxId, field, radioId, radios, select } from "../../ui/forms/fields.ts";
import { type Html, html } from "../../ui/render.ts";
import type { PageState } from "../frame.ts";
import type { Words } from "../words/en.ts";

export const longestValue = 200;
/** The value that the browser sends for a checked box. */
export const on = "On";

/** The fields with an input of their own. The service sets dates, and one signature fills all signature fields. */
export const filledIn = (fields: readonly ShownField[]): ShownField[] =>
  fields.filter(({ kind }) => kind !== "signature" && kind !== "mark" && kind !== "date");

export const labelOf = (
  { label, kind, invisible }: Pick<ShownField, "label" | "kind" | "invisible">,
  { sign }: Words,
): string => (invisible ? sign.invisible : (label ?? sign.kinds[kind]));

/** The name of a field's input. The options of a radio share one. */
export const inputOf = ({ name, group }: Pick<ShownField, "name" | "group">): string => `value.${group ?? name}`;

/** The options of the radio that a field is an option of. */
export const optionsOf = (one: ShownField, fields: readonly ShownField[]): ShownField[] =>
  fields.filter(({ group }) => group !== undefined && group === one.group);

/** The id of a field's input. */
export function inputIdOf(one: ShownField, fields: readonly ShownField[]): string {
  const name = inputOf(one);
  if (one.kind === "radio") return radioId({ name }, optionsOf(one, fields).indexOf(one));
  return one.kind === "checkbox" ? checkboxId({ name, value: on }) : `field-${name}`;
}

type Inputs = Pick<PageState, "view" | "words" | "typed">;

/** The inputs of the signing form, one for each field, and one group for each radio. */
export function fieldInputs({ view, words, typed }: Inputs): Html[] {
  const all = filledIn(view.fields);
  const isFirst = (one: ShownField) => one.kind !== "radio" || optionsOf(one, all)[0] === one;
  // An unchecked box sends nothing: the form that was refused is told by its revision.
  const wasSent = typed["revision"] !== undefined;
  return all.filter(isFirst).map((one) => {
    const { kind, required, page } = one;
    const name = inputOf(one);
    const label = `${labelOf(one, words)} (${words.sign.page(page)})`;
    const common = { name, label, hint: hintOf(one, words) };
    const needed = required || ("sometimes" as const);
    const sent = typed[name];
    if (kind === "checkbox") {
      const checked = wasSent ? sent === on : one.value === on;
      return checkbox({ ...common, value: on, checked, required });
    }
    if (kind === "radio") {
      const options = optionsOf(one, all);
      const given = options.find(({ value }) => value === on)?.name;
      const listed = options.map(({ name: value, option = "" }) => ({ value, label: option }));
      // A browser lets nobody undo a choice.
      const choices = required ? listed : [...listed, { value: "", label: words.sign.none }];
      return radios({ ...common, required: needed, value: wasSent ? sent : given, options: choices });
    }
    if (kind === "dropdown") {
      const choices = (one.options ?? []).map((value) => ({ value, label: value }));
      const options = [{ value: "", label: words.sign.choose }, ...choices];
      return select({ ...common, required: needed, value: sent ?? one.value, options });
    }
    const value = sent ?? one.value ?? (kind === "name" ? view.signer.name : "");
    return field({ ...common, required: needed, maxLength: longestValue, value, inputMode: keyboardOf(one) });
  });
}

/** Returns the hint of a field: the partner's help text, then the rule of its format. */
function hintOf({ help, format, kind }: ShownField, { sign }: Words): string {
  const parts: string[] = help === undefined ? [] : [help];
  if (kind === "text" && typeof format === "string" && format in sign.formats)
    parts.push(sign.formats[format as keyof typeof sign.formats]);
  if (kind === "number" && typeof format === "object") {
    const { min, max, currency } = format;
    if (min !== undefined) parts.push(sign.least(min));
    if (max !== undefined) parts.push(sign.most(max));
    if (currency !== undefined) parts.push(`${currency}.`);
  }
  return parts.join(" ");
}

function keyboardOf({ kind, format }: ShownField) {
  if (kind === "number") return "decimal";
  if (format === "phone_us") return "tel";
  if (format === "email") return "email";
  return format === "zip_us" || format === "ssn_last4" ? "numeric" : undefined;
}

/** Lists the sender's own values: they are part of the document, and its text on the page or by a reader lacks them. */
export function givenPart({ senderValues }: PageState["view"], words: Words): Html | "" {
  if (senderValues.length === 0) return "";
  const items = senderValues.map(
    (one) => html`<li>${labelOf(one, words)} (${words.sign.page(one.page)}): <bdi>${shownValue(one, words)}</bdi></li>`,
  );
  return html`<div class="form-note" id="sender-values"><p>${words.sign.given}</p><ul>${items}</ul></div>`;
}

function shownValue({ kind, value, option }: SenderValue, { viewer }: Words): string {
  if (kind === "radio") return option ?? "";
  if (kind !== "checkbox") return value;
  return value === on ? viewer.checkedBox : viewer.uncheckedBox;
}
