import { formFields } from "../form-fields.ts";
import type { Span } from "../lexer.ts";
import { resolve } from "../objects.ts";
import { PdfRefusal } from "../refusal.ts";
import { asName, entry, isDict, readDict } from "../values.ts";
import { lookUpPdf, type PdfLookup } from "../xref/lookup.ts";
import { annotationNotices, type Contents, lookAt } from "./actions.ts";
import { hiddenLayers } from "./layers.ts";
import { type DocumentNotice, quoted, UnseenContent } from "./notice.ts";
import { dictionariesFrom } from "./objects.ts";

/**
 * Returns notices about content that a person may overlook in a PDF viewer. Examines only the document's objects, not
 * its pages as drawn.
 * @throws UnseenContent for content too misleading to sign, for example a portfolio
 * @throws PdfRefusal for a document that can't be read
 */
export function unseenIn(bytes: Buffer): DocumentNotice[] {
  // Opens the document a second time, to get a budget of its own: this search must not use up the budget for signing.
  const look = lookUpPdf(bytes);
  const found: Contents = { actions: new Set(), files: new Set() };
  let isWhole = true;
  const part = <Value>(examine: () => Value, otherwise: Value): Value => {
    try {
      return examine();
    } catch (error) {
      if (!(error instanceof PdfRefusal)) throw error;
      isWhole = false;
      return otherwise;
    }
  };
  const skipped = () => {
    isWhole = false;
  };
  const ofPages = part(() => annotationNotices(look), []);
  const layers = part(() => hiddenLayers(look.file, look.root.dict), []);
  const ofForm = part(() => formNotices(look), []);
  const ofPrinting = part(() => printNotices(look), []);
  part(() => {
    for (const reached of dictionariesFrom(look.file, look.root.dict, skipped)) lookAt(look.file, reached, found);
  }, undefined);
  const whole = (code: DocumentNotice["code"], text: string | null = null) => ({ code, page: null, text });
  return [
    ...(found.actions.size > 0 ? [whole("active_content", [...found.actions].sort().join(", "))] : []),
    ...ofForm,
    ...layers,
    ...ofPages,
    ...ofPrinting,
    ...(found.files.size > 0 ? [whole("attached_files", quoted([...found.files].sort().join(", ")))] : []),
    ...(isWhole ? [] : [whole("partly_examined")]),
  ];
}

function formNotices({ file, root, acroForm }: PdfLookup): DocumentNotice[] {
  if (entry(root.dict, "Collection"))
    throw new UnseenContent("it is a portfolio: readers show the files in it in place of its pages");
  if (!acroForm) return [];
  const notices: DocumentNotice[] = [];
  if (entry(acroForm.dict, "XFA")) {
    if (isTrue(file, entry(root.dict, "NeedsRendering")))
      throw new UnseenContent("it is an XFA form: some readers show the form in place of its pages");
    notices.push({ code: "xfa_form", page: null, text: null });
  }
  if (isTrue(file, entry(acroForm.dict, "NeedAppearances")))
    for (const { dict, above } of formFields(file, acroForm.dict))
      if ([dict, ...above].some((node) => entry(node, "V"))) {
        notices.push({ code: "drawn_by_readers", page: null, text: null });
        break;
      }
  return notices;
}

/** Returns a notice if the printing preferences can leave out pages or parts of pages (ISO 32000-2, table 147). */
function printNotices({ file, root }: PdfLookup): DocumentNotice[] {
  const value = resolve(file, entry(root.dict, "ViewerPreferences"));
  if (!value || !isDict(value)) return [];
  const preferences = readDict(value.bytes, value.start);
  const area = asName(resolve(file, entry(preferences, "PrintArea"))) ?? "CropBox";
  const clip = asName(resolve(file, entry(preferences, "PrintClip"))) ?? "CropBox";
  const isWhole = area === "CropBox" && clip === "CropBox" && !entry(preferences, "PrintPageRange");
  return isWhole ? [] : [{ code: "print_differs", page: null, text: null }];
}

function isTrue(file: PdfLookup["file"], value: Span | undefined): boolean {
  const found = resolve(file, value);
  return found?.bytes.toString("latin1", found.start, found.end) === "true";
}
