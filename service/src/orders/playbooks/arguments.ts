import { invalid } from "../../kernel/platform/errors.ts";
import { isPlainText, shownText } from "../../kernel/platform/text.ts";
import type { Parameter } from "./registry.ts";

export type Arguments = Record<string, string | number | boolean>;

function typedValue({ name, type, maxLength }: Parameter, text: string): string | number | boolean {
  if (maxLength !== null && text.length > maxLength)
    throw invalid(`Argument '${name}' must have at most ${maxLength} characters.`);
  switch (type) {
    case "int":
      if (!/^[+-]?\d{1,15}$/.test(text)) throw invalid(`Argument '${name}' must be a whole number.`);
      return Number(text);
    case "bool":
      if (text !== "true" && text !== "false") throw invalid(`Argument '${name}' must be true or false.`);
      return text === "true";
    case "string":
      return text;
  }
}

/**
 * Checks the fields of a request against a playbook's parameters. Refuses unknown fields first.
 * @returns the arguments by name; an empty field is treated as absent
 * @throws ServiceError naming the field
 */
export function argumentsOf(
  parameters: readonly Parameter[],
  fields: readonly (readonly [string, string])[],
): Arguments {
  const names = new Set(parameters.map(({ name }) => name));
  const sent = new Map<string, string>();
  for (const [name] of fields) if (!names.has(name)) throw invalid(`Unknown argument '${shownText(name)}'.`);
  for (const [name, text] of fields) {
    if (sent.has(name)) throw invalid(`Argument '${name}' must be sent once.`);
    sent.set(name, text);
  }
  const present = (name: string) => (sent.get(name) ?? "").trim() !== "";
  for (const { name, required } of parameters)
    if (required && !present(name)) throw invalid(`Missing required argument '${name}'.`);
  const values: Arguments = {};
  for (const parameter of parameters) {
    const text = sent.get(parameter.name) ?? "";
    if (parameter.returned && !isPlainText(text))
      throw invalid(`Argument '${parameter.name}' must be UTF-8 text without control characters.`);
    if (present(parameter.name)) values[parameter.name] = typedValue(parameter, text);
  }
  return values;
}

/** The arguments that are stored, and later returned with the outcome. */
export const returnedOf = (parameters: readonly Parameter[], values: Arguments): Arguments =>
  Object.fromEntries(
    parameters.flatMap(({ name, returned }) => (returned && values[name] !== undefined ? [[name, values[name]]] : [])),
  );
