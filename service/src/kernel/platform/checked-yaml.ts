import { readFileSync } from "node:fs";
import type { Static, TSchema } from "typebox";
import { Value } from "typebox/value";
import { parse } from "yaml";
import { StartupError } from "./errors.ts";

/**
 * Reads a YAML file that must match `schema`.
 * @param setting the setting that names the file, for the message
 * @throws StartupError naming the first entry that breaks a rule, or for a file that can't be read
 */
export function readCheckedYaml<Schema extends TSchema>(setting: string, path: string, schema: Schema): Static<Schema> {
  const content = contentOf(setting, path);
  if (Value.Check(schema, content)) return content;
  const [first] = Value.Errors(schema, content);
  const entry = first?.instancePath.slice(1).replaceAll("/", ".") || "the file";
  // For an entry that the schema doesn't know, the validator reports the keyword "boolean", because the schema of such
  // an entry is `false`.
  const rule = first?.keyword === "boolean" ? "is not a known entry" : first?.message;
  throw new StartupError(`${setting} ${path}: ${entry} ${rule}`);
}

function contentOf(setting: string, path: string): unknown {
  try {
    return parse(readFileSync(path, "utf8"));
  } catch (error) {
    throw new StartupError(`${setting} ${path}: ${(error as Error).message.split("\n")[0]}`);
  }
}
