import { invalidAt } from "../../../kernel/platform/errors.ts";
import { lookOf } from "../../../kernel/platform/text.ts";
import {
  currencies,
  dateFormats,
  type FieldFormat,
  maxDecimals,
  type NumberFormat,
  readFieldValue,
  scaled,
  textFormats,
  type ValueFault,
} from "./field-values.ts";
import { type Members, membersOf } from "./json-list.ts";
import type { RequestedField, RequestedOption } from "./requested-field.ts";
import { maxHelpLength, maxOptions, maxPoints, maxValueLength, type requestedFieldSchema } from "./signing-schemas.ts";

type Kind = RequestedField["kind"];
type FieldMembers = Members<keyof typeof requestedFieldSchema.properties>;

/** The name of each kind of field in error messages, with its article. */
export const aKind: Readonly<Record<Kind, string>> = {
  signature: "a signature",
  initials: "initials",
  date: "a date",
  name: "a name",
  text: "a text",
  number: "a number",
  checkbox: "a checkbox",
  radio: "a radio",
  multiple: "a multiple",
  dropdown: "a dropdown",
};

/** The kinds of fields whose value the sender may set. The signer or the service fills in fields of other kinds. */
const prefilled: readonly Kind[] = ["text", "number", "checkbox", "radio", "dropdown"];
export const acceptsValue = ({ kind, formula }: Pick<RequestedField, "kind" | "formula">): boolean =>
  prefilled.includes(kind) && formula === undefined;
const withOptions: readonly Kind[] = ["radio", "multiple", "dropdown"];
/** The kinds of fields whose options each have a position of their own. */
export const spread: readonly Kind[] = ["radio", "multiple"];
const formatted: readonly Kind[] = ["date", "text", "number"];

/** Characters that make a program display the text after them in another order. */
const reordering = /[\u202a-\u202e\u2066-\u2069]/;

/**
 * Checks that a text has no characters that change its direction of reading.
 * @throws ServiceError for a text that has such a character
 */
export function requireOrder(at: string, text: string | null | undefined): void {
  if (text && reordering.test(text))
    throw invalidAt(at, "must have no characters that change the direction of the text.");
}

/**
 * Reads the content of an element of `fields`: its help, options, format and value. Missing members stay absent, but a
 * multiple choice always gets `choices`.
 */
export function parseContent(
  members: FieldMembers,
  at: string,
  kind: Kind,
): Pick<RequestedField, "help" | "value" | "readOnly" | "format" | "options" | "choices"> {
  const only = (
    name: "value" | "read_only" | "options" | "format" | "least" | "most",
    kinds: readonly Kind[],
  ): boolean => {
    if (members.raw(name) === null) return false;
    if (!kinds.includes(kind)) throw invalidAt(`${at}.${name}`, `must be left out for ${aKind[kind]}.`);
    return true;
  };
  const help = members.text("help", maxHelpLength);
  requireOrder(`${at}.help`, help);
  const options = only("options", withOptions) ? parseOptions(members, at, kind) : null;
  if (withOptions.includes(kind) && !options) throw invalidAt(`${at}.options`, `is required for ${aKind[kind]}.`);
  for (const name of ["least", "most"] as const) only(name, ["multiple"]);
  const format = only("format", formatted) ? parseFormat(members.raw("format"), `${at}.format`, kind) : null;
  const value = only("value", prefilled) ? parseValue(members.raw("value"), at, { kind, format, options }) : null;
  const readOnly = only("read_only", prefilled) && members.flag("read_only") === true;
  if (readOnly && members.raw("value") === null) throw invalidAt(`${at}.value`, "is required when read_only is true.");
  return {
    ...(help !== null && { help }),
    ...(options && { options }),
    ...(options && kind === "multiple" && { choices: parseChoices(members, at, options.length) }),
    ...(format !== null && { format }),
    ...(value !== null && { value }),
    ...(readOnly && { readOnly }),
  };
}

const optionMembers = ["label", "x", "y", "width", "height"] as const;

function parseOptions(members: FieldMembers, at: string, kind: Kind): RequestedOption[] {
  const list = members.raw("options");
  if (!Array.isArray(list) || list.length < 2 || list.length > maxOptions)
    throw invalidAt(`${at}.options`, `must be an array of 2 to ${maxOptions} objects.`);
  const options = list.map((item: unknown, index): RequestedOption => {
    const here = `${at}.options[${index}]`;
    const option = membersOf(item, here, optionMembers);
    const label = option.required("label", 200);
    requireOrder(`${here}.label`, label);
    if (!spread.includes(kind)) {
      const place = optionMembers.slice(1).find((name) => option.raw(name) !== null);
      if (place) throw invalidAt(`${here}.${place}`, `must be left out for ${aKind[kind]}.`);
      return { label };
    }
    const measure = (name: (typeof optionMembers)[number], min: number, max: number) =>
      option.requireValue(name, option.number(name, min, max));
    const [x, y] = [measure("x", 0, maxPoints), measure("y", 0, maxPoints)];
    const [width, height] = [measure("width", 6, 36), measure("height", 6, 36)];
    return { label, place: { x, y, width, height } };
  });
  const looks = options.map(({ label }) => lookOf(label));
  for (const [index, look] of looks.entries()) {
    const first = looks.indexOf(look);
    if (first === index) continue;
    const isSame = options[first]?.label === options[index]?.label;
    const rule = isSame
      ? "must differ from those of the other options"
      : `looks the same as that of ${at}.options[${first}]: a signer could not tell them apart`;
    throw invalidAt(`${at}.options[${index}].label`, `${rule}.`);
  }
  return options;
}

/** The number of options that a signer must choose at least in a multiple choice, and may choose at most. */
function parseChoices(members: FieldMembers, at: string, options: number): { least: number; most: number } {
  const isOptional = members.flag("required") === false;
  const least = members.whole("least", 0, options) ?? (isOptional ? 0 : 1);
  const most = members.whole("most", 1, options) ?? options;
  if (least > most) throw invalidAt(`${at}.least`, `must be at most ${at}.most.`);
  if (isOptional && least > 0) throw invalidAt(`${at}.least`, "must be 0 or left out where required is false.");
  return { least, most };
}

function parseFormat(input: unknown, at: string, kind: Kind): FieldFormat {
  if (kind === "number") return parseNumberFormat(input, at);
  const names = kind === "date" ? dateFormats : textFormats;
  const format = names.find((each) => each === input);
  if (!format) throw invalidAt(at, `must be one of ${names.join(", ")}.`);
  return format;
}

function parseNumberFormat(input: unknown, at: string): NumberFormat {
  const members = membersOf(input, at, ["decimals", "min", "max", "currency"] as const);
  const decimals = members.whole("decimals", 0, maxDecimals);
  const currency = members.oneOf("currency", currencies);
  const bound = (name: "min" | "max"): string | null => {
    const value = members.number(name, -1e10, 1e10);
    if (value === null) return null;
    // The decimals are counted in the number's text, because 0.1 * 10000 is not exact in binary.
    if (!/^-?\d+(?:\.\d{1,4})?$/.test(`${value}`))
      throw invalidAt(`${at}.${name}`, `must have at most ${maxDecimals} decimals.`);
    return `${value}`;
  };
  const [min, max] = [bound("min"), bound("max")];
  if (min !== null && max !== null && scaled(min) > scaled(max))
    throw invalidAt(`${at}.min`, `must be at most ${at}.max.`);
  return {
    ...(decimals !== null && { decimals }),
    ...(min !== null && { min }),
    ...(max !== null && { max }),
    ...(currency !== null && { currency }),
  };
}

type Rules = { kind: Kind; format: FieldFormat | null; options: readonly RequestedOption[] | null };

/**
 * Reads the value that the sender sets for a field.
 * @returns null for a checkbox that the sender leaves unchecked
 */
function parseValue(input: unknown, at: string, { kind, format, options }: Rules): string | null {
  const here = `${at}.value`;
  if (kind === "checkbox") {
    if (typeof input !== "boolean") throw invalidAt(here, `must be true or false for ${aKind[kind]}.`);
    return input ? "On" : null;
  }
  const text = kind === "number" && typeof input === "number" ? `${input}` : input;
  if (typeof text !== "string") throw invalidAt(here, `must be text for ${aKind[kind]}.`);
  const value = membersOf({ value: text }, at, ["value"]).required("value", maxValueLength);
  requireOrder(here, value);
  const labels = options?.map(({ label }) => label);
  const rules = { kind: kind === "radio" ? "dropdown" : kind, format: format ?? undefined, options: labels };
  const read = readFieldValue(rules, value);
  if ("value" in read) return read.value;
  throw invalidAt(here, `must be ${faults[read.rule](read.limit)}.`);
}

/** For each rule: the end of the error message for a value that breaks the rule. */
export const faults: Readonly<Record<ValueFault["rule"], (limit: string) => string>> = {
  email: () => "an email address",
  phone_us: () => "a US phone number of 10 digits",
  zip_us: () => "a ZIP code of 5 or 9 digits",
  ssn_last4: () => "4 digits",
  number: () => "a number such as 1234.50",
  decimals: (limit) => `a number with at most ${limit} decimals`,
  min: (limit) => `at least ${limit}`,
  max: (limit) => `at most ${limit}`,
  option: () => "the label of one of its options",
};
