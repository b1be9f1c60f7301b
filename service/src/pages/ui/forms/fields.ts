import { type Html, html } from "../render.ts";

/** The members of all fields. `form` distinguishes fields with the same name on a page with several forms. */
type Common = {
  name: string;
  label: string;
  /**
   * If `required` is absent or false, the label says that the field is optional, except for a checkbox. "sometimes":
   * the text around the field explains when the field is required.
   */
  required?: boolean | "sometimes";
  hint?: Html | string | undefined;
  /** The error message for the field's value. It is shown with the field, and screen readers read it out. */
  error?: string | null | undefined;
  form?: string | undefined;
};

type TextRules = {
  value?: string | undefined;
  maxLength?: number;
  autocomplete?: string;
  /** The keyboard that a phone shows. */
  inputMode?: "decimal" | "numeric" | "tel" | "email" | undefined;
};

export type Field = Common &
  TextRules & {
    type?: "text" | "email" | "url" | "tel" | "search" | "password" | "date";
    /** Values that the browser suggests while the person types. */
    suggestions?: readonly Choice[];
  };
export type TextArea = Common & TextRules & { rows?: number };
export type Choice = { value: string; label: string };
export type Select = Common & { value?: string | undefined; options: readonly Choice[] };
export type Radios = Common & { value?: string | undefined; options: readonly Choice[] };
export type Checkbox = Omit<Common, "required"> & { value?: string; checked?: boolean; required?: boolean };

/** Matches the input name of a PDF field whose name was chosen by the PDF's author, and not by us. */
const isForeign = /^value\.(?!SignSealShip-)/;

/**
 * The HTML id of a form control. In names that a PDF's author chose, every character except letters, digits and periods
 * is replaced by its code. So two names never give the same id, and no id equals that of another control's hint
 * (`-hint`).
 */
export const idOf = ({ form = "field", name }: Pick<Common, "form" | "name">): string =>
  `${form}-${isForeign.test(name) ? name.replace(/[^A-Za-z0-9.]/g, (each) => `_${each.charCodeAt(0).toString(16)}_`) : name}`;

/** The HTML attributes of a control: its id, its name, and the ids of the texts that describe it. */
function wiring(id: string, { name, required, hint, error }: Omit<Common, "label">): Html {
  const described = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(" ");
  return html` id="${id}" name="${name}"${required === true && html` required`}${described && html` aria-describedby="${described}"`}${error && html` aria-invalid="true"`}`;
}

const hintOf = (id: string, { hint }: Pick<Common, "hint">): Html =>
  html`${hint && html`<p class="hint" id="${id}-hint">${hint}</p>`}`;

const errorOf = (id: string, { error }: Pick<Common, "error">): Html =>
  html`${error && html`<p class="field-error" id="${id}-error">${error}</p>`}`;

const textRules = ({ maxLength, autocomplete, inputMode }: TextRules): Html =>
  html`${inputMode && html` inputmode="${inputMode}"`}${maxLength !== undefined && html` maxlength="${maxLength}"`}${autocomplete && html` autocomplete="${autocomplete}"`}`;

/** Label, hint and error around a control. */
function labelled(id: string, part: Common, control: Html): Html {
  const optional = !part.required && html` <span class="optional">(optional)</span>`;
  return html`<div class="form-field"><label for="${id}">${part.label}${optional}</label>${hintOf(id, part)}${control}${errorOf(id, part)}</div>`;
}

/** A field for one line of text. */
export function field(part: Field): Html {
  const id = idOf(part);
  const { suggestions = [] } = part;
  const list = suggestions.length > 0 && `${id}-suggestions`;
  const options = suggestions.map(({ value, label }) => html`<option value="${value}">${label}</option>`);
  return labelled(
    id,
    part,
    html`<input type="${part.type ?? "text"}"${wiring(id, part)} value="${part.value ?? ""}"${textRules(part)}${list && html` list="${list}"`}>${list && html`<datalist id="${list}">${options}</datalist>`}`,
  );
}

/** A field for several lines of text. */
export function textArea(part: TextArea): Html {
  const id = idOf(part);
  // HTML ignores a line break directly after `<textarea>`. An extra line break is written there, so that a value's own
  // first line break survives.
  return labelled(
    id,
    part,
    html`<textarea${wiring(id, part)} rows="${part.rows ?? 5}"${textRules(part)}>
${part.value ?? ""}</textarea>`,
  );
}

/** A choice of one option; `value` is the chosen one. */
export function select(part: Select): Html {
  const id = idOf(part);
  const options = part.options.map(
    ({ value, label }) => html`<option value="${value}"${value === part.value && html` selected`}>${label}</option>`,
  );
  return labelled(id, part, html`<select${wiring(id, part)}>${options}</select>`);
}

/**
 * The id of one radio button.
 * @param index its position among the buttons
 */
export const radioId = (part: Pick<Common, "form" | "name">, index: number): string => `${idOf(part)}-${index + 1}`;

/** A choice of one option, with all options visible. */
export function radios(part: Radios): Html {
  const id = idOf(part);
  const { name, label, required, error } = part;
  const described = [part.hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(" ");
  const buttons = part.options.map(({ value, label: text }, index) => {
    const state = html`${required === true && html` required`}${value === part.value && html` checked`}`;
    return html`<div class="form-check"><input type="radio" id="${radioId(part, index)}" name="${name}" value="${value}"${state}><label for="${radioId(part, index)}">${text}</label></div>`;
  });
  const optional = !required && html` <span class="optional">(optional)</span>`;
  const about = html`${described && html` aria-describedby="${described}"`}${error && html` aria-invalid="true"`}`;
  return html`<fieldset class="form-field form-radios"${about}><legend>${label}${optional}</legend>${hintOf(id, part)}${buttons}${errorOf(id, part)}</fieldset>`;
}

export const checkboxId = (part: Pick<Common, "form" | "name"> & { value?: string }): string =>
  part.value === undefined || part.value === "on" ? idOf(part) : `${idOf(part)}-${part.value}`;

/**
 * A checkbox for yes or no. If it is ticked, the form sends `value`; otherwise nothing. Boxes with the same name need
 * different values.
 */
export function checkbox(part: Checkbox): Html {
  const { value = "on", checked = false } = part;
  const id = checkboxId(part);
  return html`<div class="form-field form-check"><input type="checkbox"${wiring(id, part)} value="${value}"${checked && html` checked`}><label for="${id}">${part.label}</label>${hintOf(id, part)}${errorOf(id, part)}</div>`;
}

/**
 * The reasons why the form was rejected. Screen readers announce them, and they are focused when the page opens. Empty
 * without a message.
 */
export function errorSummary(messages: string | readonly (string | Html)[] | null | undefined): Html {
  const all = typeof messages === "string" ? [messages] : (messages ?? []);
  const errorText =
    all.length === 1 ? html`<p>${all[0]}</p>` : html`<ul>${all.map((each) => html`<li>${each}</li>`)}</ul>`;
  return html`${all.some((each) => each !== "") && html`<div class="form-errors" role="alert" tabindex="-1" autofocus><p class="form-errors-title">Please check the form</p>${errorText}</div>`}`;
}

/**
 * An explanation of fields. It is collapsed, because most readers fill in the form often.
 * @param about the subject of the explanation, for screen readers
 */
export const helpText = (about: string, paragraphs: Html): Html =>
  html`<details class="form-help"><summary>Help<span class="visually-hidden"> about ${about}</span></summary>${paragraphs}</details>`;
