import { type FieldFormat, maxDecimals, readFieldValue, scaled, type ValueFault } from "./field-values.ts";
import { type Fraction, fieldsIn, parseFormula, toDecimal, valueIn } from "./formula.ts";

export const conditions = [
  "checked",
  "unchecked",
  "filled",
  "empty",
  "equals",
  "not_equals",
  "greater_than",
  "less_than",
] as const;

/** The condition of a field: the field is shown only while another field meets it. */
export type ShowWhen = {
  /** The id of the other field. */
  readonly field: string;
  readonly operator: (typeof conditions)[number];
  /**
   * The text that the other field must have, or must not have, in that field's own format. For a field with options,
   * the label of an option.
   */
  readonly value?: string;
};

/** The part of a field that its rules need. Fields with the same id are the options of one question. */
export type RuledField = {
  readonly kind: string;
  readonly id?: string;
  readonly format?: FieldFormat;
  readonly showWhen?: ShowWhen;
  /** For a calculated number field: its formula. */
  readonly formula?: string;
};

/** The ids of the fields that a field's rules depend on. */
export function idsReadBy({ showWhen, formula }: Pick<RuledField, "showWhen" | "formula">): string[] {
  const read = formula === undefined ? null : parseFormula(formula);
  return [...(showWhen ? [showWhen.field] : []), ...(read && "expression" in read ? fieldsIn(read.expression) : [])];
}

type Answered = Pick<RuledField, "kind" | "format"> & {
  readonly options?: readonly string[];
  readonly option?: string;
};

/**
 * The text that a field holds after this input. Empty if nothing was typed, or if the field doesn't accept the input.
 */
export function textsIn({ kind, format, options, option }: Answered, typed: string): readonly string[] {
  if (kind === "checkbox" || kind === "radio") return typed === "On" ? [option ?? typed] : [];
  if (typed === "") return [];
  const read = readFieldValue({ kind, format, options }, typed);
  return "value" in read ? [read.value] : [];
}

/** The result of a formula; `no value` for a formula that divides by zero or can't be parsed. */
export type Calculated = { readonly value: string } | ValueFault | "no value";

export type Rules<Field> = {
  readonly isShown: (field: Field) => boolean;
  /**
   * Calculates the formula of a field.
   * @param field must have a formula
   */
  readonly calculate: (field: Field) => Calculated;
};

/**
 * Evaluates the conditions and formulas of a document's fields. The service and the signer's browser both call this,
 * and the service's result is final.
 * @param answersOf the texts that a field holds: the label of a checked box or a chosen option; none for an empty field
 */
export function applyRules<Field extends RuledField>(
  fields: readonly Field[],
  answersOf: (field: Field) => readonly string[],
): Rules<Field> {
  const held = new Map<string, readonly string[]>();
  const named = (id: string) => fields.filter((field) => field.id === id);
  /** Evaluates dependencies in a loop. Recursion over a long chain of formulas would overflow the stack. */
  const heldBy = (id: string): readonly string[] => {
    const entered = new Set<string>();
    const waiting = held.has(id) ? [] : [id];
    for (let top = waiting.at(-1); top !== undefined; top = waiting.at(-1)) {
      if (!entered.has(top)) {
        entered.add(top);
        waiting.push(
          ...named(top)
            .flatMap(idsReadBy)
            .filter((each) => !held.has(each) && !entered.has(each)),
        );
        continue;
      }
      waiting.pop();
      if (held.has(top)) continue;
      // An order whose rules form a cycle was refused when it was placed. This empty value nevertheless prevents an
      // endless loop.
      held.set(top, []);
      held.set(
        top,
        named(top).flatMap((field) => (isShown(field) ? textsOf(field) : [])),
      );
    }
    return held.get(id) ?? [];
  };
  const isShown = ({ showWhen }: Field): boolean => {
    if (showWhen === undefined) return true;
    const isNumber = fields.some(({ id, kind }) => id === showWhen.field && kind === "number");
    return holds(showWhen, heldBy(showWhen.field), isNumber);
  };
  const textsOf = (field: Field): readonly string[] => {
    if (field.formula === undefined) return answersOf(field);
    const result = calculate(field);
    return typeof result === "object" && "value" in result ? [result.value] : [];
  };
  const calculate = ({ formula = "", format }: Field): Calculated => {
    const read = parseFormula(formula);
    if (!("expression" in read)) return "no value";
    const result = valueIn(read.expression, (id) => numberOf(heldBy(id)[0]));
    return result === null ? "no value" : written(result, format);
  };
  return { isShown, calculate };
}

/**
 * The visible formula fields whose result can no longer change. Leaves out fields that are already fixed.
 * @param isShown the result of these fields' rules
 * @param isFixed true if nobody can change the field's content any more
 */
export function settledFormulas<Field extends RuledField>(
  fields: readonly Field[],
  { isShown }: Pick<Rules<Field>, "isShown">,
  isFixed: (field: Field) => boolean,
): Field[] {
  const settled = new Map<string, boolean>();
  const isSettled = (id: string): boolean => {
    const existing = settled.get(id);
    if (existing !== undefined) return existing;
    settled.set(id, false);
    const found = fields.every((field) => field.id !== id || isFixed(field) || isDecided(field));
    settled.set(id, found);
    return found;
  };
  // True if the field's own rules decide its content: a formula over settled fields, or a condition that keeps the
  // field hidden. A field that stays hidden has no content, whatever was typed into it.
  const isDecided = (field: Field): boolean =>
    idsReadBy(field).every(isSettled) && (field.formula !== undefined || !isShown(field));
  return fields.filter((field) => field.formula !== undefined && !isFixed(field) && isDecided(field) && isShown(field));
}

function written(result: Fraction, format: FieldFormat | undefined): Calculated {
  const { decimals, currency } = typeof format === "object" ? format : {};
  const fixed = decimals ?? (currency ? 2 : undefined);
  const text = toDecimal(result, fixed ?? maxDecimals);
  return readFieldValue({ kind: "number", format }, fixed === undefined ? text.replace(/\.?0+$/, "") : text);
}

function holds({ operator, value = "" }: ShowWhen, held: readonly string[], isNumber: boolean): boolean {
  const isSame = (text: string) => (isNumber ? scaledIn(text) === scaledIn(value) : text === value);
  if (operator === "checked" || operator === "filled") return held.length > 0;
  if (operator === "unchecked" || operator === "empty") return held.length === 0;
  if (operator === "equals") return held.some(isSame);
  if (operator === "not_equals") return !held.some(isSame);
  const [first] = held;
  if (first === undefined) return false;
  return operator === "greater_than" ? scaledIn(first) > scaledIn(value) : scaledIn(first) < scaledIn(value);
}

/** The number in a drawn text, in ten-thousandths: `$1,234.50` gives 12345000. */
const scaledIn = (drawn: string): bigint => scaled(drawn.replace(/[^\d.-]/g, ""));

/** The number in a drawn text, for formulas. An empty field is 0. */
const numberOf = (drawn: string | undefined): Fraction => ({
  over: drawn === undefined ? 0n : scaledIn(drawn),
  under: 10n ** BigInt(maxDecimals),
});
