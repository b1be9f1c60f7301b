import { OFF, type PreparedField } from "../pdf/fields.ts";
import type { SenderValue, ShownField } from "./view.ts";

/**
 * A field as the signing page shows it.
 * @param now formats the current date
 */
export const shownField = (field: PreparedField, now: (format: PreparedField["format"]) => string): ShownField => {
  const { name, kind, page, place, label, required, invisible, help, format, options, option, group } = field;
  const { id, showWhen, formula, choices } = field;
  const value = kind === "date" ? now(format) : field.value;
  return {
    name,
    kind,
    page: page + 1,
    left: place.x,
    top: place.y,
    // An invisible signature has no place in the document, but the page needs an area in which the signer draws or
    // types.
    width: invisible ? 180 : place.width,
    height: invisible ? 24 : place.height,
    label: invisible ? null : label,
    required,
    ...(invisible && { invisible }),
    ...(value !== undefined && { value }),
    ...(help !== undefined && { help }),
    ...(format !== undefined && { format }),
    ...(options && { options }),
    ...(option !== undefined && { option }),
    ...(group !== undefined && { group }),
    ...(id !== undefined && { id }),
    ...(showWhen && { showWhen }),
    ...(formula !== undefined && { formula }),
    ...(choices && { choices }),
  };
};

/** The sender's value of a read-only field, or nothing. An option is shown only if the sender selected it. */
export function senderValue({ kind, label, page, option, value, readOnly }: PreparedField): SenderValue[] {
  if (!readOnly || (option !== undefined && value === undefined)) return [];
  return [{ kind, label, page: page + 1, value: value ?? OFF, ...(option !== undefined && { option }) }];
}
