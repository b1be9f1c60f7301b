import { make, part, say, setNumbers } from "../../ui/browser/parts.ts";
import type { FieldOnPage, ViewerWords } from "./config.ts";

export const isBox = ({ kind }: FieldOnPage): boolean => kind === "checkbox" || kind === "radio";

/**
 * Places a field's element over its page.
 * @returns a new child of the element for the field's content. It covers exactly the field's rectangle; the element
 * itself may be larger, as a touch target.
 */
type Put = (field: FieldOnPage, element: HTMLElement) => HTMLElement;
type BoxDeps = { form: HTMLFormElement; words: ViewerWords; place: Put; group: readonly FieldOnPage[] };

/**
 * A date field, which the signer can't fill in: the service sets the date at signing. Until then, the list above the
 * Sign button shows the current date.
 */
export function dateField(field: FieldOnPage, words: ViewerWords, place: Put) {
  const element = make("div", { className: "viewer-field", title: words.date });
  place(field, element).textContent = field.label;
  const value = field.value === undefined ? null : say(words.dateNow, { date: field.value });
  return { field, element, isOpen: () => false, value: () => value, refresh() {} };
}

/**
 * Shows a number that is calculated from other fields and updated while the signer types. The signer can't fill it in.
 */
export function calculatedField(
  field: FieldOnPage,
  input: HTMLInputElement,
  { words, place }: Pick<BoxDeps, "words" | "place">,
) {
  const element = make("div", { className: "viewer-field" });
  const painted = place(field, element);
  return {
    field,
    element,
    isOpen: () => false,
    value: () => input.value,
    refresh() {
      const { label, page } = field;
      element.classList.toggle("filled", input.value !== "");
      painted.replaceChildren(input.value || label);
      element.title = say(words.writtenItem, { field: label, page, value: input.value });
    },
  };
}

/** A checkbox, or one option of a radio or multiple choice, that the signer ticks on the page. */
export function boxField(field: FieldOnPage, input: HTMLInputElement, { form, words, place, group }: BoxDeps) {
  const chosen = () => group.filter((each) => part<HTMLInputElement>(each.input ?? "").checked).length;
  const { label, page, kind, choices } = field;
  const isRadio = kind === "radio";
  const element = make("button", { type: "button", className: "viewer-field viewer-box" });
  element.setAttribute("role", isRadio ? "radio" : "checkbox");
  element.setAttribute("aria-label", say(words.box, { field: label, page }));
  const painted = place(field, element);
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
      painted.replaceChildren(input.checked ? (isRadio ? "●" : "✓") : "");
    },
  };
}

/**
 * True if the Tab key stops at this option. A group of radio buttons has one stop: the chosen option, otherwise the
 * first (WAI-ARIA radio group pattern).
 */
function isTabStop(form: HTMLFormElement, input: HTMLInputElement): boolean {
  if (isChosenIn(form, input.name)) return input.checked;
  const all = [...form.querySelectorAll<HTMLInputElement>("input[type=radio]")];
  return all.find(({ name }) => name === input.name) === input;
}

const steps: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 };

/**
 * Creates the element that groups the options of a radio field. Arrow keys move to the next option and choose it, as in
 * a browser's own radio buttons.
 */
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

/** The size of a touch target in points. On a phone that shows pages 264 px wide, it is 44 px. */
const targetSize = (pageWidth: number): number => pageWidth / 6;

/**
 * How far the touch target of a field may extend on each side, in points: up to half of the space to the next field, so
 * that no target covers another field or its target.
 */
function roomAround(field: FieldOnPage, fields: readonly FieldOnPage[], pageWidth: number) {
  const size = targetSize(pageWidth);
  /** How far a target extends beyond its field on each side, in points. */
  const excess = ({ width }: FieldOnPage): number => Math.max(size - width, 0) / 2;
  const room = { before: size, after: size, above: size, below: size };
  const limit = (side: keyof typeof room, gap: number) => {
    room[side] = Math.min(room[side], Math.max(gap, 0) / 2);
  };
  for (const other of fields) {
    if (other === field || other.page !== field.page) continue;
    const [left, right] = [field.left - other.left - other.width, other.left - field.left - field.width];
    const [up, down] = [field.top - other.top - other.height, other.top - field.top - field.height];
    if (up < 0 && down < 0) limit(left > right ? "before" : "after", Math.max(left, right));
    else if (Math.max(left, right) < excess(field) + excess(other))
      limit(up > down ? "above" : "below", Math.max(up, down));
  }
  return room;
}

/**
 * Returns a function that places each field over its page. The options of a radio field are placed in one group
 * element.
 */
export function placing(
  { pageOf, width: pageWidth }: { pageOf: (n: number) => HTMLElement; width: number },
  fields: readonly FieldOnPage[],
  words: ViewerWords,
): Put {
  const groups = new Map<string, HTMLElement>();
  const groupOf = ({ radio, input, page }: FieldOnPage): HTMLElement => {
    if (radio === undefined || input === null) return pageOf(page);
    const { name } = part<HTMLInputElement>(input);
    const options = groups.get(name);
    if (options) return options;
    const group = radioGroup(say(words.group, { field: radio, page }));
    groups.set(name, group);
    pageOf(page).append(group);
    return group;
  };
  return (field, element) => {
    const { left, top, width, height } = field;
    setNumbers(element, { left, top, width, height, ...roomAround(field, fields, pageWidth) });
    const painted = make("span", { className: "viewer-paint" });
    element.append(painted);
    groupOf(field).append(element);
    return painted;
  };
}

/** True if one of the radio buttons with this name is chosen. */
const isChosenIn = (form: HTMLFormElement, name: string): boolean =>
  (form.elements.namedItem(name) as RadioNodeList | HTMLInputElement | null)?.value !== "";

type Written = {
  readonly field: FieldOnPage;
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
