import { type Blank, blanksIn, endOf, isInside, overlap, roomAbove, wordsIn } from "./blanks.ts";
import { captionsBelow, cutAtBlanks, hasWords, isShortName } from "./captions.ts";
import type { OwnField, OwnOption, PageContent, Rect } from "./content.ts";
import { executionAbove, isInPart, partsOfOthers, partsOfWitnesses } from "./execution.ts";
import { ofBlank } from "./label-of-blank.ts";
import { beforeArrow, type Found, follows, isArrow, isExplicit, type PageWords, read, wrapped } from "./labels.ts";
import { arrows, type Kind, kindOfLabel, measures } from "./patterns.ts";
import { ofSigners, type Piece, type Reason } from "./pieces.ts";
import { roleOf, textsNear } from "./role.ts";
import type { Run } from "./runs.ts";
import { ofWitness, piecesOfWitnesses, witness } from "./witnesses.ts";

/** A place on a page that looks as if somebody should sign it or fill it in. */
export type Proposal = {
  /** A dropdown or a radio is a field that the document already contains. */
  readonly kind: Kind | "dropdown" | "radio";
  /** For a radio group, the place of its first option. */
  readonly rect: Rect;
  /** The options of a dropdown or a radio; otherwise empty. */
  readonly options: readonly OwnOption[];
  /**
   * The label of a text, a checkbox, a dropdown or a radio group. Empty for other kinds, whose fields need no label.
   */
  readonly label: string;
  /** The words of the page that ask for the signature or the entry. */
  readonly words: string;
  /** The party who signs or fills in this place, according to the words on the page; null when they name no party. */
  readonly role: string | null;
  /** Texts near the place that may contain the signer's name, the nearest first. */
  readonly near: readonly string[];
  readonly reason: Reason;
  /** `low`: the only evidence is a label without a line, or the shape or place of a line. */
  readonly confidence: "high" | "medium" | "low";
};

/** A proposal whose party, nearby texts and confidence are not yet determined. */
type Plain = Omit<Proposal, "role" | "near" | "confidence">;

/**
 * Proposes the fields of a page that its signers sign or fill in. The blanks of notaries and witnesses get no fields.
 */
export const propose = (content: PageContent): Proposal[] => proposeAll(content).signers;

/** Proposes fields for the parties who sign and, separately, for the witnesses of their signatures. */
export function proposeAll(content: PageContent): { signers: Proposal[]; witnesses: Proposal[] } {
  const blanks = isDrawing(content) ? [] : blanksIn(content);
  const words = cutAtBlanks(wordsIn(content), blanks);
  const ofOthers = partsOfOthers(content, words);
  const page: PageWords = { words, blanks, content, isExecution: executionAbove(words, ofOthers) };
  const parts = partsOfWitnesses(content, words, blanks);
  const reserved = [...ofOthers, ...parts];
  const own = content.own.flatMap((field) => ofOwnField(field, page));
  const lined = piecesOf(
    blanks.filter((blank) => !isInPart(blank, reserved)),
    page,
  ).flatMap((piece) => asProposal(piece, page));
  const unlined = ofLabelsAlone(page).filter(({ rect }) => !isInPart({ x: rect.x, y: rect.y + rect.height }, reserved));
  const theirs = apart([
    ...content.own.flatMap((field) => ofWitness(field).flatMap((each) => ofOwnField(each, page))),
    ...piecesOfWitnesses(
      blanks.filter((blank) => !isInPart(blank, ofOthers)),
      page,
      parts,
    ).flatMap((piece) => asProposal(piece, page)),
  ]);
  // A blank for a date or name that is next to a witness's line is for the witness. That is so even outside the part
  // below the witnesses' heading.
  const isTheirs = ({ kind, rect }: Plain) =>
    (kind === "date" || kind === "name") && theirs.some((each) => each.kind === kind && meet(each.rect, rect));
  const signers = apart([...own, ...lined, ...unlined]).filter((each) => !isTheirs(each));
  const witnesses = theirs.filter(({ rect }) => !signers.some((each) => meet(each.rect, rect)));
  const read = (each: Plain, role: string | null): Proposal => ({
    ...each,
    role,
    near: textsNear(each.rect, page),
    confidence: confidenceOf(each),
  });
  return {
    signers: signers.map((each) => read(each, roleOf(each.words, each.rect, page))),
    witnesses: witnesses.map((each) => read(each, witness)),
  };
}

/** Drops proposals that overlap an earlier one, and sorts the rest from the top of the page. */
function apart(proposals: readonly Plain[]): Plain[] {
  const found: Plain[] = [];
  for (const proposal of proposals) if (!found.some(({ rect }) => meet(rect, proposal.rect))) found.push(proposal);
  return found.sort((a, b) => a.rect.y - b.rect.y || a.rect.x - b.rect.x);
}

function confidenceOf({ kind, words, reason }: Plain): Proposal["confidence"] {
  if (reason === "like_others" || reason === "signer_block" || reason === "label_alone") return "low";
  if (reason === "own_field" || reason === "initials_list") return "high";
  return kind !== "signature" || isExplicit(words) ? "high" : "medium";
}

/**
 * True for a page with too many words or lines to be a form. It is not searched for blanks, because each line is
 * compared with each word.
 */
const isDrawing = ({ runs, rules, boxes }: PageContent): boolean =>
  runs.length > 4_000 || rules.length + boxes.length > 1_000;

function piecesOf(blanks: readonly Blank[], page: PageWords): Piece[] {
  const pieces = blanks.flatMap((blank) => ofBlank(blank, page));
  return ofSigners([...pieces, ...likeOthers(blanks, pieces, page)], page);
}

/**
 * Finds blank lines that resemble those of signers. One kind is a line above a title that matches no pattern, such as
 * "Physician". The other is a line without words, in the column of a signer's line.
 */
function likeOthers(blanks: readonly Blank[], pieces: readonly Piece[], page: PageWords): Piece[] {
  return blanks.flatMap((blank): Piece[] => {
    if (blank.box || pieces.some((piece) => piece.blank === blank)) return [];
    const [caption, ...more] = captionsBelow(blank, page);
    if (caption) {
      const isLike = more.length === 0 && isShortName(caption) && isRoomToSign(blank, page);
      return isLike ? [{ blank, found: { label: caption.text, kind: "signature" }, reason: "like_others" }] : [];
    }
    const found = hasWords(blank, page) ? null : (foundAbove(blank, blanks, pieces)?.found ?? null);
    return found?.kind === "signature" || found?.kind === "date" ? [{ blank, found, reason: "like_others" }] : [];
  });
}

/**
 * The nearest piece above a line in its column of lines. Undefined if two lines of the column are further apart than
 * `nextLine`.
 */
function foundAbove(blank: Blank, blanks: readonly Blank[], pieces: readonly Piece[]): Piece | undefined {
  let last = blank;
  for (let steps = 0; steps < 20; steps++) {
    const above = blanks
      .filter(
        ({ x, y, width, box }) => !box && Math.abs(x - last.x) < 2 && Math.abs(width - last.width) < 2 && y < last.y,
      )
      .sort((a, b) => b.y - a.y)[0];
    if (!above || last.y - above.y < 10 || last.y - above.y > measures.nextLine) return undefined;
    const piece = pieces.find((each) => each.blank === above);
    if (piece) return piece;
    last = above;
  }
  return undefined;
}

/** True if a line of the usual width has room for a signature above it, at a height where people sign. */
const isRoomToSign = (blank: Blank, { words, blanks, content, isExecution }: PageWords): boolean =>
  isExecution(blank.y) &&
  blank.width >= measures.minSignature &&
  blank.width <= measures.maxSignature * content.width &&
  roomAbove(blank, [...words, ...blanks], measures.signatureHeight) >= measures.roomToSign;

const meet = (a: Rect, b: Rect): boolean =>
  overlap(a, b) > 2 && Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y) > 2;

const minWidth = (kind: Kind): number =>
  kind === "initials" ? measures.minInitials : kind === "date" ? measures.minDate : measures.minBlank;

function asProposal({ blank, found, reason }: Piece, { words, blanks, content }: PageWords): Plain[] {
  const { kind, label } = found;
  if (!kind || kind === "other" || kind === "notary" || blank.width < minWidth(kind)) return [];
  if (kind === "date" && words.some((run) => follows(run, blank, 16) && isRestOfDate(run.text))) return [];
  const max = kind === "signature" || kind === "initials" ? measures.signatureHeight : measures.textHeight;
  const onLine = words.filter((run) => blank.box && isInside(run, blank.box) && run.y > blank.y - measures.besideLabel);
  const x = Math.max(blank.x, ...onLine.map((run) => endOf(run) + 4));
  const others = [...words, ...blanks].filter((each) => endOf(each) > x);
  const room = roomAbove(blank, others, max);
  // There is no room to sign between two lines of text.
  if (kind === "signature" && (blank.box?.height ?? room + 2) < measures.minRoom + 2) return [];
  const height = Math.max(room, 10);
  const width = Math.min(endOf(blank) - x, kind === "initials" ? 120 : measures.widest, content.width - x);
  if (width < minWidth(kind)) return [];
  const rect = { x, y: blank.y - height, width, height };
  return [{ kind, rect, options: [], label: labelFor(kind, label), words: label.slice(0, 200), reason }];
}

/**
 * True if the words after a date's blank print the rest of a date. In "this ____ day of ____, 20__", a whole date would
 * otherwise go into the first blank.
 */
const isRestOfDate = (text: string): boolean => /^(?:st|nd|rd|th)?\s*day\s+of\b/i.test(text);

/** Only text fields need a label. Other kinds, such as a signature, are self-explanatory. */
const labelFor = (kind: Kind, label: string): string => (kind === "text" ? label.slice(0, 200) : "");

/** Finds labels, such as "Signature:", with an empty space to the right instead of a line. */
function ofLabelsAlone(page: PageWords): Plain[] {
  const { words, blanks, content } = page;
  return words.flatMap((run): Plain[] => {
    const label = labelAlone(run, page);
    if (label === null || label.split(/\s+/).length > 4) return [];
    const { kind } = read(label, page, run.y, false);
    // A party's name without other words is not a label but a heading, and so is "Signatures:".
    if (kind === "signature" && (!isExplicit(label) || /^signatures:/i.test(label))) return [];
    if (kind !== "signature" && kind !== "date" && kind !== "name" && kind !== "initials") return [];
    const isNear = blanks.some(
      (blank) =>
        (Math.abs(blank.y - run.y) < 24 && endOf(blank) > run.x && blank.x < endOf(run) + measures.labelBeside) ||
        (blank.y > run.y &&
          (blank.box?.y ?? blank.y) < run.y + measures.labelFarAbove &&
          Math.abs(blank.x - run.x) < 14),
    );
    if (isNear) return [];
    const right = words.filter((other) => other !== run && Math.abs(other.y - run.y) < 6 && other.x >= endOf(run) - 1);
    const end = Math.min(content.width - 36, ...right.map(({ x }) => x - 6));
    const width = Math.min(end - endOf(run) - 4, 200);
    if (width < (kind === "initials" ? 40 : 80)) return [];
    const place = { x: endOf(run) + 4, width };
    // If the label is in a row of a table, people write on the bottom line of that row.
    const rows =
      kind === "signature"
        ? [...content.rules, ...content.boxes.map((box) => ({ ...box, y: box.y + box.height }))]
        : [];
    const bottom = rows.find(
      (each) => each.y > run.y && each.y - run.y < measures.labelBelow && overlap(each, place) > 0.5 * width,
    );
    const blank = { ...place, y: bottom?.y ?? run.y + 2, box: null };
    return asProposal({ blank, found: { label, kind }, reason: "label_alone" }, page);
  });
}

/**
 * The label that ends with this run; null if the label doesn't ask for an entry. A label asks for an entry if it ends
 * with a colon or an arrow. So does "Signature of ..." on a row with "Date", as on a W-9. The arrow may be a run of its
 * own, after a label of several lines.
 */
function labelAlone(run: Run, page: PageWords): string | null {
  if (pointing.test(run.text)) return run.text;
  const label = wrapped(run, page);
  const onRow = page.words.filter((other) => Math.abs(other.y - run.y) < 12 && other.x > endOf(run) + 60);
  if (/^signature of \S/i.test(label) && onRow.some(({ text }) => kindOfLabel(text) === "date")) return label;
  const last = isArrow(run) && beforeArrow(run, page);
  return last ? wrapped(last, page) : null;
}

const pointing = new RegExp(`[\\p{L})][ :${arrows}]*[:${arrows}]\\s*$`, "u");

function ofOwnField({ kind, name, rect, options }: OwnField, page: PageWords): Plain[] {
  const { width, height } = page.content;
  const label = name
    .replace(/([a-z])([A-Z])/g, "$1 $2")
    .replace(/[._\-[\]#\d]+/g, " ")
    .trim();
  if (kindOfLabel(label) === "notary" || (rect.width * rect.height) / (width * height) > 0.1) return [];
  const words = label.slice(0, 200);
  if (kind === "dropdown" || kind === "radio")
    return [{ kind, rect, options, label: words, words, reason: "own_field" }];
  // Form editors give fields names such as "Text12". Then the words next to the field decide what it asks for.
  const named = kindOfLabel(label);
  // A field whose name is only a party, such as "Seller", need not be for a signature.
  const isNamed = named !== null && (named !== "signature" || isExplicit(label));
  const meaning = isNamed || kind !== "text" ? named : kindNear(rect, page);
  if (meaning === "notary") return [];
  const isPlaceable = meaning === "date" || meaning === "name" || meaning === "initials" || meaning === "signature";
  const its =
    kind === "text" && isPlaceable ? meaning : kind === "signature" && meaning === "initials" ? meaning : kind;
  return [
    {
      kind: its,
      rect,
      options: [],
      label: its === "text" || its === "checkbox" ? words : "",
      words,
      reason: "own_field",
    },
  ];
}

function kindNear({ x, y, width, height }: Rect, page: PageWords): Found["kind"] {
  const blank = { x, y: y + height - 2, width, box: null };
  const [piece] = ofBlank(blank, { ...page, blanks: page.blanks.filter((other) => !isSame(other, blank)) });
  return piece?.found.kind ?? null;
}

const isSame = (a: Blank, b: Blank): boolean =>
  Math.abs(a.y - b.y) < 10 && overlap(a, b) > 0.5 * Math.min(a.width, b.width);
