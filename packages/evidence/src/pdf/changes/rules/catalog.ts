import { indexOfText } from "../../search.ts";
import { nameOf, type PdfValue } from "../../values.ts";
import { worst } from "../levels.ts";
import { ROLE, type Role } from "../roles.ts";
import { changedKeys, type Rule } from "../step.ts";
import { dictionaryOf, type Stored } from "../view.ts";

const MAX_METADATA = 16 * 1024 * 1024;

const BY_KEY: Readonly<Record<string, Role>> = {
  AcroForm: ROLE.form,
  DSS: ROLE.store,
  Metadata: ROLE.metadata,
  Extensions: ROLE.extensions,
  MarkInfo: ROLE.markInfo,
  StructTreeRoot: ROLE.structureRoot,
};

/**
 * Classifies a change of the catalog (ISO 32000-2 section 7.7.2). /Perms may not change: nobody may add or remove a
 * certification.
 */
export const catalog: Rule = ({ before, after }, step) => {
  const [old, now] = [dictionaryOf(before), dictionaryOf(after)];
  if (old === undefined || now === undefined) return "other";
  return worst(
    changedKeys(old, now).map((key) => {
      const [was, is] = [old.entries.get(key), now.entries.get(key)];
      if (key === "Version") return is?.kind === "name" ? "validation" : "other";
      const role = BY_KEY[key];
      return role === undefined ? "other" : step.between(role, was, is);
    }),
  );
};

/**
 * The keys of an extension whose values may be strings. Values at other keys must be names or numbers (ISO 32000-2,
 * section 7.12.2).
 */
const EXTENSION_TEXTS = new Set(["URL", "ExtensionRevision"]);

/**
 * Classifies a change of /Extensions (ISO 32000-2, section 7.12). Each key must be a developer's prefix, and each value
 * must describe extensions without a reference to another object.
 */
export const extensions: Rule = ({ before, after }) => {
  const [old, now] = [dictionaryOf(before), dictionaryOf(after)];
  if (now === undefined || (before !== undefined && old === undefined)) return "other";
  const fit = changedKeys(old, now).every((key) => {
    const value = now.entries.get(key);
    if (key === "Type") return value?.kind === "name";
    const extended = value === undefined ? [] : value.kind === "array" ? value.items : [value];
    return extended.every((one) => one.kind === "dictionary" && [...one.entries].every(isPlain));
  });
  return fit ? "validation" : "other";
};

function isPlain([key, { kind }]: readonly [string, PdfValue]): boolean {
  return kind === "name" || kind === "number" || (kind === "string" && EXTENSION_TEXTS.has(key));
}

const MARKS = new Set(["Marked", "UserProperties", "Suspects"]);

/** Classifies a change of /MarkInfo (ISO 32000-2, section 14.7.1): only its standard flags may change. */
export const markInfo: Rule = ({ before, after }) => {
  const [old, now] = [dictionaryOf(before), dictionaryOf(after)];
  if (old === undefined || now === undefined) return "other";
  const fit = changedKeys(old, now).every((key) => {
    const kind = now.entries.get(key)?.kind;
    return MARKS.has(key) && (kind === undefined || kind === "boolean");
  });
  return fit ? "signatures" : "other";
};

/** Classifies a change of the information dictionary, or of a string in it (ISO 32000-2, section 14.3.3). */
export const information: Rule = ({ before, after }) =>
  before?.data === undefined && after?.data === undefined ? "validation" : "other";

/**
 * Classifies a change of the document's metadata stream (ISO 32000-2, section 14.3.2). The stream must be XMP, which
 * readers never draw.
 */
export const metadata: Rule = ({ before, after }) => {
  if (after === undefined) return "validation";
  return after.closed && [before, after].every((one) => one === undefined || isXmp(one)) ? "validation" : "other";
};

function isXmp({ value, decode }: Stored): boolean {
  if (value.kind !== "dictionary" || decode === undefined) return false;
  if (nameOf(value, "Type") !== "Metadata" || nameOf(value, "Subtype") !== "XML") return false;
  const text = decode(MAX_METADATA);
  const at = firstMarkup(text);
  if (at < 0 || indexOfText(text, "<!", 0, text.length) >= 0) return false;
  return indexOfText(text, "adobe:ns:meta/", at, text.length) >= 0;
}

/** Offset of XMP at the start of the text, after an optional byte order mark and white space; -1 for other text. */
function firstMarkup(text: Uint8Array): number {
  const start = text[0] === 0xef && text[1] === 0xbb && text[2] === 0xbf ? 3 : 0;
  let at = start;
  while (at < text.length && [9, 10, 13, 32].includes(text[at] ?? 0)) at++;
  const isMarkup =
    indexOfText(text, "<?xpacket", at, at + 9) === at || indexOfText(text, "<x:xmpmeta", at, at + 10) === at;
  return isMarkup ? at : -1;
}
