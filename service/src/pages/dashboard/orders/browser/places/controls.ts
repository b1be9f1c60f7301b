import { make } from "../../../../ui/browser/parts.ts";
import type { Box } from "./field.ts";

/**
 * An input of the panel with its label. `update` shows the field's current value, except in a text input that has the
 * focus.
 */
export type Control = { readonly element: HTMLElement; readonly update: (box: Box) => void };

type Input = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;
type Changed = (value: string) => void;

let lastId = 0;

function labelled(label: string, input: Input, hint?: string): HTMLElement {
  input.id = `place-input-${++lastId}`;
  const field = make("div", { className: "form-field" }, make("label", { htmlFor: input.id, textContent: label }));
  if (hint !== undefined) {
    const hintElement = make("p", { className: "hint", id: `${input.id}-hint`, textContent: hint });
    input.setAttribute("aria-describedby", hintElement.id);
    field.append(hintElement);
  }
  field.append(input);
  return field;
}

function controlOf(element: HTMLElement, input: Input, read: (box: Box) => string): Control {
  return {
    element,
    update(box) {
      if (document.activeElement !== input || input instanceof HTMLSelectElement) input.value = read(box);
    },
  };
}

type Asked = {
  readonly label: string;
  readonly hint?: string;
  readonly read: (box: Box) => string;
  readonly changed: Changed;
};

/** A one-line text input; with `number`, its value is a number. */
export function textControl(
  { label, hint, read, changed }: Asked,
  rules: { maxLength?: number; number?: boolean } = {},
): Control {
  const input = make("input", { type: "text", autocomplete: "off", maxLength: rules.maxLength ?? 200 });
  if (rules.number) input.inputMode = "decimal";
  // Waits until the typing ends, because a half-typed number would be corrected to its bounds.
  input.addEventListener(rules.number ? "change" : "input", () => changed(input.value.trim()));
  return controlOf(labelled(label, input, hint), input, read);
}

/** A multi-line text input with one item per line. */
export function linesControl({ label, hint, read, changed }: Asked): Control {
  const input = make("textarea", { rows: 4 });
  input.addEventListener("input", () => changed(input.value));
  return controlOf(labelled(label, input, hint), input, read);
}

type Choices = readonly (readonly [value: string, label: string])[];

export function selectControl({ label, hint, read, changed }: Asked, choices: () => Choices): Control {
  const input = make("select");
  input.addEventListener("change", () => changed(input.value));
  const fill = () =>
    input.replaceChildren(...choices().map(([value, text]) => make("option", { value, textContent: text })));
  fill();
  const { element, update } = controlOf(labelled(label, input, hint), input, read);
  return {
    element,
    update(box) {
      fill();
      update(box);
    },
  };
}

export function checkControl(label: string, read: (box: Box) => boolean, changed: (checked: boolean) => void): Control {
  const input = make("input", { type: "checkbox", id: `place-input-${++lastId}` });
  input.addEventListener("change", () => changed(input.checked));
  const words = make("label", { htmlFor: input.id, textContent: label });
  return {
    element: make("div", { className: "form-field form-check" }, input, words),
    update(box) {
      input.checked = read(box);
    },
  };
}

export function mainButton(text: string, click: () => void): HTMLButtonElement {
  const button = make("button", { type: "button", textContent: text });
  button.addEventListener("click", click);
  return button;
}

export function quietButton(text: string, click: () => void, label = text): HTMLButtonElement {
  const button = mainButton(text, click);
  button.className = "quiet-button";
  button.setAttribute("aria-label", label);
  button.title = label;
  return button;
}

/**
 * A dropdown with its label. Its choices are replaced only when they differ, because replacing them closes an open
 * dropdown.
 */
export function chooser(id: string, label: string, chosen: (value: string) => void) {
  const select = make("select", { id });
  select.addEventListener("change", () => chosen(select.value));
  let shown = "";
  return {
    element: make("div", { className: "place-choice" }, make("label", { htmlFor: id, textContent: label }), select),
    fill(choices: Choices, value: string): void {
      const key = JSON.stringify(choices);
      if (key !== shown)
        select.replaceChildren(...choices.map(([each, text]) => make("option", { value: each, textContent: text })));
      shown = key;
      select.value = value;
    },
  };
}
