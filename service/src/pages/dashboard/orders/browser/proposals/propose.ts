import type { Kind, Rect } from "../places/field.ts";
import { type Blank, blanksIn, endOf, isInside, overlap, roomAbove, wordsIn } from "./blanks.ts";
import type { OwnField, PageContent } from "./content.ts";
import {
  captionsBelow,
  executionAbove,
  type Found,
  headingOf,
  initialsBefore,
  isExplicit,
  labelAbove,
  labelBehind,
  labelBeside,
  labelInside,
  type PageWords,
  partsOfOthers,
  read,
} from "./labels.ts";
import { kindOfLabel, measures } from "./patterns.ts";

/** A place on a page that looks as if somebody should sign it or fill it in. */
export type Proposal = { readonly kind: Kind; readonly rect: Rect; readonly label: string };

/** Proposes fields for the blanks of a page whose labels ask for them, but never for a notary's blanks. */
export function propose(content: PageContent): Proposal[] {
  const words = wordsIn(content);
  const page: PageWords = { words, blanks: blanksIn(content), content, isExecution: executionAbove(words) };
  const reserved = partsOfOthers(content, words);
  const isReserved = ({ y }: { y: number }) => reserved.some(({ top, bottom }) => y > top && y < bottom);
  const own = content.own.flatMap((field) => ofOwnField(field, content));
  const lined = ofBlanks(
    page.blanks.filter((blank) => !isReserved(blank)),
    page,
  );
  const unlined = ofLabelsAlone(page).filter(({ rect }) => !isReserved({ y: rect.y + rect.height }));
  const found: Proposal[] = [];
  for (const proposal of [...own, ...lined, ...unlined])
    if (!found.some(({ rect }) => meet(rect, proposal.rect))) found.push(proposal);
  return found.sort((a, b) => a.rect.y - b.rect.y || a.rect.x - b.rect.x);
}

/**
 * The empty cells of a ledger have headings, too; so a date or a name in a cell counts only near a signature or
 * initials.
 */
function ofBlanks(blanks: readonly Blank[], page: PageWords): Proposal[] {
  const all = blanks.map((blank) => ({ blank, proposals: ofBlank(blank, page) }));
  const marks = all
    .flatMap(({ proposals }) => proposals)
    .filter(({ kind }) => kind === "signature" || kind === "initials");
  return all.flatMap(({ blank, proposals }) =>
    proposals.filter(
      ({ kind, rect }) =>
        !blank.box ||
        (kind !== "date" && kind !== "name") ||
        marks.some((mark) => Math.abs(mark.rect.y - rect.y) < measures.cellsOfSigner),
    ),
  );
}

const meet = (a: Rect, b: Rect): boolean =>
  overlap(a, b) > 2 && Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y) > 2;

/** A label may belong to a part of the blank: one rule above two captions is two blanks. */
function ofBlank(blank: Blank, page: PageWords): Proposal[] {
  const inside = blank.box ? labelInside(blank, page) : null;
  const beside = inside ?? labelBeside(blank, page);
  // "X" only shows that somebody signs here. The caption may show that this person is a witness.
  const isOthers = () => captionsBelow(blank, page).some(({ text }) => kindOfLabel(text) === "notary");
  if (beside && /^x$/i.test(beside.label) && isOthers()) return [];
  if (beside) return asProposal(blank, beside, page);
  const initials = initialsBefore(blank, page);
  if (initials) return asProposal(blank, initials, page);
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
  const isSeal = behind?.kind === "signature" && below?.kind === "name";
  return asProposal(
    blank,
    (below?.kind && !isSeal ? below : behind) ?? headingOf(blank, page) ?? labelAbove(blank, page),
    page,
  );
}

function asProposal(blank: Blank, found: Found | null, { words, blanks, content }: PageWords): Proposal[] {
  const kind = found?.kind;
  if (!found || !kind || kind === "other" || kind === "notary") return [];
  const least = kind === "initials" ? measures.leastInitials : measures.leastBlank;
  if (blank.width < least) return [];
  const isMark = kind === "signature" || kind === "initials";
  const height = roomAbove(blank, [...words, ...blanks], isMark ? measures.signatureHeight : measures.textHeight);
  const inside = blank.box
    ? words.filter((run) => blank.box && isInside(run, blank.box) && run.y > blank.y - height)
    : [];
  const x = Math.max(blank.x, ...inside.map((run) => endOf(run) + 4));
  const width = Math.min(endOf(blank) - x, kind === "initials" ? 120 : measures.widest, content.width - x);
  if (width < least) return [];
  return [{ kind, rect: { x, y: blank.y - height, width, height }, label: labelFor(kind, found.label) }];
}

/** Only text fields need a label: other kinds show what they ask for. */
const labelFor = (kind: Kind, label: string): string => (kind === "text" ? label.slice(0, 200) : "");

/** Finds labels with an empty space to the right, in forms without rules: "Signature:" */
function ofLabelsAlone(page: PageWords): Proposal[] {
  const { words, blanks, content } = page;
  return words.flatMap((run): Proposal[] => {
    if (!/:\s*$/.test(run.text) || run.text.split(/\s+/).length > 4) return [];
    const { kind } = read(run.text, page, run.y, false);
    // The name of a party without other words is a heading.
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
