import { readFieldValue } from "../../../orders/order/form/field-values.ts";
import { leadTo, make, part, say, wayOn } from "../../ui/browser/parts.ts";
import { readDrawn } from "../drawn.ts";
import { boxField, calculatedField, dateField, isBox, listWritten, placing } from "./boxes.ts";
import type { PlacedField, SigningConfig } from "./config.ts";
import { keepSignature, restoreSignature } from "./kept-signature.ts";
import { pictureElement } from "./picture.ts";
import { applyToForm } from "./rules.ts";
import { openSheet, type SignatureInputs, type ValueInput } from "./sheet.ts";
import { drawnPicture } from "./strokes.ts";

type Pages = {
  pageOf: (n: number) => HTMLElement;
  /** Renders a page in advance, before it scrolls into view. */
  keepAhead: (n: number) => void;
};

/** The value as the document will show it: a number gets its decimals and its currency. */
function writtenValue({ kind, format }: PlacedField, typed: string): string {
  if (kind !== "number" || typed === "") return typed;
  const read = readFieldValue({ kind, format }, typed);
  return "value" in read ? read.value : typed;
}

const isMark = ({ kind }: PlacedField): boolean => kind === "signature" || kind === "mark";

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

type Valued = { readonly field: PlacedField; readonly value: () => string | null };

/** People initial many pages in the same way, so the initials of one place are offered for the next. */
function suggestedFor({ kind }: PlacedField, shown: readonly Valued[]): string {
  if (kind !== "initials") return "";
  return shown.find((each) => each.field.kind === "initials" && each.value())?.value() ?? "";
}

type OwnSignature = {
  inputs: SignatureInputs;
  /** A name that was filled in beforehand does not count as a signature that the signer has looked at. */
  isChosen: boolean;
};

/** A field that is filled in on a sheet, which a press on it opens. */
function buttonField(
  field: PlacedField,
  input: ValueInput,
  uses: {
    own: OwnSignature;
    words: SigningConfig["words"];
    place: ReturnType<typeof placing>;
    suggested: () => string;
    changed: () => void;
  },
) {
  const { own, words } = uses;
  const { inputs: signature } = own;
  const element = make("button", { type: "button", className: "viewer-field" });
  uses.place(field, element);
  element.addEventListener("click", () =>
    openSheet({ field, input, suggested: uses.suggested(), signature, words }, () => {
      if (isMark(field)) own.isChosen = true;
      uses.changed();
    }),
  );
  const shownValue = (): string => {
    if (isMark(field) && readDrawn(signature.drawn.value)) return words.drawn;
    return isMark(field) && signature.picture.value !== "" ? words.uploaded : writtenValue(field, input.value.trim());
  };
  const isFilled = () => (isMark(field) ? own.isChosen : input.value.trim() !== "");
  return {
    field,
    element,
    isOpen: () => !isFilled() && (isMark(field) || input.required),
    value: () => shownValue(),
    refresh() {
      const drawn = isMark(field) ? readDrawn(signature.drawn.value) : null;
      const picture = isMark(field) ? signature.picture.value : "";
      const value = shownValue();
      const { label, page } = field;
      element.classList.toggle("filled", isFilled());
      const look = drawn ? drawnPicture(drawn) : picture === "" ? value : pictureElement(picture);
      element.replaceChildren(isFilled() ? look : label);
      const spoken = isFilled() ? words.change : words.fill;
      element.setAttribute("aria-label", say(spoken, { field: label, page, value }));
    },
  };
}

/** Shows the signer's fields over their pages, with a bar that leads from one to the next. */
export function showFields(config: SigningConfig, pages: Pages): Shown {
  const { fields, words } = config;
  const form = part<HTMLFormElement>("sign-form");
  const signature = signatureIn(form);
  restoreSignature(signature);
  const nameHint = part("field-name-hint");
  const ofTypedName = nameHint.textContent;
  const place = placing(pages.pageOf, words);
  const own = { inputs: signature, isChosen: signature.drawn.value !== "" || signature.picture.value !== "" };
  const ordered = [...fields].sort((a, b) => a.page - b.page || a.top - b.top || a.left - b.left);
  const shown = ordered.map((field) => {
    const { input: id } = field;
    if (id === null) return dateField(field, words, place);
    if (field.formula !== undefined) return calculatedField(field, part<HTMLInputElement>(id), { words, place });
    const group = field.choices ? fields.filter((each) => each.group === field.group) : [];
    if (isBox(field)) return boxField(field, part<HTMLInputElement>(id), { form, words, place, group });
    return buttonField(field, part<ValueInput>(id), {
      ...{ own, words, place, changed: refresh },
      suggested: (): string => suggestedFor(field, shown),
    });
  });
  // Each try to show the document replaces the handler of the one before.
  form.oninput = ({ target }) => {
    if (Object.values(signature).some((input) => input === target)) own.isChosen = true;
    if (target === signature.drawn || target === signature.picture) keepSignature(signature);
    refresh();
  };
  let visited = -1;
  for (const [index, { element }] of shown.entries())
    element.addEventListener("focus", () => {
      visited = index;
      refresh();
    });
  const { bar, button: next } = wayOn(() => {
    const open = nextOpen();
    if (open && open === shown[visited]) open.element.click();
    else leadTo(open?.element ?? part("sign-button"));
  });
  refresh();
  return { bar, toFirst: () => leadFromForm(nextOpen()?.element ?? part("sign-button")) };

  function refresh(): void {
    const { isShown } = applyToForm(config);
    for (const one of shown) {
      one.element.hidden = !isShown(one.field);
      one.refresh();
    }
    listWritten(shown, words);
    const open = nextOpen();
    if (open) pages.keepAhead(open.field.page);
    const way = open === shown[visited] ? words.fillIn : words.next;
    next.textContent = open ? say(way, { field: open.field.label, page: open.field.page }) : words.toSign;
    const isTyped = signature.drawn.value === "" && signature.picture.value === "";
    nameHint.textContent = isTyped ? ofTypedName : words.nameBeside;
  }

  /**
   * The next field to fill in: the last focused field if it is still open; otherwise the next open field after it, or
   * else the first one.
   */
  function nextOpen() {
    return [...shown.slice(Math.max(visited, 0)), ...shown].find(({ element, isOpen }) => !element.hidden && isOpen());
  }
}
