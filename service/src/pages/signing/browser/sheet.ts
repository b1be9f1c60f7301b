import { make } from "../../ui/browser/parts.ts";
import { readDrawn, writeDrawn } from "../drawn.ts";
import type { ViewerWords } from "./config.ts";
import { pictureElement, pictureFrom } from "./picture.ts";
import { copyOf, put, type SheetBody } from "./sheet-parts.ts";
import { drawingPad } from "./strokes.ts";

/** What the form holds of the signature: a typed name always, and a drawing or a picture when the signer prefers it. */
export type SignatureInputs = { name: HTMLInputElement; drawn: HTMLInputElement; picture: HTMLInputElement };

/** One of the ways to sign. `accept` puts it into the form; false while there is nothing to put there. */
type Way = { label: string; isChosen: boolean; content: HTMLElement; input?: HTMLInputElement; accept: () => boolean };

/** Asks how to sign: by a typed name, a drawing or a picture. */
export function signatureBody(signature: SignatureInputs, words: ViewerWords): SheetBody {
  const ways = [typing(signature, words), drawing(signature, words), picturing(signature, words)];
  const radios = ways.map(({ isChosen, label }) => {
    const input = make("input", { type: "radio", name: "sheet-way", checked: isChosen });
    return { input, label: make("label", {}, input, label) };
  });
  const show = () => {
    for (const [index, { content, input }] of ways.entries()) {
      const isShown = radios[index]?.input.checked ?? false;
      content.hidden = !isShown;
      // An input that cannot be seen must not hold up the form.
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
  const said = make("p", { className: "field-error" });
  said.setAttribute("role", "status");
  const look = make("div", { className: "sheet-picture" });
  const show = (text: string) => {
    chosen = text;
    look.replaceChildren(...(text === "" ? [] : [pictureElement(text)]));
  };
  show(chosen);
  file.addEventListener("change", () => {
    const [one] = file.files ?? [];
    if (!one) return;
    said.textContent = "";
    pictureFrom(one).then(show, () => {
      show("");
      said.textContent = words.uploadFailed;
    });
  });
  return {
    label: words.upload,
    isChosen: picture.value !== "",
    content: make("div", {}, make("div", { className: "form-field" }, label, file, said), look),
    accept() {
      if (chosen === "") return false;
      put(drawn, "");
      put(picture, chosen);
      return true;
    },
  };
}
