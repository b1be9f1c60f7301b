import type { PdfValue } from "../values.ts";
import { plainDictionary, storedOf, type View } from "./view.ts";

const MAX_CONTENT = 4096;

/** Whether an /AP has only a normal appearance, whose content paints nothing: comments, `q` and `Q`. */
export function paintsNothing(view: View, value: PdfValue | undefined): boolean {
  const appearance = plainDictionary(view, value);
  if (appearance === undefined || [...appearance.entries.keys()].some((key) => key !== "N")) return false;
  const normal = storedOf(view, appearance.entries.get("N"));
  if (normal?.decode === undefined || !normal.closed) return false;
  const content = normal.decode(MAX_CONTENT);
  const text = Array.from(content, (byte) => String.fromCharCode(byte)).join("");
  return /^(?:\s|%[^\r\n]*(?=[\r\n]|$)|[qQ](?=\s|$))*$/.test(text);
}
