import type { PlacedRect } from "../../../../pdf/pages/page-box.ts";
import type { TextRun } from "./page-texts.ts";
import { readTag, type Tag } from "./tag.ts";

/** A tag and the rectangle of user space that its text takes. */
export type TagInText = {
  readonly tag: Tag;
  readonly text: string;
  readonly rect: PlacedRect["rect"];
  /** Whether nothing stands behind it on its line. */
  readonly endsLine: boolean;
  /** Whether the rectangle has no other words: only then may it be covered. */
  readonly isAlone: boolean;
};

type Rect = PlacedRect["rect"];

/** A tag is one line at most. */
const braces = /\{\{([^{}]{1,300})\}\}/g;

/**
 * The tags of a page, in the order of its text. One may be spread over several runs, as kerning breaks them.
 * @param most how many are looked for
 */
export function tagsInText(runs: readonly TextRun[], most: number): TagInText[] {
  const text = runs.map((run) => run.text).join("");
  const found: TagInText[] = [];
  const near = { runs, boxes: runs.map((run) => boxOf(cornersOf(run, 0, run.text.length))), left: mostCompared };
  for (const match of text.matchAll(braces)) {
    if (found.length >= most) break;
    const tag = readTag(match[1] ?? "");
    const end = match.index + match[0].length;
    const rect = tag && around(runs, match.index, end);
    if (!rect) continue;
    const isAlone = !hasOthers(near, rect, [match.index, end]);
    found.push({ tag, text: match[0], rect, endsLine: endsLine(runs, end), isAlone });
  }
  return found;
}

/** @param end of the tag, in the text of all runs */
function endsLine(runs: readonly TextRun[], end: number): boolean {
  let at = 0;
  let line: TextRun | undefined;
  for (const run of runs) {
    const rest = run.text.slice(Math.max(end - at, 0));
    if (at < end) line = run;
    at += run.text.length;
    if (at < end || rest.trim() === "" || !line) continue;
    return run !== line && !isOnLine(line, run);
  }
  return true;
}

/** Whether a run is about as high as another, seen along the lines of that. */
function isOnLine({ transform: [, , c, d, e, f] }: TextRun, { transform: [, , , , x, y] }: TextRun): boolean {
  const up = Math.hypot(c, d) || 1;
  return Math.abs(((x - e) * c + (y - f) * d) / up) < 0.5 * up;
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
  return points.length === 0 ? null : boxOf(points);
}

function boxOf(points: readonly (readonly [number, number])[]): Rect {
  const [xs, ys] = [points.map(([x]) => x), points.map(([, y]) => y)];
  return [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)];
}

/** Characters of one page that are compared with its tags, each as often as its run's length: beyond, a tag is not hidden. */
const mostCompared = 5_000_000;

type Near = { readonly runs: readonly TextRun[]; readonly boxes: readonly Rect[]; left: number };

/** Whether the body of a character besides those from `from` to before `to` is within a rectangle, even in part. */
function hasOthers(near: Near, rect: Rect, [from, to]: readonly [number, number]): boolean {
  let at = 0;
  for (const [index, run] of near.runs.entries()) {
    const box = near.boxes[index];
    const isOwnAlone = from <= at && at + run.text.length <= to;
    if (box && !isOwnAlone && meet(box, rect)) {
      near.left -= run.text.length ** 2;
      if (near.left < 0) return true;
      for (let character = 0; character < run.text.length; character++) {
        const isOwn = from <= at + character && at + character < to;
        if (isOwn || run.text[character]?.trim() === "") continue;
        if (meet(boxOf(cornersOf(run, character, character + 1, body)), rect)) return true;
      }
    }
    at += run.text.length;
  }
  return false;
}

const meet = ([l, b, r, t]: Rect, [left, bottom, right, top]: Rect): boolean =>
  l < right && left < r && b < top && bottom < t;

/** What letters take below and above their line, in parts of the font size. */
const [below, above] = [0.3, 0.95];

type Extent = { readonly from: number; readonly to: number; readonly inset: number };
const whole: Extent = { from: -below, to: above, inset: 0 };
/** Of a small letter, and less at both sides, so that neighbors on the line and the lines next to it do not count. */
const body: Extent = { from: 0, to: 0.5, inset: 0.2 };

function cornersOf(run: TextRun, first: number, last: number, extent: Extent = whole): [number, number][] {
  const [a, b, c, d, e, f] = run.transform;
  const [across, up] = [Math.hypot(a, b) || 1, Math.hypot(c, d) || 1];
  const all = widthOf(run, 0, run.text.length) || 1;
  const along = (count: number) => (run.width * widthOf(run, 0, count)) / all;
  const [start, end] = [along(first), along(last)];
  const inset = extent.inset * (end - start);
  return [start + inset, end - inset].flatMap((x) =>
    [extent.from * up, extent.to * up].map((y): [number, number] => [
      e + (x * a) / across + (y * c) / up,
      f + (x * b) / across + (y * d) / up,
    ]),
  );
}

/** In thousandths of the font size: the run's own width may be set wider or narrower. */
function widthOf({ text, widths }: TextRun, from: number, to: number): number {
  let sum = 0;
  for (const character of text.slice(from, to)) sum += widths?.get(character) ?? usualWidth;
  return sum;
}

/** Of a character that the font shows together with others. */
const usualWidth = 500;
