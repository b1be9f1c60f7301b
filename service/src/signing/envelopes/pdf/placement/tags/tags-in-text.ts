import type { UserSpaceRect } from "../../../../../kernel/pdf/pages/page-box.ts";
import { UnmatchedTag } from "../unmatched-tag.ts";
import type { TextRun } from "./page-texts.ts";
import { readTag, type Tag } from "./tag.ts";

/** A tag, and the rectangle of its text in user space. */
export type TagInText = {
  readonly tag: Tag;
  readonly text: string;
  readonly rect: UserSpaceRect["rect"];
  /** True if no words follow the tag on its line. */
  readonly endsLine: boolean;
  /**
   * True if the rectangle has no words but the tag. Only then may a field hide it. False after `maxCompared`
   * comparisons.
   */
  readonly isAlone: boolean;
};

type Rect = UserSpaceRect["rect"];

/** Finds tags of at most 300 characters, about one line. */
const braces = /\{\{([^{}]{1,300})\}\}/g;

/** The most pairs of braces that are examined on one page, whether or not they are tags. */
const maxPairs = 5_000;

/**
 * The tags of a page, in the order of its text. Kerning may spread a tag over several runs.
 * @param max after how many tags to stop
 * @throws UnmatchedTag for a page with too many pairs of braces
 */
export function tagsInText(runs: readonly TextRun[], max: number): TagInText[] {
  const text = runs.map((run) => run.text).join("");
  const found: TagInText[] = [];
  const page = indexPage(runs);
  let pairs = 0;
  for (const match of text.matchAll(braces)) {
    if (found.length >= max) break;
    if (++pairs > maxPairs)
      throw new UnmatchedTag(`a page of it has more than ${maxPairs} pairs of braces; name the places in fields`);
    const tag = readTag(match[1] ?? "");
    const end = match.index + match[0].length;
    const rect = tag && around(page, match.index, end);
    if (!rect) continue;
    const isAlone = !hasOthers(page, rect, [match.index, end]);
    found.push({ tag, text: match[0], rect, endsLine: endsLine(page, end), isAlone });
  }
  return found;
}

/** A run of text with the positions of its characters, which are computed once and compared with every tag. */
type PositionedRun = TextRun & {
  /** Where the run begins, as an offset in the joined text of all runs. */
  readonly from: number;
  /** The position along the line where each character begins, and where the last one ends. */
  readonly along: Float64Array;
  readonly box: Rect;
};

type IndexedPage = { readonly runs: readonly PositionedRun[]; readonly nextWords: Int32Array; left: number };

function indexPage(runs: readonly TextRun[]): IndexedPage {
  let from = 0;
  const all = runs.map((run): PositionedRun => {
    const along = alongLine(run);
    const own = { ...run, from, along };
    from += run.text.length;
    return { ...own, box: boxOf(cornersOf(own, 0, run.text.length)) };
  });
  // For each run, the index of the next run with visible text, which may be the run itself.
  const nextWords = new Int32Array(all.length + 1).fill(all.length);
  for (let index = all.length - 1; index >= 0; index--)
    nextWords[index] = all[index]?.text.trim() === "" ? (nextWords[index + 1] ?? all.length) : index;
  return { runs: all, nextWords, left: maxCompared };
}

/**
 * The index of the run that contains an offset in the joined text of all runs: the last run that begins at or before
 * it.
 */
function runAt(runs: readonly PositionedRun[], place: number): number {
  let [low, high] = [0, runs.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((runs[middle]?.from ?? 0) <= place) low = middle;
    else high = middle - 1;
  }
  return low;
}

/**
 * True if no words follow a tag on its line.
 * @param end where the tag ends, as an offset in the joined text of all runs
 */
function endsLine({ runs, nextWords }: IndexedPage, end: number): boolean {
  const index = runAt(runs, end - 1);
  const line = runs[index];
  if (!line) return true;
  if (line.text.slice(end - line.from).trim() !== "") return false;
  const next = runs[nextWords[index + 1] ?? runs.length];
  return !next || !isOnLine(line, next);
}

/**
 * True if the second run is on the same line as the first. Its distance from the first run's line must be less than
 * half of the first run's font size.
 */
function isOnLine({ transform: [, , c, d, e, f] }: TextRun, { transform: [, , , , x, y] }: TextRun): boolean {
  const up = Math.hypot(c, d) || 1;
  return Math.abs(((x - e) * c + (y - f) * d) / up) < 0.5 * up;
}

/**
 * The rectangle around the characters from `from` up to, but not including, `to`; null when no run contains any of
 * them. Both are offsets in the joined text of all runs.
 */
function around({ runs }: IndexedPage, from: number, to: number): Rect | null {
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

/**
 * The most comparisons of runs and characters with the tags of one page. After that many comparisons, further tags stay
 * visible.
 */
const maxCompared = 2_000_000;
/** The cost of comparing one character, counted in comparisons of runs. */
const perCharacter = 10;

/**
 * True if a rectangle overlaps other text: the body of any character except those from `from` up to `to`. Also true
 * once the page's `maxCompared` comparisons are used up.
 */
function hasOthers(page: IndexedPage, rect: Rect, [from, to]: readonly [number, number]): boolean {
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

/** How far letters extend below and above their baseline, as a fraction of the font size. */
const [below, above] = [0.3, 0.95];

type Extent = { readonly from: number; readonly to: number; readonly inset: number };
const whole: Extent = { from: -below, to: above, inset: 0 };
/**
 * The body of a small letter, narrowed on both sides. So a rectangle that only touches neighbors or adjacent lines does
 * not overlap them.
 */
const body: Extent = { from: 0, to: 0.5, inset: 0.2 };

function cornersOf(
  { transform: [a, b, c, d, e, f], along }: Pick<PositionedRun, "transform" | "along">,
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

/**
 * The positions along the line where the characters of a run begin, and where the last one ends. They are scaled to the
 * run's width, which may differ from the sum of the font's widths.
 */
function alongLine({ text, width, widths }: TextRun): Float64Array {
  const along = new Float64Array(text.length + 1);
  let at = 0;
  // A character outside the basic plane takes two units of the string's length, of which the second has no width.
  for (const character of text) {
    const next = (along[at] ?? 0) + (widths?.get(character) ?? usualWidth);
    for (let half = 0; half < character.length; half++) along[++at] = next;
  }
  const all = along[text.length] || 1;
  return along.map((each) => (each * width) / all);
}

/**
 * The assumed width of a character for which pdf.js gives no width. Usually the font shows such a character only joined
 * with others (a ligature).
 */
const usualWidth = 500;
