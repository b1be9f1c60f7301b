import type { Place } from "../../../kernel/pdf/pages/page-box.ts";
import type { ShowWhen } from "./field-rules.ts";
import type { FieldFormat } from "./field-values.ts";
import type { requestedKinds } from "./signing-schemas.ts";

/** A field that the order requests. Its place is in points from the upper left corner of the displayed page. */
export type RequestedField = {
  readonly kind: (typeof requestedKinds)[number];
  /** The number of the signer, counted from 1. */
  readonly signer: number;
  /** The number of the page, counted from 1. */
  readonly page: number;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly label: string | null;
  readonly required: boolean;
  // This member and the following ones are absent when the order doesn't set them. So the MACs of orders from before
  // these members existed stay valid.
  readonly help?: string;
  /** The value to draw: a text, `On` for a checkbox, or the label of an option. */
  readonly value?: string;
  readonly readOnly?: true;
  readonly format?: FieldFormat;
  /** The name with which the rules of other fields refer to this field. */
  readonly id?: string;
  readonly showWhen?: ShowWhen;
  /** For a calculated number field: its formula. */
  readonly formula?: string;
  /** For a multiple choice: the number of options that the signer must choose at least, and may choose at most. */
  readonly choices?: { readonly least: number; readonly most: number };
  /** The options of a radio, a multiple choice or a dropdown. */
  readonly options?: readonly RequestedOption[];
};

/** An option of a field. The options of a radio and of a multiple choice each have their own position. */
export type RequestedOption = { readonly label: string; readonly place?: Place };
