import type { ShowWhen } from "../../../../../orders/order/form/field-rules.ts";
import type { FieldFormat } from "../../../../../orders/order/form/field-values.ts";

export const kinds = [
  "signature",
  "initials",
  "date",
  "name",
  "text",
  "number",
  "checkbox",
  "radio",
  "multiple",
  "dropdown",
] as const;
export type Kind = (typeof kinds)[number];

export const kindWords: Readonly<Record<Kind, string>> = {
  signature: "Signature",
  initials: "Initials",
  date: "Date",
  name: "Name",
  text: "Text",
  number: "Number",
  checkbox: "Checkbox",
  radio: "Radio",
  multiple: "Checkboxes",
  dropdown: "Dropdown",
};

/** A rectangle on a page, in points from the upper left corner of the page as shown. */
export type Rect = { readonly x: number; readonly y: number; readonly width: number; readonly height: number };
export type Size = Pick<Rect, "width" | "height">;

export const between = (value: number, min: number, max: number): number => Math.min(Math.max(value, min), max);

/** The rectangle, moved until it is completely on its page. */
export const within = (rect: Rect, page: Size): Rect => ({
  ...rect,
  x: between(rect.x, 0, Math.max(page.width - rect.width, 0)),
  y: between(rect.y, 0, Math.max(page.height - rect.height, 0)),
});

/**
 * A field in the editor. A field of type `radio` or `multiple` has a rectangle for each option; `rect` is then the
 * first option's.
 */
export type Field = {
  /** Unique while the page is open. */
  readonly id: number;
  readonly kind: Kind;
  /**
   * The signer's row in the form, counted from 1; in a closing, the person's number. A client who signs alone is row 1.
   */
  readonly row: number;
  /** The page, counted from 1. */
  readonly page: number;
  readonly rect: Rect;
  readonly label: string;
  readonly help: string;
  readonly required: boolean;
  /** The value that the sender filled in. For a ticked checkbox it is `true`; empty for no value. */
  readonly value: string;
  readonly readOnly: boolean;
  readonly format: FieldFormat | null;
  readonly options: readonly Option[];
  /** The name by which rules of other fields refer to this field; empty for no name. */
  readonly name: string;
  readonly showWhen: ShowWhen | null;
  /** The formula that computes a number; empty for a number that the signer types. */
  readonly formula: string;
  /** The smallest number of options to choose in a field of type `multiple`; null for the service's own limit. */
  readonly least: number | null;
  readonly most: number | null;
  /** The reason why the service rejected the field; the next change removes the reason. */
  readonly error: string | null;
};

type Option = { readonly label: string; readonly rect: Rect | null };

export const isSpread = ({ kind }: Pick<Field, "kind">): boolean => kind === "radio" || kind === "multiple";

/** A rectangle that can be moved: that of a field, or that of one option of a field. */
export type Box = { readonly field: Field; readonly option: number | null; readonly rect: Rect };

export const boxesOf = (field: Field): Box[] =>
  isSpread(field)
    ? field.options.flatMap(({ rect }, option) => (rect ? [{ field, option, rect }] : []))
    : [{ field, option: null, rect: field.rect }];

/** Returns the field with one of its rectangles replaced, and without its error. */
export function withRect(field: Field, option: number | null, rect: Rect): Field {
  if (option === null) return { ...field, rect, error: null };
  const options = field.options.map((each, index) => (index === option ? { ...each, rect } : each));
  return { ...field, options, rect: options[0]?.rect ?? field.rect, error: null };
}

const startSizes: Readonly<Record<Kind, Size>> = {
  signature: { width: 180, height: 36 },
  initials: { width: 60, height: 28 },
  date: { width: 100, height: 18 },
  name: { width: 160, height: 18 },
  text: { width: 160, height: 18 },
  number: { width: 90, height: 18 },
  checkbox: { width: 14, height: 14 },
  radio: { width: 14, height: 14 },
  multiple: { width: 14, height: 14 },
  dropdown: { width: 120, height: 18 },
};
export const startSize = (kind: Kind): Size => startSizes[kind];

/** The distance in points from the top of one new option to the top of the next, for `radio` and `multiple`. */
const optionStep = 22;

export const hasOptions = ({ kind }: Pick<Field, "kind">): boolean => isSpread({ kind }) || kind === "dropdown";
export const hasValue = ({ kind }: Pick<Field, "kind">): boolean =>
  ["text", "number", "checkbox", "radio", "dropdown"].includes(kind);

let lastId = 0;
const newId = (): number => ++lastId;

type Start = Pick<Field, "kind" | "row" | "page"> & { readonly rect: Rect };

/** The new field that a tool places on a page. */
export function newField({ kind, row, page, rect }: Start): Field {
  const labels = hasOptions({ kind }) ? ["Option 1", "Option 2"] : [];
  return {
    id: newId(),
    kind,
    row,
    page,
    rect,
    label: "",
    help: "",
    value: "",
    readOnly: false,
    // The date format that is usual in the United States. In the API, the default is ISO: 2026-01-05.
    format: kind === "date" ? "us" : null,
    name: "",
    showWhen: null,
    formula: "",
    least: null,
    most: null,
    error: null,
    required: kind !== "checkbox",
    options: labels.map((label, index) => ({ label, rect: isSpread({ kind }) ? below(rect, index) : null })),
  };
}

const below = (rect: Rect, steps: number): Rect => ({ ...rect, y: rect.y + steps * optionStep });

/**
 * Returns the field with other option labels. Each position in the list keeps its rectangle. A value that
 * is not among the new labels is removed.
 */
export function withOptions(field: Field, labels: readonly string[]): Field {
  const options = labels.map((label, index): Option => {
    const rect = field.options[index]?.rect ?? null;
    return {
      label,
      rect: isSpread(field) ? (rect ?? below(field.options[0]?.rect ?? field.rect, index)) : null,
    };
  });
  const value = labels.includes(field.value) ? field.value : "";
  return { ...field, options, value, readOnly: field.readOnly && value !== "", error: null };
}

/**
 * Moves the field to a page of this size. Its options move together, but no further than the edge of the page, so that
 * they keep their distances.
 */
export function moved(field: Field, page: number, by: { x: number; y: number }, size: Size): Field {
  const rects = boxesOf(field).map(({ rect }) => rect);
  const [x, y] = [Math.min(...rects.map((rect) => rect.x)), Math.min(...rects.map((rect) => rect.y))];
  const width = Math.max(...rects.map((rect) => rect.x + rect.width)) - x;
  const height = Math.max(...rects.map((rect) => rect.y + rect.height)) - y;
  const group = within({ x: x + by.x, y: y + by.y, width, height }, size);
  const move = (rect: Rect): Rect => within({ ...rect, x: rect.x + group.x - x, y: rect.y + group.y - y }, size);
  const options = field.options.map(({ label, rect }) => ({ label, rect: rect && move(rect) }));
  return { ...field, page, options, rect: options[0]?.rect ?? move(field.rect), error: null };
}

/** A copy at another place. It has no name, because rules of other fields refer to the original. */
export const copied = (field: Field, page: number, by: { x: number; y: number }, size: Size): Field => ({
  ...moved(field, page, by, size),
  id: newId(),
  name: "",
});

const rounded = (rect: Rect): Rect => {
  const { x, y, width, height } = rect;
  const round = (value: number) => Math.round(value * 100) / 100;
  return { x: round(x), y: round(y), width: round(width), height: round(height) };
};

/**
 * Writes the editor's fields as JSON for the order's member `fields`; empty without fields.
 * @param signerOf returns the signer's number for a row
 */
export function written(fields: readonly Field[], signerOf: (row: number) => number): string {
  if (fields.length === 0) return "";
  return JSON.stringify(
    fields.map((field) => {
      const { kind, row, page, rect, label, help, required, value, readOnly, format, options, ...rules } = field;
      const { name, showWhen, formula, least, most } = rules;
      const isTyped = hasValue(field) && formula === "";
      return {
        kind,
        signer: signerOf(row),
        page,
        required,
        ...(!isSpread(field) && rounded(rect)),
        ...(label !== "" && { label }),
        ...(help !== "" && { help }),
        ...(isTyped && value !== "" && { value: kind === "checkbox" ? true : value }),
        ...(isTyped && readOnly && { read_only: true }),
        ...(format !== null && { format: numbersIn(format) }),
        ...(hasOptions(field) && {
          options: options.map((each) => ({
            label: each.label,
            ...(isSpread(field) && each.rect && rounded(each.rect)),
          })),
        }),
        ...(name !== "" && { id: name }),
        ...(showWhen && !readOnly && { show_when: showWhen }),
        ...(kind === "number" && formula !== "" && { formula }),
        ...(kind === "multiple" && least !== null && { least }),
        ...(kind === "multiple" && most !== null && { most }),
      };
    }),
  );
}

/**
 * Turns the bounds of a number from text into JSON numbers, as the API expects. Text that is not a number stays text,
 * which the API rejects.
 */
function numbersIn(format: FieldFormat): unknown {
  if (typeof format === "string") return format;
  const bound = (text: string) => (Number.isFinite(Number(text)) ? Number(text) : text);
  const { min, max } = format;
  return { ...format, ...(min !== undefined && { min: bound(min) }), ...(max !== undefined && { max: bound(max) }) };
}

type Written = Partial<Rect> & {
  readonly kind?: Kind;
  readonly signer?: number;
  readonly page?: number;
  readonly label?: string;
  readonly help?: string;
  readonly required?: boolean;
  readonly value?: string | boolean;
  readonly read_only?: boolean;
  readonly format?: FieldFormat;
  readonly id?: string;
  readonly show_when?: ShowWhen;
  readonly formula?: string;
  readonly least?: number;
  readonly most?: number;
  readonly options?: readonly (Partial<Rect> & { readonly label?: string })[];
};

const rectIn = ({ x = 0, y = 0, width = 14, height = 14 }: Partial<Rect>): Rect => ({ x, y, width, height });

/**
 * Restores the editor's fields from the text that `written` produced, such as that in a rejected form.
 * @param rowOf returns the row of a signer
 */
export function readWritten(text: string, rowOf: (signer: number) => number): Field[] {
  if (text.trim() === "") return [];
  const list = JSON.parse(text) as readonly Written[];
  return list.map((each): Field => {
    const { kind = "text", signer = 1, page = 1, label = "", help = "", required = true, value = "", format } = each;
    const options = (each.options ?? []).map((option) => ({
      label: option.label ?? "",
      rect: isSpread({ kind }) ? rectIn(option) : null,
    }));
    return {
      id: newId(),
      kind,
      row: rowOf(signer),
      page,
      label,
      help,
      required,
      options,
      error: null,
      rect: options[0]?.rect ?? rectIn(each),
      value: value === false ? "" : String(value),
      readOnly: each.read_only === true,
      format: readFormat(format),
      name: each.id ?? "",
      showWhen: each.show_when ?? null,
      formula: each.formula ?? "",
      least: each.least ?? null,
      most: each.most ?? null,
    };
  });
}

function readFormat(format: FieldFormat | undefined): FieldFormat | null {
  if (format === undefined || typeof format === "string") return format ?? null;
  const { min, max } = format;
  return { ...format, ...(min !== undefined && { min: String(min) }), ...(max !== undefined && { max: String(max) }) };
}
