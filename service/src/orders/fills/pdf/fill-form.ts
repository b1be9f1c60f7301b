import type { Typeset } from "@signsealship/certificate";
import { textString, withEntries } from "../../../kernel/pdf/edit.ts";
import { namedFields } from "../../../kernel/pdf/named-fields.ts";
import { resolve } from "../../../kernel/pdf/objects.ts";
import { buildRevision } from "../../../kernel/pdf/revision/revision.ts";
import { createRevisionWriter, type RevisionWriter } from "../../../kernel/pdf/revision/writer.ts";
import { asInteger, type Dict, entry } from "../../../kernel/pdf/values.ts";
import { lookUpPdf, type PdfLookup } from "../../../kernel/pdf/xref/lookup.ts";
import { type Drawn, type Ink, openInk } from "./draw-answers.ts";
import { type AskedField, askedFields, flag, textAt } from "./form-questions.ts";
import type { Answers, WhyNot } from "./question.ts";

export type FillInput = {
  readonly answers: Answers;
  /** The labels of all options of the form's questions. The fonts that they need are loaded before drawing. */
  readonly options: readonly string[];
  /** Hex SHA-256 of the PDF form. */
  readonly docSha256: string;
};

/** An answer that its field can't show, because it is too long or has characters that no font contains. */
export type Unshown = { readonly name: string; readonly why: "long" | "characters" };

export type FillOutput = { readonly tail: Uint8Array } | { readonly unshown: Unshown[] } | { readonly whyNot: WhyNot };

/**
 * Builds a PDF revision that writes the answers into the fields of the PDF form, draws them, and makes the fields
 * read-only.
 * @param form is neither changed nor copied
 * @param typeset has the fonts for all answers
 * @throws PdfRefusal, Unfillable
 */
export function filledTail(form: Buffer, { answers, docSha256 }: FillInput, typeset: Typeset): FillOutput {
  const look = lookUpPdf(form);
  const asked = askedFields(look);
  const writer = createRevisionWriter(look, docSha256);
  const ink = openInk(typeset);
  const unshown: Unshown[] = [];
  const drawn = asked.flatMap((each) => {
    const answer = answers.get(each.field.name) ?? [];
    const result = write(look, writer, ink, each, answer);
    if (typeof result !== "string") return result;
    unshown.push({ name: each.field.name, why: result });
    return [];
  });
  if (unshown.length > 0) return { unshown };
  const formOf = ink.addTo(writer);
  for (const { widget, drawing } of drawn) writer.set(widget.ref, widget.dict, { AP: `<</N ${formOf(drawing)}>>` });
  close(look, writer);
  return { tail: buildRevision(look, writer.objects(), docSha256) };
}

type DrawnWidget = { widget: AskedField["widgets"][number]; drawing: Drawn };

function write(
  look: PdfLookup,
  writer: RevisionWriter,
  ink: Ink,
  { field, kind, widgets, options }: AskedField,
  answer: readonly string[],
): DrawnWidget[] | Unshown["why"] {
  const { ref, dict, flags } = field;
  if (kind === "checkbox" || kind === "radio") {
    const chosen = kind === "checkbox" ? (answer.length > 0 ? (widgets[0]?.state ?? "") : "") : (answer[0] ?? "");
    writer.set(ref, dict, { V: chosen === "" ? "/Off" : nameOf(chosen) });
    for (const widget of widgets) {
      const state = widget.state === chosen ? nameOf(chosen) : "/Off";
      const own = widget.isDrawn ? {} : { AP: ink.boxes(writer, widget, kind === "radio", nameOf(widget.state)) };
      writer.set(widget.ref, widget.dict, { AS: state, ...own });
    }
    return [];
  }
  const isList = kind === "choice";
  const texts = isList ? answer.map((value) => options.find((each) => each.value === value)?.label ?? value) : answer;
  const text = texts.join("\n");
  const values = answer.map((value) => textString(value));
  writer.set(ref, dict, {
    V: values.length > 1 ? `[${values.join("")}]` : (values[0] ?? "()"),
    // /I contains the indexes of the options that were chosen before, so it is removed.
    ...(isList && entry(dict, "I") && { I: "null" }),
  });
  const isCombo = (flags & flag.combo) !== 0;
  const shown = {
    text,
    lines: isList ? !isCombo : (flags & flag.multiline) !== 0,
    cells: (flags & flag.comb) !== 0 && !isList ? (asInteger(resolve(look.file, entry(dict, "MaxLen"))) ?? 0) : 0,
    points: pointsOf(look, dict),
    align: asInteger(resolve(look.file, entry(dict, "Q"))) ?? 0,
  };
  const drawn: DrawnWidget[] = [];
  for (const widget of widgets) {
    const drawing = ink.text(widget, shown);
    if (typeof drawing === "string") return drawing;
    drawn.push({ widget, drawing });
  }
  return drawn;
}

/** The font size that the PDF form states; 0 means that the size is chosen to fit the field. */
function pointsOf({ file, acroForm }: PdfLookup, dict: Dict): number {
  const appearance = textAt(file, dict, "DA") || (acroForm ? textAt(file, acroForm.dict, "DA") : "");
  const size = Number(/(\d{1,3}(?:\.\d+)?)\s+Tf/.exec(appearance)?.[1] ?? 0);
  return size > 0 && size <= 200 ? size : 0;
}

/** Encodes a PDF name (ISO 32000-2, section 7.3.5). */
const nameOf = (name: string): string =>
  `/${[...Buffer.from(name, "latin1")].map((byte) => (/[A-Za-z0-9_-]/.test(String.fromCharCode(byte)) ? String.fromCharCode(byte) : `#${byte.toString(16).padStart(2, "0")}`)).join("")}`;

/**
 * Makes all fields except signatures read-only. Also makes PDF readers show our drawings, so that they don't draw the
 * values themselves.
 */
function close(look: PdfLookup, writer: RevisionWriter): void {
  for (const { ref, dict, type, flags } of namedFields(look))
    if (type !== "Sig" && (flags & flag.readOnly) === 0) writer.set(ref, dict, { Ff: String(flags | flag.readOnly) });
  const { acroForm, root } = look;
  if (!acroForm) return;
  const changes = {
    ...(entry(acroForm.dict, "NeedAppearances") && { NeedAppearances: "false" }),
    // Removes the form's XFA data, because they lack our answers.
    ...(entry(acroForm.dict, "XFA") && { XFA: "null" }),
  };
  if (Object.keys(changes).length === 0) return;
  if (acroForm.ref) writer.set(acroForm.ref, acroForm.dict, changes);
  else writer.set(root.ref, root.dict, { AcroForm: withEntries(acroForm.dict, changes) });
}
