import { mixesAlphabets } from "../../../kernel/platform/text.ts";
import { applyRules, type Rules, type ShowWhen, textsIn } from "../../../orders/order/order.ts";
import type { ReferencedField, SenderValue, ShownField, SigningView } from "../../../signing/envelopes/envelopes.ts";
import { checkbox, checkboxId, field, idOf, radioId, radios, select } from "../../ui/forms/fields.ts";
import { type Html, html } from "../../ui/render.ts";
import type { PageState } from "../frame.ts";
import type { Words } from "../words/en.ts";

export const maxValueLength = 200;
/** The value that the browser sends for a checked box. */
export const on = "On";

/**
 * The fields that have an input of their own. Dates have none, because the service sets them. All signature fields
 * share one input elsewhere.
 */
export const filledIn = (fields: readonly ShownField[]): ShownField[] =>
  fields.filter(({ kind }) => kind !== "signature" && kind !== "mark" && kind !== "date");

export const labelOf = (
  { label, kind, invisible }: Pick<ShownField, "label" | "kind" | "invisible">,
  { sign }: Words,
): string => (invisible ? sign.invisible : (label ?? sign.kinds[kind]));

/** The name of a field's input. The options of a radio share one name. */
export const inputOf = ({ name, kind, group }: Pick<ShownField, "name" | "kind" | "group">): string =>
  `value.${kind === "radio" ? (group ?? name) : name}`;

/**
 * Evaluates the conditions and formulas of a signer's fields.
 * @param typedIn returns the typed or chosen text; `On` for a ticked checkbox or option
 */
export const rulesOf = (
  { fields, referenced }: Pick<SigningView, "fields" | "referenced">,
  typedIn: (one: ShownField) => string,
): Rules<ShownField | ReferencedField> =>
  applyRules<ShownField | ReferencedField>([...fields, ...referenced], (one) =>
    "texts" in one ? one.texts : textsIn(one, typedIn(one)),
  );

/** All options of the radio or multiple choice to which an option belongs. Other fields have none. */
export const optionsOf = (one: ShownField, fields: readonly ShownField[]): ShownField[] =>
  fields.filter(({ group }) => group !== undefined && group === one.group);

/** The id of a field's input. */
export function inputIdOf(one: ShownField, fields: readonly ShownField[]): string {
  const name = inputOf(one);
  if (one.kind === "radio") return radioId({ name }, optionsOf(one, fields).indexOf(one));
  return one.kind === "checkbox" ? checkboxId({ name, value: on }) : idOf({ name });
}

type Inputs = Pick<PageState, "view" | "words" | "typed">;

/**
 * The inputs of the signing form. The options of a radio field or multiple choice share one group of inputs. Every
 * other field has its own input.
 */
export function fieldInputs({ view, words, typed }: Inputs): Html[] {
  const all = filledIn(view.fields);
  const isFirst = (one: ShownField) => one.group === undefined || optionsOf(one, all)[0] === one;
  // A browser sends nothing for an unticked box, but it always sends `revision`. So if `typed` has a `revision`, it is
  // a sent form, and a box without a value was unticked.
  const wasSent = typed["revision"] !== undefined;
  const stateOf = (one: ShownField): string => {
    const sent = typed[inputOf(one)];
    if (one.kind === "radio" && wasSent) return sent === one.name ? on : "";
    if (one.kind === "checkbox" && wasSent) return sent ?? "";
    return sent ?? one.value ?? "";
  };
  const rules = rulesOf(view, stateOf);
  return all.filter(isFirst).map((one) => {
    const { kind, required, page } = one;
    const name = inputOf(one);
    const label = `${labelOf(one, words)} (${words.sign.page(page)})`;
    const common = { name, label, hint: hintOf(one, view, words) };
    // Without JavaScript, a field whose condition is false is still visible, so the browser must not require it.
    const mustBe = required && one.showWhen === undefined;
    const needed = mustBe || (required ? ("sometimes" as const) : false);
    const sent = typed[name];
    if (one.formula !== undefined) {
      const result = rules.calculate(one);
      const value = typeof result === "object" && "value" in result ? result.value : "";
      return calculatedInput({ ...common, value });
    }
    if (one.choices) return multipleInput(common, optionsOf(one, all), (option) => stateOf(option) === on);
    if (kind === "checkbox") {
      const checked = wasSent ? sent === on : one.value === on;
      return checkbox({ ...common, value: on, checked, required: mustBe });
    }
    if (kind === "radio") {
      const options = optionsOf(one, all);
      const chosen = options.find(({ value }) => value === on)?.name;
      const listed = options.map(({ name: value, option = "" }) => ({ value, label: option }));
      // Browsers offer no way to clear a radio, so an optional radio gets an additional choice for "none".
      const choices = required ? listed : [...listed, { value: "", label: words.sign.none }];
      return radios({ ...common, required: needed, value: wasSent ? sent : chosen, options: choices });
    }
    if (kind === "dropdown") {
      const choices = (one.options ?? []).map((value) => ({ value, label: value }));
      const options = [{ value: "", label: words.sign.choose }, ...choices];
      return select({ ...common, required: needed, value: sent ?? one.value, options });
    }
    const value = sent ?? one.value ?? (kind === "name" ? view.signer.name : "");
    return field({ ...common, required: needed, maxLength: maxValueLength, value, inputMode: keyboardOf(one) });
  });
}

type Common = { name: string; label: string; hint: string };

/**
 * The input of a calculated number. The form sends the displayed number back. If that number then differs from the
 * service's own result, the page is shown again before anything is signed.
 */
function calculatedInput({ name, label, hint, value }: Common & { value: string }): Html {
  const id = idOf({ name });
  return html`<div class="form-field"><label for="${id}">${label}</label><p class="hint" id="${id}-hint">${hint}</p>
<input type="text" id="${id}" name="${name}" value="${value}" readonly aria-describedby="${id}-hint"></div>`;
}

function multipleInput(
  { name, label, hint }: Common,
  options: readonly ShownField[],
  isChecked: (one: ShownField) => boolean,
): Html {
  const id = `${idOf({ name })}-all-hint`;
  return html`<fieldset class="form-field form-radios" aria-describedby="${id}"><legend>${label}</legend><p class="hint" id="${id}">${hint}</p>
${options.map((one) => checkbox({ name: inputOf(one), label: one.option ?? "", value: on, checked: isChecked(one) }))}</fieldset>`;
}

/**
 * Returns the hint of a field: its condition, a warning about mixed alphabets, the partner's help text, then the rules
 * of its values.
 */
function hintOf(one: ShownField, view: Inputs["view"], words: Words): string {
  const { help, format, kind, showWhen, formula, choices } = one;
  const { sign } = words;
  const parts: string[] = showWhen ? [conditionOf(showWhen, view, words)] : [];
  const texts = [one.label, ...optionsOf(one, view.fields).map(({ option }) => option), ...(one.options ?? [])];
  if (texts.some((text) => text && mixesAlphabets(text))) parts.push(words.signers.mixed);
  if (help !== undefined) parts.push(help);
  if (formula !== undefined) parts.push(sign.calculated);
  if (choices) parts.push(sign.pick(choices.least, choices.most));
  if (kind === "text" && typeof format === "string" && format in sign.formats)
    parts.push(sign.formats[format as keyof typeof sign.formats]);
  if (kind === "number" && typeof format === "object") {
    const { min, max, currency } = format;
    if (min !== undefined) parts.push(sign.min(min));
    if (max !== undefined) parts.push(sign.max(max));
    if (currency !== undefined) parts.push(`${currency}.`);
  }
  return parts.join(" ");
}

function conditionOf(
  { field, operator, value = "" }: ShowWhen,
  { fields, referenced }: Inputs["view"],
  words: Words,
): string {
  const read = fields.find(({ id }) => id === field);
  const label = read ? labelOf(read, words) : referenced.find(({ id }) => id === field)?.label;
  return words.sign.only[operator](label ?? field, value);
}

function keyboardOf({ kind, format }: ShownField) {
  if (kind === "number") return "decimal";
  if (format === "phone_us") return "tel";
  if (format === "email") return "email";
  return format === "zip_us" || format === "ssn_last4" ? "numeric" : undefined;
}

/** Lists the values that the sender filled in. The text version of the document does not contain them. */
export function senderValuesPart({ senderValues }: PageState["view"], words: Words): Html | "" {
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
