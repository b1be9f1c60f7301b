import type { ActFieldKind } from "@signsealship/evidence/envelope";
import type { RuledField } from "../../../orders/order/form/field-rules.ts";
import type { Words } from "../words/en.ts";

/** Texts of the script, with `{name}` placeholders. */
export type ViewerWords = Words["viewer"];

/** A field of the signer: points from the left and the top of the upright page. */
export type PlacedField = Omit<RuledField, "kind"> & {
  readonly name: string;
  readonly kind: ActFieldKind;
  /** From 1. */
  readonly page: number;
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
  /** As the page names it. */
  readonly label: string;
  /** The value that is chosen by an option of a radio or a multiple. */
  readonly option?: string;
  /** The label of the radio that it is an option of. */
  readonly radio?: string;
  /** The id of the input that holds its value; null for a date. */
  readonly input: string | null;
  /** The date as the document shows it if the signer signs now. */
  readonly value?: string;
  /** The options of a dropdown. */
  readonly options?: readonly string[];
  /** Whether a field with a condition must be filled in while it is shown. */
  readonly required?: boolean;
  /** The number of choices in a multiple's group; only its options have it. */
  readonly choices?: { readonly least: number; readonly most: number };
  readonly group?: string;
};

/** A field of somebody else that the signer's rules read. */
export type KnownField = RuledField & { readonly texts: readonly string[] };

/** Data for the script, as JSON in the page. */
export type SigningConfig = {
  readonly document: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly pages: number;
  /** The folder of pdf.js. */
  readonly pdfjs: string;
  /** The address that records that the page was opened. */
  readonly opened: string;
  /** The script that verifies a prepared act. */
  readonly check: string;
  /** Where an act is prepared for a key of the browser, where it is completed, and where the page goes then. */
  readonly prepare: string;
  readonly complete: string;
  readonly signed: string;
  /** Empty before the consent. */
  readonly fields: readonly PlacedField[];
  readonly known: readonly KnownField[];
  /** Whether the signer has just agreed, and is to be led to the first field. */
  readonly toFirstField: boolean;
  readonly words: ViewerWords;
};
