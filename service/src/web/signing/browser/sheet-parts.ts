import { make } from "../../ui/browser/parts.ts";

/** What a sheet asks, and how it goes into the form; false while it can't. */
export type SheetBody = { content: readonly Node[]; accept: () => boolean };

/** A copy of an input of the form, large enough for a finger. */
export function copyOf({ value, required, maxLength }: HTMLInputElement, label: string) {
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

export function put(input: HTMLInputElement, value: string): void {
  input.value = value;
  input.dispatchEvent(new Event("input", { bubbles: true }));
}
