import { leadTo, make, part, say, setNumbers, wayOn } from "../../ui/browser/parts.ts";
import { readDrawn } from "../drawn.ts";
import type { PlacedField, SigningConfig } from "./config.ts";
import { keepSignature, restoreSignature } from "./kept-signature.ts";
import { pictureElement } from "./picture.ts";
import { openSheet } from "./sheet.ts";
import type { SignatureInputs } from "./signature-body.ts";
import { drawnPicture } from "./strokes.ts";

type Pages = {
  pageOf: (n: number) => HTMLElement;
  /** Draws the page before it is seen. */
  keepAhead: (n: number) => void;
};

const isMark = ({ kind }: PlacedField): boolean => kind === "signature" || kind === "mark";

/** Puts the signer's fields over their pages, and a bar that leads from one to the next. */
export function showFields({ fields, words }: SigningConfig, pages: Pages): HTMLElement {
  const form = part<HTMLFormElement>("sign-form");
  const signature: SignatureInputs = {
    name: part<HTMLInputElement>("field-name"),
    drawn: form.querySelector<HTMLInputElement>("[name=drawn]") as HTMLInputElement,
    picture: form.querySelector<HTMLInputElement>("[name=picture]") as HTMLInputElement,
  };
  restoreSignature(signature);
  const nameHint = part("field-name-hint");
  const ofTypedName = nameHint.textContent;
  // A name that stands there by itself is not a signature that its signer has looked at.
  let isChosen = signature.drawn.value !== "" || signature.picture.value !== "";
  const ordered = [...fields].sort((a, b) => a.page - b.page || a.top - b.top || a.left - b.left);
  const shown = ordered.map((field) => {
    const { input: id } = field;
    return id === null ? dateOf(field) : buttonOf(field, part<HTMLInputElement>(id));
  });
  form.addEventListener("input", ({ target }) => {
    if (Object.values(signature).some((own) => own === target)) isChosen = true;
    if (target === signature.drawn || target === signature.picture) keepSignature(signature);
    refresh();
  });
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
  return bar;

  function dateOf(field: PlacedField) {
    const element = make("div", { className: "viewer-field", textContent: field.label, title: words.date });
    place(field, element);
    return { field, element, isOpen: () => false, refresh() {} };
  }

  function buttonOf(field: PlacedField, input: HTMLInputElement) {
    const element = make("button", { type: "button", className: "viewer-field" });
    place(field, element);
    element.addEventListener("click", () =>
      openSheet({ field, input, signature, words }, () => {
        if (isMark(field)) isChosen = true;
        refresh();
      }),
    );
    const isFilled = () => (isMark(field) ? isChosen : input.value.trim() !== "");
    return {
      field,
      element,
      isOpen: () => !isFilled() && (isMark(field) || input.required),
      refresh() {
        const drawn = isMark(field) ? readDrawn(signature.drawn.value) : null;
        const picture = isMark(field) ? signature.picture.value : "";
        const value = drawn ? words.drawn : picture === "" ? input.value.trim() : words.uploaded;
        const { label, page } = field;
        element.classList.toggle("filled", isFilled());
        const look = drawn ? drawnPicture(drawn) : picture === "" ? value : pictureElement(picture);
        element.replaceChildren(isFilled() ? look : label);
        const spoken = isFilled() ? words.change : words.fill;
        element.setAttribute("aria-label", say(spoken, { field: label, page, value }));
      },
    };
  }

  function place(field: PlacedField, element: HTMLElement): void {
    const { left, top, width, height } = field;
    setNumbers(element, { left, top, width, height });
    pages.pageOf(field.page).append(element);
  }

  function refresh(): void {
    for (const one of shown) one.refresh();
    const open = nextOpen();
    if (open) pages.keepAhead(open.field.page);
    const way = open === shown[visited] ? words.fillIn : words.next;
    next.textContent = open ? say(way, { field: open.field.label, page: open.field.page }) : words.toSign;
    const isTyped = signature.drawn.value === "" && signature.picture.value === "";
    nameHint.textContent = isTyped ? ofTypedName : words.nameBeside;
  }

  /** The first open field behind the one that had the focus last, or else the first of all. */
  function nextOpen() {
    return [...shown.slice(visited + 1), ...shown].find(({ isOpen }) => isOpen());
  }
}
