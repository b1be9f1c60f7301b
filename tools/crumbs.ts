import { posix } from "node:path";
import { parsed } from "./parse.ts";

/** A file that is too short to stand alone, and the only file that imports it. */
export interface Crumb {
  file: string;
  lines: number;
  importer: string;
}

/** The facts about a repository that allow a short file to stand alone. */
export interface Excuses {
  /** Files that a package exports: their other importers are outside the package. */
  exported: ReadonlySet<string>;
  /** The text of the import rules. A file that they name is a boundary, which a merge would remove. */
  importRules: string;
}

/** A file with at least this many lines may have a single importer. */
const minLines = 60;
/** A merge may create a file of at most this many lines. */
const maxLines = 250;
/** Limit of the lines of code in a file. */
const maxCodeLines = 300;

/** Files that list the work of a wing. They use its features and the kernel, and hold no code of either. */
const wiring = /^service\/src\/\w+\/(?:wing|\w+-tasks)\.ts$/;

const linesOf = (text: string): number => text.split("\n").length - 1;

/**
 * True if a file has routes or schemas. These import HTTP code, so they can't be merged into the domain
 * (`domain-knows-no-http`).
 */
const isEdge = (file: string): boolean => /(?:^|[/-])(?:routes?|schemas)\.ts$/.test(file);

/** True if a file is a table of words, templates or settings: it has constants and no functions. */
const isData = (text: string): boolean =>
  /^export const /m.test(text) && !/=>|\b(?:function|class)\b/.test(text.replace(/^\s*(?:\/\/|\/?\*).*$/gm, ""));

/** True if a file is a browser's script: it exports no values, and runs when it is loaded. */
const isScript = (text: string): boolean =>
  /^(?:if \(|for \(|void |await )/m.test(text) && !/^export (?!type |interface )/m.test(text);

const relative = String.raw`["'](\.{1,2}\/[^"']+\.ts)["']`;
const statically = new RegExp(String.raw`\bfrom\s+${relative}|^import\s+${relative}`, "gm");
/** Matches paths that are loaded at run time: worker threads, workers of browsers, and verbs. */
const dynamically = new RegExp(String.raw`\b(?:import\(|import\.meta\.resolve\(|new URL\()\s*${relative}`, "g");

function targetsOf(pattern: RegExp, file: string, text: string): string[] {
  return [...text.matchAll(pattern)].map((match) => posix.join(posix.dirname(file), (match[1] ?? match[2]) as string));
}

/**
 * Finds the files that are shorter than 60 lines, are imported by exactly one of these files, and could be merged into
 * that importer. Files with an excuse are left out.
 */
export function crumbsIn(files: ReadonlyMap<string, string>, { exported, importRules }: Excuses): Crumb[] {
  const importers = new Map<string, Set<string>>();
  const entries = new Set<string>();
  for (const [file, text] of files) {
    for (const target of targetsOf(statically, file, text)) {
      const known = importers.get(target) ?? new Set();
      importers.set(target, known.add(file));
    }
    for (const target of targetsOf(dynamically, file, text)) entries.add(target);
  }
  const crumbs: Crumb[] = [];
  for (const [file, text] of files) {
    const [importer, second] = importers.get(file) ?? [];
    const lines = linesOf(text);
    if (importer === undefined || second !== undefined || lines >= minLines) continue;
    const isNamedByRule = importRules.includes(`/${posix.basename(file, ".ts")}\\\\.ts`);
    const isWired = wiring.test(importer) && posix.dirname(file) !== posix.dirname(importer);
    const isExcused =
      isWired || entries.has(file) || exported.has(file) || isNamedByRule || isData(text) || isScript(text);
    const fits = lines + linesOf(files.get(importer) ?? "") <= maxLines && !(isEdge(file) && !isEdge(importer));
    if (fits && !isExcused) crumbs.push({ file, lines, importer });
  }
  return crumbs;
}

/**
 * Files of words may be long, because people read one word at a time. Generated files may be long, because nobody edits
 * them by hand.
 */
const isDictionary = (file: string): boolean => /(?:^|\/)words(?:\.ts$|\/)/.test(file);
const isGenerated = (text: string): boolean => /^\/[/*].*\bgenerated\b/i.test(text);

/**
 * Counts the lines that have code. Blank lines and comments don't count, so that the limit never tempts anybody to leave
 * out a comment.
 */
function codeLinesOf(file: string, text: string): number {
  const { comments } = parsed(file, text);
  let code = "";
  let end = 0;
  for (const comment of comments) {
    code += text.slice(end, comment.start);
    end = comment.end;
  }
  code += text.slice(end);
  return code.split("\n").filter((line) => line.trim() !== "").length;
}

/** Finds the files with more than 300 lines of code, apart from dictionaries, tables and generated files. */
export function longFilesIn(files: ReadonlyMap<string, string>): { file: string; lines: number }[] {
  return [...files]
    .filter(([file, text]) => !isDictionary(file) && !isGenerated(text) && !isData(text))
    .filter(([, text]) => linesOf(text) > maxCodeLines)
    .map(([file, text]) => ({ file, lines: codeLinesOf(file, text) }))
    .filter(({ lines }) => lines > maxCodeLines);
}
