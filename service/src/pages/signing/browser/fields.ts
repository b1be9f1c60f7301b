import { readFieldValue } from "../../../orders/order/form/field-values.ts";
import { make, part, say, wayOn } from "../../ui/browser/parts.ts";
import { readDrawn } from "../drawn.ts";
import { boxField, calculatedField, dateField, isBox, listWritten, placing } from "./boxes.ts";
import type { FieldOnPage, SigningConfig } from "./config.ts";
import { keepSignature, restoreSignature } from "./kept-signature.ts";
import { pictureElement } from "./picture.ts";
import { leadTo, settle, settleMs, timeOf } from "./press-guard.ts";
import { applyToForm } from "./rules.ts";
import { openSheet, put, type SignatureInputs, type ValueInput } from "./sheet.ts";
import { drawnPicture } from "./strokes.ts";

type Pages = {
  pageOf: (n: number) => HTMLElement;
  /** The width that all pages are scaled by, in points. */
  width: number;
  /** Renders a page in advance, before it scrolls into view. */
  keepAhead: (n: number) => void;
  /** When the page became visible, by the clock of events; infinite while it is empty. */
  drawnAt: (n: number) => number;
};

/** The value as the document will show it: a number gets its decimals and its currency. */
function writtenValue({ kind, format }: FieldOnPage, typed: string): string {
  if (kind !== "number" || typed === "") return typed;
  const read = readFieldValue({ kind, format }, typed);
  return "value" in read ? read.value : typed;
}

const isMark = ({ kind }: FieldOnPage): boolean => kind === "signature" || kind === "mark";

/**
 * Makes a screen reader say the result of the last form together with the field, because the focus moves before the
 * result is read.
 */
function leadFromForm(element: HTMLElement): void {
  if (!element.hasAttribute("aria-describedby")) {
    element.setAttribute("aria-describedby", "done");
    element.addEventListener("blur", () => element.removeAttribute("aria-describedby"), { once: true });
  }
  leadTo(element);
}

/** Whether a field is in the part of the window that neither the toolbar nor the bar covers. A large field fills it. */
function isInWindow(element: HTMLElement, bar: HTMLElement): boolean {
  const { top, bottom } = element.getBoundingClientRect();
  const from = Math.max(document.querySelector(".viewer-tools")?.getBoundingClientRect().bottom ?? 0, 0);
  const to = Math.min(bar.getBoundingClientRect().top, innerHeight);
  return Math.min(bottom, to) - Math.max(top, from) >= Math.min(bottom - top, to - from) - 1;
}

/** Measures how long the focused field is in the window. @param focused returns null before any field has the focus */
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
  /** Moves the focus to the first open field. */
  toFirst: () => void;
};

const signatureIn = (form: HTMLFormElement): SignatureInputs => ({
  name: part<HTMLInputElement>("field-name"),
  drawn: form.querySelector<HTMLInputElement>("[name=drawn]") as HTMLInputElement,
  picture: form.querySelector<HTMLInputElement>("[name=picture]") as HTMLInputElement,
});

type OwnSignature = {
  inputs: SignatureInputs;
  /** A name that was filled in beforehand does not count as a signature that the signer has looked at. */
  isChosen: boolean;
  /** The initials that the signer last entered; one press puts them into another field. Empty before that. */
  initials: string;
};

/** A field that is filled in on a sheet, which a press on it opens, or by the press alone with adopted initials. */
function buttonField(
  field: FieldOnPage,
  input: ValueInput,
  uses: {
    own: OwnSignature;
    words: SigningConfig["words"];
    place: ReturnType<typeof placing>;
    suggested: string;
    refresh: () => void;
    /** Called with the value when a press has filled in a field that was open. */
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
    // Nobody initials a page unread by one press: before it is drawn, the sheet asks.
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

/** The place of the Sign button. The bar is hidden there, because it would only lead to the button next to it. */
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
    ...{ button, showBar },
    /** Leads to Sign. The focus goes to the list of what Sign will write, so that the next key does not sign. */
    lead: (): void => leadTo(button, { focus: part("sign-values") }),
  };
}

const isOpenNow = ({ element, isOpen }: { element: HTMLElement; isOpen: () => boolean }): boolean =>
  !element.hidden && isOpen();

/** Counts what is to be filled in: all options of a choice are one, and so are all places of the signature. */
const countInputs = (fields: readonly FieldOnPage[]): number =>
  new Set(fields.map(({ group, input }) => group ?? (input && part<ValueInput>(input).name))).size;

/**
 * Guards the Sign button when a change moves it: a tick may show or hide rows above it. Typing needs no guard, because
 * a key does not press where the pointer is.
 */
function guardingSign(change: (event: Event) => void) {
  const button = part("sign-button");
  return (event: Event): void => {
    const before = button.getBoundingClientRect().top;
    change(event);
    if (!(event instanceof InputEvent) && button.getBoundingClientRect().top !== before) settle(button);
  };
}

/** Tells a screen reader what a press has filled in, and how much is left. */
function tellFilled({ label, page }: FieldOnPage, value: string, left: number, words: SigningConfig["words"]): void {
  part("sign-filled").textContent = say(words.filled, { field: label, page, value, left });
}

/** The words of the bar: where it leads, or what it fills in. @param isHere whether the open field has the focus */
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

/** Whether a drawing or a picture is placed instead of the typed name. */
const isReplaced = ({ drawn, picture }: SignatureInputs): boolean => drawn.value !== "" || picture.value !== "";

/** Writes under the name whether it is placed in the document, or a drawing or a picture instead. */
function nameHints({ nameBeside }: SigningConfig["words"]) {
  const hint = part("field-name-hint");
  const ofTypedName = hint.textContent;
  return (signature: SignatureInputs): void => {
    hint.textContent = isReplaced(signature) ? nameBeside : ofTypedName;
  };
}

/** Shows the signer's fields over their pages, with a bar that leads from one to the next. */
export function showFields(config: SigningConfig, pages: Pages): Shown {
  const { fields, words } = config;
  const form = part<HTMLFormElement>("sign-form");
  const signature = signatureIn(form);
  restoreSignature(signature);
  const hintAtName = nameHints(words);
  const place = placing(pages, fields, words);
  const own: OwnSignature = { inputs: signature, isChosen: isReplaced(signature), initials: "" };
  const ofInitials = new Set(fields.flatMap(({ kind, input }) => (kind === "initials" && input ? [input] : [])));
  const ordered = [...fields].sort((a, b) => a.page - b.page || a.top - b.top || a.left - b.left);
  const shown = ordered.map((field) => {
    const { input: id } = field;
    if (id === null) return dateField(field, words, place);
    if (field.formula !== undefined) return calculatedField(field, part<HTMLInputElement>(id), { words, place });
    const group = field.choices ? fields.filter((each) => each.group === field.group) : [];
    if (isBox(field)) return boxField(field, part<HTMLInputElement>(id), { form, words, place, group });
    return buttonField(field, part<ValueInput>(id), {
      ...{ own, words, place, refresh, drawnAt: pages.drawnAt },
      filled(value) {
        leadOn();
        tellFilled(field, value, countInputs(shown.filter(isOpenNow).map((one) => one.field)), words);
      },
      suggested: field.kind === "initials" ? config.initials : "",
    });
  });
  // Each try to show the document replaces the handler of the one before.
  form.oninput = guardingSign(({ target }) => {
    if (Object.values(signature).some((input) => input === target)) own.isChosen = true;
    if (target === signature.drawn || target === signature.picture) keepSignature(signature);
    if (target instanceof HTMLInputElement && ofInitials.has(target.id)) own.initials = target.value.trim();
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
    // One press fills in only a place that the signer has had time to see.
    const shownAt = Math.max(inSightSince(), open ? pages.drawnAt(open.field.page) : 0);
    if (open && open === shown[visited] && timeOf(press) - shownAt >= settleMs) open.element.click();
    else leadOn();
  });
  const inSightSince = watchSight(() => shown[visited]?.element ?? null, bar);
  const end = openEnd(bar, () => nextOpen() === undefined);
  refresh();
  return { bar, toFirst: () => leadFromForm(nextOpen()?.element ?? end.button) };

  /** Leads to the next open field, or to what Sign will write. */
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
    hintAtName(signature);
  }

  /**
   * The next field to fill in: the last focused field if it is still open; otherwise the next open field after it, or
   * else the first one.
   */
  function nextOpen() {
    return [...shown.slice(Math.max(visited, 0)), ...shown].find(isOpenNow);
  }
}
