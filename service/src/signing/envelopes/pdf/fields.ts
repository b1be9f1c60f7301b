import type { Place } from "../../../kernel/pdf/pages/page-box.ts";
import type { FieldFormat, RequestedField, RuledField, ShowWhen } from "../../../orders/order/order.ts";

/**
 * The kinds of fields that have a place on a page. Each option of a radio or multiple choice is a field of its own. An
 * option of a multiple choice is a checkbox.
 */
export type FieldKind = Exclude<RequestedField["kind"], "multiple">;

/**
 * The properties that a prepared field takes over from its planned field. Each is absent if the order doesn't set it.
 */
type Content = {
  /**
   * The value that the sender entered: the text as drawn, or `On` for a checkbox or option. The preparation writes it,
   * unless a condition may hide the field (`preparedValue`).
   */
  readonly value?: string;
  /** Set for a field that only shows the sender's value and that nobody fills in. */
  readonly readOnly?: true;
  readonly help?: string;
  readonly format?: FieldFormat;
  /** The labels of a dropdown's options. */
  readonly options?: readonly string[];
  /** The label of this option, for an option of a radio or multiple choice. */
  readonly option?: string;
  /**
   * The name by which the rules of other fields refer to this field. All options of one radio or multiple choice have
   * the same name.
   */
  readonly id?: string;
  readonly showWhen?: ShowWhen;
  readonly formula?: string;
  /**
   * The least and the most options of a multiple choice that may be chosen. Set for each option of a multiple choice,
   * and for no other field.
   */
  readonly choices?: { readonly least: number; readonly most: number };
};

/** A field to place on a page for one signer. */
export type PlannedField = Content & {
  readonly kind: FieldKind;
  /** The number of the signer, counted from 1. */
  readonly signer: number;
  /** The number of the page, counted from 0. */
  readonly page: number;
  readonly place: Place;
  /** The question to the signer; null when the field's kind needs none. */
  readonly label?: string | null;
  /** True if the field must be filled; true by default. */
  readonly required?: boolean;
  /** The document's own empty field to use. It keeps its name, except for periods in it (`withoutPeriods`). */
  readonly existing?: ExistingField;
  /** Set for a signature that appears on no page. A certified document allows only such signatures to be added. */
  readonly invisible?: true;
  /**
   * The rectangle that hides the page below the field, relative to the field's lower left corner, in points; none by
   * default.
   */
  readonly covers?: Place;
  /**
   * The index of the first option in the list of planned fields. It is the same for all options of one radio or
   * multiple choice.
   */
  readonly radio?: number;
};

export type ExistingField = {
  /** The object number of the field with its widget; generation 0. */
  readonly object: number;
  /** The fully qualified name. */
  readonly name: string;
  /** For an option of one of the document's own radios: the radio. */
  readonly radio?: { readonly object: number; readonly name: string };
};

/** A field of the prepared document. */
export type PreparedField = Content & {
  /**
   * The kind of field. A `mark` only shows a signer's signature once more; just one field of each signer is actually
   * signed.
   */
  readonly kind: FieldKind | "mark";
  readonly signer: number;
  /** The fully qualified name of the field, unique in the document. */
  readonly name: string;
  /** The object number of the field with its widget; generation 0. */
  readonly object: number;
  readonly page: number;
  /** The planned place, in points from the upper left corner of the page as shown. */
  readonly place: Place;
  readonly label: string | null;
  readonly required: boolean;
  /** The size of the appearance before rotation, in units of user space. */
  readonly width: number;
  readonly height: number;
  /** The size of a unit of user space, in points. */
  readonly unit: number;
  /** The rotation that turns the appearance upright on the page. */
  readonly matrix: readonly number[];
  /**
   * The rectangle that hides the page below the field, relative to the appearance's lower left corner, in units of user
   * space.
   */
  readonly covers?: Place;
  /** Set for a signature that appears on no page. */
  readonly invisible?: true;
  /** The name of the radio or multiple choice to which this option belongs. */
  readonly group?: string;
};

/** Another person's field to which the rules of a signer's fields refer. `texts` are its values. */
export type ReferencedField = RuledField & { readonly label: string | null; readonly texts: readonly string[] };

/** The appearance states (/AS) of a checkbox and of a radio's option, as written in the document. */
export const ON = "On";
export const OFF = "Off";

/** True if a field is a box that can be checked. */
export const isButton = ({ kind }: { readonly kind: string }): boolean => kind === "checkbox" || kind === "radio";

/** The initials of a name: `JvD` for `Jane van Doe`. */
export const initialsOf = (name: string): string =>
  name
    .split(/\s+/)
    .map((part) => [...part][0] ?? "")
    .join("");

/**
 * The value that the preparation writes. Undefined if a condition may hide the field; then only the act writes a value.
 */
export const preparedValue = ({ value, showWhen }: Pick<Content, "value" | "showWhen">): string | undefined =>
  showWhen ? undefined : value;

/** The texts that the preparation may draw for a field. */
export const textsOf = ({ label, value, options = [], option }: PlannedField): string[] =>
  [label, value, option, ...options].flatMap((text) => text ?? []);

/** The fields that a signer's act fills in and its signature locks. */
export const ownFields = <Field extends Pick<PreparedField, "signer" | "readOnly">>(
  fields: readonly Field[],
  signer: number,
): Field[] => fields.filter((field) => field.signer === signer && !field.readOnly);

export type SignatureMark =
  | { readonly kind: "typed"; readonly text: string }
  /** Strokes of a pen: points in a rectangle of the given size, with y pointing down. */
  | {
      readonly kind: "drawn";
      readonly width: number;
      readonly height: number;
      readonly strokes: readonly (readonly (readonly [number, number])[])[];
    }
  | UploadedMark;

/** A picture of a signature: 8 bits for each sample, row by row from the upper left corner. */
export type UploadedMark = {
  readonly kind: "uploaded";
  readonly width: number;
  readonly height: number;
  /** Red, green and blue for each pixel. */
  readonly rgb: Uint8Array;
  /** The opacity of each pixel; null when all pixels are opaque. */
  readonly alpha: Uint8Array | null;
};

/** The numbers of the signers for whom no signature is planned. @param signers how many signers there are */
export const signersWithout = (planned: readonly PlannedField[], signers: number): number[] =>
  Array.from({ length: signers }, (_, index) => index + 1).filter(
    (signer) => !planned.some((field) => field.kind === "signature" && field.signer === signer),
  );
