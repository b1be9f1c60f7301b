import type { PdfDocument } from "../pdf/document.ts";
import { fieldTexts, replacedSince } from "../pdf/pdf.ts";

/** The kinds of fields that an act fills in. A `mark` shows the signature once more; a `radio` is one option of a radio. */
export type ActFieldKind =
  | "signature"
  | "mark"
  | "initials"
  | "date"
  | "name"
  | "text"
  | "number"
  | "checkbox"
  | "radio"
  | "dropdown";

/** The signer's own fields by fully qualified name. The options of one radio differ in what follows the last dot. */
export type ActFields = ReadonlyMap<string, ActFieldKind>;

const drawn = ["V", "AP"];
/** The drawings of both states are in the prepared document: an act that brings another could show what nobody checked. */
const stated = ["V", "AS"];

const isButton = (kind: ActFieldKind): boolean => kind === "checkbox" || kind === "radio";

/**
 * Whether an act replaces nothing but the signer's own fields, and of each only what filling in needs. This is stricter
 * than PDF readers are: they let a revision redraw a checkbox. Checkboxes have one of two states, and of a radio at most
 * one option is on.
 *
 * @param end where the document before the act ends
 * @throws EvidenceError when the fields of the document are unreadable
 */
export function fillsOwnFields(document: PdfDocument, end: number, fields: ActFields): boolean {
  const replaced = replacedSince(document, end);
  if (replaced === null) return false;
  const isFilling = replaced.every(({ field, keys }) => {
    const kind = field === null ? undefined : fields.get(field);
    if (kind === undefined || keys === null) return false;
    const allowed = isButton(kind) ? stated : drawn;
    return keys.every((key) => allowed.includes(key));
  });
  return isFilling && areStates(fieldTexts(document), fields);
}

function areStates(texts: ReadonlyMap<string, string | null>, fields: ActFields): boolean {
  const chosen = new Set<string>();
  return [...fields].every(([name, kind]) => {
    if (!isButton(kind)) return true;
    const state = texts.get(name);
    if (kind === "checkbox" || state !== "On") return state === "On" || state === "Off";
    const radio = name.slice(0, name.lastIndexOf("."));
    if (chosen.has(radio)) return false;
    chosen.add(radio);
    return true;
  });
}
