import { readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";

type Module = { name: string; code: string };

const importing = /^import\s*\{([^}]*)\}\s*from\s*"([^"]+)";?/gm;
const reexporting = /^export\s*\{([^}]*)\}\s*from\s*"([^"]+)";?/gm;
const declaring = /^export\s+((?:async\s+)?function\*?|const|class)\s+([\w$]+)/gm;
const listing = /^export\s*\{([^}]*)\};?/gm;

/**
 * One classic script of a module and everything it imports, for a browser: types are taken out, each module becomes a
 * function that is run once, and nothing else is changed. Understands what this code base writes: named imports and
 * exports, no circles.
 * @throws Error for a form of import or export that it does not know
 */
export function bundle(entry: URL): string {
  const modules = new Map<string, Module>();
  add(entry, modules);
  return `"use strict";\n(() => {\n${[...modules.values()].map(({ code }) => code).join("\n")}\n})();\n`;
}

/** Adds a module after those it imports. @returns the name of the constant that holds its exports. */
function add(url: URL, modules: Map<string, Module>): string {
  const known = modules.get(url.href);
  if (known) return known.name;
  const source = readFileSync(url, "utf8");
  const exported: string[] = [];
  const from = (specifier: string) => add(resolve(specifier, url), modules);
  const body = (url.pathname.endsWith(".ts") ? stripTypeScriptTypes(source) : source)
    .replace(importing, (_all, names: string, specifier: string) => {
      return `const { ${bindings(names, (name, as) => `${name}: ${as}`)} } = ${from(specifier)};`;
    })
    .replace(reexporting, (_all, names: string, specifier: string) => {
      const origin = from(specifier);
      exported.push(bindings(names, (name, as) => `${as}: ${origin}.${name}`));
      return "";
    })
    .replace(declaring, (_all, kind: string, name: string) => {
      exported.push(name);
      return `${kind} ${name}`;
    })
    .replace(listing, (_all, names: string) => {
      exported.push(bindings(names, (name, as) => `${as}: ${name}`));
      return "";
    });
  const unknown = /^(?:import|export)\b.*/m.exec(body);
  if (unknown) throw new Error(`${url.pathname}: cannot bundle "${unknown[0]}"`);
  const name = `module${modules.size}`;
  modules.set(url.href, { name, code: `const ${name} = (() => {\n${body}\nreturn { ${exported.join(", ")} };\n})();` });
  return name;
}

function bindings(names: string, write: (name: string, as: string) => string): string {
  const pairs = names.split(",").map((one) => one.trim().split(/\s+as\s+/));
  return pairs.flatMap(([name = "", as = name]) => (name === "" ? [] : [write(name, as)])).join(", ");
}

const resolve = (specifier: string, parent: URL): URL =>
  specifier.startsWith(".") ? new URL(specifier, parent) : new URL(import.meta.resolve(specifier));
