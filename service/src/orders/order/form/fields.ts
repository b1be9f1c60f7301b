import { invalidAt } from "../../../kernel/platform/errors.ts";
import { isPlainText } from "../../../kernel/platform/text.ts";
import type { OrderFormField } from "../schemas.ts";

/** Reads the text fields of a form. Treats empty fields as absent, because browsers send them, too. */
export type Fields<Name extends string = OrderFormField> = {
  optional: (name: Name, maxLength: number) => string | null;
  required: (name: Name, maxLength: number, when?: string) => string;
  /** The text as sent, including white space; null when there is only white space. */
  exact: (name: Name, maxLength: number) => string | null;
  flag: (name: Name) => boolean;
};

export function fieldsOf<Name extends string = OrderFormField>(values: ReadonlyMap<string, string>): Fields<Name> {
  const exact: Fields<Name>["exact"] = (name, maxLength) => {
    const text = values.get(name) ?? "";
    if (text.trim() === "") return null;
    if ([...text].length > maxLength) throw invalidAt(name, `must have at most ${maxLength} characters.`);
    if (!isPlainText(text)) throw invalidAt(name, "must be UTF-8 text without control characters.");
    return text;
  };
  const optional: Fields<Name>["optional"] = (name, maxLength) => exact(name, maxLength)?.trim() ?? null;
  return {
    exact,
    optional,
    required(name, maxLength, when = "") {
      const text = optional(name, maxLength);
      if (text === null) throw invalidAt(name, `is required${when}.`);
      return text;
    },
    flag(name) {
      const text = values.get(name) ?? "";
      if (text === "true" || text === "on") return true;
      if (text === "" || text === "false" || text === "off") return false;
      throw invalidAt(name, "must be true or on to include it, or be left out.");
    },
  };
}
