import type { Place } from "../../../kernel/pdf/pages/page-box.ts";
import type { ShowWhen } from "./field-rules.ts";
import type { FieldFormat } from "./field-values.ts";
import type { requestedKinds } from "./signing-schemas.ts";

/** A field as the order requests it, in points from the upper left corner of the displayed page. */
export type RequestedField = {
  readonly kind: (typeof requestedKinds)[number];
  /** From 1. */
  readonly signer: number;
  /** From 1. */
  readonly page: number;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly label: string | null;
  readonly required: boolean;
  // Absent where the order says nothing: the MAC of an order from before these members holds.
  readonly help?: string;
  /** Text as it is drawn; of a checkbox `On`; of a radio or a dropdown the label of an option. */
  readonly value?: string;
  readonly readOnly?: true;
  readonly format?: FieldFormat;
  /** The name of the field in the rules of other fields. */
  readonly id?: string;
  readonly showWhen?: ShowWhen;
  /** The formula of a number that is calculated. */
  readonly formula?: string;
  /** The number of options that are chosen in a multiple. */
  readonly choices?: { readonly least: number; readonly most: number };
  /** The options of a radio, a multiple or a dropdown. */
  readonly options?: readonly RequestedOption[];
};

/** One of the choices of a field. A radio and a multiple show each at its own place. */
export type RequestedOption = { readonly label: string; readonly place?: Place };
