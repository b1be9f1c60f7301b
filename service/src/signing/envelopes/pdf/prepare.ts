import type { Typeset } from "@signsealship/certificate";
import { drawnBy, namedFields, ONLY_STATE } from "../../../kernel/pdf/named-fields.ts";
import { resolve } from "../../../kernel/pdf/objects.ts";
import { countPages, pages } from "../../../kernel/pdf/page-tree.ts";
import { pageBox, shownSize } from "../../../kernel/pdf/pages/page-box.ts";
import { buildRevision } from "../../../kernel/pdf/revision/revision.ts";
import { createRevisionWriter, type RevisionWriter } from "../../../kernel/pdf/revision/writer.ts";
import { asInteger, entry } from "../../../kernel/pdf/values.ts";
import { lookUpPdf, type PdfLookup } from "../../../kernel/pdf/xref/lookup.ts";
import { createAppearances, fittingPoints } from "./appearance.ts";
import { isButton, type PlannedField, type PreparedField, signersWithout } from "./fields.ts";
import { withoutPeriods } from "./partial-names.ts";
import { addSignaturePage, belowRows, fieldsOnSignaturePage, maxSigners, signaturePageBox } from "./signature-page.ts";
import { type FieldPage, newOf, type Widget, widgetOf, writeWidgets } from "./widgets.ts";

/**
 * The error for a field that can't be placed as planned. The message continues the field's name, for example `lies
 * outside page 2`.
 */
export class UnfitField extends Error {
  /** The index of the field in the list of planned fields. 0 if the signature page has no room. */
  readonly field: number;

  constructor(field: number, why: string) {
    super(why);
    this.name = "UnfitField";
    this.field = field;
  }
}

export type Preparation = {
  /**
   * The fields to place. A signer for whom the list has no signature gets a place on a page that is added at the end.
   */
  readonly planned: readonly PlannedField[];
  /** The number of signers. Their names are not needed, because a signer may be replaced after the preparation. */
  readonly signers: number;
  /** The words at the top of the added page. */
  readonly page: { readonly title: string; readonly note: string };
  /** Hex SHA-256 of the document. */
  readonly docSha256: string;
  /** True if a notary signs after the signers, wherever the notary's signature is placed; false by default. */
  readonly isNotarized?: boolean;
  /** The notary's own field, if the preparation reserves it. */
  readonly block?: PlannedBlock;
};

/** A notary's block (the notary's signature field) to place. Width and height are in points. */
export type PlannedBlock = {
  readonly width: number;
  readonly height: number;
  /**
   * A blank place: its page, and its distance from the upper left corner of the page as shown. Null to use an added
   * page. If signers need an added page anyway, the block goes there, if it fits.
   */
  readonly at: { readonly page: number; readonly x: number; readonly y: number } | null;
  /**
   * Set when the notary can also add the field when signing. The block is then omitted in two cases: the document is
   * signed or certified, so that readers may report a new field as a change; or the block fits nowhere.
   */
  readonly isOptional?: true;
};

export type Prepared = {
  /** The revision to append to the document. Empty when all fields already exist and must stay unchanged. */
  readonly tail: Buffer;
  /**
   * The fields on the document's own pages, in the sequence of the planned fields, followed by those on the added page.
   * Includes the notary's block.
   */
  readonly fields: readonly PreparedField[];
  /** The notary's own field, which `fields` contains too; null without one. */
  readonly block: PreparedField | null;
};

/**
 * Builds the revision that adds the fields of all signers to the document. Later acts only fill in these fields, so
 * that no signature invalidates another.
 * @param original the document; neither changed nor copied
 * @param typeset must have the fonts of all texts
 * @throws PdfRefusal for a document that can't be extended this way, UnfitField
 */
export function prepareDocument(original: Buffer, preparation: Preparation, typeset: Typeset): Prepared {
  const { block, ...withoutBlock } = preparation;
  try {
    return build(original, preparation, typeset);
  } catch (error) {
    // PDF programs measure some pages differently, so the block may not fit in a place that looked blank. An optional
    // block is then omitted, and only the signers' fields are placed.
    if (!(error instanceof UnfitField) || !block?.isOptional) throw error;
    return build(original, withoutBlock, typeset);
  }
}

function build(original: Buffer, preparation: Preparation, typeset: Typeset): Prepared {
  const { signers, docSha256 } = preparation;
  const look = lookUpPdf(original);
  const writer = createRevisionWriter(look, docSha256);
  const without = signersWithout(preparation.planned, signers);
  const block = blockToPlace(preparation, without.length, look);
  const isOnAdded = block !== null && (without.length > 0 ? fitsBelow(block, without.length) : !block.at);
  const needsPage = without.length > 0 || isOnAdded;
  const added = needsPage ? addedPage(look, writer, without) : null;
  const onOwnPages = [
    ...withoutPeriods(look, writer, preparation.planned),
    ...(block?.at && !isOnAdded ? [blockField(block, signers, block.at)] : []),
  ];
  const onAdded = added
    ? [
        ...added.planned,
        ...(block && isOnAdded
          ? [blockField(block, signers, { page: added.number, ...belowRows(without.length) })]
          : []),
      ]
    : [];
  const planned = [...onOwnPages, ...onAdded];
  refuseUnfit(look, planned, onOwnPages.length);
  const onPages = new Map([...pagesOf(look, onOwnPages), ...(added?.pages ?? [])]);
  const appearances = createAppearances(typeset);
  const permission = preparation.isNotarized ? null : 2;
  const tools = { look, writer, appearances, signers, docSha256, permission } as const;
  const widgets = planned.flatMap((field, index) => {
    const page = onPages.get(field.page);
    return page ? [widgetOf(field, { index, isFirst: firstOfKind(planned, index), page }, tools)] : [];
  });
  for (const [index, { prepared }] of widgets.entries()) requireLegible(index, prepared, typeset);
  writeWidgets(tools, widgets);
  closeOthers(look, writer, new Set(widgets.flatMap(objectsOf)));
  for (const page of new Set(onPages.values())) {
    const { ref, dict } = page;
    const own = newOf(widgets.filter((widget) => widget.page === page));
    if (dict && own.length > 0) writer.append(dict, "Annots", own, (Annots) => writer.set(ref, dict, { Annots }));
    if (dict || !added) continue;
    const rows = without.map((signer) => `Signer ${signer}`);
    addSignaturePage(look, writer, typeset, { ref: added.reserved, rows, ...preparation.page }, own);
  }
  const objects = writer.objects();
  const tail = objects.length > 0 ? buildRevision(look, objects, docSha256) : Buffer.alloc(0);
  const fields = widgets.map(({ prepared }) => prepared);
  return { tail, fields, block: fields.find(({ signer }) => signer > signers) ?? null };
}

/** The object numbers of a signer's field, and of the document's own radio to which it belongs. */
const objectsOf = ({ prepared, is }: Widget): number[] =>
  is.kind === "changed" && is.radio ? [prepared.object, is.radio.ref.num] : [prepared.object];

/** The smallest legible font size, in points. */
const minFontSize = 6;

/**
 * Requires that the sender's texts for a field can be read at the field's size.
 * @throws UnfitField if one of these texts would be too small to read
 */
function requireLegible(index: number, field: PreparedField, typeset: Typeset): void {
  for (const text of [...(field.value === undefined ? [] : [field.value]), ...(field.options ?? [])]) {
    const why = whyIllegible(field, text, typeset);
    if (why !== null) throw new UnfitField(index, why);
  }
}

type Sized = Pick<PreparedField, "width" | "height" | "unit"> & { readonly kind: string };

/**
 * The reason why a text would be too small to read in the field, as words that continue the field's name; null if it
 * fits.
 */
export function whyIllegible(field: Sized, text: string, typeset: Typeset): string | null {
  const points = isButton(field) ? null : fittingPoints(field, text, typeset);
  return points !== null && points < minFontSize
    ? `is too small for a text of ${[...text].length} characters, which must fit at ${minFontSize} points`
    : null;
}

/**
 * Makes the fields that have no signer read-only, so that their values stay as uploaded. Leaves out signature fields.
 * Changes nothing in a signed or certified document.
 *
 * A widget with one drawing and no appearance state gets a state. Otherwise, pyHanko reports the drawing as a change
 * made after the lock.
 * @param signers the object numbers of the signers' fields
 */
function closeOthers(look: PdfLookup, writer: RevisionWriter, signers: ReadonlySet<number>): void {
  if (look.signatures > 0 || look.docMdp !== null) return;
  for (const { ref: field, type, flags, dict: own, widgets } of namedFields(look)) {
    if (type === "Sig" || signers.has(field.num)) continue;
    for (const { ref, dict } of widgets) {
      const stated = dict === own ? flags : asInteger(resolve(look.file, entry(dict, "Ff")));
      const isOpen = stated !== undefined && (stated & READ_ONLY) === 0;
      const entries = {
        ...(isOpen && { Ff: String(stated | READ_ONLY) }),
        ...(drawnBy(look.file, { dict }) === "drawing" && { AS: ONLY_STATE }),
      };
      if (Object.keys(entries).length > 0) writer.set(ref, dict, entries);
    }
  }
}

/** The flag ReadOnly (ISO 32000-1 table 221). */
const READ_ONLY = 1;

/**
 * Rejects new fields that readers would report as changes after an earlier signature. In a signed document, only each
 * signer's first signature field on an existing page passes. In a certified document, only invisible fields pass.
 * @param onPages how many of the fields are on existing pages
 */
function refuseUnfit({ signatures, docMdp }: PdfLookup, planned: readonly PlannedField[], onPages: number): void {
  for (const [index, { kind, existing, invisible }] of planned.entries()) {
    if (existing || invisible) continue;
    if (docMdp !== null)
      throw new UnfitField(index, "can't be added: the document is certified, and allows no new fields that show");
    if (signatures > 0 && index >= onPages)
      throw new UnfitField(
        index,
        "can't be added: the document is signed, and allows no new pages; name a place for each signature in fields",
      );
    const isText = kind !== "signature" || !firstOfKind(planned, index);
    if (signatures > 0 && isText)
      throw new UnfitField(index, "can't be added: the document is signed, and allows no new text fields");
  }
}

const firstOfKind = (planned: readonly PlannedField[], index: number): boolean =>
  planned.findIndex(({ kind, signer }) => kind === planned[index]?.kind && signer === planned[index]?.signer) === index;

function addedPage(look: PdfLookup, writer: RevisionWriter, signers: readonly number[]) {
  if (signers.length > maxSigners)
    throw new UnfitField(0, `a signature page has room for ${maxSigners} signers, not ${signers.length}`);
  const number = countPages(look.file, look.root.dict);
  const reserved = writer.reserve();
  const ref = { num: Number.parseInt(reserved.ref, 10), gen: 0 };
  const pages = new Map<number, FieldPage>([[number, { ref, dict: null, box: signaturePageBox }]]);
  return { number, reserved, pages, planned: fieldsOnSignaturePage(signers, number) };
}

/**
 * The notary's block as a planned field. The notary gets the number after the last signer's and has no other field, so
 * the block's lock names only the block.
 */
const blockField = (
  { width, height }: PlannedBlock,
  signers: number,
  { page, x, y }: NonNullable<PlannedBlock["at"]>,
): PlannedField => ({
  kind: "signature",
  signer: signers + 1,
  page,
  place: { x, y, width, height },
  label: "Notary",
});

/**
 * The notary's block to place. Null when none is planned, and when an optional block must be omitted.
 * @throws UnfitField for a required block that does not fit
 */
function blockToPlace({ block }: Preparation, rows: number, { signatures, docMdp }: PdfLookup): PlannedBlock | null {
  if (!block) return null;
  const hasRoom = block.at !== null || fitsBelow(block, rows);
  if (block.isOptional) return hasRoom && signatures === 0 && docMdp === null ? block : null;
  if (!hasRoom) throw new UnfitField(0, `a signature page has no room for a notary below ${rows} signers`);
  return block;
}

/** True if the block fits on an added page, below `rows` rows for signers. */
function fitsBelow({ height }: PlannedBlock, rows: number): boolean {
  const { x, y } = belowRows(rows);
  return y + height <= signaturePageBox.shown[3] - x;
}

/**
 * The pages that have fields. @throws UnfitField for a field on a missing page, and for a new field outside its page
 */
function pagesOf(look: PdfLookup, planned: readonly PlannedField[]): Map<number, FieldPage> {
  const found = new Map<number, FieldPage>();
  const last = Math.max(...planned.map(({ page }) => page));
  let count = 0;
  for (const page of pages(look.file, look.root.dict)) {
    if (planned.some((field) => field.page === count)) found.set(count, { ...page, box: pageBox(look.file, page) });
    if (count++ >= last) break;
  }
  for (const [index, { page, place, existing }] of planned.entries()) {
    const on = found.get(page);
    if (!on)
      throw new UnfitField(
        index,
        `is on page ${page + 1} of a document with ${count === 1 ? "one page" : `${count} pages`}`,
      );
    if (existing) continue;
    const { width, height } = shownSize(on.box);
    const isOn = place.x >= 0 && place.y >= 0 && place.x + place.width <= width && place.y + place.height <= height;
    if (!isOn) throw new UnfitField(index, `lies outside page ${page + 1}, which is ${width} by ${height} points`);
  }
  return found;
}
