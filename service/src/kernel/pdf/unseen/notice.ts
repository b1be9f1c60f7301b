/**
 * Notices about a document, most of them about content that a person may overlook in it. None of them makes the service
 * refuse the document.
 */
export const noticeCodes = [
  /** A place for a signature or text is on top of words of the page; `text` quotes the words. */
  "text_below_place",
  /** Something in the document can change the visible content when a reader runs it; `text` names the kinds. */
  "active_content",
  /** A form in XFA format, which some readers show instead of the pages. */
  "xfa_form",
  /** Form fields without an appearance: each reader draws their values itself. */
  "drawn_by_readers",
  /** A layer that is off and that a reader can switch on: `text` is its name. */
  "hidden_layer",
  /** An annotation that is shown on screens but not printed. */
  "screen_only",
  /**
   * A printout can differ from the screen. The document may tell printers to print another area of the pages, or only
   * some pages, or have a watermark that moves on paper.
   */
  "print_differs",
  /** Sound, films, 3D scenes. */
  "media",
  /** Files inside the document: `text` names them. */
  "attached_files",
  /**
   * Words that the signing page shows under "Read as text", although the PDF page doesn't show them; `text` quotes the
   * words.
   */
  "hidden_text",
  /** Parts of the document could not be examined. */
  "partly_examined",
  /** A document to be notarized that can't be signed electronically: `text` gives the reason. */
  "ink_only",
] as const;

export type NoticeCode = (typeof noticeCodes)[number];

export type DocumentNotice = {
  readonly code: NoticeCode;
  /** The page, counted from 1; null for the whole document. */
  readonly page: number | null;
  readonly text: string | null;
};

/**
 * Thrown to refuse a document with content that readers print or download but don't show. People see the words
 * "document can't be signed:" and this error's message.
 */
export class UnseenContent extends Error {
  constructor(why: string) {
    super(why);
    this.name = "UnseenContent";
  }
}

const maxTextLength = 200;

/** Quotes a text of the document in a notice: one line, cut when it is long. */
export function quoted(text: string): string {
  const line = text.replace(/[\s\p{Cc}\p{Cf}]+/gu, " ").trim();
  const characters = [...line];
  return characters.length <= maxTextLength ? line : `${characters.slice(0, maxTextLength - 1).join("")}…`;
}
