import type { Kind, Rect } from "../places/field.ts";
import { type Blank, blanksIn, endOf, isInside, overlap, roomAbove, wordsIn } from "./blanks.ts";
import type { OwnField, PageContent } from "./content.ts";
import { kindOfLabel, measures, notaryBlock } from "./patterns.ts";
import type { Run } from "./runs.ts";

/** A place on a page that looks as if it is to be signed or filled in. */
export type Proposal = { readonly kind: Kind; readonly rect: Rect; readonly label: string };

/** Proposes fields for the blanks of a page whose labels ask for them. Never for a notary's. */
export function propose(content: PageContent): Proposal[] {
  const words = wordsIn(content);
  const page: PageWords = { words, blanks: blanksIn(content), content, isExecution: executionAbove(words) };
  const reserved = notaryParts(content, words);
  const isReserved = ({ y }: { y: number }) => reserved.some(({ top, bottom }) => y > top && y < bottom);
  const own = content.own.flatMap((field) => ofOwnField(field, content));
  const lined = page.blanks.filter((blank) => !isReserved(blank)).flatMap((blank) => ofBlank(blank, page));
  const unlined = ofLabelsAlone(page).filter(({ rect }) => !isReserved({ y: rect.y + rect.height }));
  const found: Proposal[] = [];
  for (const proposal of [...own, ...lined, ...unlined])
    if (!found.some(({ rect }) => meet(rect, proposal.rect))) found.push(proposal);
  return found.sort((a, b) => a.rect.y - b.rect.y || a.rect.x - b.rect.x);
}

type PageWords = {
  readonly words: readonly Run[];
  readonly blanks: readonly Blank[];
  readonly content: PageContent;
  /** Whether what is at this height follows words that say that the document is signed there. */
  readonly isExecution: (y: number) => boolean;
};

const meet = (a: Rect, b: Rect): boolean =>
  overlap(a, b) > 2 && Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y) > 2;

/** A party's or a person's name alone is a signature only after words like these. */
const execution =
  /\bin witness whereof\b|\bexecuted\b|\bhereunto\b|\bsigned\b|\bsignatures?\b|\bagreed (?:and|to)\b|\bundersigned\b|\baccepted\b|\bby:|\bset (?:my|our|their|his|her) hands?\b/i;

function executionAbove(words: readonly Run[]): (y: number) => boolean {
  const first = Math.min(...words.filter(({ text }) => execution.test(text)).map(({ y }) => y));
  return (y) => y >= first - 4;
}

/** The parts of a page that a notary fills in: from the words that open one to its commission, or to the end. */
function notaryParts({ height }: PageContent, words: readonly Run[]): { top: number; bottom: number }[] {
  const sorted = [...words].sort((a, b) => a.y - b.y);
  const parts: { top: number; bottom: number }[] = [];
  for (const { text, y } of sorted) {
    const last = parts.at(-1);
    if (last && y < last.bottom) {
      if (notaryBlock.closes.test(text)) last.bottom = y + 20;
    } else if (notaryBlock.opens.test(text)) parts.push({ top: y - 14, bottom: height });
  }
  return parts;
}

type Found = { readonly label: string; readonly kind: ReturnType<typeof kindOfLabel> };

/** A label may have a part of the blank only: one rule above two captions is two blanks. */
function ofBlank(blank: Blank, page: PageWords): Proposal[] {
  const inside = blank.box ? labelInside(blank, page) : null;
  const beside = inside ?? labelBeside(blank, page);
  if (beside) return asProposal(blank, beside, page);
  const captions = captionsBelow(blank, page);
  if (captions.length > 1)
    return captions.flatMap((caption, index) => {
      const next = captions[index + 1];
      const x = index === 0 ? blank.x : Math.max(caption.x, blank.x);
      const end = next ? next.x - 8 : endOf(blank);
      return asProposal({ ...blank, x, width: end - x }, read(caption.text, page, caption.y, true), page);
    });
  const [caption] = captions;
  const behind = labelBehind(blank, page);
  const below = caption && read(caption.text, page, caption.y, true);
  return asProposal(blank, (below?.kind ? below : behind) ?? headingOf(blank, page) ?? labelAbove(blank, page), page);
}

/** A party's name says `signature` only where the document is signed. */
function read(text: string, { isExecution }: PageWords, y: number, isCaption: boolean): Found {
  const kind = kindOfLabel(text);
  const label = text.replace(/[\s:_]+$/u, "").trim();
  if (kind === "signature" && !isExplicit(text) && !isExecution(y)) return { label, kind: null };
  // The name of a person below a line: "Jane Q. Public", or "JOHN ROE, an unmarried man".
  if (
    kind === null &&
    isCaption &&
    isExecution(y) &&
    /^\p{Lu}[\p{L}.'’-]*(?: \p{Lu}[\p{L}.'’-]*){1,3}(?:,.*)?$/u.test(label)
  )
    return { label, kind: "signature" };
  return { label, kind };
}

const isExplicit = (text: string): boolean => /\bsign|\binitial|^by\b|^x\b|firma|iniciales/i.test(text);

/** The heading of a cell's column: the first words above it, through cells of the same column. */
function headingOf({ box }: Blank, page: PageWords): Found | null {
  if (!box) return null;
  const { boxes } = page.content;
  let cell: Rect = box;
  for (let steps = 0; steps < 40; steps++) {
    const top = cell;
    const above = boxes.find(
      (each) =>
        Math.abs(each.x - top.x) < 3 &&
        Math.abs(each.width - top.width) < 6 &&
        Math.abs(each.y + each.height - top.y) < 3,
    );
    const words = above && page.words.find((run) => isInside(run, above));
    if (words) return read(words.text, page, words.y, false);
    if (!above) break;
    cell = above;
  }
  const first = cell;
  const heading = page.words.find(
    (run) => run.y < first.y && run.y > first.y - 18 && run.x >= first.x - 2 && endOf(run) <= endOf(first) + 2,
  );
  return heading ? read(heading.text, page, heading.y, false) : null;
}

/** The words on the left of a blank, on its line, with no other blank between. */
function labelBeside(blank: Blank, page: PageWords): Found | null {
  const { words, blanks } = page;
  const isOnLine = (run: Run) =>
    blank.box
      ? run.y > blank.box.y && run.y < blank.box.y + blank.box.height + 2
      : Math.abs(run.y - blank.y) < Math.max(5, run.size * 0.4);
  const left = words.filter((run) => isOnLine(run) && endOf(run) <= blank.x + 4).sort((a, b) => endOf(b) - endOf(a))[0];
  if (!left || blank.x - endOf(left) > measures.labelBeside) return null;
  const isParted = blanks.some(
    (other) =>
      other !== blank && Math.abs(other.y - blank.y) < 6 && other.x >= endOf(left) - 2 && endOf(other) <= blank.x + 2,
  );
  if (isParted) return null;
  const label = lastPart(left.text);
  if (label === null) return { label: "", kind: "other" };
  const before = words.some(
    (run) => run !== left && isOnLine(run) && endOf(run) <= left.x + 2 && left.x - endOf(run) < 150,
  );
  const marks = blanks.some(
    (other) =>
      other !== blank && Math.abs(other.y - left.y) < 6 && endOf(other) <= left.x + 2 && left.x - endOf(other) < 12,
  );
  // "acknowledged on ____ by ____" is a sentence: such a word counts only at the start of its line or cell.
  if (/^(?:by|on|x)\b/i.test(label) && (marks || (before && !/:\s*$/.test(left.text)))) return { label, kind: "other" };
  const found = read(label, page, left.y, false);
  // Words without a colon far from the blank belong to something else.
  if (found.kind === null)
    return /:\s*$/.test(left.text) || blank.x - endOf(left) < 12 ? { ...found, kind: "other" } : null;
  return found;
}

/** The label at the end of a run: what follows its last sentence. Null for a sentence. */
function lastPart(text: string): string | null {
  const part =
    text
      .replace(/[\s:]+$/u, "")
      .split(/[.;:]\s+|\s{3,}/u)
      .at(-1)
      ?.trim() ?? "";
  return part.split(/\s+/).length > 6 ? null : part;
}

/** The words right below a blank that are not the label of a blank next to them. */
function captionsBelow(blank: Blank, { words, blanks }: PageWords): Run[] {
  if (blank.box) return [];
  const near = words.filter((run) => {
    const gap = run.y - run.size * 0.75 - blank.y;
    return gap > -3 && gap < measures.labelBelow && overlap(run, blank) > Math.min(run.width, blank.width) * 0.5;
  });
  const nearest = Math.min(...near.map(({ y }) => y));
  const line = near.filter(({ y }) => y - nearest < 3).sort((a, b) => a.x - b.x);
  return line.filter(
    (run) =>
      !blanks.some(
        (other) =>
          other !== blank && Math.abs(other.y - run.y) < 6 && other.x >= endOf(run) - 4 && other.x - endOf(run) < 60,
      ),
  );
}

/** "(Seal)" and "(L.S.)" stand behind a line. */
function labelBehind(blank: Blank, { words }: PageWords): Found | null {
  const run = words.find(
    (each) => Math.abs(each.y - blank.y) < 6 && each.x >= endOf(blank) - 2 && each.x - endOf(blank) < 24,
  );
  return run && /^\(?(?:l\.?\s?s\.?|seal)\)?/i.test(run.text) ? { label: "", kind: "signature" } : null;
}

function labelAbove(blank: Blank, page: PageWords): Found | null {
  if (blank.box) return null;
  const run = page.words.find(
    ({ x, y, width }) =>
      y < blank.y - 5 && y > blank.y - measures.labelAbove && Math.abs(x - blank.x) < 14 && width < blank.width + 20,
  );
  if (!run || run.text.split(/\s+/).length > 4) return null;
  return read(run.text, page, run.y, false);
}

function labelInside(blank: Blank, page: PageWords): Found | null {
  const { box } = blank;
  const first = box && page.words.filter((run) => isInside(run, box)).sort((a, b) => a.y - b.y || a.x - b.x)[0];
  if (!first || !box) return null;
  // The next cell is empty: the words are its label.
  const next = page.content.boxes.find((each) => Math.abs(each.x - endOf(box)) < 3 && Math.abs(each.y - box.y) < 3);
  if (next && !page.words.some((run) => isInside(run, next))) return { label: "", kind: "other" };
  return read(first.text, page, first.y, false);
}

function asProposal(blank: Blank, found: Found | null, { words, content }: PageWords): Proposal[] {
  const kind = found?.kind;
  if (!found || !kind || kind === "other" || kind === "notary") return [];
  const least = kind === "initials" ? measures.leastInitials : measures.leastBlank;
  if (blank.width < least) return [];
  const isMark = kind === "signature" || kind === "initials";
  const height = roomAbove(blank, words, isMark ? measures.signatureHeight : measures.textHeight);
  const inside = blank.box
    ? words.filter((run) => blank.box && isInside(run, blank.box) && run.y > blank.y - height)
    : [];
  const x = Math.max(blank.x, ...inside.map((run) => endOf(run) + 4));
  const width = Math.min(endOf(blank) - x, kind === "initials" ? 120 : measures.widest, content.width - x);
  if (width < least) return [];
  return [{ kind, rect: { x, y: blank.y - height, width, height }, label: labelFor(kind, found.label) }];
}

/** A field of these kinds says itself what it asks for. */
const labelFor = (kind: Kind, label: string): string => (kind === "text" ? label.slice(0, 200) : "");

/** A label with an empty line behind it, as in a form without rules: "Signature:" */
function ofLabelsAlone(page: PageWords): Proposal[] {
  const { words, blanks, content } = page;
  return words.flatMap((run): Proposal[] => {
    if (!/:\s*$/.test(run.text) || run.text.split(/\s+/).length > 4) return [];
    const { kind } = read(run.text, page, run.y, false);
    // The name of a party alone is a heading.
    if (kind === "signature" && !isExplicit(run.text)) return [];
    if (kind !== "signature" && kind !== "date" && kind !== "name" && kind !== "initials") return [];
    const isNear = blanks.some(
      (blank) => Math.abs(blank.y - run.y) < 24 && endOf(blank) > run.x && blank.x < endOf(run) + measures.labelBeside,
    );
    if (isNear) return [];
    const right = words.filter((other) => other !== run && Math.abs(other.y - run.y) < 6 && other.x >= endOf(run) - 1);
    const end = Math.min(content.width - 36, ...right.map(({ x }) => x - 6));
    const width = Math.min(end - endOf(run) - 4, 200);
    if (width < (kind === "initials" ? 40 : 80)) return [];
    return asProposal({ x: endOf(run) + 4, y: run.y + 2, width, box: null }, { label: "", kind }, page);
  });
}

function ofOwnField({ kind, name, rect }: OwnField, { width, height }: PageContent): Proposal[] {
  const label = name
    .replace(/([a-z])([A-Z])/g, "$1 $2")
    .replace(/[._\-[\]#\d]+/g, " ")
    .trim();
  if (kindOfLabel(label) === "notary" || (rect.width * rect.height) / (width * height) > 0.1) return [];
  if (kind === "checkbox") return [{ kind, rect, label: label.slice(0, 200) }];
  if (kind === "signature") return [{ kind: kindOfLabel(label) === "initials" ? "initials" : kind, rect, label: "" }];
  const known = kindOfLabel(label);
  const isKnown = known === "date" || known === "name" || known === "initials";
  return [{ kind: isKnown ? known : "text", rect, label: isKnown ? "" : label.slice(0, 200) }];
}
