import { readFile } from "node:fs/promises";
import type { Plugin } from "esbuild";

/**
 * Parts of CSS selectors that match nothing in our pages. The rules of Pico (a CSS framework) for them would add 3 KB
 * to each page's compressed styles. Most entries name an attribute, a class or an element, so that a search of the page
 * sources can confirm that they are unused.
 */
export const unusedInPico = [
  "[data-tooltip]",
  "[data-theme",
  ":host",
  "::-ms-",
  "@keyframes tooltip-",
  "[aria-hidden=false]",
  "[aria-invalid=false]",
  "[aria-label=breadcrumb]",
  "[dir=rtl]",
  "[role=link]",
  "[role=switch]",
  "[role=textbox]",
  "[type=checkbox]:indeterminate",
  "[type=datetime-local]",
  "[type=month]",
  "[type=reset]",
  "[type=time]",
  "[type=week]",
  "abbr",
  "article>footer",
  "article>header",
  "details.dropdown",
  "dialog>article",
  "hgroup",
  "kbd",
  "optgroup",
  "samp",
  "summary.button",
  ".container",
  ".contrast",
  ".modal-is-",
  ".overflow-auto",
  ".striped",
] as const;

/** Splits minified CSS into rules and at-rules. */
function rulesOf(css: string): string[] {
  const rules: string[] = [];
  let [depth, start, quote] = [0, 0, ""];
  for (let index = 0; index < css.length; index++) {
    const character = css[index] ?? "";
    if (quote !== "") {
      if (character === "\\") index += 1;
      else if (character === quote) quote = "";
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

/** Splits a list of CSS selectors at its commas. Commas inside parentheses do not split. */
const selectorsIn = (list: string): string[] =>
  list.match(/(?:\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)|[^,(])+/g) ?? [];

/**
 * The part of a CSS selector that must match: the selector without the arguments of `:not()`, `:is()` and similar
 * pseudo-classes.
 */
const needed = (selector: string): string => {
  const outer = selector.replace(/\([^()]*\)/g, "");
  return outer === selector ? outer : needed(outer);
};

/**
 * Removes the CSS selectors that contain an unused part. Removes a rule if none of its selectors remains, but not the
 * comment before it, which may be Pico's license.
 */
function withoutUnused(css: string): string {
  return rulesOf(css)
    .map((rule) => {
      const [, comment = "", head = "", body = ""] = /^((?:\/\*.*?\*\/)?)([^{]*)\{(.*)\}$/s.exec(rule) ?? [];
      if (/^@(?:media|supports)\b/.test(head)) {
        const inner = withoutUnused(body);
        return inner === "" ? comment : `${comment}${head}{${inner}}`;
      }
      if (head === "") return rule;
      const used = selectorsIn(head).filter(
        (selector) => !unusedInPico.some((part) => needed(selector).includes(part)),
      );
      return used.length === 0 ? comment : `${comment}${used.join(",")}{${body}}`;
    })
    .join("");
}

/**
 * Loads Pico without the rules that no page needs. Pico makes links with `[role=button]` look like buttons, but this
 * role misleads screen readers. So our pages use the class `button` for that look.
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
