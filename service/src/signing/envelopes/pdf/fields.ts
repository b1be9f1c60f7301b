import type { Place } from "../../../kernel/pdf/pages/page-box.ts";
import type { FieldFormat, RequestedField, ShowWhen } from "../../../orders/order/order.ts";

/** The kinds of input that a signer gives at a place. A radio has one place per option; the options of a multiple are checkboxes. */
export type FieldKind = Exclude<RequestedField["kind"], "multiple">;

/** The members of a field besides its place. Absent where the order does not state them. */
type Content = {
  /** The sender's value, written at preparation: text as it is drawn; of a checkbox or an option `On`. */
  readonly value?: string;
  /** Nobody fills it in: it shows the sender's value. */
  readonly readOnly?: true;
  readonly help?: string;
  readonly format?: FieldFormat;
  /** The labels of a dropdown's choices. */
  readonly options?: readonly string[];
  /** The label of an option of a radio or a multiple. */
  readonly option?: string;
  /** The name of the field in the rules of other fields. The options of one element share it. */
  readonly id?: string;
  readonly showWhen?: ShowWhen;
  readonly formula?: string;
  /** The number of choices in a multiple's group; only its options have it. */
  readonly choices?: { readonly least: number; readonly most: number };
};

/** A field to be put on a page, for one signer. */
export type PlannedField = Content & {
  readonly kind: FieldKind;
  /** From 1. */
  readonly signer: number;
  /** From 0. */
  readonly page: number;
  readonly place: Place;
  /** The question to the signer; null for a field whose kind says it. */
  readonly label?: string | null;
  /** Whether it must be filled; true by default. */
  readonly required?: boolean;
  /** An empty signature field that the document has: it is signed itself. */
  readonly existing?: ExistingField;
  /** A signature that no page shows: all that a certified document lets anybody add. */
  readonly invisible?: true;
  /** The part that hides the page below it: measured from its lower left corner, in points; nothing by default. */
  readonly covers?: Place;
  /** The options of one radio or one multiple have the same number. */
  readonly radio?: number;
};

export type ExistingField = {
  /** The object number of field and widget, generation 0. */
  readonly object: number;
  /** The fully qualified name. */
  readonly name: string;
};

/** A field as the prepared document has it. */
export type PreparedField = Content & {
  /** A `mark` shows the signature of a signer once more: what is signed is one field. */
  readonly kind: FieldKind | "mark";
  readonly signer: number;
  /** The fully qualified name of the field, unique in the document. */
  readonly name: string;
  /** The object number of field and widget, generation 0. */
  readonly object: number;
  readonly page: number;
  /** As it was planned: points from the upper left corner of the page as it is shown. */
  readonly place: Place;
  readonly label: string | null;
  readonly required: boolean;
  /** The size of the upright appearance, in units of user space. */
  readonly width: number;
  readonly height: number;
  /** Points to a unit of user space. */
  readonly unit: number;
  /** The rotation that turns the appearance upright on the page. */
  readonly matrix: readonly number[];
  /** The part of its appearance that hides what is below: measured from its lower left corner, in units of user space. */
  readonly covers?: Place;
  /** A signature that no page shows. */
  readonly invisible?: true;
  /** The name of the radio or the multiple that this is an option of. */
  readonly group?: string;
};

/** The states of a checkbox and of a radio's option, as their values are written. */
export const ON = "On";
export const OFF = "Off";

/** Whether a field is a box that is checked or not. */
export const isButton = ({ kind }: { readonly kind: PreparedField["kind"] }): boolean =>
  kind === "checkbox" || kind === "radio";

/** The value that preparation writes. One that a condition may hide is drawn by the act, if at all. */
export const preparedValue = ({ value, showWhen }: Pick<Content, "value" | "showWhen">): string | undefined =>
  showWhen ? undefined : value;

/** The texts that a field is drawn with at preparation. */
export const textsOf = ({ label, value, options = [], option }: PlannedField): string[] =>
  [label, value, option, ...options].flatMap((text) => text ?? []);

/** The fields that a signer's act fills in, and its signature locks. */
export const ownFields = <Field extends Pick<PreparedField, "signer" | "readOnly">>(
  fields: readonly Field[],
  signer: number,
): Field[] => fields.filter((field) => field.signer === signer && !field.readOnly);

/** How a signer's signature looks. */
export type SignatureMark =
  | { readonly kind: "typed"; readonly text: string }
  /** Strokes of a pen: points in a rectangle of the given size, y going down. */
  | {
      readonly kind: "drawn";
      readonly width: number;
      readonly height: number;
      readonly strokes: readonly (readonly (readonly [number, number])[])[];
    }
  | UploadedMark;

/** A picture of a signature: 8 bits a sample, row by row from the upper left corner. */
export type UploadedMark = {
  readonly kind: "uploaded";
  readonly width: number;
  readonly height: number;
  /** Red, green and blue of each pixel. */
  readonly rgb: Uint8Array;
  /** How opaque each pixel is; null where all are. */
  readonly alpha: Uint8Array | null;
};

/** The signers who have no place to sign. @param signers how many there are */
export const signersWithout = (planned: readonly PlannedField[], signers: number): number[] =>
  Array.from({ length: signers }, (_, index) => index + 1).filter(
    (signer) => !planned.some((field) => field.kind === "signature" && field.signer === signer),
  );
