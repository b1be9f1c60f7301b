import { readFile } from "node:fs/promises";
import type { Plugin } from "esbuild";

/**
 * Parts of selectors that no page of ours has. Rules that need them are 3 KB of each page's compressed styles. The list
 * has only rules about attributes, classes and elements that a search of the pages' sources finds.
 */
export const unusedInPico = [
  "[data-tooltip]",
  "[data-theme",
  ":host",
  "::-ms-",
  ":indeterminate",
  "[aria-invalid=false]",
  "[aria-label=breadcrumb]",
  "[role=link]",
  "[role=switch]",
  "[role=textbox]",
  "[type=datetime-local]",
  "[type=month]",
  "[type=reset]",
  "[type=time]",
  "[type=week]",
  "details.dropdown",
  "dialog>article",
  "hgroup",
  ".container",
  ".contrast",
  ".modal-is-",
  ".striped",
] as const;

/** Splits minified CSS into rules and at-rules. */
function rulesOf(css: string): string[] {
  const rules: string[] = [];
  let [depth, start, quote] = [0, 0, ""];
  for (let index = 0; index < css.length; index++) {
    const character = css[index] ?? "";
    if (quote !== "") {
      if (character === quote && css[index - 1] !== "\\") quote = "";
      continue;
    }
    if (character === '"' || character === "'") quote = character;
    if (character === "{") depth += 1;
    if (character === "}") depth -= 1;
    const isEnd = depth === 0 && (character === "}" || character === ";");
    if (!isEnd) continue;
    rules.push(css.slice(start, index + 1));
    start = index + 1;
  }
  return [...rules, css.slice(start)];
}

/** Splits a list of selectors at its own commas, and not at those in parentheses. */
const selectorsIn = (list: string): string[] =>
  list.match(/(?:\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)|[^,(])+/g) ?? [];

/** A selector without the arguments of `:not()`, `:is()` and others, which it does not need to match. */
const needed = (selector: string): string => {
  const outer = selector.replace(/\([^()]*\)/g, "");
  return outer === selector ? outer : needed(outer);
};

/** Removes the selectors with an unused part, and the rules that have no other selector. */
export function withoutUnused(css: string): string {
  return rulesOf(css)
    .map((rule) => {
      const [, head = "", body = ""] = /^((?:\/\*.*?\*\/|[^{])*)\{(.*)\}$/s.exec(rule) ?? [];
      if (/^@(?:media|supports)\b/.test(head)) {
        const inner = withoutUnused(body);
        return inner === "" ? "" : `${head}{${inner}}`;
      }
      if (head === "" || head.startsWith("@")) return rule;
      const used = selectorsIn(head).filter(
        (selector) => !unusedInPico.some((part) => needed(selector).includes(part)),
      );
      return used.length === 0 ? "" : `${used.join(",")}{${body}}`;
    })
    .join("");
}

/**
 * Loads Pico without the rules that no page needs. Pico makes a link look like a button if the link has the role of a
 * button, which misleads screen readers. Our pages use a class for that look.
 */
export const trimmedPico: Plugin = {
  name: "trimmed Pico",
  setup(bundling) {
    bundling.onLoad({ filter: /pico\.min\.css$/ }, async ({ path }) => ({
      contents: withoutUnused((await readFile(path, "utf8")).replaceAll("[role=button]", ".button")),
      loader: "css",
    }));
  },
};
