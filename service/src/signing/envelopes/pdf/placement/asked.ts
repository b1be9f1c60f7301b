import type { Place } from "../../../../kernel/pdf/pages/page-box.ts";
import type { RequestedField } from "../../../../orders/order/order.ts";
import { ON, type PlannedField } from "../fields.ts";

const isSpread = ({ kind }: RequestedField): boolean => kind === "radio" || kind === "multiple";

/**
 * For each planned field, the name of the element of the order's `fields` that requested it. A radio or multiple choice
 * has one planned field for each of its options.
 */
export const elementNames = (fields: readonly RequestedField[]): string[] =>
  fields.flatMap((field, index) =>
    placesOf(field).map((_, option) => (isSpread(field) ? `fields[${index}].options[${option}]` : `fields[${index}]`)),
  );

type Asking = { readonly place: Place; readonly option?: string };

/** The places of a field or of its options, in coordinates from the upper left corner of the page as shown. */
function placesOf(field: RequestedField): Asking[] {
  const { x, y, width, height, options = [] } = field;
  if (!isSpread(field)) return [{ place: { x, y, width, height } }];
  return options.flatMap(({ label, place }) => (place ? [{ place, option: label }] : []));
}

/**
 * The planned fields for an element of the order's `fields`, one for each place.
 * @param first the number of fields that are already planned
 */
export function asked(field: RequestedField, first: number): PlannedField[] {
  const { signer, page, label, required, help, value, readOnly, format, options } = field;
  const { id, showWhen, formula, choices } = field;
  const kind = field.kind === "multiple" ? "checkbox" : field.kind;
  return placesOf(field).map(({ place, option }) => ({
    kind,
    signer,
    page: page - 1,
    place,
    label,
    required,
    ...(help !== undefined && { help }),
    ...(readOnly && { readOnly }),
    ...(format !== undefined && { format }),
    ...(kind === "dropdown" && options && { options: options.map((each) => each.label) }),
    ...(option !== undefined && { option, radio: first }),
    ...(id !== undefined && { id }),
    ...(showWhen && { showWhen }),
    ...(formula !== undefined && { formula }),
    ...(choices && { choices }),
    ...valueAt(option === undefined ? value : value === option ? ON : undefined),
  }));
}

const valueAt = (value: string | undefined) => (value === undefined ? {} : { value });
