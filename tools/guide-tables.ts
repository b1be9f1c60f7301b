import { readFileSync, writeFileSync } from "node:fs";
import { wireStatus } from "../service/src/kernel/http/errors/wire-errors.ts";
import { errorWords } from "../service/src/kernel/http/errors/words.ts";
import { limitWords } from "../service/src/kernel/http/limit-words.ts";
import { policies } from "../service/src/kernel/http/rate-limits.ts";

const table = (heads: readonly string[], rows: readonly (readonly unknown[])[]): string =>
  [heads, heads.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");

const windows: Readonly<Record<number, string>> = { 60: "a minute", 900: "15 minutes", 3600: "an hour" };

const keysOf = <T extends object>(object: T) => Object.keys(object) as (keyof T)[];

/** The tables of the guides by name, as Markdown that is generated from the code. */
const tables: Readonly<Record<string, string>> = {
  errors: table(
    ["Status", "Code", "What it means"],
    keysOf(wireStatus).map((code) => [wireStatus[code], `\`${code}\``, errorWords[code]]),
  ),
  limits: table(
    ["Policy", "Requests", "Counted by", "Applies to"],
    keysOf(policies).map((policy) => {
      const { points, seconds } = policies[policy];
      const { by, appliesTo } = limitWords[policy];
      return [`\`${policy}\``, `${points} in ${windows[seconds] ?? `${seconds} seconds`}`, by, appliesTo];
    }),
  ),
};

/** Returns the text of a guide with its tables brought up to date. */
export const withTables = (markdown: string): string =>
  markdown.replace(
    /(<!-- table: (\w+) -->\n)[\s\S]*?(<!-- end -->)/g,
    (_, start: string, name: string, end: string) => `${start}\n${tables[name]}\n\n${end}`,
  );

if (import.meta.main)
  for (const name of ["errors", "limits"]) {
    const file = new URL(`../service/guides/${name}.md`, import.meta.url);
    writeFileSync(file, withTables(readFileSync(file, "utf8")));
  }
