import { readFileSync } from "node:fs";
import { SourceMap } from "node:module";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";

/** The repository's folder. */
export const root = dirname(dirname(fileURLToPath(import.meta.url)));
/** The folder of the bundled test files. */
export const files = join(root, "node_modules/.cache/test-files");

/** The source of a bundled test file; any other path is returned unchanged. */
export const sourceOf = (path: string): string =>
  path.startsWith(files) ? join(root, relative(files, path).replace(/\.mjs$/, ".ts")) : path;

/** Replaces the positions in bundles by positions in sources, in a stack trace. */
export const atSources = (stack: string): string =>
  stack.replace(/file:\/\/(\/\S+\.mjs):(\d+):(\d+)/g, (place, path: string, line: string, column: string) => {
    if (!path.startsWith(files)) return place;
    const map = new SourceMap(JSON.parse(readFileSync(`${path}.map`, "utf8")));
    const entry = map.findEntry(Number(line) - 1, Number(column) - 1);
    if (!("originalSource" in entry)) return place;
    const { originalSource, originalLine, originalColumn } = entry;
    return `${resolve(dirname(path), originalSource)}:${originalLine + 1}:${originalColumn + 1}`;
  });
