import { addResources, createCanvas, createGlyphFonts, type Typeset } from "@signsealship/certificate";
import type { Ref } from "../../../kernel/pdf/lexer.ts";
import { resolveDict } from "../../../kernel/pdf/objects.ts";
import { countPages } from "../../../kernel/pdf/page-tree.ts";
import type { PageBox } from "../../../kernel/pdf/pages/page-box.ts";
import { PdfRefusal } from "../../../kernel/pdf/refusal.ts";
import type { RevisionWriter } from "../../../kernel/pdf/revision/writer.ts";
import { entry } from "../../../kernel/pdf/values.ts";
import type { PdfLookup } from "../../../kernel/pdf/xref/lookup.ts";
import type { PlannedField } from "./fields.ts";

/** US Letter, like all pages that this service draws. */
export const signaturePageBox: PageBox = { shown: [0, 0, 612, 792], rotate: 0, unit: 1 };
const [, , width, height] = signaturePageBox.shown;
const margin = 54;
const head = 96;
const row = 62;
const ink = "#17212e";
const muted = "#4a5568";
const oneLine = 1_000_000;

/** The most signers that the page has room for. */
export const maxSigners = 10;

/**
 * The fields on the added page: a signature and a date for each of the signers.
 * @param page the page's number, counted from 0
 */
export function fieldsOnSignaturePage(signers: readonly number[], page: number): PlannedField[] {
  return signers.flatMap((signer, index): PlannedField[] => {
    const y = head + index * row + 16;
    const common = { signer, page } as const;
    return [
      { ...common, kind: "signature", place: { x: margin, y, width: 300, height: 40 } },
      { ...common, kind: "date", place: { x: margin + 330, y: y + 14, width: 174, height: 20 } },
    ];
  });
}

/** The upper left corner of the blank area below the signers' rows, measured from the upper left corner of the page. */
export const belowRows = (rows: number) => ({ x: margin, y: head + rows * row + 20 });

/**
 * Adds a page to the end of a document, with a line such as `Signer 1` and space for the fields of each signer.
 * @param typeset must have the fonts for the title, the note and these lines
 * @param annotations references of the widgets on the page
 * @throws PdfRefusal
 */
export function addSignaturePage(
  look: PdfLookup,
  writer: RevisionWriter,
  typeset: Typeset,
  {
    ref,
    rows,
    title,
    note,
  }: { ref: { ref: string; fill: (body: string) => void }; rows: readonly string[]; title: string; note: string },
  annotations: readonly string[],
): void {
  const { file, root } = look;
  const tree = resolveDict(file, entry(root.dict, "Pages"), "the root of the page tree");
  if (!tree?.ref) throw new PdfRefusal("needs_repair", "the root of the page tree is not an object");
  const { ref: parent, dict } = tree;
  const glyphs = createGlyphFonts();
  const canvas = createCanvas(glyphs);
  const write = (text: string, x: number, fromTop: number, size: number, color: "#17212e" | "#4a5568") => {
    const [line] = typeset(text, oneLine).lines;
    if (!line) return;
    const fits = Math.min(size, (1000 * (width - margin - x)) / Math.max(line.width, 1));
    canvas.text(line, x, height - fromTop, Math.round(fits * 100) / 100, color);
  };
  write(title, margin, 60, 18, ink);
  write(note, margin, 80, 9.5, muted);
  for (const [index, text] of rows.entries()) write(text, margin, head + index * row + 12, 10, ink);
  const box = `[0 0 ${width} ${height}]`;
  const content = writer.stream("", canvas.operators());
  ref.fill(
    `<</Type/Page/Parent ${written(parent)}/MediaBox${box}/CropBox${box}/Rotate 0` +
      `/Resources ${addResources(writer, glyphs)}/Contents ${content}/Annots[${annotations.join(" ")}]>>`,
  );
  writer.append(dict, "Kids", [ref.ref], (Kids) => writer.set(parent, dict, { Kids }));
  writer.set(parent, dict, { Count: String(countPages(file, root.dict) + 1) });
}

const written = ({ num, gen }: Ref): string => `${num} ${gen} R`;
