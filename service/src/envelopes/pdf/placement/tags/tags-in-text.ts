import type { PlacedRect } from "../../../../pdf/page-box.ts";
import type { TextRun } from "./page-texts.ts";
import { readTag, type Tag } from "./tag.ts";

/** A tag and the rectangle of user space that its text takes. */
export type TagInText = { readonly tag: Tag; readonly text: string; readonly rect: PlacedRect["rect"] };

/** A tag is one line at most. */
const braces = /\{\{([^{}]{1,300})\}\}/g;

/** The tags of a page, in the order of its text. One may be spread over several runs, as kerning breaks them. */
export function tagsInText(runs: readonly TextRun[]): TagInText[] {
  const text = runs.map((run) => run.text).join("");
  const found: TagInText[] = [];
  for (const match of text.matchAll(braces)) {
    const tag = readTag(match[1] ?? "");
    const rect = tag && around(runs, match.index, match.index + match[0].length);
    if (rect) found.push({ tag, text: match[0], rect });
  }
  return found;
}

/** The rectangle around the characters from `from` to before `to` of all runs one after the other. */
function around(runs: readonly TextRun[], from: number, to: number): PlacedRect["rect"] | null {
  const points: (readonly [number, number])[] = [];
  let at = 0;
  for (const run of runs) {
    const [first, last] = [Math.max(from - at, 0), Math.min(to - at, run.text.length)];
    if (first < last) points.push(...cornersOf(run, first, last));
    at += run.text.length;
    if (at >= to) break;
  }
  if (points.length === 0) return null;
  const [xs, ys] = [points.map(([x]) => x), points.map(([, y]) => y)];
  return [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)];
}

/** What letters take below and above their line, in parts of the font size. */
const [below, above] = [0.25, 0.95];

function cornersOf(run: TextRun, first: number, last: number): [number, number][] {
  const [a, b, c, d, e, f] = run.transform;
  const [across, up] = [Math.hypot(a, b) || 1, Math.hypot(c, d) || 1];
  const whole = widthOf(run, 0, run.text.length) || 1;
  const along = (count: number) => (run.width * widthOf(run, 0, count)) / whole;
  return [along(first), along(last)].flatMap((x) =>
    [-below * up, above * up].map((y): [number, number] => [
      e + (x * a) / across + (y * c) / up,
      f + (x * b) / across + (y * d) / up,
    ]),
  );
}

/** About how wide characters are against each other: the run's width is known, not that of each one. */
function widthOf({ text, monospaced }: TextRun, from: number, to: number): number {
  if (monospaced) return to - from;
  let sum = 0;
  for (const character of text.slice(from, to)) sum += widths.find(([which]) => which.test(character))?.[1] ?? 1;
  return sum;
}

const widths: readonly (readonly [RegExp, number])[] = [
  [/[ijl.,;:'|! ]/, 0.27],
  [/[frtI()[\]{}\-/]/, 0.33],
  [/[mM@W%]/, 0.86],
  [/[wA-Z=+<>]/, 0.68],
  [/[\x20-\x7e]/, 0.54],
];
