import fieldWords from "../../../../data/field-words.json" with { type: "json" };

/** The kinds of fields that blanks ask for. */
export type Kind = "signature" | "initials" | "date" | "name" | "text" | "checkbox";

/**
 * Words that determine the kind of a blank. The first pattern that matches decides. A `notary` blank is for people
 * other than the signers. An `other` blank requires a value that no kind of field fits.
 */
export type Pattern = { readonly is: Kind | "other" | "notary"; readonly words: RegExp };

/**
 * A pattern in the data file: the alternatives, and expressions that must match the text before and after each of them.
 */
type Words = {
  readonly before?: string;
  readonly any: readonly string[];
  readonly after?: string;
  readonly flags?: string;
};

/** The file with the words to look for. Words can be added to it without a change of code. */
export type FieldWords = {
  readonly parties: readonly Words[];
  readonly labels: readonly (Words & { readonly is: Pattern["is"] })[];
  readonly execution: Words;
  readonly reserved: readonly {
    readonly opens: Words;
    readonly needs?: Words;
    readonly unless?: Words;
    readonly closes?: Words;
    readonly height?: number;
  }[];
  readonly subjects: Words;
  readonly witness: Words;
  readonly witnessHeading: Words;
  readonly witnessClause: Words;
};

const data = fieldWords as FieldWords;

function pattern({ before = "", any, after = "", flags = "i" }: Words, parties = ""): RegExp {
  const alternatives = any.join("|").replace("{parties}", parties);
  return new RegExp(before === "" && after === "" ? alternatives : `${before}(?:${alternatives})${after}`, flags);
}

/** The words that forms use for parties, such as "Seller", in English, Spanish and French. */
export const parties: readonly RegExp[] = data.parties.map((words) => pattern(words));

/** Patterns for the words of a label, without its colon and its blanks. The words of parties come last. */
const labelPatterns: readonly Pattern[] = [
  ...data.labels.map(({ is, ...words }) => ({
    is,
    words: pattern(words, parties.map(({ source }) => source).join("|")),
  })),
  ...parties.map((words) => ({ is: "signature", words }) as const),
];

/**
 * Words such as "in witness whereof", below which people sign. Below them, the name of a party or person marks a place
 * to sign.
 */
export const executionWords = pattern(data.execution);

/** A part of a page whose blanks are for people other than the signers. */
type ReservedPart = {
  readonly opens: RegExp;
  /**
   * Words that must also occur further down the page. Without them, the words that open the part have no effect,
   * because words such as "acknowledgment" occur in any document.
   */
  readonly needs?: RegExp;
  /**
   * If these words occur further down, the page is an affidavit. Its signer signs above these words, so the part is not
   * reserved.
   */
  readonly unless?: RegExp;
  readonly closes?: RegExp;
  /**
   * The height of the part in points. A part without a height ends at its closing words or, if there are none, at the
   * end of the page.
   */
  readonly height?: number;
};

export const reservedParts: readonly ReservedPart[] = data.reserved.map(
  ({ opens, needs, unless, closes, height }): ReservedPart => ({
    opens: pattern(opens),
    ...(needs && { needs: pattern(needs) }),
    ...(unless && { unless: pattern(unless) }),
    ...(closes && { closes: pattern(closes) }),
    ...(height !== undefined && { height }),
  }),
);

/**
 * Words for the person whom a form is about, such as a patient. If another label on the form asks for a signature, a
 * label with such a word asks for that person's name.
 */
export const subjects = pattern(data.subjects);

/** Words for witnesses in the label of a blank. */
export const witnessWords = pattern(data.witness);

/** A heading above the lines of a witness. */
export const witnessHeading = pattern(data.witnessHeading);

/** The end of a sentence after which witnesses sign. */
export const witnessClause = pattern(data.witnessClause);

/** Distances in points, unless a comment says otherwise. */
export const measures = {
  /** The least width of a blank for words. A shorter blank is for a number or initials. */
  minBlank: 50,
  minInitials: 18,
  /** The greatest width of a blank for initials before an item of a list. A wider blank is for words. */
  maxInitials: 60,
  /** The greatest distance from words that ask for initials down to the blanks before a list's items. */
  initialsAbove: 500,
  /** A share of the page's height. Further down than this, short blanks after a party's name are for initials. */
  foot: 0.85,
  /**
   * The greatest vertical distance from a cell for a date or name to the place where the same person signs or initials.
   */
  cellsOfSigner: 120,
  /**
   * The greatest vertical distance from a date to a signature. A date that is further from every signature is not the
   * date of signing.
   */
  dateOfSigner: 240,
  /**
   * The greatest distance from a signer's line down to the next line. An unlabeled line within this distance is of the
   * same kind as the signer's line.
   */
  nextLine: 50,
  /** A text with fewer words than this is a label or a heading. */
  wordsOfSentence: 9,
  /**
   * Shares of the page's width. A longer box (`maxBlank`) or rule (`maxRule`) is not a blank: it divides the page.
   */
  maxBlank: 0.8,
  maxRule: 0.74,
  /** The greatest distance from the end of a label to the blank on its right. */
  labelBeside: 160,
  /** The greatest distance from the end of a label with a colon to the blank on its right. */
  labelFarBeside: 260,
  /**
   * The least height of a box that a party's name may label. In a flatter box, a party's name without a colon is a
   * heading.
   */
  minLabeledBox: 28,
  /** If a label without a colon is further from its blank than this, a label below the blank has priority. */
  labelNear: 40,
  /**
   * The most words in a label above a blank if the label names a signature or initials. Any other label there may have
   * at most four words.
   */
  wordsAbove: 7,
  /** The most words for a label in parentheses: "(signature preceded by ...)". */
  wordsOfRemark: 12,
  /** The greatest distances from a blank down to its label, and up to a label that asks for no signature. */
  labelBelow: 18,
  labelAboveDate: 38,
  /** A label above a blank may be this much wider than the blank. */
  labelWider: 50,
  /**
   * The greatest distance from a blank up to a label that asks for a signature. The space between the two is room to
   * sign.
   */
  labelFarAbove: 52,
  /** A blank next to "Date" that is narrower than this is for a part of a date. */
  minDate: 36,
  /** The least width of a line for a signature, if no label asks for a signature. */
  minSignature: 110,
  /** The least width of a line for a signature above a person's name. */
  minNamed: 90,
  /**
   * The greatest distances from a line to words below it that ask for the signer's name. `blockBelow`: the vertical
   * distance. `blockIndent`: the distance between their left ends.
   */
  blockBelow: 30,
  blockIndent: 16,
  /** The greatest height of a table row whose lower edge is the line to write on. */
  rowHeight: 30,
  /** The greatest height of a field for a signature or initials, and of any other field. */
  signatureHeight: 26,
  textHeight: 16,
  /**
   * In points. Words that are this close to the writing line of their box are on that line. The field then begins to
   * the right of these words.
   */
  besideLabel: 11,
  /** A share of the page's width. A longer line is not for a signature, if the words below it match no pattern. */
  maxSignature: 0.6,
  /**
   * Points of empty space above a line. With `roomToSign`, a line with an unknown title below it can still be for a
   * signature. With less than `minRoom`, a line is not for a signature, whatever its label says.
   */
  roomToSign: 18,
  minRoom: 9.5,
  widest: 260,
} as const;

/** Characters that point from a label to its blank. */
export const arrows = "=>▶►➤→▸⯈";

export const endMarks = new RegExp(`[\\s:${arrows}]+$`, "u");

/** The most characters in a label. A longer text is a paragraph, on which patterns with lookahead would be slow. */
const maxLabelLength = 400;

/** The kind of blank that the label's words ask for; null when no pattern matches them. */
export function kindOfLabel(label: string): Pattern["is"] | null {
  const words = label
    .replace(/[\s:_.…*]+$/u, "")
    // Removes the numbers of items, and arrows that point to the blank.
    .replace(endMarks, "")
    .replace(/^[\s_.…*]+/u, "")
    .replace(/^\d{1,3}[a-z]?[.)]\s+/i, "")
    .trim();
  if (words === "" || words.length > maxLabelLength) return null;
  return labelPatterns.find((pattern) => pattern.words.test(words))?.is ?? null;
}
