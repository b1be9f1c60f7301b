import { make, part, say, setNumbers } from "../../ui/browser/parts.ts";
import type { PlacedField, ViewerWords } from "./config.ts";

export const isBox = ({ kind }: PlacedField): boolean => kind === "checkbox" || kind === "radio";

type Put = (field: PlacedField, element: HTMLElement) => void;
type BoxDeps = { form: HTMLFormElement; words: ViewerWords; place: Put; group: readonly PlacedField[] };

/** A date field. The service sets the date; the page shows the date that the document would have now. */
export function dateField(field: PlacedField, words: ViewerWords, place: Put) {
  const element = make("div", { className: "viewer-field", textContent: field.label, title: words.date });
  place(field, element);
  const value = field.value === undefined ? null : say(words.dateNow, { date: field.value });
  return { field, element, isOpen: () => false, value: () => value, refresh() {} };
}

/** A number that is calculated while other fields are typed; the signer can't fill it in. */
export function calculatedField(
  field: PlacedField,
  input: HTMLInputElement,
  { words, place }: Pick<BoxDeps, "words" | "place">,
) {
  const element = make("div", { className: "viewer-field" });
  place(field, element);
  return {
    field,
    element,
    isOpen: () => false,
    value: () => input.value,
    refresh() {
      const { label, page } = field;
      element.classList.toggle("filled", input.value !== "");
      element.replaceChildren(input.value || label);
      element.title = say(words.writtenItem, { field: label, page, value: input.value });
    },
  };
}

/** A checkbox, or one option of a radio or a multiple, that the signer ticks in its place on the page. */
export function boxField(field: PlacedField, input: HTMLInputElement, { form, words, place, group }: BoxDeps) {
  const chosen = () => group.filter((each) => part<HTMLInputElement>(each.input ?? "").checked).length;
  const { label, page, kind, choices } = field;
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
    isOpen: () => (choices ? chosen() < choices.least : input.required && !isAnswered()),
    value: () => (input.checked ? words.checkedBox : isRadio ? null : words.uncheckedBox),
    refresh() {
      element.classList.toggle("filled", isAnswered());
      if (isRadio) element.tabIndex = isTabStop(form, input) ? 0 : -1;
      element.setAttribute("aria-checked", String(input.checked));
      element.replaceChildren(input.checked ? (isRadio ? "●" : "✓") : "");
    },
  };
}

/**
 * The Tab key stops once in a radio: at the chosen option, or at the first when none is chosen (WAI-ARIA radio group
 * pattern).
 */
function isTabStop(form: HTMLFormElement, input: HTMLInputElement): boolean {
  if (isChosenIn(form, input.name)) return input.checked;
  const all = [...form.querySelectorAll<HTMLInputElement>("input[type=radio]")];
  return all.find(({ name }) => name === input.name) === input;
}

const steps: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 };

/** Groups the options of a radio on a page. Arrow keys move and choose, as in the browser's own forms. */
function radioGroup(label: string): HTMLElement {
  const group = make("div");
  group.setAttribute("role", "radiogroup");
  group.setAttribute("aria-label", label);
  group.addEventListener("keydown", (event) => {
    const options = [...group.querySelectorAll<HTMLElement>("[role=radio]")];
    const at = options.indexOf(event.target as HTMLElement);
    const step = steps[event.key];
    if (step === undefined || at === -1) return;
    event.preventDefault();
    const next = options.at((at + step) % options.length);
    next?.focus();
    next?.click();
  });
  return group;
}

/** Puts fields over their pages, and the options of a radio into one group. */
export function placing(pageOf: (n: number) => HTMLElement, words: ViewerWords): Put {
  const groups = new Map<string, HTMLElement>();
  const groupOf = ({ radio, input, page }: PlacedField): HTMLElement => {
    if (radio === undefined || input === null) return pageOf(page);
    const { name } = part<HTMLInputElement>(input);
    const known = groups.get(name);
    if (known) return known;
    const group = radioGroup(say(words.group, { field: radio, page }));
    groups.set(name, group);
    pageOf(page).append(group);
    return group;
  };
  return (field, element) => {
    const { left, top, width, height } = field;
    setNumbers(element, { left, top, width, height });
    groupOf(field).append(element);
  };
}

/** Whether one of the radio buttons with a name is chosen. */
const isChosenIn = (form: HTMLFormElement, name: string): boolean =>
  (form.elements.namedItem(name) as RadioNodeList | HTMLInputElement | null)?.value !== "";

type Written = {
  readonly field: PlacedField;
  readonly element: HTMLElement;
  readonly value: () => string | null;
};

/** Above the Sign button, lists everything that signing will write into the document. */
export function listWritten(shown: readonly Written[], words: ViewerWords): void {
  const items = shown.flatMap(({ field: { label, page }, element, value: read }) => {
    const value = element.hidden ? null : read();
    return value === null || value === "" ? [] : [say(words.writtenItem, { field: label, page, value })];
  });
  const list = make("ul", {}, ...items.map((textContent) => make("li", { textContent })));
  const written = part("sign-values");
  written.replaceChildren(make("p", { textContent: words.written }), list);
  written.hidden = items.length === 0;
}
