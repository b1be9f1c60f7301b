/** An exact fraction: `over` divided by `under`. `under` is positive. */
export type Fraction = { readonly over: bigint; readonly under: bigint };

type Operator = "+" | "-" | "*" | "/" | FunctionName;
type FunctionName = "sum" | "min" | "max" | "round";

type Expression =
  | { readonly number: Fraction }
  | { readonly field: string }
  | { readonly operator: Operator; readonly of: readonly Expression[] };

export const maxFormulaLength = 200;
/** The deepest nesting of a formula. Without the limit, recursion could overflow the stack. */
const deepest = 20;

const isFunction = (name: string): name is FunctionName => ["sum", "min", "max", "round"].includes(name);

/**
 * Thrown for a formula that can't be parsed. The message is the broken rule, without the name of the JSON member that
 * contains the formula.
 */
class Unreadable extends Error {}

/**
 * Parses a formula: numbers, ids of fields, `+ - * / ( )`, `sum`, `min`, `max` and `round`. A formula is never run as a
 * script.
 * @returns the parsed formula, or the broken rule; callers put the JSON member's name before the rule
 */
export function parseFormula(text: string): { readonly expression: Expression } | { readonly fault: string } {
  try {
    return { expression: readAll(text) };
  } catch (error) {
    if (error instanceof Unreadable) return { fault: error.message };
    throw error;
  }
}

const token = /\s*(?:(\d{1,11}(?:\.\d{1,4})?)(?![\d.a-z_])|([a-z][a-z0-9_]*)|([-+*/(),]))/y;

type Token = { readonly number?: string; readonly name?: string; readonly sign?: string; readonly at: number };

function tokensOf(text: string): Token[] {
  const found: Token[] = [];
  const end = text.trimEnd().length;
  token.lastIndex = 0;
  for (let at = 0; at < end; at = token.lastIndex) {
    token.lastIndex = at;
    const match = token.exec(text);
    if (!match) throw new Unreadable(`can't be read at character ${at + 1}`);
    const [, number, name, sign] = match;
    found.push({ at, ...(number && { number }), ...(name && { name }), ...(sign && { sign }) });
  }
  return found;
}

function readAll(text: string): Expression {
  if ([...text].length > maxFormulaLength) throw new Unreadable(`must have at most ${maxFormulaLength} characters`);
  const tokens = tokensOf(text);
  let next = 0;
  const isSign = (...signs: readonly string[]): string | null => {
    const { sign } = tokens[next] ?? {};
    if (sign === undefined || !signs.includes(sign)) return null;
    next++;
    return sign;
  };
  const unreadable = (): Unreadable => {
    const { at } = tokens[next] ?? {};
    return new Unreadable(at === undefined ? "ends too early" : `can't be read at character ${at + 1}`);
  };
  const need = (sign: string): void => {
    if (!isSign(sign)) throw unreadable();
  };

  function sumAt(depth: number): Expression {
    if (depth > deepest) throw new Unreadable(`must have at most ${deepest} parentheses in one another`);
    let left = productAt(depth);
    for (let sign = isSign("+", "-"); sign; sign = isSign("+", "-"))
      left = { operator: sign as Operator, of: [left, productAt(depth)] };
    return left;
  }
  function productAt(depth: number): Expression {
    let left = valueAt(depth);
    for (let sign = isSign("*", "/"); sign; sign = isSign("*", "/"))
      left = { operator: sign as Operator, of: [left, valueAt(depth)] };
    return left;
  }
  function valueAt(depth: number): Expression {
    if (isSign("-")) return { operator: "-", of: [zero, valueAt(depth + 1)] };
    if (isSign("(")) {
      const inner = sumAt(depth + 1);
      need(")");
      return inner;
    }
    const one = tokens[next];
    if (one?.number === undefined && one?.name === undefined) throw unreadable();
    next++;
    if (one.number !== undefined) return { number: fractionOf(one.number) };
    const name = one.name ?? "";
    if (!isSign("(")) return { field: name };
    if (!isFunction(name)) throw new Unreadable(`has no function ${name}: use sum, min, max or round`);
    const of = [sumAt(depth + 1)];
    while (isSign(",")) of.push(sumAt(depth + 1));
    need(")");
    if (name === "round") requireRounding(of);
    return { operator: name, of };
  }

  const whole = sumAt(0);
  if (next < tokens.length) throw unreadable();
  return whole;
}

function requireRounding([, places, more]: readonly Expression[]): void {
  const isPlace =
    places === undefined ||
    ("number" in places && places.number.over % places.number.under === 0n && placesOf(places.number) <= 4n);
  if (more || !isPlace) throw new Unreadable("must call round with a value, and with 0 to 4 decimals at most");
}

const placesOf = ({ over, under }: Fraction): bigint => over / under;
const fraction = (over: bigint, under: bigint): Fraction =>
  under < 0n ? { over: -over, under: -under } : { over, under };
const zero: Expression = { number: { over: 0n, under: 1n } };

function fractionOf(decimal: string): Fraction {
  const [whole = "", decimals = ""] = decimal.split(".");
  return { over: BigInt(whole + decimals), under: 10n ** BigInt(decimals.length) };
}

/** The ids of the fields that a formula reads. */
export const fieldsIn = (expression: Expression): string[] => {
  if ("number" in expression) return [];
  return "field" in expression ? [expression.field] : expression.of.flatMap(fieldsIn);
};

/**
 * Computes the value of a parsed formula.
 * @returns null when the formula divides by zero
 */
export function valueIn(expression: Expression, numberOf: (id: string) => Fraction): Fraction | null {
  if ("number" in expression) return expression.number;
  if ("field" in expression) return numberOf(expression.field);
  const of: Fraction[] = [];
  for (const each of expression.of) {
    const value = valueIn(each, numberOf);
    if (value === null) return null;
    of.push(value);
  }
  return apply(expression.operator, of);
}

const plus = (a: Fraction, b: Fraction) => fraction(a.over * b.under + b.over * a.under, a.under * b.under);
const minus = (a: Fraction, b: Fraction) => plus(a, { ...b, over: -b.over });
const isLess = (a: Fraction, b: Fraction) => a.over * b.under < b.over * a.under;

function apply(operator: Operator, [first = { over: 0n, under: 1n }, ...rest]: readonly Fraction[]): Fraction | null {
  const [second = { over: 0n, under: 1n }] = rest;
  switch (operator) {
    case "+":
    case "sum":
      return rest.reduce(plus, first);
    case "-":
      return minus(first, second);
    case "*":
      return fraction(first.over * second.over, first.under * second.under);
    case "/":
      return second.over === 0n ? null : fraction(first.over * second.under, first.under * second.over);
    case "min":
      return rest.reduce((least, each) => (isLess(each, least) ? each : least), first);
    case "max":
      return rest.reduce((most, each) => (isLess(most, each) ? each : most), first);
    case "round":
      return rounded(first, rest.length === 0 ? 0n : placesOf(second));
  }
}

/** Rounds half away from zero, as is usual for money. */
function rounded({ over, under }: Fraction, places: bigint): Fraction {
  const scale = 10n ** places;
  const size = (over < 0n ? -over : over) * scale;
  const whole = (size * 2n + under) / (under * 2n);
  return { over: over < 0n ? -whole : whole, under: scale };
}

/** Writes a fraction as a decimal number with this many decimals: `-12.50`. */
export function toDecimal(value: Fraction, decimals: number): string {
  const { over } = rounded(value, BigInt(decimals));
  const digits = `${over < 0n ? -over : over}`.padStart(decimals + 1, "0");
  const cut = digits.length - decimals;
  return `${over < 0n ? "-" : ""}${digits.slice(0, cut)}${decimals > 0 ? `.${digits.slice(cut)}` : ""}`;
}
