import { make, part, say } from "../../ui/browser/parts.ts";
import type { PlacedField, ViewerWords } from "./config.ts";

export const isBox = ({ kind }: PlacedField): boolean => kind === "checkbox" || kind === "radio";

type Put = (field: PlacedField, element: HTMLElement) => void;
type BoxDeps = { form: HTMLFormElement; words: ViewerWords; place: Put };

/** A date, which the service sets. */
export function dateField(field: PlacedField, words: ViewerWords, place: Put) {
  const element = make("div", { className: "viewer-field", textContent: field.label, title: words.date });
  place(field, element);
  return { field, element, isOpen: () => false, value: () => null, refresh() {} };
}

/** A checkbox, or one option of a radio, that is checked where it is on the page. */
export function boxField(field: PlacedField, input: HTMLInputElement, { form, words, place }: BoxDeps) {
  const { label, page, kind } = field;
  const isRadio = kind === "radio";
  const element = make("button", { type: "button", className: "viewer-field viewer-box" });
  element.setAttribute("role", isRadio ? "radio" : "checkbox");
  element.setAttribute("aria-label", say(words.box, { field: label, page }));
  place(field, element);
  element.addEventListener("click", () => {
    input.checked = (isRadio && input.required) || !input.checked;
    input.dispatchEvent(new Event("input", { bubbles: true }));
  });
  const isAnswered = () => input.checked || (isRadio && isChosenIn(form, input.name));
  return {
    field,
    element,
    isOpen: () => input.required && !isAnswered(),
    value: () => (input.checked ? words.checkedBox : isRadio ? null : words.uncheckedBox),
    refresh() {
      element.classList.toggle("filled", isAnswered());
      element.setAttribute("aria-checked", String(input.checked));
      element.replaceChildren(input.checked ? (isRadio ? "●" : "✓") : "");
    },
  };
}

/** Whether one of the radio buttons of a name is chosen. */
const isChosenIn = (form: HTMLFormElement, name: string): boolean =>
  (form.elements.namedItem(name) as RadioNodeList | HTMLInputElement | null)?.value !== "";

type Written = { readonly field: PlacedField; readonly value: () => string | null };

/** Lists all that Sign writes, above its button. */
export function listWritten(shown: readonly Written[], words: ViewerWords): void {
  const items = shown.flatMap(({ field: { label, page }, value: read }) => {
    const value = read();
    return value === null || value === "" ? [] : [say(words.writtenItem, { field: label, page, value })];
  });
  const list = make("ul", {}, ...items.map((textContent) => make("li", { textContent })));
  const written = part("sign-values");
  written.replaceChildren(make("p", { textContent: words.written }), list);
  written.hidden = items.length === 0;
}
