import { Visitor } from "oxc-parser";
import { lineAt, parsed } from "./parse.ts";

/** A wording that is hard to read, and the wording to use instead. `only`: in this kind of prose. */
interface Pattern {
  words: RegExp;
  better: string;
  only?: Prose["kind"];
}

const patterns: Pattern[] = [
  { words: /\b(?:for|by) who\b/gi, better: 'a noun before "who": "for a member who", "by the person who"' },
  { words: /\bwhoever(?:'s)?\b/gi, better: '"anyone who", or the noun: "the caller", "the holder of the code"' },
  {
    words:
      /(?<!\b(?:there|here|yes) )\b(?:is|are|was|were) no (?!longer|more|fewer|less|later|other|use\b|matter)[a-z]+/gi,
    better: '"is not a", "does not", or "has no"',
  },
  { words: /(?<!\bthere )\b(?:is|are|was|were) none\b/gi, better: '"is not one", "is missing", or "has none"' },
  { words: /\banew\b/gi, better: '"again"; "recomputes", "reissues"' },
  { words: /\blapsed\b/gi, better: '"expired" or "timed out"' },
  { words: /\btwins?\b/gi, better: '"copy", "counterpart", or "the same X"' },
  { words: /\bbeside\b/gi, better: '"next to", "with", "in addition to", "outside", or "detached"' },
  { words: /\bwanted no more\b/gi, better: '"cancelled" or "no longer wanted"' },
  { words: /(?<!\bwhen it )\bcomes to\b/gi, better: '"reaches", "totals", or "becomes"' },
  { words: /\bin turns\b/gi, better: '"round-robin", "in rotation", or "alternately"' },
  { words: /\bas it is(?=[.,;:)]|$)/gi, better: '"unchanged" or "as stored"' },
  { words: /\b(?:can['’]t|cannot) be told\b/gi, only: "string", better: '"is not known"' },
  { words: /\bsays? of\b/gi, only: "string", better: '"says about"' },
  {
    words: /(?<=^|[.!] )(?:Who|Whether)\b(?![^.]*\?)/g,
    only: "comment",
    better: 'the noun or the verb first: "The member who", "True if"',
  },
  { words: /^What\b(?![^.]*\?)/g, only: "comment", better: 'the noun or the verb first: "Limits of", "Returns the"' },
  {
    words: /^Has (?:a|an|the|every|each|somebody|people)\b/g,
    only: "comment",
    better: 'the verb: "Queues", "Schedules", "Mails"',
  },
];

/**
 * A paragraph of a comment, of a Markdown file or of a string. `starts` has the number of each line, and its
 * offset `at` in `text`.
 */
interface Prose {
  text: string;
  starts: { at: number; line: number }[];
  kind: "comment" | "markdown" | "string";
}

/** A refused wording: the number of its line, the words found, and the better form. */
export interface Finding {
  line: number;
  found: string;
  better: string;
}

/** Finds the refused wordings in the comments of a source file, or in the text of a Markdown file. */
export function refusedWordings(file: string, content: string): Finding[] {
  return refusedIn(file.endsWith(".md") ? markdown(content) : comments(file, content));
}

/** Finds the refused wordings in the strings of a TypeScript file. A string of one word may be a name in code. */
export const refusedTexts = (file: string, content: string): Finding[] => refusedIn(sentences(file, content));

function refusedIn(runs: Prose[]): Finding[] {
  return runs.flatMap(({ text, starts, kind }) =>
    patterns
      .filter(({ only }) => only === undefined || only === kind)
      .flatMap(({ words, better }) =>
        [...text.matchAll(words)].map((match) => ({
          line: starts.findLast(({ at }) => at <= match.index)?.line ?? 1,
          found: match[0],
          better,
        })),
      ),
  );
}

/**
 * Replaces code, links and quotations by underscores, because their words are not our prose. The number of underscores
 * keeps the offsets right.
 */
const blank = (line: string) => line.replace(/`[^`]*`|"[^"]*"|\]\([^)]*\)/g, (quoted) => "_".repeat(quoted.length));

function join(lines: { line: number; text: string }[], kind: Prose["kind"]): Prose {
  const starts: Prose["starts"] = [];
  let text = "";
  for (const { line, text: added } of lines) {
    starts.push({ at: text.length, line });
    text += `${added} `;
  }
  return { text: blank(text).trimEnd(), starts, kind };
}

function markdown(content: string): Prose[] {
  let fenced = false;
  const lines = content.split("\n").map((text, index) => {
    if (/^\s*```/.test(text)) fenced = !fenced;
    return { line: index + 1, text: fenced ? "" : text };
  });
  return paragraphs(lines).map((paragraph) => join(paragraph, "markdown"));
}

function paragraphs<Line extends { line: number; text: string }>(lines: Line[]): Line[][] {
  const runs: Line[][] = [];
  let run: Line[] = [];
  for (const line of lines) {
    if (line.text.trim() !== "") {
      run.push(line);
      continue;
    }
    if (run.length > 0) runs.push(run);
    run = [];
  }
  return run.length > 0 ? [...runs, run] : runs;
}

/**
 * Finds comments by lines, without a parser. A comment is a line that begins like one, or the end of a line after
 * punctuation (in Python, shell and YAML: after any code). A string that looks like a comment is checked, too, which
 * does no harm.
 */
function comments(file: string, content: string): Prose[] {
  const whole = file.endsWith(".sql")
    ? /^\s*--\s?(.*)$/
    : hashed.test(file)
      ? /^\s*#\s?(.*)$/
      : /^\s*(?:\/\/|\/\*+|\*)(?!\/)\s?(.*)$/;
  const trailing = file.endsWith(".sql")
    ? /[,;(]\s+--\s(.*)$/
    : hashed.test(file)
      ? /\S\s+#\s(.*)$/
      : /[;,{}()[\]]\s+\/[/*]+\s(.*)$/;
  const runs: Prose[] = [];
  let run: { line: number; text: string }[] = [];
  const end = () => {
    runs.push(...paragraphs(run).map((paragraph) => join(paragraph, "comment")));
    run = [];
  };
  for (const [index, source] of content.split("\n").entries()) {
    if (/^\s*\/\*/.test(source)) end();
    const text = (whole.exec(source) ?? docstring(file, source))?.[1];
    if (text !== undefined) {
      run.push({ line: index + 1, text: text.replace(/\*\/\s*$/, "") });
      if (source.trimEnd().endsWith("*/")) end();
      continue;
    }
    end();
    const tail = trailing.exec(source)?.[1];
    if (tail) runs.push(join([{ line: index + 1, text: tail.replace(/\*\/\s*$/, "") }], "comment"));
  }
  end();
  return runs;
}

const hashed = /\.(?:py|sh|ya?ml)$/;

/** The first line of a docstring of Python. */
const docstring = (file: string, line: string) => (file.endsWith(".py") ? /^\s*"""(.*?)(?:"""\s*)?$/.exec(line) : null);

type Span = { start: number; end: number };

/**
 * Finds the texts of a file: each string, template or sum of strings that has at least two words. A string inside a text
 * belongs to that text. Leaves out SQL.
 */
function sentences(file: string, content: string): Prose[] {
  const { program } = parsed(file, content);
  const texts: Span[] = [];
  const strings: Span[] = [];
  const code: Span[] = [];
  const isCode = ({ start, end }: Span) => code.some((span) => span.start <= start && end <= span.end);
  // The visitor reaches the outer node first.
  const add = (node: Span) => void (node.start >= (texts.at(-1)?.end ?? 0) && !isCode(node) && texts.push(node));
  new Visitor({
    TaggedTemplateExpression: ({ tag, quasi }) =>
      void (tag.type === "Identifier" && tag.name === "sql" && code.push(...quasi.quasis)),
    BinaryExpression: (node) => void (node.operator === "+" && add(node)),
    TemplateLiteral: add,
    Literal: (node) => {
      if (typeof node.value !== "string") return;
      strings.push(node);
      add(node);
    },
    TemplateElement: (node) => void (isCode(node) || strings.push(node)),
  }).visit(program);
  const prose = onlyStrings(content, strings);
  return texts.flatMap(({ start, end }) => {
    const first = lineAt(content, start);
    const lines = prose.slice(start, end).split("\n");
    const trimmed = lines.map((text, index) => ({ line: first + index, text: text.trim() }));
    return paragraphs(trimmed)
      .map((paragraph) => join(paragraph, "string"))
      .filter(({ text }) => severalWords.test(text));
  });
}

const severalWords = /\p{L}\S*\s+\S/u;

/** The content with spaces for all code and delimiters, so that each string stays at its offset. */
function onlyStrings(content: string, strings: Span[]): string {
  const spaces = (code: string) => code.replace(/\S/g, " ");
  let prose = "";
  for (const { start, end } of strings.toSorted((a, b) => a.start - b.start))
    prose +=
      spaces(content.slice(prose.length, start)) + content.slice(start, end).replace(/^["'`}]|["'`]$|\$\{$/g, spaces);
  return prose + spaces(content.slice(prose.length));
}
