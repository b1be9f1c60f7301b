import type { Place } from "../../../kernel/pdf/pages/page-box.ts";
import type { ShowWhen } from "./field-rules.ts";
import type { FieldFormat } from "./field-values.ts";
import type { requestedKinds } from "./signing-schemas.ts";

/** A field that the order requests, in points from the upper left corner of the displayed page. */
export type RequestedField = {
  readonly kind: (typeof requestedKinds)[number];
  /** Counted from 1. */
  readonly signer: number;
  /** Counted from 1. */
  readonly page: number;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly label: string | null;
  readonly required: boolean;
  // Absent when the order doesn't set it, so that MACs of orders from before these members stay valid.
  readonly help?: string;
  /** The value as drawn: a text, `On` for a checkbox, or an option's label for a radio or a dropdown. */
  readonly value?: string;
  readonly readOnly?: true;
  readonly format?: FieldFormat;
  /** The name by which the rules of other fields refer to this field. */
  readonly id?: string;
  readonly showWhen?: ShowWhen;
  /** The formula of a calculated number. */
  readonly formula?: string;
  /** How many options of a multiple choice must be chosen. */
  readonly choices?: { readonly least: number; readonly most: number };
  /** The options of a radio, a multiple choice or a dropdown. */
  readonly options?: readonly RequestedOption[];
};

/** An option of a field. For a radio and a multiple choice, each option has its own position. */
export type RequestedOption = { readonly label: string; readonly place?: Place };
