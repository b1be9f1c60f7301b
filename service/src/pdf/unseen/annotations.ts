import { spendLexed } from "../limits.ts";
import { resolve } from "../objects.ts";
import { rectangle } from "../pages/page-box.ts";
import { pages } from "../pages/page-tree.ts";
import { asName, type Dict, elements, entry, isArray, isDict, readDict } from "../values.ts";
import type { PdfLookup } from "../xref/lookup.ts";
import { type DocumentNotice, UnseenContent } from "./notice.ts";

/** Flags of ISO 32000-2 table 167. */
const [HIDDEN, PRINT, NO_VIEW, TOGGLE_NO_VIEW] = [2, 4, 32, 256];
/** What these show is no part of the page: borders of links, windows of notes. */
const besidePage: ReadonlySet<string> = new Set(["Link", "Popup"]);
const media: ReadonlySet<string> = new Set(["RichMedia", "Screen", "Movie", "Sound", "3D"]);

/**
 * Looks at each annotation of each page.
 * @throws UnseenContent for one that is printed and not shown
 */
export function annotationNotices({ file, root }: PdfLookup): DocumentNotice[] {
  const notices = new Map<string, DocumentNotice>();
  const add = (code: DocumentNotice["code"], page: number) => {
    notices.set(`${code} ${page}`, { code, page, text: null });
  };
  let number = 0;
  for (const page of pages(file, root.dict)) {
    number++;
    const annotations = resolve(file, entry(page.dict, "Annots"));
    if (!annotations || !isArray(annotations)) continue;
    spendLexed(file.budget, annotations.end - annotations.start);
    for (const element of elements(annotations)) {
      const value = resolve(file, element);
      if (!value || !isDict(value)) continue;
      const dict = readDict(value.bytes, value.start);
      const type = asName(resolve(file, entry(dict, "Subtype"))) ?? "";
      if (media.has(type)) add("media", number);
      if (besidePage.has(type) || !hasArea({ file }, dict)) continue;
      const flags = flagsOf({ file }, dict);
      if (flags & HIDDEN) continue;
      const isPrinted = (flags & PRINT) !== 0;
      const isShown = (flags & (NO_VIEW | TOGGLE_NO_VIEW)) === 0;
      if (isPrinted && !isShown)
        throw new UnseenContent(`page ${number} has an annotation that is printed and not shown on screens`);
      if (isShown && !isPrinted && entry(dict, "AP")) add("screen_only", number);
    }
  }
  return [...notices.values()];
}

/** A reader takes a number with a fraction for the whole one below it. */
function flagsOf({ file }: Pick<PdfLookup, "file">, dict: Dict): number {
  const value = resolve(file, entry(dict, "F"));
  const number = value ? Number(value.bytes.toString("latin1", value.start, value.end)) : 0;
  return Number.isFinite(number) ? Math.trunc(number) : 0;
}

function hasArea({ file }: Pick<PdfLookup, "file">, dict: Dict): boolean {
  const rect = rectangle(file, entry(dict, "Rect"));
  return rect !== undefined && rect[0] < rect[2] && rect[1] < rect[3];
}
