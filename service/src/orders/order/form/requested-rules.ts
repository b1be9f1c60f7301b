import { invalidAt } from "../../../kernel/platform/errors.ts";
import { shownText } from "../../../kernel/platform/text.ts";
import { applyRules, conditions, idsReadBy, type ShowWhen, settledFormulas } from "./field-rules.ts";
import { readFieldValue } from "./field-values.ts";
import { maxFormulaLength, parseFormula } from "./formula.ts";
import { type Members, membersOf } from "./json-list.ts";
import { aKind, faults } from "./requested-content.ts";
import type { RequestedField } from "./requested-field.ts";
import { maxIdLength, maxRules, maxValueLength, type requestedFieldSchema } from "./signing-schemas.ts";

type Kind = RequestedField["kind"];
type Condition = ShowWhen["operator"];
type FieldMembers = Members<keyof typeof requestedFieldSchema.properties>;
type Rules = Pick<RequestedField, "id" | "showWhen" | "formula">;

const id = /^[a-z][a-z0-9_]*$/;

/** Reads the rules of an element of `fields`. `requireRules` then checks them against the other elements. */
export function parseRules(
  members: FieldMembers,
  at: string,
  { kind, isReadOnly }: { kind: Kind; isReadOnly: boolean },
): Rules {
  const name = members.text("id", maxIdLength);
  if (name !== null && !id.test(name))
    throw invalidAt(`${at}.id`, "must be a lowercase letter, then lowercase letters, digits and underscores.");
  const showWhen =
    members.raw("show_when") === null ? null : parseShowWhen(members.raw("show_when"), `${at}.show_when`);
  if (showWhen && kind === "signature") throw invalidAt(`${at}.show_when`, "must be left out for a signature.");
  if (showWhen && isReadOnly)
    throw invalidAt(`${at}.show_when`, "must be left out where read_only is true: the value is in the document.");
  const formula = parseFormulaOf(members, at, kind);
  return { ...(name !== null && { id: name }), ...(showWhen && { showWhen }), ...(formula !== null && { formula }) };
}

function parseFormulaOf(members: FieldMembers, at: string, kind: Kind): string | null {
  const formula = members.text("formula", maxFormulaLength);
  if (formula === null) return null;
  if (kind !== "number") throw invalidAt(`${at}.formula`, `must be left out for ${aKind[kind]}.`);
  const unexpected = (["value", "read_only"] as const).find((name) => members.raw(name) !== null);
  if (unexpected)
    throw invalidAt(`${at}.${unexpected}`, "must be left out with formula: the service calculates the number.");
  const read = parseFormula(formula);
  if ("fault" in read) throw invalidAt(`${at}.formula`, `${read.fault}.`);
  return formula;
}

const compared: readonly Condition[] = ["equals", "not_equals", "greater_than", "less_than"];

function parseShowWhen(input: unknown, at: string): ShowWhen {
  const members = membersOf(input, at, ["field", "operator", "value"] as const);
  const field = members.required("field", maxIdLength);
  const operator = members.requireValue("operator", members.oneOf("operator", conditions));
  const raw = members.raw("value");
  if (!compared.includes(operator)) {
    if (raw !== null) throw invalidAt(`${at}.value`, `must be left out where operator is ${operator}.`);
    return { field, operator };
  }
  const text = typeof raw === "number" ? `${raw}` : raw;
  const value = membersOf({ value: text }, at, ["value"] as const).required("value", maxValueLength);
  return { field, operator, value };
}

/** The kinds of fields that a condition can refer to, each with its possible operators. */
const readable: Readonly<Partial<Record<Kind, readonly Condition[]>>> = {
  checkbox: ["checked", "unchecked"],
  text: ["filled", "empty", "equals", "not_equals"],
  number: ["filled", "empty", ...compared],
  radio: ["filled", "empty", "equals", "not_equals"],
  multiple: ["filled", "empty", "equals", "not_equals"],
  dropdown: ["filled", "empty", "equals", "not_equals"],
};

/**
 * Checks the rules of all elements of `fields` against each other.
 * @param turns the `routing` of each signer
 * @returns the fields; each value in a condition now has the format of the field that it is compared with
 * @throws ServiceError naming the member and the rule
 */
export function requireRules(fields: readonly RequestedField[], turns: readonly number[]): RequestedField[] {
  const places = new Map<string, number>();
  for (const [index, field] of fields.entries()) {
    if (field.id === undefined) continue;
    const first = places.get(field.id);
    if (first !== undefined) throw invalidAt(`fields[${index}].id`, `must differ from that of fields[${first}].`);
    places.set(field.id, index);
  }
  const rules = fields.filter(({ showWhen, formula }) => showWhen || formula !== undefined).length;
  if (rules > maxRules) throw invalidAt("fields", `must have at most ${maxRules} with show_when or formula.`);

  const readBy = (reader: RequestedField, name: string, at: string): RequestedField => {
    const field = fields[places.get(name) ?? -1];
    if (!field) throw invalidAt(at, `must name the id of a field: ${shownText(name)} is not one.`);
    const turnOf = ({ signer }: RequestedField) => turns[signer - 1] ?? 1;
    const isReadable = field.readOnly || field.signer === reader.signer || turnOf(field) < turnOf(reader);
    if (!isReadable)
      throw invalidAt(
        at,
        `must name a field of the same signer, of a signer with an earlier turn, or one that is read_only: ${name} is not one of these.`,
      );
    return field;
  };
  const checked = fields.map((field, index): RequestedField => {
    const at = `fields[${index}]`;
    for (const name of idsReadBy({ ...(field.formula !== undefined && { formula: field.formula }) })) {
      const { kind } = readBy(field, name, `${at}.formula`);
      if (kind !== "number")
        throw invalidAt(`${at}.formula`, `must use only number fields: ${name} is ${aKind[kind]}.`);
    }
    if (!field.showWhen) return field;
    const { showWhen } = field;
    const read = readBy(field, showWhen.field, `${at}.show_when.field`);
    return { ...field, showWhen: comparable(showWhen, read, `${at}.show_when`) };
  });
  refuseCycles(checked, places);
  refuseImpossible(checked);
  return checked;
}

/**
 * Calculates the formulas that depend only on fixed values.
 * @throws ServiceError naming the first formula with an invalid result, because the field's signer could never sign
 */
function refuseImpossible(fields: readonly RequestedField[]): void {
  const rules = applyRules(fields, ({ value }) => (value === undefined ? [] : [value]));
  for (const field of settledFormulas(fields, rules, ({ readOnly }) => readOnly === true)) {
    const at = `fields[${fields.indexOf(field)}].formula`;
    const result = rules.calculate(field);
    if (result === "no value" && field.required)
      throw invalidAt(at, "must not divide by zero: nobody changes the values that it reads.");
    if (typeof result === "object" && "rule" in result)
      throw invalidAt(
        at,
        `must result in ${faults[result.rule](result.limit)}: nobody changes the values that it reads.`,
      );
  }
}

/**
 * Gives the condition's value the format in which the compared field is drawn. So the condition compares two texts of
 * one format.
 */
function comparable({ field, operator, value }: ShowWhen, read: RequestedField, at: string): ShowWhen {
  const operators = readable[read.kind];
  if (!operators) throw invalidAt(`${at}.field`, `must not name ${aKind[read.kind]}.`);
  if (!operators.includes(operator))
    throw invalidAt(`${at}.operator`, `must be one of ${operators.join(", ")} for ${aKind[read.kind]}.`);
  if (value === undefined) return { field, operator };
  const { kind, format, options } = read;
  const rules = { kind: options ? "dropdown" : kind, options: options?.map(({ label }) => label) };
  // A condition may compare with any number, even one outside the field's limits.
  const { min: _min, max: _max, ...numbers } = typeof format === "object" ? format : {};
  const drawn = readFieldValue({ ...rules, ...(kind === "number" && { format: numbers }) }, value);
  if ("value" in drawn) return { field, operator, value: drawn.value };
  throw invalidAt(
    `${at}.value`,
    `must be ${options ? "the label of one of that field’s options" : "a number as that field takes it"}.`,
  );
}

/**
 * Refuses fields whose rules depend on each other in a cycle.
 * @throws ServiceError naming the ids of the first cycle
 */
function refuseCycles(fields: readonly RequestedField[], places: ReadonlyMap<string, number>): void {
  const done = new Set<number>();
  const visit = (index: number, path: readonly number[]): void => {
    const field = fields[index];
    if (!field || done.has(index)) return;
    if (path.includes(index)) {
      const ring = [...path.slice(path.indexOf(index)), index].map((each) => fields[each]?.id ?? "");
      const member = field.formula === undefined ? "show_when.field" : "formula";
      throw invalidAt(`fields[${index}].${member}`, `must not depend on itself: ${ring.join(" reads ")}.`);
    }
    for (const name of idsReadBy(field)) visit(places.get(name) ?? -1, [...path, index]);
    done.add(index);
  };
  for (const index of fields.keys()) visit(index, []);
}
