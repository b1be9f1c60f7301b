import type { PdfFile } from "./file.ts";
import { hasWord, type Ref, type Span, skipSpace } from "./lexer.ts";
import { spendLexed } from "./limits.ts";
import { findEntry, resolve } from "./objects.ts";
import { pages } from "./page-tree.ts";
import { PdfRefusal } from "./refusal.ts";
import { type Decoded, decodedBy } from "./stream-size.ts";
import { asInteger, asName, asRef, type Dict, elements, entry, isArray, isDict, readDict } from "./values.ts";
import { catalog } from "./xref/lookup.ts";

/**
 * A stream that readers decode when they draw the pages: a content stream, or other data such as a font. `length` is an
 * upper bound on its decoded length.
 */
export type ReachedStream = Decoded & {
  readonly num: number;
  readonly isContent: boolean;
  /** True for a content stream that a page or an annotation draws directly, not through another content stream. */
  readonly isRoot: boolean;
  /**
   * True if the stream was already reported, but not for this page's Contents. Readers decode it again for this page,
   * but keep one copy in memory.
   */
  readonly isOfEarlierPage?: true;
  /**
   * The content streams listed in the stream's own resources. Null when it uses the resources of the content that draws
   * it.
   */
  readonly named: NamedContents | null;
  /** For a stream of a page's Contents, the content streams that the page's resources list; otherwise null. */
  readonly ofPage: NamedContents | null;
};

/**
 * For each name in a resource dictionary, the object numbers of the content streams that it means. One name can occur
 * in several categories of the resources, and then means several streams.
 */
export type NamedContents = ReadonlyMap<string, readonly number[]>;

/** How a reader uses a value on the way from a page to a stream. */
type Use = "content" | "appearance" | "resources";
type Pending = { value: Span; use: Use; key: string; above: string; ofPage?: NamedContents };

/**
 * Keys of a stream's dictionary that readers of pages never follow. In a resource dictionary every key is followed,
 * because there the document chooses the keys, and may choose these words.
 */
const notFollowed = new Set(["Metadata", "PieceInfo", "OC", "OPI", "Ref"]);
/** Keys whose streams are content streams: XObjects, patterns and glyphs (CharProcs). */
const holdContents = new Set(["XObject", "Pattern", "CharProcs"]);

/**
 * The streams that readers decode to get the text of the pages. The path that leads to a stream decides how the stream
 * is read; the type in its dictionary doesn't matter. Images are left out: readers draw them instead of reading them. A
 * content stream is reported again each time that a page's Contents names it.
 * @throws PdfRefusal for an unreadable part on the way, because other readers may be able to read it
 */
export function* reachedStreams(file: PdfFile, left: () => number): Generator<ReachedStream, void, undefined> {
  const root = catalog(file).dict;
  const form = dictOf(file, entry(root, "AcroForm"));
  const seen = new Map<string, ReachedStream>();
  const named = new Map<number, NamedContents>();
  if (form) yield* reached(file, startsAt(form, "DR", "resources"), seen, left);
  for (const { dict, above } of pages(file, root)) {
    const resources = [...above, dict].map((node) => entry(node, "Resources")).findLast((span) => span !== undefined);
    const num = (resources && asRef(resources)?.num) ?? -1;
    const ofPage = named.get(num) ?? namedBy(file, resources);
    if (num >= 0) named.set(num, ofPage);
    yield* contentsOf(file, entry(dict, "Contents"), ofPage, seen, left);
    if (resources)
      yield* reached(file, [{ value: resources, use: "resources", key: "Resources", above: "" }], seen, left);
    const annotations = resolved(file, entry(dict, "Annots"));
    for (const span of annotations && isArray(annotations) ? elements(annotations) : []) {
      const annotation = dictOf(file, span);
      if (annotation) yield* reached(file, startsAt(annotation, "AP", "appearance"), seen, left);
    }
  }
}

function startsAt(dict: Dict, key: string, use: Use): Pending[] {
  const value = entry(dict, key);
  return value ? [{ value, use, key, above: "" }] : [];
}

type Seen = Map<string, ReachedStream>;

function* contentsOf(file: PdfFile, span: Span | undefined, ofPage: NamedContents, seen: Seen, left: () => number) {
  const contents = resolved(file, span);
  if (!span || !contents) return;
  const named = new Set<number>();
  for (const value of isArray(contents) ? elements(contents) : [span]) {
    const num = asRef(value)?.num ?? -1;
    const earlier = seen.get(`content ${num}`);
    yield* reached(file, [{ value, use: "content", key: "Contents", above: "", ofPage }], seen, left);
    if (earlier && earlier !== none)
      yield { ...earlier, ofPage, ...(!named.has(num) && { isOfEarlierPage: true as const }) };
    named.add(num);
  }
}

function* reached(file: PdfFile, start: Pending[], seen: Seen, left: () => number) {
  const pending = [...start];
  for (let open = pending.pop(); open; open = pending.pop()) {
    const { key, above, use } = open;
    const { value, ref } = followed(file, open.value);
    if (!value) continue;
    spendLexed(file.budget, 16 + value.end - value.start);
    if (isArray(value)) {
      for (const element of elements(value)) if (leads(element)) pending.push({ value: element, use, key, above });
      continue;
    }
    if (!isDict(value)) continue;
    const dict = readDict(value.bytes, value.start);
    const isStream = ref !== null && hasWord(dict.bytes, skipSpace(dict.bytes, dict.end), "stream");
    if (isStream && above === "XObject" && asName(resolved(file, entry(dict, "Subtype"))) === "Image") continue;
    const isContent = isStream && (use !== "resources" || holdContents.has(above) || key === "G");
    if (ref !== null) {
      const name = `${isContent ? "content" : use} ${ref.num}`;
      if (seen.has(name)) continue;
      // A page's content stream uses the resources of its page. Readers ignore a Resources entry in the stream itself.
      const own = open.ofPage ? undefined : entry(dict, "Resources");
      const ofResources = { named: own ? namedBy(file, own) : null, ofPage: open.ofPage ?? null };
      const isRoot = isContent && use !== "resources";
      const stream = isStream
        ? { ...decodedStream(file, dict, ref, left()), num: ref.num, isContent, isRoot, ...ofResources }
        : none;
      seen.set(name, stream);
      if (isStream) yield stream;
    }
    for (const name of dict.entries.keys()) {
      // Skips the Properties of marked content, which can refer to any object of the document, and keys that readers
      // never follow.
      const isSkipped = isStream ? notFollowed.has(name) : name === "Properties" && ["Resources", "DR"].includes(key);
      const next = isSkipped ? undefined : entry(dict, name);
      if (!next || !leads(next)) continue;
      // In a stream's dictionary, the values found are resources. In an appearance that is not a stream, the values are
      // the appearance's states.
      pending.push({ value: next, use: isStream ? "resources" : use, key: name, above: key });
    }
  }
}

const none: ReachedStream = {
  data: null,
  length: 0,
  num: 0,
  isContent: false,
  isRoot: false,
  named: null,
  ofPage: null,
};

/** The content streams listed in a resource dictionary: XObjects, patterns, and the forms of soft masks. */
function namedBy(file: PdfFile, resources: Span | undefined): NamedContents {
  const found = new Map<string, number[]>();
  const own = dictOf(file, resources);
  if (!own) return found;
  for (const category of ["XObject", "Pattern", "ExtGState"]) {
    const listed = dictOf(file, entry(own, category));
    for (const name of listed?.entries.keys() ?? []) {
      let span = listed && entry(listed, name);
      if (category === "ExtGState") {
        const state = dictOf(file, span);
        const mask = state && entry(state, "SMask");
        const group = mask && dictOf(file, mask);
        span = group && entry(group, "G");
      }
      const num = lastRef(file, span);
      if (num !== undefined) found.set(name, [...(found.get(name) ?? []), num]);
    }
  }
  return found;
}

/** The number of the last object in the chain of references from `span`; undefined when `span` is not a reference. */
function lastRef(file: PdfFile, span: Span | undefined): number | undefined {
  const ref = asRef(span);
  return ref && (asRef(resolved(file, span)) ?? ref).num;
}

/** True if a value can lead to a stream. */
const leads = (value: Span): boolean => isDict(value) || isArray(value) || asRef(value) !== undefined;

const dictOf = (file: PdfFile, span: Span | undefined): Dict | undefined => {
  const value = resolved(file, span);
  return value && isDict(value) ? readDict(value.bytes, value.start) : undefined;
};

/**
 * Resolves a value, which may be a reference.
 * @throws PdfRefusal for an unreadable reference, and for one with a wrong generation number, which lenient readers
 * follow
 */
function followed(file: PdfFile, span: Span | undefined): { value: Span | undefined; ref: Ref | null } {
  const ref = span ? (asRef(span) ?? null) : null;
  const value = resolve(file, span);
  const listed = ref && !value ? findEntry(file, ref.num) : undefined;
  if (listed?.type === "offset" && listed.gen !== ref?.gen)
    throw new PdfRefusal("needs_repair", `object ${ref?.num} has another generation than ${ref?.gen}`);
  return { value, ref };
}

const resolved = (file: PdfFile, span: Span | undefined): Span | undefined => followed(file, span).value;

function decodedStream(file: PdfFile, dict: Dict, ref: Ref, max: number): Decoded {
  const filters = filtersOf(file, dict);
  const raw = rawData(file, dict);
  const cipher = file.encryption?.streams;
  const clear = cipher && !filters.includes("Crypt") ? cipher.decrypt(raw, ref) : raw;
  if (!clear) throw new PdfRefusal("encrypted", `the stream at ${dict.start} can't be decrypted`);
  const decoded = decodedBy(filters, clear, max);
  return isPredicted(file, dict) ? { data: null, length: decoded.length } : decoded;
}

/**
 * Reads a stream's parameter by its short name or, if it has none, by its long name. The short names are for inline
 * images (ISO 32000-2, table 91), but readers prefer them in every stream. So `F` means a filter here, not a file.
 */
const parameter = (file: PdfFile, dict: Dict, short: string, long: string): Span | undefined =>
  resolved(file, entry(dict, short)) ?? resolved(file, entry(dict, long));

function filtersOf(file: PdfFile, dict: Dict): string[] {
  const value = parameter(file, dict, "F", "Filter");
  const spans = value && isArray(value) ? [...elements(value)] : value ? [value] : [];
  return spans.flatMap((span) => asName(resolved(file, span)) ?? []);
}

/**
 * True if the stream's data need a predictor to be reversed.
 * @throws PdfRefusal for LZW data whose codes get wider at an unusual position (EarlyChange)
 */
function isPredicted(file: PdfFile, dict: Dict): boolean {
  const value = parameter(file, dict, "DP", "DecodeParms");
  const spans = value && isArray(value) ? [...elements(value)] : value ? [value] : [];
  return spans.some((span) => {
    const found = dictOf(file, span);
    if (!found) return false;
    const [early, predictor] = ["EarlyChange", "Predictor"].map((key) => resolved(file, entry(found, key)));
    if (early && (asInteger(early) ?? 2) > 1)
      throw new PdfRefusal("too_complex", `an odd EarlyChange at ${found.start}`);
    return predictor !== undefined && asInteger(predictor) !== 1;
  });
}

/**
 * The raw data after the keyword `stream`: as many bytes as /Length says. If `endstream` doesn't follow these bytes,
 * takes the data up to the next `endstream`, as readers that repair files do.
 */
function rawData(file: PdfFile, dict: Dict): Buffer {
  const { bytes } = dict;
  let start = skipSpace(bytes, dict.end) + "stream".length;
  if (bytes[start] === 13) start++;
  if (bytes[start] === 10) start++;
  const length = asInteger(resolved(file, entry(dict, "Length")));
  if (length !== undefined && hasWord(bytes, skipSpace(bytes, start + length), "endstream"))
    return bytes.subarray(start, start + length);
  const end = bytes.indexOf("endstream", start);
  return bytes.subarray(start, end < 0 ? bytes.length : end);
}
