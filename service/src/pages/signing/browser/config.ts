/** What the script says; `{name}` is filled in. */
export type ViewerWords = Readonly<
  Record<
    | "region"
    | "loading"
    | "failed"
    | "page"
    | "smaller"
    | "larger"
    | "next"
    | "toSign"
    | "toConsent"
    | "change"
    | "fill"
    | "date"
    | "checking"
    | "checked"
    | "unchecked"
    | "altered"
    | "signing"
    | "unsigned"
    | "type"
    | "draw"
    | "drawHere"
    | "textNote"
    | "noText"
    | "upload"
    | "uploadHere"
    | "uploadFailed"
    | "uploaded"
    | "clear"
    | "ok"
    | "cancel"
    | "nameBeside"
    | "fillIn"
    | "drawn",
    string
  >
>;

/** A field of the signer: points from the left and the top of the upright page. */
export type PlacedField = {
  readonly name: string;
  readonly kind: "signature" | "mark" | "initials" | "date" | "name" | "text";
  /** From 1. */
  readonly page: number;
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
  /** As the page names it. */
  readonly label: string;
  /** The id of the input that holds its value; null for a date. */
  readonly input: string | null;
};

/** What a page of signing gives its script, as JSON in the page itself. */
export type SigningConfig = {
  readonly document: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly pages: number;
  /** The folder of pdf.js. */
  readonly pdfjs: string;
  /** Where the page says that it was shown. */
  readonly opened: string;
  /** The script that judges what is to be signed. */
  readonly check: string;
  /** Where an act is prepared for a key of the browser, where it is completed, and where the page goes then. */
  readonly prepare: string;
  readonly complete: string;
  readonly signed: string;
  /** Empty before the consent. */
  readonly fields: readonly PlacedField[];
  readonly words: ViewerWords;
};
