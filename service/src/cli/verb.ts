import type { ParseArgsOptionDescriptor } from "node:util";
import { invalid, ServiceError } from "../kernel/platform/errors.ts";

/** A verb's output: text for people, and a document for `--json`. */
export type Answer = { text: string; json?: unknown; exitCode?: number };

export type Values = Record<string, string | boolean | (string | boolean)[] | undefined>;

/** An option of a verb. The usage line, the help and the completions of shells come from it. */
export type Option = ParseArgsOptionDescriptor & {
  help: string;
  /** The possible values, or values that shells complete. */
  values?: readonly string[];
  /** The word of the usage line for the value; by default the possible values if they are few, else the option's name. */
  value?: string;
  /** Set if the verb refuses a command line without the option. */
  required?: boolean;
};

export type Options = Readonly<Record<string, Option>>;

export type Verb = {
  /** The words of the verb, one to three. */
  name: string;
  args: string[];
  /** The possible values of the first argument, if it is one of a fixed list; shells complete them. */
  values?: readonly string[];
  options: Options;
  summary: string;
  /** Command lines, without the program's name. */
  examples?: readonly string[];
  run: (args: string[], values: Values) => Promise<Answer>;
};

/** Applies a domain rule to the text of a flag. When the rule refuses the text, the error names the flag. */
export function ruledOption<T>(values: Values, name: string, rule: (text: string) => T): T | undefined {
  const text = textOption(values, name);
  try {
    return text === undefined ? undefined : rule(text);
  } catch (error) {
    throw error instanceof ServiceError && error.message.startsWith(name) ? invalid(`--${error.message}`) : error;
  }
}

/** A mistake in the command line: exit code 2. */
export class UsageError extends Error {}

export const textOption = (values: Values, name: string): string | undefined => {
  const value = values[name];
  return typeof value === "string" ? value : undefined;
};

export const onOrOff = ["on", "off"] as const;

/** Reads a flag that is either on or off; undefined without the flag. @throws UsageError for another word */
export function onOff(values: Values, name: string): boolean | undefined {
  const text = textOption(values, name);
  if (text === undefined) return undefined;
  if (text !== "on" && text !== "off") throw new UsageError(`--${name} must be on or off`);
  return text === "on";
}

/** The fields of the record, one `name: value` line each. */
export const lines = (record: object): string =>
  Object.entries(record)
    .map(([name, value]) => `${name}: ${value instanceof Date ? value.toISOString() : (value ?? "-")}`)
    .join("\n");
