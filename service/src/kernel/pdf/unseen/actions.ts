import type { PdfFile } from "../file.ts";
import { spendLexed } from "../limits.ts";
import { resolve } from "../objects.ts";
import { pages } from "../page-tree.ts";
import { rectangle } from "../pages/page-box.ts";
import { textOf } from "../strings.ts";
import { asName, type Dict, elements, entry, isArray, isDict, isString, readDict } from "../values.ts";
import type { PdfLookup } from "../xref/lookup.ts";
import { type DocumentNotice, quoted, UnseenContent } from "./notice.ts";
import type { Reached } from "./objects.ts";

/** The findings of a search through all objects of a document. */
export type Contents = {
  /** Names of actions that can change the shown content. */
  readonly actions: Set<string>;
  /** Names of files inside the document. An empty text stands for files whose name can't be read. */
  readonly files: Set<string>;
};

/**
 * Actions that can change the visible content, or run something (ISO 32000-2, table 201). Links to pages and web
 * addresses can't.
 */
const changing: ReadonlySet<string> = new Set([
  "Launch",
  "SubmitForm",
  "ResetForm",
  "ImportData",
  "Hide",
  "SetOCGState",
  "Rendition",
  "Movie",
  "Sound",
  "Trans",
  "GoTo3DView",
  "RichMediaExecute",
]);
const ofActions: ReadonlySet<string> = new Set(["A", "PA", "OpenAction", "Next"]);
/**
 * The keys that decide what `lookAt` finds. If a dictionary has one of them with two different values, `lookAt` throws,
 * because readers disagree on which value applies.
 */
const asked = ["S", "JS", "F", "Ref", "OPI", "Subtype", "Subtype2", "Alternates", "EF", "UF"] as const;

/**
 * Records the actions and embedded files that a dictionary names.
 * @throws UnseenContent for content that is only printed, or that is in another file
 * @throws PdfRefusal for a key with two different values
 */
export function lookAt(file: PdfFile, { dict, isStream, key, above }: Reached, found: Contents): void {
  if (dict.repeated) for (const name of asked) entry(dict, name);
  if (isStream) requireShown(file, dict);
  const action = asName(resolve(file, entry(dict, "S")));
  if (action === "JavaScript" || entry(dict, "JS")) found.actions.add("JavaScript");
  else if (action !== undefined && changing.has(action) && (ofActions.has(key) || above === "AA"))
    found.actions.add(action);
  if (entry(dict, "EF")) found.files.add(nameOf(file, dict));
}

function requireShown(file: PdfFile, stream: Dict): void {
  if (entry(stream, "F")) throw new UnseenContent("a part of its content is in another file");
  const subtype = asName(resolve(file, entry(stream, "Subtype")));
  const second = asName(resolve(file, entry(stream, "Subtype2")));
  if (subtype === "PS" || second === "PS")
    throw new UnseenContent("it has PostScript, which printers run and screens do not show");
  if (subtype === "Form" && entry(stream, "Ref")) throw new UnseenContent("a part of its content is in another file");
  if (entry(stream, "OPI")) throw new UnseenContent("it names another picture for printing (OPI)");
  if (subtype !== "Image") return;
  const alternates = resolve(file, entry(stream, "Alternates"));
  for (const alternate of alternates && isArray(alternates) ? elements(alternates) : []) {
    const value = resolve(file, alternate);
    const print =
      value && isDict(value) && resolve(file, entry(readDict(value.bytes, value.start), "DefaultForPrinting"));
    if (print && print.bytes.toString("latin1", print.start, print.end) !== "false")
      throw new UnseenContent("it has another picture for printing");
  }
}

/** The name of a file specification; empty in an encrypted document, whose strings are not decrypted. */
function nameOf(file: PdfFile, specification: Dict): string {
  const name = resolve(file, entry(specification, "UF")) ?? resolve(file, entry(specification, "F"));
  return name && isString(name) && !file.encryption ? quoted(textOf(name)) : "";
}

/** Flags of annotations (ISO 32000-2, table 167). */
const [HIDDEN, PRINT, NO_VIEW, TOGGLE_NO_VIEW] = [2, 4, 32, 256];
const media: ReadonlySet<string> = new Set(["RichMedia", "Screen", "Movie", "Sound", "3D"]);

/**
 * Checks each annotation of each page.
 * @throws UnseenContent for an annotation that is printed but not shown on screens
 */
export function annotationNotices({ file, root }: PdfLookup): DocumentNotice[] {
  const notices = new Map<string, DocumentNotice>();
  const add = (code: DocumentNotice["code"], page: number) => {
    notices.set(`${code} ${page}`, { code, page, text: null });
  };
  let number = 0;
  for (const page of pages(file, root.dict)) {
    number++;
    const annotations = resolve(file, entry(page.dict, "Annots"));
    if (!annotations || !isArray(annotations)) continue;
    spendLexed(file.budget, annotations.end - annotations.start);
    for (const element of elements(annotations)) {
      const value = resolve(file, element);
      if (!value || !isDict(value)) continue;
      const dict = readDict(value.bytes, value.start);
      const type = asName(resolve(file, entry(dict, "Subtype"))) ?? "";
      if (media.has(type)) add("media", number);
      // Skips a popup without an appearance, which readers show outside the page. A popup with an appearance is checked
      // like other annotations, because poppler prints it.
      if ((type === "Popup" && !entry(dict, "AP")) || !hasArea({ file }, dict)) continue;
      const flags = flagsOf({ file }, dict);
      if (flags & HIDDEN) continue;
      const isPrinted = (flags & PRINT) !== 0;
      const isShown = (flags & (NO_VIEW | TOGGLE_NO_VIEW)) === 0;
      if (isPrinted && !isShown)
        throw new UnseenContent(`page ${number} has an annotation that is printed and not shown on screens`);
      if (isShown && !isPrinted && entry(dict, "AP")) add("screen_only", number);
      // A watermark annotation with `FixedPrint` is moved when it is printed (ISO 32000-2, 12.5.6.22).
      if (type === "Watermark" && isPrinted && entry(dict, "FixedPrint")) add("print_differs", number);
    }
  }
  return [...notices.values()];
}

/** The flags of an annotation. A fractional number is rounded toward zero, as readers do. */
function flagsOf({ file }: Pick<PdfLookup, "file">, dict: Dict): number {
  const value = resolve(file, entry(dict, "F"));
  const number = value ? Number(value.bytes.toString("latin1", value.start, value.end)) : 0;
  return Number.isFinite(number) ? Math.trunc(number) : 0;
}

function hasArea({ file }: Pick<PdfLookup, "file">, dict: Dict): boolean {
  const rect = rectangle(file, entry(dict, "Rect"));
  return rect !== undefined && rect[0] < rect[2] && rect[1] < rect[3];
}
