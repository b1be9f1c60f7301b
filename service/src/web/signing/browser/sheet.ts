import { make } from "../../ui/browser/parts.ts";
import type { PlacedField, ViewerWords } from "./config.ts";
import { copyOf, put, type SheetBody } from "./sheet-parts.ts";
import { type SignatureInputs, signatureBody } from "./signature-body.ts";

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

function textBody({ label }: PlacedField, input: HTMLInputElement): SheetBody {
  const copy = copyOf(input, label);
  return {
    content: [copy.labelled],
    accept() {
      put(input, copy.input.value);
      return true;
    },
  };
}
