import { pages } from "../../../kernel/pdf/page-tree.ts";
import { type PageBox, pageBox, toUserSpace } from "../../../kernel/pdf/pages/page-box.ts";
import { textItems, withPdf } from "../../../kernel/pdf/pdf-js.ts";
import { widthsByFont } from "../../../kernel/pdf/proposals/content.ts";
import { textLimits } from "../../../kernel/pdf/text-cost.ts";
import { type DocumentNotice, quoted } from "../../../kernel/pdf/unseen/notice.ts";
import type { PdfLookup } from "../../../kernel/pdf/xref/lookup.ts";
import { timeLimit } from "../../../kernel/platform/stopwatch.ts";
import type { PlannedField } from "../pdf/fields.ts";
import { textWithoutInk } from "../reading/hidden-text.ts";

/** The limits for reading the text of one document. */
const max = { pages: 300, milliseconds: 4_000, notices: 20, hidden: 3 } as const;
/** A rectangle of user space: left, bottom, right, top. */
type Rect = readonly [number, number, number, number];
type Run = {
  readonly str: string;
  readonly transform: readonly number[];
  readonly width: number;
  readonly hasEOL: boolean;
  readonly fontName: string;
};
type Widths = ReadonlyMap<string, ReadonlyMap<string, number>>;

/**
 * Finds words of the page that overlap a field's place. Also finds hidden words: the signing page shows them under
 * "Read as text", but the PDF page does not. Reports a document that pdf.js can't read.
 */
export async function examineText(look: PdfLookup, planned: readonly PlannedField[]): Promise<DocumentNotice[]> {
  const notices: DocumentNotice[] = [];
  const hiddenOn: DocumentNotice[] = [];
  const isLate = timeLimit(max.milliseconds);
  const partly: DocumentNotice = { code: "partly_examined", page: null, text: null };
  let room: number = textLimits.characters;
  const isWhole = await withPdf(look.file.bytes, async (document, OPS) => {
    let number = 0;
    for (const found of pages(look.file, look.root.dict)) {
      number++;
      if (number > document.numPages || number > max.pages || isLate() || notices.length >= max.notices) return false;
      const page = await document.getPage(number);
      const runs = await textItems(page, room);
      if (!runs) return false;
      room -= runs.reduce((sum, { str }) => sum + str.length, 0);
      if (runs.length > 0) {
        const box = pageBox(look.file, found);
        const here = planned.filter((field) => field.page === number - 1 && !field.invisible);
        const widths: Widths = here.length > 0 ? widthsByFont(await page.getOperatorList(), OPS) : new Map();
        const below = wordsBelow({ runs, widths }, box, here);
        if (below !== "") notices.push({ code: "text_below_place", page: number, text: below });
        const unseen = await textWithoutInk(page, OPS);
        const hidden = quoted((unseen ?? []).join(" "));
        if (hidden !== "") hiddenOn.push({ code: "hidden_text", page: number, text: hidden });
        if (unseen === null) notices.push({ ...partly, page: number });
      }
      page.cleanup();
    }
    return true;
  });
  return [...notices, ...together(hiddenOn), ...(isWhole ? [] : [partly])];
}

/**
 * Scans often have invisible words on every page. If more than `max.hidden` pages have such words, one notice replaces
 * all, and quotes the first page.
 */
const together = (hiddenOn: readonly DocumentNotice[]): DocumentNotice[] =>
  hiddenOn.length > max.hidden ? hiddenOn.slice(0, 1).map((first) => ({ ...first, page: null })) : [...hiddenOn];

/** A line of underscores or dots is a line to sign on, so it isn't counted as a word. */
const isRule = (word: string): boolean => /^[\s_.·…\-–—=:]*$/.test(word);

function wordsBelow(
  { runs, widths }: { readonly runs: readonly Run[]; readonly widths: Widths },
  box: PageBox,
  fields: readonly PlannedField[],
): string {
  if (fields.length === 0) return "";
  const places = fields.map((field) => toUserSpace(box, field.place).rect);
  const covered = fields.flatMap(({ place, covers }): Rect[] => {
    if (!covers) return [];
    const { x, y, width, height } = covers;
    return [toUserSpace(box, { x: place.x + x, y: place.y + place.height - y - height, width, height }).rect];
  });
  const words: string[] = [];
  let length = 0;
  for (const run of runs) {
    const all = centersOf(run, widths.get(run.fontName));
    for (const { 0: word, index } of run.str.matchAll(/\S+/g)) {
      const centers = all.slice(index, index + word.length);
      const isBelow = centers.some((point) => inOne(places, point)) && !centers.some((point) => inOne(covered, point));
      if (!isBelow || isRule(word)) continue;
      words.push(word);
      length += word.length;
    }
    // The notice quotes only the beginning of a long text.
    if (length > 400) break;
  }
  return quoted(words.join(" "));
}

/**
 * The centers of a run's characters, a quarter of the font size above the baseline. Uses the font's own widths. If all
 * characters had the same width, some centers of `Initials:` would be on the blank space after this word.
 */
function centersOf(
  { str, transform, width }: Run,
  widths: ReadonlyMap<string, number> | undefined,
): [number, number][] {
  const [a = 1, b = 0, c = 0, d = 1, e = 0, f = 0] = transform;
  const across = Math.hypot(a, b) || 1;
  // Split into UTF-16 units, because the positions of the words are in these units, too.
  const each = str.split("").map((unit) => widths?.get(unit) ?? 500);
  const unit =
    width /
    Math.max(
      each.reduce((sum, one) => sum + one, 0),
      1,
    );
  let start = 0;
  return each.map((one) => {
    const along = (start + one / 2) * unit;
    start += one;
    return [e + (along * a) / across + 0.25 * c, f + (along * b) / across + 0.25 * d];
  });
}

const inOne = (rects: readonly Rect[], [x, y]: readonly [number, number]): boolean =>
  rects.some(([left, bottom, right, top]) => left < x && x < right && bottom < y && y < top);
