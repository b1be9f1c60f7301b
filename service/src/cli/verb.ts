import { readFile } from "node:fs/promises";
import type { ParseArgsOptionDescriptor } from "node:util";
import { invalid, ServiceError, StartupError } from "../kernel/platform/errors.ts";

/** A verb's output: text for people, and a document for `--json`. */
export type Answer = { text: string; json?: unknown; exitCode?: number };

/** An option of a verb. The usage line, the help and the shell completions are generated from it. */
export type Option = ParseArgsOptionDescriptor & {
  help: string;
  /** The possible values, or the usual ones. Shells complete them. */
  values?: readonly string[];
  /**
   * The placeholder for the value in the usage line. By default, the possible values if they are few, else the option's
   * name.
   */
  value?: string;
  /** True if the option is mandatory. */
  required?: boolean;
};

export type Options = Readonly<Record<string, Option>>;

type AnyValue = string | boolean | (string | boolean)[];
type OneValue<O extends Option> = O["type"] extends "boolean" ? boolean : string;
type ValueOf<O extends Option> = Option extends O
  ? AnyValue
  : O extends { multiple: true }
    ? OneValue<O>[]
    : OneValue<O>;

/** The values of options on a command line. Every verb also accepts `--json`. */
export type ValuesOf<O extends Options> = { readonly [Name in keyof O]?: ValueOf<O[Name]> | undefined } & {
  readonly json?: boolean | undefined;
};

export type Values = ValuesOf<Options>;

export type Verb<O extends Options = Options> = {
  /** The words of the verb, one to three. */
  name: string;
  args: string[];
  /** The possible values of the first argument, if it is one of a fixed list; shells complete them. */
  values?: readonly string[];
  options: O;
  summary: string;
  /** Example command lines, without the program's name. */
  examples?: readonly string[];
  run(args: string[], values: ValuesOf<O>): Promise<Answer>;
};

/** Defines a verb. TypeScript derives the types of its values from the table of options. */
export const defineVerb = <const O extends Options>(verb: Verb<O>): Verb => verb;

/**
 * Applies a validation rule of the domain to a flag's text. When the rule refuses the text, the error names the flag.
 */
export function ruledOption<Name extends string, T>(
  values: { readonly [Each in Name]?: string | undefined },
  name: Name,
  rule: (text: string) => T,
): T | undefined {
  const text = values[name];
  try {
    return text === undefined ? undefined : rule(text);
  } catch (error) {
    throw error instanceof ServiceError && error.at === name ? invalid(`--${error.message}`) : error;
  }
}

/** A mistake in the command line: exit code 2. */
export class UsageError extends Error {}

export const onOrOff = ["on", "off"] as const;

/** Reads a flag that is either on or off; undefined without the flag. @throws UsageError for any other word */
export function onOff<Name extends string>(
  values: { readonly [Each in Name]?: string | undefined },
  name: Name,
): boolean | undefined {
  const text = values[name];
  if (text === undefined) return undefined;
  if (text !== "on" && text !== "off") throw new UsageError(`--${name} must be on or off`);
  return text === "on";
}

/**
 * Reads a file that the command line names.
 * @param called the file's name in the error; by default, that of the argument FILE
 * @throws StartupError if the file can't be read
 */
export const readInput = (path: string, called = `FILE ${path}`): Promise<Buffer> =>
  readFile(path).catch((error: NodeJS.ErrnoException) => {
    throw new StartupError(`${called} cannot be read (${error.code})`);
  });

/** Lists the fields of a record, one `name: value` line each. */
export const lines = (record: object): string =>
  Object.entries(record)
    .map(([name, value]) => `${name}: ${value instanceof Date ? value.toISOString() : (value ?? "-")}`)
    .join("\n");
