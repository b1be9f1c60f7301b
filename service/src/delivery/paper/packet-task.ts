import {
  body,
  createFlow,
  createSheets,
  fine,
  letterhead,
  qrAtRight,
  type Sheets,
  type Typeset,
  testNotice,
  titleLook,
} from "@signsealship/certificate";
import { createPdfFile } from "@signsealship/certificate/pdf-file";
import { resolveDict } from "../../kernel/pdf/objects.ts";
import { countPages } from "../../kernel/pdf/page-tree.ts";
import { PdfRefusal } from "../../kernel/pdf/refusal.ts";
import { buildRevision } from "../../kernel/pdf/revision/revision.ts";
import { createRevisionWriter } from "../../kernel/pdf/revision/writer.ts";
import { typesetFor } from "../../kernel/pdf/typeset.ts";
import { entry } from "../../kernel/pdf/values.ts";
import { lookUpPdf } from "../../kernel/pdf/xref/lookup.ts";
import { type SheetContent, writtenTexts } from "./sheet.ts";

export type PacketInput = {
  sheets: readonly SheetContent[];
  docSha256: string;
  /**
   * True if the packet is printed on both sides of the paper. If an odd number of pages precedes the document, a blank
   * page is added after them. So the document begins on the front of a sheet.
   */
  onBothSides: boolean;
};

/**
 * Adds printed sheets before the pages of a document, or makes a file of the sheets alone.
 * @returns the file, or the reason for a failure
 */
export async function run(
  document: Buffer,
  { sheets, docSha256, onBothSides }: PacketInput,
): Promise<Uint8Array | { refused: string }> {
  const drawn = drawSheets(await typesetFor(writtenTexts(sheets)), sheets);
  if (document.length === 0) return fileOf(drawn);
  if (onBothSides && drawn.pageCount() % 2 === 1) drawn.newPage();
  try {
    return Buffer.concat([document, sheetsBefore(document, drawn, docSha256)]);
  } catch (error) {
    if (error instanceof PdfRefusal) return { refused: error.message };
    throw error;
  }
}

function fileOf(drawn: Sheets): Buffer {
  const file = createPdfFile();
  const root = file.add(`<</Type/Catalog${drawn.addWholeTo(file)}/Lang(en-US)>>`);
  return file.finish(root, file.add("<</Producer(SignSealShip)>>"));
}

/**
 * Appends a revision to the PDF. Its new page tree lists the printed sheets first, and then the document's own page
 * tree.
 */
function sheetsBefore(document: Buffer, drawn: Sheets, docSha256: string): Buffer {
  const look = lookUpPdf(document);
  const { file, root } = look;
  const tree = resolveDict(file, entry(root.dict, "Pages"), "the root of the page tree");
  if (!tree?.ref) throw new PdfRefusal("needs_repair", "the root of the page tree is not an object");
  const writer = createRevisionWriter(look, docSha256);
  const whole = writer.reserve();
  const front = drawn.addTo(writer, whole.ref);
  const count = countPages(file, root.dict) + drawn.pageCount();
  whole.fill(`<</Type/Pages/Count ${count}/Kids[${front} ${tree.ref.num} ${tree.ref.gen} R]>>`);
  writer.set(tree.ref, tree.dict, { Parent: whole.ref });
  writer.set(root.ref, root.dict, { Pages: whole.ref });
  return buildRevision(look, writer.objects(), docSha256);
}

function drawSheets(typeset: Typeset, contents: readonly SheetContent[]): Sheets {
  const sheets = createSheets();
  for (const { kind, title, isTest, address, rows, notes, url } of contents) {
    const flow = createFlow(sheets, typeset);
    sheets.newPage();
    letterhead(sheets, flow, typeset, kind);
    flow.text(title, titleLook);
    if (isTest) testNotice(sheets, flow);
    flow.skip(18);
    for (const line of address) flow.text(line, { size: 15, leading: 1.5 });
    flow.skip(22);
    const qrCode = url === null ? undefined : qrAtRight(sheets, flow, url);
    for (const [label, value] of rows) flow.row(label, value, body, qrCode);
    if (qrCode) flow.moveTo(Math.min(flow.y(), qrCode.bottom) - 10);
    flow.skip(10);
    for (const note of notes) flow.text(note, fine);
  }
  return sheets;
}
