import { pages } from "../../../kernel/pdf/page-tree.ts";
import { type Place, pageBox, shownSize } from "../../../kernel/pdf/pages/page-box.ts";
import type { PdfLookup } from "../../../kernel/pdf/xref/lookup.ts";
import { aKind, maxFields, maxSize } from "../../../orders/order/order.ts";
import type { PlannedField } from "../pdf/fields.ts";
import { UnfitField } from "../pdf/prepare.ts";

/**
 * The limits for the places of fields. A large place over a sentence could change the page's meaning.
 *
 * - `onPage`, `ofSigner`: the most fields of one page and of one signer
 * - `ofPage`, `ofPageInAll`: the share of a page that one place may cover, and that all places may cover together
 * - `overlap`: of two places, the share of the smaller one that the larger one may cover
 */
const max = { onPage: 100, ofSigner: 200, ofPage: 0.1, ofPageInAll: 0.4, overlap: 0.4 } as const;
/** The place of a text must be narrower than its page by at least this many points. */
const marginForText = 36;
/** Points by which places may overlap, because borders that touch may overlap after rounding. */
const tolerance = 0.5;

/**
 * Rejects places that are larger or more numerous than signing needs. Only new orders are checked, not orders that were
 * placed before these rules existed.
 * @param elements the names of the fields that the order requests, which come first in `planned`. All others come from
 * the document's own fields or tags, which may be close together
 * @throws UnfitField for a field that breaks a rule
 */
export function requirePlaces(
  { file, root }: PdfLookup,
  planned: readonly PlannedField[],
  elements: readonly string[],
): void {
  const shown = planned.filter(({ invisible }) => !invisible);
  if (shown.length > maxFields) throw new UnfitField(maxFields, `is more than the ${maxFields} fields of a document`);
  requireCounts(shown);
  const sizes = sizesOf({ file, root }, shown);
  const areas = new Map<number, number>();
  for (const [index, field] of shown.entries()) {
    const size = sizes.get(field.page);
    if (size) requireSize(index, field, size, areas);
  }
  for (const [index, field] of shown.slice(0, elements.length).entries())
    for (const [before, other] of shown.slice(0, index).entries())
      requireApart([index, field], [elements[before] ?? "", other]);
}

function requireCounts(fields: readonly PlannedField[]): void {
  const [onPage, ofSigner] = [new Map<number, number>(), new Map<number, number>()];
  for (const [index, { page, signer }] of fields.entries()) {
    const [here, own] = [(onPage.get(page) ?? 0) + 1, (ofSigner.get(signer) ?? 0) + 1];
    if (here > max.onPage) throw new UnfitField(index, `is more than the ${max.onPage} fields of page ${page + 1}`);
    if (own > max.ofSigner) throw new UnfitField(index, `is more than the ${max.ofSigner} fields of signer ${signer}`);
    onPage.set(page, here);
    ofSigner.set(signer, own);
  }
}

type Size = { readonly width: number; readonly height: number };

function sizesOf({ file, root }: Pick<PdfLookup, "file" | "root">, fields: readonly PlannedField[]): Map<number, Size> {
  const wanted = new Set(fields.map(({ page }) => page));
  const sizes = new Map<number, Size>();
  let number = 0;
  for (const page of pages(file, root.dict)) {
    if (sizes.size === wanted.size) break;
    if (wanted.has(number)) sizes.set(number, shownSize(pageBox(file, page)));
    number++;
  }
  return sizes;
}

function requireSize(index: number, { kind, page, place }: PlannedField, size: Size, areas: Map<number, number>): void {
  const limit = maxSize[kind];
  const width = Math.min(
    limit.width,
    kind === "signature" || kind === "initials" ? limit.width : size.width - marginForText,
  );
  const refuse = (rule: string) => new UnfitField(index, `${rule} (page ${page + 1})`);
  if (place.width > width + tolerance)
    throw refuse(`is ${points(place.width)} points wide, and ${aKind[kind]} is at most ${points(width)}`);
  if (place.height > limit.height + tolerance)
    throw refuse(`is ${points(place.height)} points high, and ${aKind[kind]} is at most ${limit.height}`);
  const share = (place.width * place.height) / (size.width * size.height);
  if (share > max.ofPage)
    throw refuse(`takes ${percent(share)} percent of its page, and at most ${percent(max.ofPage)} are allowed`);
  const all = (areas.get(page) ?? 0) + share;
  if (all > max.ofPageInAll)
    throw refuse(
      `brings the fields of its page to ${percent(all)} percent of it, and at most ${percent(max.ofPageInAll)} are allowed`,
    );
  areas.set(page, all);
}

function requireApart([index, field]: [number, PlannedField], [before, other]: [string, PlannedField]): void {
  if (field.page !== other.page) return;
  const common = overlap(field.place, other.place);
  if (common === 0) return;
  if (field.signer !== other.signer)
    throw new UnfitField(index, `overlaps ${before}, which is a field of signer ${other.signer}`);
  const smaller = Math.min(area(field.place), area(other.place));
  if (common > max.overlap * smaller)
    throw new UnfitField(
      index,
      `overlaps ${before} by ${percent(common / smaller)} percent of the smaller one, and at most ${percent(max.overlap)} are allowed`,
    );
}

const area = ({ width, height }: Place): number => width * height;

function overlap(a: Place, b: Place): number {
  const across = Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x) - tolerance;
  const down = Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y) - tolerance;
  return across > 0 && down > 0 ? across * down : 0;
}

const points = (value: number): number => Math.round(value * 10) / 10;
const percent = (share: number): number => Math.round(share * 100);
