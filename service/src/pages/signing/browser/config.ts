import type { ActFieldKind } from "@signsealship/evidence/envelope";
import type { RuledField } from "../../../orders/order/form/field-rules.ts";
import type { Words } from "../words/en.ts";

/** Texts of the script, with `{name}` placeholders. */
export type ViewerWords = Words["viewer"];

/**
 * A field of the signer. Positions and sizes are in points, from the left and top edges of the page after its rotation.
 */
export type FieldOnPage = Omit<RuledField, "kind"> & {
  readonly name: string;
  readonly kind: ActFieldKind;
  /** The number of the document's page, counted from 1. */
  readonly page: number;
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
  /** The field's label, which the signing page shows and screen readers announce. */
  readonly label: string;
  /** For an option of a radio or multiple choice: the label of the option. */
  readonly option?: string;
  /** For an option of a radio: the label of the whole radio field. */
  readonly radio?: string;
  /** The id of the form input that contains the field's value; null for a date. */
  readonly input: string | null;
  /** For a date field: the date that the document would contain if the signer signed now. */
  readonly value?: string;
  /** The options of a dropdown. */
  readonly options?: readonly string[];
  /** True if a field with a condition is required while it is shown. */
  readonly required?: boolean;
  /** For an option of a multiple choice: the least and the most options that may be chosen. Other fields have none. */
  readonly choices?: { readonly least: number; readonly most: number };
  readonly group?: string;
};

/** A field of another signer. The conditions or the numbers of this signer's fields depend on it. */
export type ReferencedField = RuledField & { readonly texts: readonly string[] };

/** Data for the script, as JSON in the page. */
export type SigningConfig = {
  readonly document: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly pages: number;
  /** The URL of the folder with the files of pdf.js. */
  readonly pdfjs: string;
  /** The URL to which the script reports that the page was opened. */
  readonly opened: string;
  /** The URL of the script that verifies a prepared act. */
  readonly check: string;
  /** The URL of the script that reads the document's text. */
  readonly text: string;
  /** The URL of the script that evaluates conditions and numbers. Null when no field has a condition or a number. */
  readonly rules: string | null;
  /**
   * The URLs for signing with the browser's own key: `prepare` prepares the act, and `complete` completes it. `signed`
   * is the page to open afterwards.
   */
  readonly prepare: string;
  readonly complete: string;
  readonly signed: string;
  /**
   * The signer's own fields. The list is empty before the signer consents. In front of a notary, it is also empty while
   * the notary has not let the signer sign.
   */
  readonly fields: readonly FieldOnPage[];
  readonly referenced: readonly ReferencedField[];
  /** The initials of the signer's name. The page suggests them until the signer has entered initials. */
  readonly initials: string;
  /** True if the signer has just consented, so that the page scrolls to the first field. */
  readonly toFirstField: boolean;
  readonly words: ViewerWords;
};
