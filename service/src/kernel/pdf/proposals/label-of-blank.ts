import { type Blank, endOf, isInside, isValue } from "./blanks.ts";
import { captionsBelow, isLabeledAbove, labelAbove, signerBlock } from "./captions.ts";
import type { Rect } from "./content.ts";
import { type Found, follows, isExplicit, isPerson, type PageWords, read } from "./labels.ts";
import { kindOfLabel, measures } from "./patterns.ts";
import type { Piece, Reason } from "./pieces.ts";
import { initialsBefore, labelBehind, labelOnRow, labelToTheLeft } from "./rows.ts";
import type { Run } from "./runs.ts";

/**
 * The labels of a blank, each with the part of the blank that it labels. Two captions below one line divide the line
 * into two parts.
 */
export function ofBlank(blank: Blank, page: PageWords): Piece[] {
  const piece = (found: Found | null, reason: Reason): Piece[] => (found?.kind ? [{ blank, found, reason }] : []);
  const inside = blank.box ? labelInside(blank, page) : null;
  if (inside) return piece(inside, "label_in_box");
  const leftLabel = labelToTheLeft(blank, page);
  const captions = captionsBelow(blank, page);
  // "X" and "Attest" say only that somebody signs here. So if a caption below names a witness or asks for initials, the
  // caption determines the kind of the blank.
  const decisive = leftLabel && /^(?:x|attest)$/i.test(leftLabel.label) ? captions : [];
  for (const kind of ["notary", "initials"] as const) {
    const caption = decisive.find(({ text }) => kindOfLabel(text) === kind);
    if (caption) return piece({ label: kind === "notary" ? caption.text : "", kind }, "label_below");
  }
  // "Received by:" is for an office, unless a person's name follows the line.
  if (leftLabel?.kind === "notary" && /^received by$/i.test(leftLabel.label) && isNamedBehind(blank, page))
    return piece({ ...leftLabel, kind: "signature" }, "label_left");
  if (leftLabel) return piece(leftLabel, "label_left");
  const initials = initialsBefore(blank, page);
  if (initials) return piece(initials, "initials_list");
  if (captions.length > 1) return ofCaptions(blank, captions, page);
  const above = labelAbove(blank, page);
  const [caption] = captions;
  if (above?.kind && caption && (isLabeledAbove(blank, page) || isNextLabel(above, caption)))
    return piece(above, "label_above");
  const behind = labelBehind(blank, page);
  const below = caption ? ofCaption(blank, caption, page) : null;
  const isSeal = behind?.kind === "signature" && below?.kind === "name";
  const candidates = [
    piece(isSeal ? null : below, "label_below"),
    piece(behind, "label_right"),
    piece(headingOf(blank, page), "column_heading"),
    piece(labelOnRow(blank, page), "label_left"),
    piece(above, "label_above"),
    piece(signerBlock(blank, page), "signer_block"),
  ];
  return candidates.find((each) => each.length > 0) ?? [];
}

function ofCaption(blank: Blank, caption: Run, page: PageWords): Found {
  // If a person's name is below a box, it is not the box's label.
  const found = read(caption.text, page, caption.y, blank.box === null);
  if (!isPerson(found.label) || isExplicit(found.label)) return found;
  // If a caption such as "(Print or type name)" is below the person's name, the blank is for a name, not for a
  // signature.
  if (page.words.some((run) => isLineBelow(run, caption) && kindOfLabel(run.text) === "name"))
    return { ...found, kind: "name" };
  if (blank.width < measures.minNamed) return { ...found, kind: null };
  return isBelowParty(blank, page) ? { ...found, kind: "signature" } : found;
}

const isLineBelow = (run: Run, caption: Run): boolean =>
  Math.abs(run.x - caption.x) < 4 && run.y > caption.y && run.y - caption.y < 1.5 * caption.size;

/** True if a person's name follows a blank on its line. */
const isNamedBehind = (blank: Blank, { words }: PageWords): boolean =>
  words.some((run) => follows(run, blank, 16) && isPerson(run.text));

/** True if a heading such as "BUYER:" is right above a blank. */
const isBelowParty = ({ x, y }: Blank, { words }: PageWords): boolean =>
  words.some(
    (run) =>
      run.y < y &&
      y - run.y < measures.labelFarAbove &&
      Math.abs(run.x - x) < 4 &&
      /^\S+:$/.test(run.text) &&
      kindOfLabel(run.text) === "signature",
  );

/**
 * True if the words below a blank are the label of the next blank. In a column such as "By:", "Name:", each label is
 * above its blank.
 */
const isNextLabel = (above: Found, { text }: Run): boolean =>
  above.kind === "signature" && isExplicit(above.label) && text.endsWith(":") && kindOfLabel(text) !== "signature";

const ofCaptions = (blank: Blank, captions: readonly Run[], page: PageWords): Piece[] =>
  captions.flatMap((caption, index): Piece[] => {
    const next = captions[index + 1];
    const x = index === 0 ? blank.x : Math.max(caption.x, blank.x);
    const end = next ? next.x - 8 : endOf(blank);
    const found = read(caption.text, page, caption.y, true);
    return found.kind ? [{ blank: { ...blank, x, width: end - x }, found, reason: "label_below" }] : [];
  });

/**
 * The heading of a cell's column: the nearest words above the cell. The search goes up from cell to cell of the column.
 */
function headingOf({ box }: Blank, page: PageWords): Found | null {
  if (!box) return null;
  const { boxes } = page.content;
  let cell: Rect = box;
  let signer: Run | undefined;
  for (let steps = 0; steps < 40; steps++) {
    const top = cell;
    const above = boxes.find((each) => isBelow(each, top));
    const words = above && page.words.find((run) => isInside(run, above));
    // Words other than a person's name are the heading. A person's name names another signer of the column, so the search
    // continues upward.
    if (words && !isPerson(words.text)) return read(words.text, page, words.y, false);
    signer ??= words;
    if (!above) break;
    cell = above;
  }
  const first = cell;
  const heading =
    signer ??
    page.words.find(
      (run) => run.y < first.y && run.y > first.y - 18 && run.x >= first.x - 2 && endOf(run) <= endOf(first) + 2,
    );
  return heading ? read(heading.text, page, heading.y, false) : null;
}

function labelInside(blank: Blank, page: PageWords): Found | null {
  const { box } = blank;
  const first = box && page.words.filter((run) => isInside(run, box)).sort((a, b) => a.y - b.y || a.x - b.x)[0];
  if (!first || !box) return null;
  // If the next cell is empty or has an amount, the words in this cell are a label for the next cell.
  const next = page.content.boxes.find((each) => Math.abs(each.x - endOf(box)) < 3 && Math.abs(each.y - box.y) < 3);
  if (next && !page.words.some((run) => isInside(run, next) && !isValue(run.text))) return { label: "", kind: "other" };
  // If the cell below is empty, the words in this cell are the heading of a column.
  const lower = page.content.boxes.find((each) => isBelow(box, each));
  if (box.height < 36 && lower && !page.words.some((run) => isInside(run, lower))) return { label: "", kind: "other" };
  const found = read(first.text, page, first.y, false);
  const isHeading = box.height < measures.minLabeledBox && !isExplicit(first.text) && !/:\s*$/.test(first.text);
  return found.kind === "signature" && isHeading ? { ...found, kind: "other" } : found;
}

/** True if the second cell is right below the first cell in a column. */
const isBelow = (upper: Rect, lower: Rect): boolean =>
  Math.abs(lower.x - upper.x) < 3 &&
  Math.abs(lower.width - upper.width) < 6 &&
  Math.abs(upper.y + upper.height - lower.y) < 3;
