import {
  addPicture,
  addResources,
  createCanvas,
  createGlyphFonts,
  type Picture,
  readLogo,
  type Typeset,
} from "@signsealship/certificate";
import { type Draw, holdsDecoy } from "../../../evidence/seals/seals.ts";
import { type BlankPlace, blankPlace, type Size } from "../../../kernel/pdf/blank-place.ts";
import { dateString, textString } from "../../../kernel/pdf/edit.ts";
import type { Ref } from "../../../kernel/pdf/lexer.ts";
import { fieldLockReference } from "../../../kernel/pdf/named-fields.ts";
import { resolveDict } from "../../../kernel/pdf/objects.ts";
import { type Page, pages } from "../../../kernel/pdf/page-tree.ts";
import { PdfRefusal } from "../../../kernel/pdf/refusal.ts";
import { addToForm } from "../../../kernel/pdf/revision/form.ts";
import { buildSignedRevision, type Tail } from "../../../kernel/pdf/revision/revision.ts";
import { createRevisionWriter, type RevisionWriter } from "../../../kernel/pdf/revision/writer.ts";
import { typesetFor } from "../../../kernel/pdf/typeset.ts";
import { entry } from "../../../kernel/pdf/values.ts";
import { lookUpPdf, type PdfLookup } from "../../../kernel/pdf/xref/lookup.ts";
import type { NotaryBlock } from "../../envelopes/envelopes.ts";
import { blockName } from "../uploads/text.ts";
import { blockLook, fitted, heightOf, sealSide } from "./block-look.ts";

/** The input for a notary's revision, which is built without its signature. */
export type NotaryRevision = {
  /** Hex SHA-256 of the document. */
  readonly docSha256: string;
  /** The lines of text in the notary's block. A long one is wrapped. */
  readonly lines: readonly string[];
  readonly name: string;
  readonly reason: string;
  readonly location: string;
  /** The time of the signature, in whole seconds. */
  readonly at: Date;
  /** Hex SHA-256 of the act's canonical JSON; the signature contains it. */
  readonly actSha256: string;
  /** The notary's seal as a PNG encoded by this service; null without one. */
  readonly seal: Uint8Array | null;
  /** The field that was reserved for the block before the first signature. If null, a field is added now. */
  readonly block: NotaryBlock | null;
  /**
   * Pairs of random lengths for the space that is reserved for the signature. The task tries them in turn until no
   * other numbers in the document could be mistaken for the signature's /ByteRange.
   */
  readonly draws: readonly Draw[];
};

export type NotaryOutput = { readonly tail: Tail; readonly isVisible: boolean } | { readonly refused: string };

const { width, inset } = blockLook;

/**
 * Draws the block into the reserved field. Without a reserved field, adds a field with the block in a blank place; if
 * no place is blank, the added field is invisible.
 */
export async function run(document: Buffer, input: NotaryRevision): Promise<NotaryOutput> {
  try {
    const typeset = await typesetFor(input.lines);
    const { block } = input;
    const seal = input.seal && readLogo(input.seal);
    const height = block?.height ?? heightOf(typeset, input.lines, seal !== null);
    const place = block ? null : await blankPlace(document, { width, height });
    for (const lengths of input.draws) {
      const tail = buildTail(document, input, { place, height, typeset, seal }, lengths);
      if (!holdsDecoy(document, tail)) return { tail, isVisible: block !== null || place !== null };
    }
    return { refused: "it holds numbers that name another place for the signature" };
  } catch (error) {
    if (error instanceof PdfRefusal) return { refused: error.message };
    throw error;
  }
}

type Block = {
  readonly place: BlankPlace | null;
  readonly height: number;
  readonly typeset: Typeset;
  readonly seal: Picture | null;
};

function buildTail(document: Buffer, input: NotaryRevision, block: Block, { reserve, padding }: Draw): Tail {
  const look = lookUpPdf(document);
  const writer = createRevisionWriter(look, input.docSha256);
  const signature = writer.number();
  if (input.block) fillField(look, writer, signature, input.block, { ...block, lines: input.lines });
  else addField(look, writer, signature, input, block);
  const { name, reason, location, at, actSha256 } = input;
  const lock = input.block ? fieldLockReference([input.block.name], look) : "";
  const head =
    `<</Type/Sig/Filter/Adobe.PPKLite/SubFilter/ETSI.CAdES.detached/M${dateString(at)}/Name${textString(name)}` +
    `/Reason${textString(reason)}/Location${textString(location)}${lock}/SSSNotaryActSha256<${actSha256}>/Contents `;
  const open = { ref: signature, head, end: ">>", reserve, padding };
  return buildSignedRevision(look, open, writer.objects(), input.docSha256);
}

/**
 * Draws the block's lines into the reserved field. Uses a smaller font if they don't fit otherwise.
 * @throws PdfRefusal when the field has changed since it was prepared; otherwise as `fitted`
 */
function fillField(
  look: PdfLookup,
  writer: RevisionWriter,
  signature: Ref,
  { object, name, ...size }: NotaryBlock,
  words: Words,
): void {
  const bytes = Buffer.from(`${object} 0 R`);
  const found = resolveDict(look.file, { bytes, start: 0, end: bytes.length }, "the notary's field");
  if (!found || entry(found.dict, "V")) throw new PdfRefusal("needs_repair", `the field ${name} is missing or signed`);
  writer.set({ num: object, gen: 0 }, found.dict, {
    V: `${signature.num} ${signature.gen} R`,
    AP: `<</N ${drawn(writer, words, size)}>>`,
  });
}

/**
 * Adds a new signature field to its page and to the document's form. The field and its widget annotation are one object
 * (ISO 32000-1 12.7.3 and 12.5.6.19).
 */
function addField(
  look: PdfLookup,
  writer: RevisionWriter,
  signature: Ref,
  { docSha256, lines }: NotaryRevision,
  { place, height, typeset, seal }: Block,
): void {
  const page = place ? pageAt(look, place.page) : look.firstPage;
  const field = writer.reserve();
  const shown = place
    ? `/F 132/Rect[${place.box.map((value) => Math.round(value * 1000) / 1000).join(" ")}]` +
      `/AP<</N ${drawn(writer, { typeset, lines, seal }, { width, height })}>>`
    : "/F 132/Rect[0 0 0 0]";
  field.fill(
    `<</Type/Annot/Subtype/Widget/FT/Sig/T(${blockName(docSha256)})/TU${textString(["Notary", ...lines].join("\n"))}${shown}` +
      `/P ${page.ref.num} ${page.ref.gen} R/V ${signature.num} ${signature.gen} R>>`,
  );
  writer.append(page.dict, "Annots", [field.ref], (Annots) => writer.set(page.ref, page.dict, { Annots }));
  addToForm(look, writer, [field.ref]);
}

/**
 * Finds a page of the document by its index.
 * @throws PdfRefusal if the sealer's PDF reader doesn't find the page on which pdf.js found a blank place
 */
function pageAt({ file, root }: PdfLookup, index: number): Page {
  let number = 0;
  for (const page of pages(file, root.dict)) if (number++ === index) return page;
  throw new PdfRefusal("needs_repair", `page ${index + 1} is missing`);
}

type Words = Pick<Block, "typeset" | "seal"> & { readonly lines: readonly string[] };

/** Draws the block as a form XObject. */
function drawn(writer: RevisionWriter, { typeset, lines, seal }: Words, box: Size): string {
  const { width, height } = box;
  const { rows, points, step } = fitted(typeset, lines, box, seal !== null);
  const glyphs = createGlyphFonts();
  const canvas = createCanvas(glyphs);
  canvas.drawing(0, 0, 1, `0.29 0.33 0.41 RG 0.75 w 0.5 0.5 ${width - 1} ${height - 1} re S`);
  for (const [index, line] of rows.entries())
    canvas.text(line, inset, height - inset - step * (index + 1) + 3, points, "#17212e");
  if (seal) canvas.drawing(...sealDrawing(seal, box));
  const resources = addResources(writer, glyphs, seal ? `/XObject<</Seal ${addPicture(writer, seal)}>>` : "");
  return writer.stream(
    `/Type/XObject/Subtype/Form/BBox[0 0 ${width} ${height}]/Resources ${resources}`,
    canvas.operators(),
  );
}

/** Draws the seal at the block's right edge, as large as its square and the block allow. */
function sealDrawing({ width, height }: Picture, box: Size): [x: number, y: number, scale: number, operators: string] {
  const scale = Math.min(sealSide, box.height - 2 * inset) / Math.max(width, height);
  const [across, up] = [width * scale, height * scale];
  const round = (value: number) => Math.round(value * 1000) / 1000;
  const [x, y] = [box.width - inset - (sealSide + across) / 2, (box.height - up) / 2];
  return [round(x), round(y), 1, `${round(across)} 0 0 ${round(up)} 0 0 cm /Seal Do`];
}
