import { make, part, say, wayOn } from "../../ui/browser/parts.ts";
import { readDrawn } from "../drawn.ts";
import { boxField, calculatedField, dateField, isBox, listWritten, placing } from "./boxes.ts";
import type { FieldOnPage, SigningConfig } from "./config.ts";
import { pictureElement } from "./picture.ts";
import { leadTo, settle, settleMs, timeOf } from "./press-guard.ts";
import { applyToForm, writtenValue } from "./rules.ts";
import { openSheet, put, type SignatureInputs, type ValueInput } from "./sheet.ts";
import { keepSignature, restoreSignature } from "./stored-signature.ts";
import { drawnPicture } from "./strokes.ts";

type Pages = {
  pageOf: (n: number) => HTMLElement;
  /** The width of the first page, in points. It determines the size of touch targets. */
  width: number;
  /** Draws a page before it scrolls into view, and keeps its drawing. */
  keepAhead: (n: number) => void;
  /** The time when the page was drawn, by the clock of `performance.now()`. Infinity until then. */
  drawnAt: (n: number) => number;
};

const isMark = ({ kind }: FieldOnPage): boolean => kind === "signature" || kind === "mark";

/**
 * Moves the focus to a field when the page opens with the result of a form. The result (`#done`) becomes the field's
 * description, because moving the focus stops a screen reader from announcing it.
 */
function leadFromForm(element: HTMLElement): void {
  if (!element.hasAttribute("aria-describedby")) {
    element.setAttribute("aria-describedby", "done");
    element.addEventListener("blur", () => element.removeAttribute("aria-describedby"), { once: true });
  }
  leadTo(element);
}

/**
 * True if a field is visible between the viewer's toolbar and the bar that leads to the next field. A field that is
 * taller than this space must fill it.
 */
function isInWindow(element: HTMLElement, bar: HTMLElement): boolean {
  const { top, bottom } = element.getBoundingClientRect();
  const from = Math.max(document.querySelector(".viewer-tools")?.getBoundingClientRect().bottom ?? 0, 0);
  const to = Math.min(bar.getBoundingClientRect().top, innerHeight);
  return Math.min(bottom, to) - Math.max(top, from) >= Math.min(bottom - top, to - from) - 1;
}

/** Tells since when the focused field is visible. Infinity while it isn't, and before a field has the focus. */
function watchSight(focused: () => HTMLElement | null, bar: HTMLElement) {
  let [watched, since]: [HTMLElement | null, number] = [null, 0];
  const look = (): number => {
    const element = focused();
    const isSame = element === watched;
    watched = element;
    if (!element || !isInWindow(element, bar)) since = Number.POSITIVE_INFINITY;
    else if (!isSame || since === Number.POSITIVE_INFINITY) since = performance.now();
    return since;
  };
  document.addEventListener("scroll", look, { capture: true, passive: true });
  return look;
}

type Shown = {
  bar: HTMLElement;
  /** Moves the focus to the first open field, or to the Sign button if no field is open. */
  toFirst: () => void;
};

const signatureIn = (form: HTMLFormElement): SignatureInputs => ({
  name: part<HTMLInputElement>("field-name"),
  drawn: form.querySelector<HTMLInputElement>("[name=drawn]") as HTMLInputElement,
  picture: form.querySelector<HTMLInputElement>("[name=picture]") as HTMLInputElement,
});

type OwnSignature = {
  inputs: SignatureInputs;
  /**
   * True if the signer has chosen the signature, here or earlier in this tab (a stored drawing or picture). A name that
   * was filled in beforehand is not a choice.
   */
  isChosen: boolean;
  /** The initials that the signer last entered; empty until then. A click inserts them into another field. */
  initials: string;
};

/**
 * A field that opens a sheet (a dialog for one value) when clicked, or inserts the initials that were entered before.
 */
function buttonField(
  field: FieldOnPage,
  input: ValueInput,
  uses: {
    own: OwnSignature;
    words: SigningConfig["words"];
    place: ReturnType<typeof placing>;
    suggested: string;
    refresh: () => void;
    /** Called with the value when the signer has filled in an open field. */
    filled: (value: string) => void;
    drawnAt: Pages["drawnAt"];
  },
) {
  const { own, words } = uses;
  const { inputs: signature } = own;
  const element = make("button", { type: "button", className: "viewer-field" });
  const place = uses.place(field, element);
  const adopted = () => (field.kind === "initials" ? own.initials : "");
  const isOpen = () => !isFilled() && (isMark(field) || input.required);
  element.addEventListener("click", (press) => {
    const wasOpen = isOpen();
    const accepted = () => {
      if (isMark(field)) own.isChosen = true;
      uses.refresh();
      if (wasOpen && !isOpen()) uses.filled(shownValue());
    };
    // Nobody may initial an unread page with one click. So a click opens the sheet if the page was drawn only a moment
    // ago.
    if (isFilled() || adopted() === "" || timeOf(press) - uses.drawnAt(field.page) < settleMs)
      return openSheet({ field, input, suggested: uses.suggested, signature, words }, accepted);
    put(input, adopted());
    accepted();
  });
  const shownValue = (): string => {
    if (isMark(field) && readDrawn(signature.drawn.value)) return words.drawn;
    return isMark(field) && signature.picture.value !== "" ? words.uploaded : writtenValue(field, input.value.trim());
  };
  const isFilled = () => (isMark(field) ? own.isChosen : input.value.trim() !== "");
  return {
    field,
    element,
    isOpen,
    value: () => shownValue(),
    refresh() {
      const drawn = isMark(field) ? readDrawn(signature.drawn.value) : null;
      const picture = isMark(field) ? signature.picture.value : "";
      const value = shownValue();
      const { label, page } = field;
      element.classList.toggle("filled", isFilled());
      const look = drawn ? drawnPicture(drawn) : picture === "" ? value : pictureElement(picture);
      place.replaceChildren(isFilled() ? look : label);
      const spoken = isFilled()
        ? say(words.change, { field: label, page, value })
        : say(adopted() === "" ? words.fill : words.fillWith, { field: label, page, value: adopted() });
      element.setAttribute("aria-label", spoken);
    },
  };
}

/**
 * Hides the bar while the Sign button is visible and every field is filled in, because the bar would only lead to that
 * button. The bar stays while it has the focus.
 */
function openEnd(bar: HTMLElement, isFilledIn: () => boolean) {
  const button = part("sign-button");
  let isInView = false;
  const showBar = () => {
    bar.hidden = isInView && isFilledIn() && !bar.contains(document.activeElement);
  };
  new IntersectionObserver((entries) => {
    isInView = entries.at(-1)?.isIntersecting ?? false;
    showBar();
  }).observe(button);
  return {
    button,
    showBar,
    /** Scrolls to Sign, and focuses the list of values that Sign will write, so that the next key does not sign. */
    lead: (): void => leadTo(button, { focus: part("sign-values") }),
  };
}

const isOpenNow = ({ element, isOpen }: { element: HTMLElement; isOpen: () => boolean }): boolean =>
  !element.hidden && isOpen();

/** Counts the values to fill in. All options of a choice are one value, as are all places of the signature. */
const countInputs = (fields: readonly FieldOnPage[]): number =>
  new Set(fields.map(({ group, input }) => group ?? (input && part<ValueInput>(input).name))).size;

/**
 * Wraps a handler for changes of the form. If a tick shows or hides rows above the Sign button, the button moves, and
 * clicks on it are ignored briefly. Changes by typing need no such guard.
 */
function guardingSign(change: (event: Event) => void) {
  const button = part("sign-button");
  return (event: Event): void => {
    const before = button.getBoundingClientRect().top;
    change(event);
    if (!(event instanceof InputEvent) && button.getBoundingClientRect().top !== before) settle(button);
  };
}

/** Announces to screen readers which value was filled in, and how many fields are left. */
function tellFilled({ label, page }: FieldOnPage, value: string, left: number, words: SigningConfig["words"]): void {
  part("sign-filled").textContent = say(words.filled, { field: label, page, value, left });
}

/**
 * The text on the bar: where a click leads, or the initials that a click fills in. @param isHere true if the open field
 * has the focus
 */
function wayWords(
  open: FieldOnPage | undefined,
  isHere: boolean,
  initials: string,
  words: SigningConfig["words"],
): string {
  if (!open) return words.toSign;
  const { kind, label, page } = open;
  const value = kind === "initials" ? initials : "";
  const way = isHere ? (value === "" ? words.fillIn : words.fillInWith) : words.next;
  return say(way, { field: label, page, value });
}

/** True if a drawing or a picture replaces the typed name in the document. */
const isReplaced = ({ drawn, picture }: SignatureInputs): boolean => drawn.value !== "" || picture.value !== "";

/** Says under the name whether the document will show the name, or a drawing or picture instead. */
function nameHints({ nameBeside }: SigningConfig["words"]) {
  const hint = part("field-name-hint");
  const ofTypedName = hint.textContent;
  return (signature: SignatureInputs): void => {
    hint.textContent = isReplaced(signature) ? nameBeside : ofTypedName;
  };
}

/** The signature in the form, or the one that the tab stored for this link. */
function ownSignature(form: HTMLFormElement): OwnSignature {
  const inputs = signatureIn(form);
  restoreSignature(inputs);
  return { inputs, isChosen: isReplaced(inputs), initials: "" };
}

/** Notes a change of the signer's own signature or initials. */
function noteChange(own: OwnSignature, target: EventTarget | null, fields: readonly FieldOnPage[]): void {
  const { inputs } = own;
  if (Object.values(inputs).some((input) => input === target)) own.isChosen = true;
  if (target === inputs.drawn || target === inputs.picture) keepSignature(inputs);
  if (!(target instanceof HTMLInputElement)) return;
  if (fields.some(({ kind, input }) => kind === "initials" && input === target.id)) own.initials = target.value.trim();
}

/** Shows the signer's fields over their pages, with a bar that leads from field to field. */
export function showFields(config: SigningConfig, pages: Pages): Shown {
  const { fields, words } = config;
  const form = part<HTMLFormElement>("sign-form");
  const own = ownSignature(form);
  const hintAtName = nameHints(words);
  const place = placing(pages, fields, words);
  const ordered = [...fields].sort((a, b) => a.page - b.page || a.top - b.top || a.left - b.left);
  const shown = ordered.map((field) => {
    const { input: id } = field;
    if (id === null) return dateField(field, words, place);
    if (field.formula !== undefined) return calculatedField(field, part<HTMLInputElement>(id), { words, place });
    const group = field.choices ? fields.filter((each) => each.group === field.group) : [];
    if (isBox(field)) return boxField(field, part<HTMLInputElement>(id), { form, words, place, group });
    return buttonField(field, part<ValueInput>(id), {
      own,
      words,
      place,
      refresh,
      drawnAt: pages.drawnAt,
      filled(value) {
        leadOn();
        tellFilled(field, value, countInputs(shown.filter(isOpenNow).map((one) => one.field)), words);
      },
      suggested: field.kind === "initials" ? config.initials : "",
    });
  });
  // Each attempt to show the document replaces the handler of the previous one.
  form.oninput = guardingSign(({ target }) => {
    noteChange(own, target, fields);
    refresh();
  });
  let visited = -1;
  for (const [index, { element }] of shown.entries())
    element.addEventListener("focus", () => {
      visited = index;
      refresh();
      inSightSince();
    });
  const { bar, button: next } = wayOn((press) => {
    const open = nextOpen();
    // A click on the bar fills in a field only if the field and its page have been visible for a moment.
    const shownAt = Math.max(inSightSince(), open ? pages.drawnAt(open.field.page) : 0);
    if (open && open === shown[visited] && timeOf(press) - shownAt >= settleMs) open.element.click();
    else leadOn();
  });
  const inSightSince = watchSight(() => shown[visited]?.element ?? null, bar);
  const end = openEnd(bar, () => nextOpen() === undefined);
  refresh();
  return { bar, toFirst: () => leadFromForm(nextOpen()?.element ?? end.button) };

  /** Leads to the next open field, or to the list of values that Sign will write. */
  function leadOn(): void {
    const open = nextOpen();
    if (open) leadTo(open.element);
    else end.lead();
  }

  function refresh(): void {
    const { isShown } = applyToForm(config);
    for (const one of shown) {
      one.element.hidden = !isShown(one.field);
      one.refresh();
    }
    listWritten(shown, words);
    const open = nextOpen();
    if (open) pages.keepAhead(open.field.page);
    next.textContent = wayWords(open?.field, open === shown[visited], own.initials, words);
    end.showBar();
    hintAtName(own.inputs);
  }

  /**
   * The next field to fill in: the last focused field if it is still open, otherwise the next open field after it,
   * otherwise the first open field.
   */
  function nextOpen() {
    return [...shown.slice(Math.max(visited, 0)), ...shown].find(isOpenNow);
  }
}
