import type { ParseArgsOptionsConfig } from "node:util";
import { readConfig } from "../config/config.ts";
import { openLog } from "../platform/logs.ts";
import { openResources, type Resources, root } from "../resources.ts";

/** What a verb prints: text for people, a document for `--json`. */
export type Answer = { text: string; json?: unknown; exitCode?: number };

export type Values = Record<string, string | boolean | (string | boolean)[] | undefined>;

export type Verb = {
  /** One to three words. */
  name: string;
  args: string[];
  /** The options as a usage line shows them. */
  flags: string;
  options: ParseArgsOptionsConfig;
  summary: string;
  run: (args: string[], values: Values) => Promise<Answer>;
};

/** A mistake in the command line: exit code 2. */
export class UsageError extends Error {}

/** Runs a verb on the data, beside a running service or without one. */
export async function withResources<T>(work: (resources: Resources) => Promise<T>): Promise<T> {
  const config = readConfig(process.env, process.cwd(), root);
  const resources = await openResources(config, openLog(process.env["LOG_LEVEL"] ? config.logLevel : "warn"));
  try {
    return await work(resources);
  } finally {
    await resources.close();
  }
}

export const textOption = (values: Values, name: string): string | undefined => {
  const value = values[name];
  return typeof value === "string" ? value : undefined;
};

/** @throws UsageError for a word other than on and off. */
export function onOff(values: Values, name: string): boolean | undefined {
  const text = textOption(values, name);
  if (text === undefined) return undefined;
  if (text !== "on" && text !== "off") throw new UsageError(`--${name} must be on or off`);
  return text === "on";
}

/** `name: value` lines. */
export const lines = (record: object): string =>
  Object.entries(record)
    .map(([name, value]) => `${name}: ${value instanceof Date ? value.toISOString() : (value ?? "-")}`)
    .join("\n");
