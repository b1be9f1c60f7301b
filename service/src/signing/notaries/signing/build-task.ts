import { addResources, createCanvas, createGlyphFonts, type Typeset } from "@signsealship/certificate";
import { holdsDecoy } from "../../../evidence/seals/seals.ts";
import { dateString, textString, withEntries } from "../../../kernel/pdf/edit.ts";
import type { Ref } from "../../../kernel/pdf/lexer.ts";
import { resolve } from "../../../kernel/pdf/objects.ts";
import { type Page, pages } from "../../../kernel/pdf/pages/page-tree.ts";
import { openWithinBounds } from "../../../kernel/pdf/pdf-js.ts";
import { PdfRefusal } from "../../../kernel/pdf/refusal.ts";
import { buildSignedRevision, type Tail } from "../../../kernel/pdf/revision/revision.ts";
import { createRevisionWriter, type RevisionWriter } from "../../../kernel/pdf/revision/writer.ts";
import { typesetFor } from "../../../kernel/pdf/typeset.ts";
import { asInteger, entry } from "../../../kernel/pdf/values.ts";
import { lookUpPdf, type PdfLookup } from "../../../kernel/pdf/xref/lookup.ts";
import { blockName } from "../uploads/text.ts";
import { type Box, overlaps, shownOn, wordsOn } from "../uploads/visible-place.ts";

/** A notary's signature before it is made. */
export type NotaryRevision = {
  /** Hex SHA-256 of the document. */
  readonly docSha256: string;
  /** What the block says, a line or more each. */
  readonly lines: readonly string[];
  readonly name: string;
  readonly reason: string;
  readonly location: string;
  /** Whole seconds. */
  readonly at: Date;
  /** Hex SHA-256 of the act's canonical JSON, which the signature states. */
  readonly actSha256: string;
  /** The lengths that the signature's numbers depend on, one set after the other. */
  readonly draws: readonly { readonly reserve: number; readonly padding: number }[];
};

export type NotaryOutput = { readonly tail: Tail; readonly isVisible: boolean } | { readonly refused: string };

/** Both flags of ISO 32000-1 table 219: signatures exist, append only. */
const SIG_FLAGS = 3;
const width = 290;
const size = 8;
const leading = 11;
const inset = 5;

/** Appends a signature field with a block in a blank place; where none is blank, one that shows nothing. */
export async function run(document: Buffer, input: NotaryRevision): Promise<NotaryOutput> {
  try {
    const typeset = await typesetFor(input.lines);
    const height = heightOf(typeset, input.lines);
    const place = await blankPlace(document, width, height);
    for (const lengths of input.draws) {
      const tail = buildTail(document, input, { place, height, typeset }, lengths);
      if (!holdsDecoy(document, tail)) return { tail, isVisible: place !== null };
    }
    return { refused: "it holds numbers that name another place for the signature" };
  } catch (error) {
    if (error instanceof PdfRefusal) return { refused: error.message };
    throw error;
  }
}

type Block = { readonly place: BlankPlace | null; readonly height: number; readonly typeset: Typeset };

const linesOf = (typeset: Typeset, lines: readonly string[]) =>
  lines.flatMap((text) => typeset(text, (1000 * (width - 2 * inset)) / size).lines);

const heightOf = (typeset: Typeset, lines: readonly string[]): number =>
  linesOf(typeset, lines).length * leading + 2 * inset;

function buildTail(
  document: Buffer,
  input: NotaryRevision,
  block: Block,
  { reserve, padding }: NotaryRevision["draws"][number],
): Tail {
  const look = lookUpPdf(document);
  const writer = createRevisionWriter(look, input.docSha256);
  const signature = writer.number();
  addField(look, writer, signature, input, block);
  const { name, reason, location, at, actSha256 } = input;
  const head =
    `<</Type/Sig/Filter/Adobe.PPKLite/SubFilter/ETSI.CAdES.detached/M${dateString(at)}/Name${textString(name)}` +
    `/Reason${textString(reason)}/Location${textString(location)}/SSSNotaryActSha256<${actSha256}>/Contents `;
  const open = { ref: signature, head, end: ">>", reserve, padding };
  return buildSignedRevision(look, open, writer.objects(), input.docSha256);
}

/** Adds the field, merged with its widget, to its page and to the form (ISO 32000-1 12.7.3 and 12.5.6.19). */
function addField(
  look: PdfLookup,
  writer: RevisionWriter,
  signature: Ref,
  { docSha256, lines }: NotaryRevision,
  { place, height, typeset }: Block,
): void {
  const page = place ? pageAt(look, place.page) : look.firstPage;
  const field = writer.reserve();
  const shown = place
    ? `/F 132/Rect[${place.box.map((value) => Math.round(value * 1000) / 1000).join(" ")}]` +
      `/AP<</N ${drawn(writer, typeset, lines, height)}>>`
    : "/F 132/Rect[0 0 0 0]";
  field.fill(
    `<</Type/Annot/Subtype/Widget/FT/Sig/T(${blockName(docSha256)})/TU${textString(["Notary", ...lines].join("\n"))}${shown}` +
      `/P ${page.ref.num} ${page.ref.gen} R/V ${signature.num} ${signature.gen} R>>`,
  );
  writer.append(page.dict, "Annots", [field.ref], (Annots) => writer.set(page.ref, page.dict, { Annots }));
  addToForm(look, writer, field.ref);
}

function addToForm({ root, acroForm, file }: PdfLookup, writer: RevisionWriter, field: string): void {
  if (!acroForm) {
    writer.set(root.ref, root.dict, { AcroForm: writer.add(`<</Fields[${field}]/SigFlags ${SIG_FLAGS}>>`) });
    return;
  }
  const { ref, dict } = acroForm;
  const changes: Record<string, string> = {};
  writer.append(dict, "Fields", [field], (Fields) => Object.assign(changes, { Fields }));
  const flags = asInteger(resolve(file, entry(dict, "SigFlags"))) ?? 0;
  if ((flags & SIG_FLAGS) !== SIG_FLAGS) changes["SigFlags"] = String(flags | SIG_FLAGS);
  if (Object.keys(changes).length === 0) return;
  if (ref) writer.set(ref, dict, changes);
  else writer.set(root.ref, root.dict, { AcroForm: withEntries(dict, changes) });
}

/** @throws PdfRefusal for a page that only another reader found */
function pageAt({ file, root }: PdfLookup, index: number): Page {
  let number = 0;
  for (const page of pages(file, root.dict)) if (number++ === index) return page;
  throw new PdfRefusal("needs_repair", `page ${index + 1} is missing`);
}

/** The block as a form XObject. */
function drawn(writer: RevisionWriter, typeset: Typeset, lines: readonly string[], height: number): string {
  const glyphs = createGlyphFonts();
  const canvas = createCanvas(glyphs);
  canvas.drawing(0, 0, 1, `0.29 0.33 0.41 RG 0.75 w 0.5 0.5 ${width - 1} ${height - 1} re S`);
  for (const [index, line] of linesOf(typeset, lines).entries())
    canvas.text(line, inset, height - inset - leading * (index + 1) + 3, size, "#17212e");
  const resources = addResources(writer, glyphs, "");
  return writer.stream(
    `/Type/XObject/Subtype/Form/BBox[0 0 ${width} ${height}]/Resources ${resources}`,
    canvas.operators(),
  );
}

/** A blank place on a page, in user space. */
type BlankPlace = { /** From 0. */ readonly page: number; readonly box: Box };

const margin = 36;
const step = 12;
/** From the end: a block far before the last words is not looked for by readers. */
const mostPages = 5;

/**
 * The lowest blank place of the size on the last page that has one. Pages that are shown turned or scaled are left out. Lines and pictures
 * are not seen, as in the check of uploads. A document that pdf.js can't read has none.
 */
async function blankPlace(document: Buffer, width: number, height: number): Promise<BlankPlace | null> {
  const readable = await openWithinBounds(document);
  if (!readable) return null;
  const { opening } = readable;
  try {
    const opened = await opening.promise;
    for (let number = opened.numPages; number > Math.max(0, opened.numPages - mostPages); number--) {
      const page = await opened.getPage(number);
      if (page.rotate !== 0 || page.userUnit !== 1) continue;
      const taken = [...(await wordsOn(page)), ...(await shownOn(page))].map(({ box }) => box);
      const box = blankOn(page.view, taken, width, height);
      if (box) return { page: number - 1, box };
      page.cleanup();
    }
    return null;
  } catch {
    return null;
  } finally {
    await opening.destroy();
  }
}

function blankOn(view: readonly number[], taken: readonly Box[], width: number, height: number): Box | null {
  const [left = 0, bottom = 0, right = 0, top = 0] = view;
  for (let y = bottom + margin; y + height <= top - margin; y += step)
    for (const x of [left + margin, right - margin - width]) {
      const box = [x, y, x + width, y + height] as const;
      if (x >= left && box[2] <= right && !taken.some((each) => overlaps(box, each))) return box;
    }
  return null;
}
