import { invalid } from "../../../kernel/platform/errors.ts";

/**
 * Reads a typed amount of dollars, and returns cents. Null for an empty field.
 * @throws ServiceError with the rule that the text breaks
 */
export function centsOf(text: string): number | null {
  const typed = text.trim().replace(/^\$/, "");
  if (typed === "") return null;
  if (!/^\d{1,7}(\.\d{2})?$/.test(typed)) throw invalid("Amount must be dollars, as 49 or 49.50.");
  return Math.round(Number(typed) * 100);
}
