import { dirname } from "node:path";
import { parseArgs } from "node:util";
import { ServiceError, StartupError } from "../kernel/platform/errors.ts";
import { nearest } from "../kernel/platform/nearest-name.ts";
import { type Answer, type Option, type Options, UsageError, type Verb } from "./verb.ts";

/** A command-line program that consists of verbs. */
export type Command = {
  /** The name that users type. */
  program: string;
  version: () => string;
  /** The verbs that begin with `word`; all verbs when none of them begins with it. */
  verbsOf: (word: string | undefined) => Promise<readonly Verb[]>;
};

function usage(program: string, { name, args, options }: Verb): string {
  const requiredFirst = Object.entries(options).toSorted(
    ([, a], [, b]) => Number(b.required ?? false) - Number(a.required ?? false),
  );
  return [program, name, ...args, ...requiredFirst.map(usageOf)].join(" ");
}

/** A usage line lists at most this many possible values of an option. */
const maxListed = 4;

function usageOf([name, { type, value, values = [], multiple, required }]: [string, Option]): string {
  const listed = values.length > 0 && values.length <= maxListed ? values.join("|") : name.toUpperCase();
  const text = type === "boolean" ? `--${name}` : `--${name} ${value ?? listed}`;
  return `${required ? text : `[${text}]`}${multiple ? "..." : ""}`;
}

function help(program: string, about: readonly Verb[]): string {
  const lines = about.map((verb) => `  ${usage(program, verb)}\n      ${verb.summary}`);
  const [one] = about.length === 1 ? about : [];
  const more = one ? details(program, one) : [];
  return [
    "Usage:",
    ...lines,
    ...more,
    "",
    "Every verb takes --json (one JSON document on standard output) and --help.",
  ].join("\n");
}

/** Describes the flags, and lists the examples. */
function details(program: string, { options, examples = [] }: Verb): string[] {
  const explained = Object.entries(options).map(([name, { help }]) => `  ${`--${name}`.padEnd(18)} ${help}`);
  return [
    ...(explained.length > 0 ? ["", "Flags:", ...explained] : []),
    ...(examples.length > 0 ? ["", "Examples:", ...examples.map((example) => `  ${program} ${example}`)] : []),
  ];
}

/** Runs the verb of a command line. @throws UsageError for an invalid command line, and the verb's own errors */
async function runVerb({ program, version, verbsOf }: Command, argv: string[]): Promise<Answer> {
  const leading = argv.filter((word) => !word.startsWith("-"));
  const wantsHelp = argv.includes("--help") || argv.includes("-h") || argv.length === 0;
  if (argv.includes("--version") && leading.length === 0 && !wantsHelp)
    return { text: version(), json: { version: version() } };
  const verbs = await verbsOf(leading[0]);
  // A verb has one to three words.
  const verb = verbs.find(({ name }) => name === leading.slice(0, name.split(" ").length).join(" "));
  if (wantsHelp) {
    const about = verb ? [verb] : verbs.filter(({ name }) => leading.length === 0 || name.startsWith(`${leading[0]} `));
    const text = help(program, about.length > 0 ? about : verbs);
    return { text, json: { usage: text.split("\n") }, exitCode: argv.length === 0 ? 2 : 0 };
  }
  if (!verb && leading.length === 0) throw new UsageError(`no such flag: ${argv[0]}; see ${program} --help`);
  if (!verb) throw new UsageError(await unknownVerb({ program, verbsOf }, leading, verbs));
  const options = { ...verb.options, json: { type: "boolean" } } as const;
  let parsed: ReturnType<typeof parseArgs>;
  try {
    parsed = parseArgs({
      args: withNegativeNumbers(argv, verb.options),
      options,
      allowPositionals: true,
      strict: true,
    });
  } catch (error) {
    throw new UsageError(`${(error as Error).message.split(". ")[0]}; usage: ${usage(program, verb)}`);
  }
  const args = parsed.positionals.slice(verb.name.split(" ").length);
  // An argument in brackets is optional.
  const required = verb.args.filter((arg) => !arg.startsWith("[")).length;
  if (args.length < required || args.length > verb.args.length) throw new UsageError(`usage: ${usage(program, verb)}`);
  return verb.run(args, parsed.values);
}

/** Joins a negative number to the flag before it, because Node.js refuses it as a separate word. No flag is a number. */
function withNegativeNumbers(argv: readonly string[], options: Options): string[] {
  const words: string[] = [];
  for (const word of argv) {
    const flag = words.at(-1) ?? "";
    const acceptsValue = flag.startsWith("--") && options[flag.slice(2)]?.type === "string";
    if (acceptsValue && /^-\d/.test(word)) words.splice(-1, 1, `${flag}=${word}`);
    else words.push(word);
  }
  return words;
}

/** The message for an unknown verb. It lists the verbs that begin with the first word, or suggests the closest verb. */
async function unknownVerb(
  { program, verbsOf }: Pick<Command, "program" | "verbsOf">,
  words: readonly string[],
  verbs: readonly Verb[],
): Promise<string> {
  const [first = "", second = ""] = words;
  const group = verbs.filter(({ name }) => name.startsWith(`${first} `));
  if (first !== "" && second === "" && group.length > 0) return `${first} what? One of\n${list(program, group)}`;
  const typed = words.slice(0, 2).join(" ");
  const names = (group.length > 0 ? group : await verbsOf(undefined)).map(({ name }) => name);
  // A verb has one to three words, followed by its arguments.
  const tried = [3, 2, 1].map((count) => nearest(words.slice(0, count).join(" "), names));
  const near = tried.find((each) => each !== null) ?? null;
  const meant = near === null ? "" : `; did you mean ${near}?`;
  const more = group.length > 0 ? `\n${list(program, group)}` : meant === "" && `; see ${program} --help`;
  return `no such verb: ${typed}${meant}${more || ""}`;
}

const list = (program: string, verbs: readonly Verb[]): string =>
  verbs.map((verb) => `  ${usage(program, verb)}`).join("\n");

/** A process's output and exit code. */
export type Outcome = { code: number; stdout: string; stderr: string };

const line = (text: string): string => (text === "" ? "" : `${text}\n`);

/** The SQLSTATE disk_full. The driver is not imported, because the partners' command has none. */
const databaseDiskFull = "53100";

/** The message about a full disk, if a full disk made the command fail; else null. */
function fullDisk(error: unknown): string | null {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { code = "", path } = cause as NodeJS.ErrnoException;
    if (code === databaseDiskFull) return `the disk of the database is full: ${cause.message}`;
    if (code !== "ENOSPC" && code !== "EDQUOT") continue;
    return path === undefined ? `a disk is full: ${cause.message}` : `the disk of ${dirname(path)} is full (${code})`;
  }
  return null;
}

/**
 * Runs a command line to its end, and returns its output and exit code. For an expected failure, `stderr` is only the
 * message; for any other failure, the stack. Never throws.
 */
export async function runCommand(command: Command, argv: string[]): Promise<Outcome> {
  const asJson = argv.includes("--json");
  try {
    const { text, json, exitCode = 0 } = await runVerb(command, argv);
    return { code: exitCode, stdout: line(asJson && json !== undefined ? JSON.stringify(json) : text), stderr: "" };
  } catch (error) {
    const full = fullDisk(error);
    const isExpected =
      full !== null || error instanceof ServiceError || error instanceof StartupError || error instanceof UsageError;
    const message = full ?? (isExpected ? (error as Error).message : ((error as Error).stack ?? String(error)));
    const stdout = asJson ? line(JSON.stringify({ error: isExpected ? message : "internal error" })) : "";
    return { code: error instanceof UsageError ? 2 : 1, stdout, stderr: line(`signsealship: ${message}`) };
  }
}
