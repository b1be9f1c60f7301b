import type { UserSpaceRect } from "../../../kernel/pdf/pages/page-box.ts";
import { textItems, withPdf } from "../../../kernel/pdf/pdf-js.ts";
import { type AskedField, shownWords } from "./form-questions.ts";

type Rect = UserSpaceRect["rect"];
type Run = { text: string; left: number; right: number; baseline: number };
type OnPage = { label: string; options: readonly string[] };

const maxCharacters = 500_000;
/**
 * The largest distances between a field and its label, and between the words of a label, in units of user space. On
 * nearly every page a unit is a point.
 */
const reach = { left: 220, above: 18, right: 24, betweenWords: 14, baseline: 3 } as const;

/**
 * Finds the label that is printed next to a field: on its left or above it. A check box, and each radio button, has its
 * label on its right. Ignores rotated pages.
 */
export async function labelsOnPages(bytes: Buffer, asked: readonly AskedField[]): Promise<(of: AskedField) => OnPage> {
  const wanted = new Set(asked.flatMap(({ widgets }) => widgets.map(({ page }) => page)));
  const runs = await runsOf(bytes, wanted);
  const rects = new Map<number, Rect[]>();
  for (const { page, rect } of asked.flatMap(({ widgets }) => widgets))
    rects.set(page, [...(rects.get(page) ?? []), rect]);
  return ({ kind, widgets, options }) => {
    const near = widgets.map(({ page, rect, box }) => {
      const words = box.rotate === 0 ? (runs.get(page) ?? []) : [];
      const others = (rects.get(page) ?? []).filter((each) => each !== rect);
      return kind === "checkbox" || kind === "radio"
        ? rightOf(rect, words, others)
        : leftOf(rect, words, others) || above(rect, words);
    });
    if (kind !== "radio") return { label: near[0] ?? "", options: [] };
    const at = options.map(({ value }) => widgets.findIndex(({ state }) => state === value));
    const [first] = widgets;
    const words = first && first.box.rotate === 0 ? (runs.get(first.page) ?? []) : [];
    const label = first ? leftOf(first.rect, words, rects.get(first.page) ?? []) || above(first.rect, words) : "";
    return { label, options: at.map((index) => near[index] ?? "") };
  };
}

async function runsOf(bytes: Buffer, pages: ReadonlySet<number>): Promise<Map<number, Run[]>> {
  const found = new Map<number, Run[]>();
  // Labels are only a help, so a form whose text pdf.js can't read is still accepted, with the labels found so far.
  await withPdf(bytes, async (document) => {
    let room = maxCharacters;
    for (const number of [...pages].sort((a, b) => a - b)) {
      const page = await document.getPage(number);
      const items = await textItems(page, room);
      page.cleanup();
      if (!items) return;
      room -= items.reduce((sum, { str }) => sum + str.length, 0);
      found.set(
        number,
        items.flatMap(({ str, transform, width }) => runOf(str, transform, width)),
      );
    }
  });
  return found;
}

function runOf(text: string, [a = 0, b = 0, , , left = 0, baseline = 0]: number[], width: number): Run[] {
  return text.trim() === "" || b !== 0 || a <= 0 ? [] : [{ text, left, right: left + width, baseline }];
}

const onLine = ([, bottom, , top]: Rect, { baseline }: Run): boolean =>
  baseline >= bottom - reach.baseline && baseline < top;

/** True if another field is between this field and the words. The words then label the other field. */
const isBetween = (from: number, to: number, rect: Rect, others: readonly Rect[]): boolean =>
  others.some(([left, bottom, right, top]) => left >= from - 1 && right <= to + 1 && bottom < rect[3] && top > rect[1]);

function leftOf(rect: Rect, runs: readonly Run[], others: readonly Rect[]): string {
  const line = runs.filter((run) => onLine(rect, run) && run.right <= rect[0] + 3).sort((a, b) => b.right - a.right);
  const [nearest] = line;
  if (!nearest || rect[0] - nearest.right > reach.left || isBetween(nearest.right, rect[0], rect, others)) return "";
  const joined: Run[] = [];
  for (const run of line) {
    const next = joined[0];
    if (next && next.left - run.right > reach.betweenWords) break;
    joined.unshift(run);
  }
  return tidy(joined);
}

function rightOf(rect: Rect, runs: readonly Run[], others: readonly Rect[]): string {
  const line = runs.filter((run) => onLine(rect, run) && run.left >= rect[2] - 3).sort((a, b) => a.left - b.left);
  const joined: Run[] = [];
  for (const run of line) {
    const before = joined.at(-1);
    const from = before?.right ?? rect[2];
    if (run.left - from > (before ? reach.betweenWords : reach.right) || isBetween(from, run.left, rect, others)) break;
    joined.push(run);
  }
  return tidy(joined);
}

function above([left, , right, top]: Rect, runs: readonly Run[]): string {
  const over = runs.filter(
    (run) => run.baseline >= top - 1 && run.baseline < top + reach.above && run.left < right && run.right > left,
  );
  const lowest = Math.min(...over.map(({ baseline }) => baseline));
  const line = over.filter(({ baseline }) => baseline - lowest < 2).sort((a, b) => a.left - b.left);
  return (line[0]?.left ?? 0) >= left - 8 ? tidy(line) : "";
}

/** Joins words into a label. Drops rows of underscores or dots, which draw a line to write on. */
function tidy(runs: readonly Run[]): string {
  const text = shownWords(
    runs
      .map((run) => run.text)
      .join(" ")
      .replace(/[_.…·]{3,}/gu, " "),
  );
  const words = text.replace(/[\s:;,*]+$/u, "").replace(/^[\s:;,*)]+/u, "");
  return /\p{L}/u.test(words) ? words : "";
}
