import { wholeNumberIn } from "../../../../../kernel/platform/text.ts";
import { dateFormats, type RequestedField, textFormats } from "../../../../../orders/order/order.ts";

/** A tag in the text of a page. It requests a field for a signer. */
export type Tag = {
  readonly kind: RequestedField["kind"];
  /**
   * The signer of the tag. `r2` is the second signer. Each new role without a number is the next signer. Null means the
   * first signer.
   */
  readonly role: { readonly number: number } | { readonly name: string } | null;
  readonly label: string | null;
  readonly required: boolean;
  /** The size in points; null unless the tag sets it to a whole number of at least 8. */
  readonly width: number | null;
  readonly height: number | null;
  /** Further members of the element in an order's `fields` that the tag requests. They are not validated yet. */
  readonly more: Readonly<Record<string, unknown>>;
  /**
   * The label of the option, for a tag that places one option of a radio or multiple choice. Ignored for other tags.
   */
  readonly option: string | null;
};

const kinds: Readonly<Record<string, RequestedField["kind"]>> = {
  signature: "signature",
  initials: "initials",
  date: "date",
  datenow: "date",
  name: "name",
  text: "text",
  number: "number",
  checkbox: "checkbox",
  radio: "radio",
  multiple: "multiple",
  select: "dropdown",
  dropdown: "dropdown",
};

/**
 * Parses the text between `{{` and `}}`: `signature, r1` in Documenso's form, or `Name;role=Buyer;type=signature` in
 * DocuSeal's form.
 * @returns null for any other text, because other programs also use braces
 */
export function readTag(inner: string): Tag | null {
  const text = inner.replace(/\s+/g, " ").trim();
  return text.includes(";") || text.startsWith("type=") ? withAttributes(text) : byNumber(text);
}

function byNumber(text: string): Tag | null {
  const [, word = "", number = ""] = /^([a-z]+) ?, ?r(\d{1,2})(?: ?,.*)?$/i.exec(text) ?? [];
  const kind = kindOf(word);
  // A tag in Documenso's form can't state options.
  if (!kind || Number(number) === 0 || withOptions.includes(kind)) return null;
  const plain = { label: null, width: null, height: null, more: {}, option: null };
  return { kind, role: { number: Number(number) }, required: kind !== "checkbox", ...plain };
}

function withAttributes(text: string): Tag | null {
  const [first = "", ...rest] = text.split(";").map((part) => part.trim());
  const parts = first.includes("=") ? [first, ...rest] : rest;
  const attributes = new Map(
    parts.map((part): [string, string] => {
      const at = part.indexOf("=");
      return at < 0 ? [part.toLowerCase(), ""] : [part.slice(0, at).trim().toLowerCase(), part.slice(at + 1).trim()];
    }),
  );
  if (!attributes.has("type") && !attributes.has("role")) return null;
  const kind = kindOf(attributes.get("type") ?? "text");
  if (!kind || (isSpread(kind) && !attributes.get("option")) || (kind === "dropdown" && !attributes.get("options")))
    return null;
  const role = attributes.get("role") ?? "";
  const required = attributes.get("required");
  const name = first.includes("=") ? (attributes.get("name") ?? "") : first;
  return {
    kind,
    role: role === "" ? null : { name: role },
    label: explained.includes(kind) || name === "" ? null : name.slice(0, 100),
    required: kind === "signature" || (kind === "checkbox" ? required === "true" : required !== "false"),
    width: side(attributes.get("width")),
    height: side(attributes.get("height")),
    more: membersIn(attributes, kind),
    option: attributes.get("option") ?? null,
  };
}

const isSpread = (kind: Tag["kind"]): boolean => kind === "radio" || kind === "multiple";
const withOptions: readonly Tag["kind"][] = ["radio", "multiple", "dropdown"];
/** The kinds of fields whose value the sender may set. */
const prefilled: readonly Tag["kind"][] = ["text", "number", "checkbox", "dropdown"];
/** The kinds of fields that need no label. */
const explained: readonly Tag["kind"][] = ["signature", "initials", "date", "name"];

/**
 * The attributes of a tag that are members of a field in our API, by their names in the API. Attributes of other
 * programs are ignored.
 */
function membersIn(attributes: ReadonlyMap<string, string>, kind: Tag["kind"]): Record<string, unknown> {
  const text = (name: string) => attributes.get(name) || undefined;
  const digits = (name: string) => (/^-?\d+(?:\.\d+)?$/.test(text(name) ?? "") ? Number(text(name)) : text(name));
  const options = text("options")
    ?.split(",")
    .map((label) => ({ label: label.trim() }));
  const value = text("value") ?? text("default");
  const [field, operator, ...compared] = (text("show_when") ?? "").split(":").map((part) => part.trim());
  const numbers = definedOnly({
    decimals: digits("decimals"),
    min: digits("min"),
    max: digits("max"),
    currency: text("currency"),
  });
  // Other programs use the names `value` and `read_only` with other meanings. So both are ignored for kinds whose value
  // the sender can't set.
  const isPrefilled = value !== undefined && prefilled.includes(kind);
  const formats: readonly string[] = kind === "date" ? dateFormats : kind === "text" ? textFormats : [];
  return definedOnly({
    id: text("id"),
    help: text("help"),
    formula: text("formula"),
    value: isPrefilled ? (kind === "checkbox" ? value === "true" : value) : undefined,
    read_only: (isPrefilled && (text("read_only") ?? text("readonly")) === "true") || undefined,
    format:
      kind === "number"
        ? Object.keys(numbers).length > 0
          ? numbers
          : undefined
        : formats.find((each) => each === text("format")),
    options: kind === "dropdown" ? options : undefined,
    least: kind === "multiple" ? digits("least") : undefined,
    most: kind === "multiple" ? digits("most") : undefined,
    show_when: field ? { field, operator, ...(compared.length > 0 && { value: compared.join(":") }) } : undefined,
  });
}

const definedOnly = (members: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(members).filter(([, member]) => member !== undefined));

const kindOf = (word: string): Tag["kind"] | undefined =>
  Object.hasOwn(kinds, word.toLowerCase()) ? kinds[word.toLowerCase()] : undefined;

const side = (text: string | undefined): number | null => wholeNumberIn(text, 8, 9999) ?? null;
