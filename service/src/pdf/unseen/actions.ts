import type { PdfFile } from "../file.ts";
import { resolve } from "../objects.ts";
import { textOf } from "../strings.ts";
import { asName, type Dict, elements, entry, isArray, isDict, isString, readDict } from "../values.ts";
import { quoted, UnseenContent } from "./notice.ts";
import type { Reached } from "./objects.ts";

/** What a walk over the objects of a document found. */
export type Contents = {
  /** Names of actions that can change what is shown. */
  readonly actions: Set<string>;
  /** Names of files inside the document. */
  readonly files: Set<string>;
};

/** Actions that can change what is shown, or run something (ISO 32000-2, table 201); links to pages and addresses are none. */
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
/** Keys that this file asks for: where one stands twice, readers disagree. */
const asked = ["S", "JS", "F", "Ref", "OPI", "Subtype", "Subtype2", "Alternates", "EF", "UF"] as const;

/**
 * Notes what a dictionary means for what people see.
 * @throws UnseenContent for content that is only printed, or is not in the document
 * @throws PdfRefusal for a key that stands twice
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

/** The name of a file specification. Strings of an encrypted document are not decrypted here. */
function nameOf(file: PdfFile, specification: Dict): string {
  const name = resolve(file, entry(specification, "UF")) ?? resolve(file, entry(specification, "F"));
  return name && isString(name) && !file.encryption ? quoted(textOf(name)) : "";
}
