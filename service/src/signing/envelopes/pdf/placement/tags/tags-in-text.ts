import type { PlacedRect } from "../../../../../kernel/pdf/pages/page-box.ts";
import { UnmatchedTag } from "../unmatched-tag.ts";
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

/** Pairs of braces on one page that are looked at, tags or not. */
const mostPairs = 5_000;

/**
 * The tags of a page, in the order of its text. One may be spread over several runs, as kerning breaks them.
 * @param most how many are looked for
 * @throws UnmatchedTag for a page with more pairs of braces than are looked at
 */
export function tagsInText(runs: readonly TextRun[], most: number): TagInText[] {
  const text = runs.map((run) => run.text).join("");
  const found: TagInText[] = [];
  const page = placed(runs);
  let pairs = 0;
  for (const match of text.matchAll(braces)) {
    if (found.length >= most) break;
    if (++pairs > mostPairs)
      throw new UnmatchedTag(`a page of it has more than ${mostPairs} pairs of braces; name the places in fields`);
    const tag = readTag(match[1] ?? "");
    const end = match.index + match[0].length;
    const rect = tag && around(page, match.index, end);
    if (!rect) continue;
    const isAlone = !hasOthers(page, rect, [match.index, end]);
    found.push({ tag, text: match[0], rect, endsLine: endsLine(page, end), isAlone });
  }
  return found;
}

/** A run with where its characters are: what each tag is compared with. */
type Placed = TextRun & {
  /** In the text of all runs. */
  readonly from: number;
  /** How far along the line each of its characters begins, and the last one ends. */
  readonly along: Float64Array;
  readonly box: Rect;
};

type PlacedPage = { readonly runs: readonly Placed[]; readonly nextWords: Int32Array; left: number };

function placed(runs: readonly TextRun[]): PlacedPage {
  let from = 0;
  const all = runs.map((run): Placed => {
    const along = alongLine(run);
    const own = { ...run, from, along };
    from += run.text.length;
    return { ...own, box: boxOf(cornersOf(own, 0, run.text.length)) };
  });
  // For each run the first one from it on that shows something.
  const nextWords = new Int32Array(all.length + 1).fill(all.length);
  for (let index = all.length - 1; index >= 0; index--)
    nextWords[index] = all[index]?.text.trim() === "" ? (nextWords[index + 1] ?? all.length) : index;
  return { runs: all, nextWords, left: mostCompared };
}

/** The run that a place of the text of all is in: the last one that begins there or before. */
function runAt(runs: readonly Placed[], place: number): number {
  let [low, high] = [0, runs.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((runs[middle]?.from ?? 0) <= place) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** @param end of the tag, in the text of all runs */
function endsLine({ runs, nextWords }: PlacedPage, end: number): boolean {
  const index = runAt(runs, end - 1);
  const line = runs[index];
  if (!line) return true;
  if (line.text.slice(end - line.from).trim() !== "") return false;
  const next = runs[nextWords[index + 1] ?? runs.length];
  return !next || !isOnLine(line, next);
}

/** Whether a run is about as high as another, seen along the lines of that. */
function isOnLine({ transform: [, , c, d, e, f] }: TextRun, { transform: [, , , , x, y] }: TextRun): boolean {
  const up = Math.hypot(c, d) || 1;
  return Math.abs(((x - e) * c + (y - f) * d) / up) < 0.5 * up;
}

/** The rectangle around the characters from `from` to before `to` of all runs one after the other. */
function around({ runs }: PlacedPage, from: number, to: number): Rect | null {
  const points: Point[] = [];
  for (let index = runAt(runs, from); index < runs.length; index++) {
    const run = runs[index];
    if (!run || run.from >= to) break;
    const [first, last] = [Math.max(from - run.from, 0), Math.min(to - run.from, run.text.length)];
    if (first < last) points.push(...cornersOf(run, first, last));
  }
  return points.length === 0 ? null : boxOf(points);
}

type Point = readonly [number, number];

function boxOf(points: readonly Point[]): Rect {
  const [xs, ys] = [points.map(([x]) => x), points.map(([, y]) => y)];
  return [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)];
}

/** Runs and characters of one page that are compared with its tags: beyond, a tag is not hidden. */
const mostCompared = 2_000_000;
/** A character costs as much as so many runs. */
const perCharacter = 10;

/** Whether the body of a character besides those from `from` to before `to` is within a rectangle, even in part. */
function hasOthers(page: PlacedPage, rect: Rect, [from, to]: readonly [number, number]): boolean {
  page.left -= page.runs.length;
  if (page.left < 0) return true;
  for (const run of page.runs) {
    const { from: at, text } = run;
    const isOwnAlone = from <= at && at + text.length <= to;
    if (isOwnAlone || !meet(run.box, rect)) continue;
    page.left -= perCharacter * text.length;
    if (page.left < 0) return true;
    for (let character = 0; character < text.length; character++) {
      const isOwn = from <= at + character && at + character < to;
      if (isOwn || text[character]?.trim() === "") continue;
      if (meet(boxOf(cornersOf(run, character, character + 1, body)), rect)) return true;
    }
  }
  return false;
}

const meet = ([l, b, r, t]: Rect, [left, bottom, right, top]: Rect): boolean =>
  l < right && left < r && b < top && bottom < t;

/** The space of letters below and above their line, in parts of the font size. */
const [below, above] = [0.3, 0.95];

type Extent = { readonly from: number; readonly to: number; readonly inset: number };
const whole: Extent = { from: -below, to: above, inset: 0 };
/** The box of a small letter, made smaller at both sides, so that neighbors on the line and the lines next to it do not count. */
const body: Extent = { from: 0, to: 0.5, inset: 0.2 };

function cornersOf(
  { transform: [a, b, c, d, e, f], along }: Pick<Placed, "transform" | "along">,
  first: number,
  last: number,
  extent: Extent = whole,
): Point[] {
  const [across, up] = [Math.hypot(a, b) || 1, Math.hypot(c, d) || 1];
  const [start, end] = [along[first] ?? 0, along[last] ?? 0];
  const inset = extent.inset * (end - start);
  return [start + inset, end - inset].flatMap((x) =>
    [extent.from * up, extent.to * up].map(
      (y): Point => [e + (x * a) / across + (y * c) / up, f + (x * b) / across + (y * d) / up],
    ),
  );
}

/** Where the characters of a run begin: the run's own width may be set wider or narrower than its font's. */
function alongLine({ text, width, widths }: TextRun): Float64Array {
  const along = new Float64Array(text.length + 1);
  let at = 0;
  // A character beyond the basic plane is two of the text's: its second half has no width.
  for (const character of text) {
    const next = (along[at] ?? 0) + (widths?.get(character) ?? usualWidth);
    for (let half = 0; half < character.length; half++) along[++at] = next;
  }
  const all = along[text.length] || 1;
  return along.map((each) => (each * width) / all);
}

/** The width of a character that the font shows together with others. */
const usualWidth = 500;
