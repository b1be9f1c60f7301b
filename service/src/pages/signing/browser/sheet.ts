import { make } from "../../ui/browser/parts.ts";
import { readDrawn, writeDrawn } from "../drawn.ts";
import type { FieldOnPage, ViewerWords } from "./config.ts";
import { pictureElement, pictureFrom } from "./picture.ts";
import { settle } from "./press-guard.ts";
import { drawingPad } from "./strokes.ts";

/**
 * The content of a sheet (a dialog for one value). `accept` writes the value into the form, and returns false while the
 * value is invalid.
 */
type SheetBody = { content: readonly Node[]; accept: () => boolean };

/** Creates an input for the sheet, with the value and the limits of a form input. It is large enough for touch. */
function copyOf({ value, required, maxLength, inputMode }: HTMLInputElement, label: string) {
  const input = make("input", { type: "text", id: "sheet-input", value, required, autocomplete: "off" });
  if (maxLength > 0) input.maxLength = maxLength;
  input.inputMode = inputMode;
  const labelled = make(
    "div",
    { className: "form-field" },
    make("label", { htmlFor: "sheet-input", textContent: label }),
    input,
  );
  return { input, labelled };
}

/** Creates a dropdown for the sheet, with the options of a dropdown in the form. */
function copyOfSelect(select: HTMLSelectElement, label: string) {
  const input = select.cloneNode(true) as HTMLSelectElement;
  Object.assign(input, { id: "sheet-input", name: "", value: select.value });
  input.removeAttribute("aria-describedby");
  const labelled = make(
    "div",
    { className: "form-field" },
    make("label", { htmlFor: "sheet-input", textContent: label }),
    input,
  );
  return { input, labelled };
}

/** Writes a value into a form input, and fires the same events as typing. */
export function put(input: HTMLInputElement | HTMLSelectElement, value: string): void {
  input.value = value;
  input.dispatchEvent(new Event("input", { bubbles: true }));
}

/** The form inputs for the signature. The typed name is required; a drawing or a picture is optional. */
export type SignatureInputs = { name: HTMLInputElement; drawn: HTMLInputElement; picture: HTMLInputElement };

/** One way to enter a signature. `accept` writes the signature into the form, and returns false while there is none. */
type Way = { label: string; isChosen: boolean; content: HTMLElement; input?: HTMLInputElement; accept: () => boolean };

/** Offers the signer a typed name, a drawing or a picture. */
function signatureBody(signature: SignatureInputs, words: ViewerWords): SheetBody {
  const ways = [typing(signature, words), drawing(signature, words), picturing(signature, words)];
  const radios = ways.map(({ isChosen, label }) => {
    const input = make("input", { type: "radio", name: "sheet-way", checked: isChosen });
    return { input, label: make("label", {}, input, label) };
  });
  const show = () => {
    for (const [index, { content, input }] of ways.entries()) {
      const isShown = radios[index]?.input.checked ?? false;
      content.hidden = !isShown;
      // The input of a hidden way is disabled. Otherwise, the browser would refuse to submit the sheet, because the
      // hidden input is required and empty.
      if (input) input.disabled = !isShown;
    }
  };
  for (const { input } of radios) input.addEventListener("change", show);
  show();
  const choice = make("fieldset", { className: "sheet-ways" }, ...radios.map(({ label }) => label));
  return {
    content: [choice, ...ways.map(({ content }) => content)],
    accept: () => ways.find((_, index) => radios[index]?.input.checked)?.accept() ?? false,
  };
}

function typing({ name, drawn, picture }: SignatureInputs, words: ViewerWords): Way {
  const typed = copyOf(name, words.type);
  const look = make("p", { className: "sheet-look", textContent: name.value });
  look.setAttribute("aria-hidden", "true");
  typed.input.addEventListener("input", () => look.replaceChildren(typed.input.value));
  return {
    label: words.type,
    isChosen: drawn.value === "" && picture.value === "",
    content: make("div", {}, typed.labelled, look),
    input: typed.input,
    accept() {
      for (const other of [drawn, picture]) put(other, "");
      put(name, typed.input.value);
      return true;
    },
  };
}

function drawing({ drawn, picture }: SignatureInputs, words: ViewerWords): Way {
  const pad = drawingPad(readDrawn(drawn.value));
  const clear = make("button", { type: "button", className: "quiet-button", textContent: words.clear });
  clear.addEventListener("click", pad.clear);
  const hint = make("p", { className: "hint", textContent: words.drawHere });
  return {
    label: words.draw,
    isChosen: drawn.value !== "",
    content: make("div", {}, hint, pad.element, make("div", { className: "form-actions" }, clear)),
    accept() {
      const strokes = pad.drawn();
      if (!strokes) return false;
      put(picture, "");
      put(drawn, writeDrawn(strokes));
      return true;
    },
  };
}

function picturing({ drawn, picture }: SignatureInputs, words: ViewerWords): Way {
  let chosen = picture.value;
  const file = make("input", { type: "file", id: "sheet-file", accept: "image/png,image/jpeg" });
  const label = make("label", { htmlFor: "sheet-file", textContent: words.uploadHere });
  const errorLine = make("p", { className: "field-error" });
  errorLine.setAttribute("role", "status");
  const look = make("div", { className: "sheet-picture" });
  const show = (text: string) => {
    chosen = text;
    look.replaceChildren(...(text === "" ? [] : [pictureElement(text)]));
  };
  show(chosen);
  file.addEventListener("change", () => {
    const [one] = file.files ?? [];
    if (!one) return;
    errorLine.textContent = "";
    pictureFrom(one).then(show, () => {
      show("");
      errorLine.textContent = words.uploadFailed;
    });
  });
  return {
    label: words.upload,
    isChosen: picture.value !== "",
    content: make("div", {}, make("div", { className: "form-field" }, label, file, errorLine), look),
    accept() {
      if (chosen === "") return false;
      put(drawn, "");
      put(picture, chosen);
      return true;
    },
  };
}

/** A form control whose value is a text. */
export type ValueInput = HTMLInputElement | HTMLSelectElement;

type Asked = {
  readonly field: FieldOnPage;
  readonly input: ValueInput;
  /** The text that the sheet suggests while the field is empty. An empty string suggests nothing. */
  readonly suggested: string;
  readonly signature: SignatureInputs;
  readonly words: ViewerWords;
};

/**
 * Asks for the value of a field.
 * @param accepted called when the signer has confirmed a value and the form contains it; not called if the signer
 * cancels
 */
export function openSheet({ field, input, suggested, signature, words }: Asked, accepted: () => void): void {
  const isSignature = field.kind === "signature" || field.kind === "mark";
  const body = isSignature ? signatureBody(signature, words) : textBody(field, input, suggested);
  const title = make("h2", { id: "sheet-title", textContent: field.label });
  const cancel = make("button", { type: "button", className: "quiet-button", textContent: words.cancel });
  const ok = make("button", { type: "submit", textContent: words.ok });
  const form = make(
    "form",
    { className: "form" },
    ...body.content,
    make("div", { className: "form-actions" }, ok, cancel),
  );
  const sheet = make("dialog", { className: "sheet" }, title, form);
  sheet.setAttribute("aria-labelledby", "sheet-title");
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (!body.accept()) return;
    sheet.close();
    accepted();
  });
  cancel.addEventListener("click", () => sheet.close());
  // The browser returns the focus to the field.
  sheet.addEventListener("close", () => {
    sheet.remove();
    settle();
  });
  document.body.append(sheet);
  sheet.showModal();
  settle();
}

function textBody({ label }: FieldOnPage, input: ValueInput, suggested: string): SheetBody {
  const copy = input instanceof HTMLSelectElement ? copyOfSelect(input, label) : copyOf(input, label);
  if (suggested !== "" && copy.input.value === "") copy.input.value = suggested;
  return {
    content: [copy.labelled],
    accept() {
      put(input, copy.input.value);
      return true;
    },
  };
}
