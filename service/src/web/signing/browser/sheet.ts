import { readDrawn, writeDrawn } from "../drawn.ts";
import type { PlacedField, ViewerWords } from "./config.ts";
import { make } from "./parts.ts";
import { drawingPad } from "./strokes.ts";

/** What the form holds of the signature: a typed name always, and a drawing when the signer prefers it. */
export type SignatureInputs = { name: HTMLInputElement; drawn: HTMLInputElement };

type Body = { content: readonly Node[]; accept: () => boolean };

/** Asks for what belongs into a field. @param accepted once, when it is in the form */
export function openSheet(
  {
    field,
    input,
    signature,
    words,
  }: { field: PlacedField; input: HTMLInputElement; signature: SignatureInputs; words: ViewerWords },
  accepted: () => void,
): void {
  const isSignature = field.kind === "signature" || field.kind === "mark";
  const body = isSignature ? signatureBody(signature, words) : textBody(field, input);
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
  // The focus goes back to the field by itself.
  sheet.addEventListener("close", () => sheet.remove());
  document.body.append(sheet);
  sheet.showModal();
}

/** A copy of the form's own input, large enough for a finger. */
function textBody({ label }: PlacedField, input: HTMLInputElement): Body {
  const copy = copyOf(input, label);
  return {
    content: [copy.labelled],
    accept() {
      put(input, copy.input.value);
      return true;
    },
  };
}

function signatureBody({ name, drawn }: SignatureInputs, words: ViewerWords): Body {
  const typed = copyOf(name, words.type);
  const look = make("p", { className: "sheet-look", textContent: name.value });
  look.setAttribute("aria-hidden", "true");
  typed.input.addEventListener("input", () => look.replaceChildren(typed.input.value));
  const typing = make("div", {}, typed.labelled, look);
  const pad = drawingPad(readDrawn(drawn.value));
  const clear = make("button", { type: "button", className: "quiet-button", textContent: words.clear });
  clear.addEventListener("click", pad.clear);
  const hint = make("p", { className: "hint", textContent: words.drawHere });
  const drawing = make("div", {}, hint, pad.element, make("div", { className: "form-actions" }, clear));
  const byHand = way(words.draw, drawn.value !== "");
  const byName = way(words.type, drawn.value === "");
  const show = () => {
    drawing.hidden = !byHand.input.checked;
    typing.hidden = byHand.input.checked;
    // An input that cannot be seen must not hold up the form.
    typed.input.disabled = byHand.input.checked;
  };
  for (const { input } of [byHand, byName]) input.addEventListener("change", show);
  show();
  const ways = make("fieldset", { className: "sheet-ways" }, byName.label, byHand.label);
  return {
    content: [ways, typing, drawing],
    accept() {
      const strokes = byHand.input.checked ? pad.drawn() : null;
      if (byHand.input.checked && !strokes) return false;
      put(drawn, strokes ? writeDrawn(strokes) : "");
      if (!strokes) put(name, typed.input.value);
      return true;
    },
  };
}

function way(text: string, checked: boolean) {
  const input = make("input", { type: "radio", name: "sheet-way", checked });
  return { input, label: make("label", {}, input, text) };
}

function copyOf({ value, required, maxLength }: HTMLInputElement, label: string) {
  const input = make("input", { type: "text", id: "sheet-input", value, required, autocomplete: "off" });
  if (maxLength > 0) input.maxLength = maxLength;
  const labelled = make(
    "div",
    { className: "form-field" },
    make("label", { htmlFor: "sheet-input", textContent: label }),
    input,
  );
  return { input, labelled };
}

function put(input: HTMLInputElement, value: string): void {
  input.value = value;
  input.dispatchEvent(new Event("input", { bubbles: true }));
}
