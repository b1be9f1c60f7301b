import { textString } from "../../../kernel/pdf/edit.ts";
import type { Ref } from "../../../kernel/pdf/lexer.ts";
import { fieldLock } from "../../../kernel/pdf/named-fields.ts";
import { type PageBox, type Place, toUserSpace } from "../../../kernel/pdf/pages/page-box.ts";
import { addToForm } from "../../../kernel/pdf/revision/form.ts";
import type { RevisionWriter } from "../../../kernel/pdf/revision/writer.ts";
import type { Dict } from "../../../kernel/pdf/values.ts";
import type { PdfLookup } from "../../../kernel/pdf/xref/lookup.ts";
import type { Appearances, Drawing } from "./appearance.ts";
import { isButton, ownFields, type PlannedField, type PreparedField, preparedValue } from "./fields.ts";
import { changesOf, type LockOf, type OwnField, ofDocument, ownRadios, radioChanges } from "./own-fields.ts";
import { LOCKED, openRadios, PRINT, type Radios, rectangleOf, titleOf, turnOf, valueEntries } from "./values.ts";

/** `dict` is null for the signature page that the service adds to the document. */
export type FieldPage = { readonly ref: Ref; readonly dict: Dict | null; readonly box: PageBox };

/** A field with its widget, before it is written. */
export type Widget = {
  readonly prepared: PreparedField;
  readonly page: FieldPage;
  readonly rect: readonly number[];
  /** The drawing to show. Null for a field that stays unchanged or shows nothing. */
  readonly drawing: Drawing | Both | null;
  readonly label: string;
  /**
   * How writing affects the document: the field is a new object, or one of the document's own fields, changed or kept.
   */
  readonly is: { readonly kind: "new"; readonly ref: string; readonly fill: (body: string) => void } | OwnField;
};

/** The drawings of a box's states. */
type Both = { readonly on: Drawing; readonly off: Drawing };

export type Tools = {
  readonly look: PdfLookup;
  readonly writer: RevisionWriter;
  readonly appearances: Appearances;
  /** The number of signers. */
  readonly signers: number;
  readonly docSha256: string;
  /**
   * The change permission (/P, ISO 32000-2 table 236) in the lock of an act's signature. 2 allows filling in and
   * signing existing fields; null omits the entry.
   */
  readonly permission: 2 | null;
};

const helvetica = "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>";
const defaultFont = `/DR<</Font<</Helv ${helvetica}>>>>`;
const waitsFor: Readonly<Record<PreparedField["kind"], string>> = {
  signature: "Signature",
  mark: "Signature",
  initials: "Initials",
  date: "Date",
  name: "Name",
  text: "Text",
  number: "Number",
  checkbox: "Checkbox",
  radio: "Choice",
  dropdown: "Choice",
};

/**
 * Builds the widget of a planned field.
 * @param at the field's index in the list, whether it is its signer's first field of this kind, and its page
 */
export function widgetOf(
  field: PlannedField,
  at: { readonly index: number; readonly isFirst: boolean; readonly page: FieldPage },
  { look, writer, appearances, signers, docSha256 }: Tools,
): Widget {
  const { signer, page: number, existing } = field;
  const kind: PreparedField["kind"] = field.kind === "signature" && !at.isFirst ? "mark" : field.kind;
  const { rect, ...shape } = toUserSpace(at.page.box, drawnPlace(field));
  const is = existing ? ofDocument(look, existing) : ({ kind: "new", ...writer.reserve() } as const);
  // The name contains the hash of the uploaded document, so no field in that document can already have this name.
  const nameAt = (index: number) => `SignSealShip-${docSha256.slice(0, 16)}-${signer}-${index + 1}-${kind}`;
  const group = existing?.radio?.name ?? (field.radio === undefined ? undefined : nameAt(field.radio));
  const name =
    existing?.name ?? (group === undefined ? nameAt(at.index) : `${group}.o${at.index - (field.radio ?? 0) + 1}`);
  const asks = [field.label ?? waitsFor[kind], ...(field.option ? [field.option] : [])].join(": ");
  // A signer number above the number of signers means the notary.
  const label = signer > signers ? asks : `${asks}, signer ${signer}`;
  const object = existing?.object ?? (is.kind === "new" ? Number.parseInt(is.ref, 10) : 0);
  const prepared = {
    kind,
    signer,
    name,
    object,
    page: number,
    place: field.place,
    label: field.label ?? null,
    required: field.required ?? true,
    unit: at.page.box.unit,
    ...covering(field, at.page.box.unit),
    ...(field.invisible && { invisible: field.invisible }),
    ...contentOf(field),
    ...(group !== undefined && { group }),
    ...shape,
  };
  const isShown = is.kind !== "kept" && !field.invisible;
  const drawing = isShown ? drawn(prepared, signers === 1 ? asks : label, appearances) : null;
  return { prepared, page: at.page, rect, drawing, label, is };
}

const contentOf = ({ value, readOnly, help, format, options, option, ...rules }: PlannedField) => ({
  ...(value !== undefined && { value }),
  ...(readOnly && { readOnly }),
  ...(help !== undefined && { help }),
  ...(format !== undefined && { format }),
  ...(options && { options }),
  ...(option !== undefined && { option }),
  ...(rules.id !== undefined && { id: rules.id }),
  ...(rules.showWhen && { showWhen: rules.showWhen }),
  ...(rules.formula !== undefined && { formula: rules.formula }),
  ...(rules.choices && { choices: rules.choices }),
});

function drawn(field: PreparedField, waiting: string, appearances: Appearances): Drawing | Both {
  const round = field.kind === "radio";
  if (isButton(field))
    return {
      on: appearances.box(field, { round, on: true }),
      off: appearances.box(field, { round, on: false }),
    };
  const value = preparedValue(field);
  return value === undefined ? appearances.empty(field, waiting) : appearances.text(field, value);
}

/** The area of a field's drawing. A box may be smaller than the tag that it hides, so its drawing covers both. */
function drawnPlace({ kind, place, covers }: PlannedField): Place {
  if (!covers || (kind !== "checkbox" && kind !== "radio")) return place;
  const width = Math.max(place.width, covers.x + covers.width);
  const height = Math.max(place.height, covers.y + covers.height);
  return { x: place.x, y: place.y + place.height - height, width, height };
}

function covering({ covers }: PlannedField, unit: number): Pick<PreparedField, "covers"> {
  if (!covers) return {};
  const { x, y, width, height } = covers;
  return { covers: { x: x / unit, y: y / unit, width: width / unit, height: height / unit } };
}

/** Writes fields and widgets into the revision. Adds the new ones to the document's form. */
export function writeWidgets({ look, writer, appearances, permission }: Tools, widgets: readonly Widget[]): void {
  if (widgets.every(({ is }) => is.kind === "kept")) return;
  const formOf = appearances.addTo(writer);
  const lockOf = locksOf(widgets, permission);
  const radios = openRadios(writer);
  for (const { is, ...widget } of widgets) {
    const { drawing } = widget;
    const both = drawing && "on" in drawing;
    const form = both ? `<</On ${formOf(drawing.on)}/Off ${formOf(drawing.off)}>>` : formOf(drawing);
    if (is.kind === "new") is.fill(bodyOf(widget, { lockOf, form, radios, ref: is.ref }));
    if (is.kind === "changed") writer.set(is.ref, is.dict, changesOf(widget, is.dict, lockOf, form));
  }
  for (const [radio, label] of ownRadios(widgets)) writer.set(radio.ref, radio.dict, radioChanges(radio.dict, label));
  radios.write();
  // The document's form lists the options of a radio through their parent field.
  const fields = [...newOf(widgets.filter(({ prepared }) => prepared.group === undefined)), ...radios.refs()];
  const texts = widgets.some(({ prepared }) => prepared.kind !== "signature");
  addToForm(look, writer, fields, texts ? defaultFont : "");
}

/** The references of the new widgets. */
export const newOf = (widgets: readonly Widget[]): string[] =>
  widgets.flatMap(({ is }) => (is.kind === "new" ? [is.ref] : []));

type Parts = {
  readonly lockOf: LockOf;
  readonly form: string;
  readonly radios: Radios;
  readonly ref: string;
};

/** The dictionary of a field, merged with its widget (ISO 32000-1 12.7.3 and 12.5.6.19). */
function bodyOf({ prepared, page, rect, label }: Omit<Widget, "is">, { lockOf, form, radios, ref }: Parts): string {
  const { kind, name, signer, matrix, invisible, group } = prepared;
  const turned = matrix[0] === 1 ? "" : `/MK<</R ${turnOf(matrix)}>>`;
  const option = group === undefined ? null : radios.add(group, prepared.label, ref);
  const title = option ? `/T${titleOf(name)}/Parent ${option}` : `/T(${name})`;
  const start = `<</Type/Annot/Subtype/Widget${title}/TU${textString(label)}/P ${page.ref.num} ${page.ref.gen} R`;
  if (invisible) return `${start}/Rect[0 0 0 0]/FT/Sig/F ${PRINT | LOCKED}/Lock ${lockOf(signer)}>>`;
  const common = `${start}/Rect${rectangleOf(rect)}/AP<</N ${form}>>${turned}`;
  if (kind !== "signature") return `${common}${written(valueEntries(prepared))}/F ${PRINT}>>`;
  return `${common}/FT/Sig/F ${PRINT | LOCKED}/Lock ${lockOf(signer)}>>`;
}

/**
 * Writes the entries of a PDF dictionary. A number needs a space before it; the other values begin with a delimiter.
 */
const written = (entries: Readonly<Record<string, string>>): string =>
  Object.entries(entries)
    .map(([key, value]) => `/${key}${/^\d/.test(value) ? " " : ""}${value}`)
    .join("");

/** The lock that a signature sets on all fields that its signer fills in, so that the signed values can't change. */
const locksOf =
  (all: readonly Widget[], permission: 2 | null): LockOf =>
  (signer) => {
    const fields = all.map(({ prepared }) => prepared);
    return fieldLock(
      ownFields(fields, signer).map(({ name }) => name),
      permission,
    );
  };
