import type { FieldKind } from "../../fields.ts";

/** A tag in the text of a page: what it asks for, of whom. */
export type Tag = {
  readonly kind: FieldKind;
  /** `r2` names the second signer; any other role the next one. Null: the first. */
  readonly role: { readonly number: number } | { readonly name: string } | null;
  readonly label: string | null;
  readonly required: boolean;
  /** In points, where the tag says it. */
  readonly width: number | null;
  readonly height: number | null;
};

const kinds: Readonly<Record<string, FieldKind>> = {
  signature: "signature",
  initials: "initials",
  date: "date",
  datenow: "date",
  name: "name",
  text: "text",
};

/**
 * Reads what stands between `{{` and `}}`: `signature, r1` as Documenso writes it, or `Name;role=Buyer;type=signature` as DocuSeal does.
 * @returns null for anything else: other programs use braces, too
 */
export function readTag(inner: string): Tag | null {
  const text = inner.replace(/\s+/g, " ").trim();
  return text.includes(";") || text.startsWith("type=") ? withAttributes(text) : byNumber(text);
}

function byNumber(text: string): Tag | null {
  const [, word = "", number = ""] = /^([a-z]+) ?, ?r(\d{1,2})(?: ?,.*)?$/i.exec(text) ?? [];
  const kind = kindOf(word);
  if (!kind || Number(number) === 0) return null;
  return { kind, role: { number: Number(number) }, label: null, required: true, width: null, height: null };
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
  if (!kind) return null;
  const role = attributes.get("role") ?? "";
  const name = first.includes("=") ? (attributes.get("name") ?? "") : first;
  return {
    kind,
    role: role === "" ? null : { name: role },
    label: kind === "text" && name !== "" ? name.slice(0, 100) : null,
    required: kind === "signature" || attributes.get("required") !== "false",
    width: side(attributes.get("width")),
    height: side(attributes.get("height")),
  };
}

const kindOf = (word: string): FieldKind | undefined =>
  Object.hasOwn(kinds, word.toLowerCase()) ? kinds[word.toLowerCase()] : undefined;

function side(text = ""): number | null {
  const value = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  return value >= 8 ? value : null;
}
