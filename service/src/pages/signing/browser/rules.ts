import type { applyRules, Rules, textsIn } from "../../../orders/order/form/field-rules.ts";
import type { readFieldValue } from "../../../orders/order/form/field-values.ts";
import { part } from "../../ui/browser/parts.ts";
import { isBox } from "./boxes.ts";
import type { FieldOnPage, ReferencedField, SigningConfig } from "./config.ts";
import { loadScript } from "./load-script.ts";

type Ruled = Pick<SigningConfig, "fields" | "referenced">;

const inputOf = ({ input }: FieldOnPage): HTMLInputElement | null => (input === null ? null : part(input));

/** The functions of the separate script for conditions and calculated numbers. */
type FieldRules = {
  readonly applyRules: typeof applyRules;
  readonly textsIn: typeof textsIn;
  readonly readFieldValue: typeof readFieldValue;
};

let loaded: FieldRules | null = null;

/**
 * Loads the script with the rules of the fields, if the document has such rules.
 * @throws Error when the script can't be loaded
 */
export async function loadRules({ rules }: Pick<SigningConfig, "rules">): Promise<void> {
  if (rules !== null) loaded ??= await loadScript<FieldRules>(rules, "fieldRules");
}

/**
 * The text that the document will show for a typed value. A number gets its decimals and its currency; other texts stay
 * as typed.
 */
export function writtenValue({ kind, format }: FieldOnPage, typed: string): string {
  if (kind !== "number" || typed === "" || !loaded) return typed;
  const read = loaded.readFieldValue({ kind, format }, typed);
  return "value" in read ? read.value : typed;
}

/** The results of the fields' conditions and formulas for the form's current values. */
export function rulesNow({ fields, referenced }: Ruled): Rules<FieldOnPage | ReferencedField> {
  const typedIn = (field: FieldOnPage): string => {
    const input = inputOf(field);
    if (isBox(field)) return input?.checked ? "On" : "Off";
    return input?.value.trim() ?? "";
  };
  if (!loaded) return { isShown: () => true, calculate: () => "no value" };
  const { applyRules, textsIn } = loaded;
  return applyRules<FieldOnPage | ReferencedField>([...fields, ...referenced], (field) =>
    "texts" in field ? field.texts : textsIn(field, typedIn(field)),
  );
}

/** Hides and disables the inputs of hidden fields, and writes the calculated numbers into their inputs. */
export function applyToForm(config: Ruled): Rules<FieldOnPage | ReferencedField> {
  const rules = rulesNow(config);
  for (const field of config.fields) {
    const input = inputOf(field);
    if (!input || field.kind === "signature" || field.kind === "mark") continue;
    if (field.formula !== undefined) {
      const result = rules.calculate(field);
      input.value = typeof result === "object" && "value" in result ? result.value : "";
    }
    if (!field.showWhen) continue;
    const isShown = rules.isShown(field);
    input.disabled = !isShown;
    if (!field.choices) input.required = isShown && field.required === true;
    const row = input.closest<HTMLElement>("fieldset") ?? input.closest<HTMLElement>(".form-field");
    if (row) row.hidden = !isShown;
  }
  return rules;
}
