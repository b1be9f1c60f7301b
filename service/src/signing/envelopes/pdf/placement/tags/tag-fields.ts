import { type Page, pages } from "../../../../../kernel/pdf/page-tree.ts";
import { type PageBox, type Place, pageBox, shownPlace, shownSize } from "../../../../../kernel/pdf/pages/page-box.ts";
import { TooMuchText } from "../../../../../kernel/pdf/pdf-js.ts";
import { PdfRefusal } from "../../../../../kernel/pdf/refusal.ts";
import { beginsText, textStreams } from "../../../../../kernel/pdf/text-cost.ts";
import type { PdfLookup } from "../../../../../kernel/pdf/xref/lookup.ts";
import { timeLimit } from "../../../../../kernel/platform/stopwatch.ts";
import { maxFields, minSize, parseOwnFields, type RequestedField } from "../../../../../orders/order/order.ts";
import type { PlannedField } from "../../fields.ts";
import { asked } from "../asked.ts";
import { TooLongForTags, UnmatchedTag, unmatchedTagOf } from "../unmatched-tag.ts";
import { pageTexts } from "./page-texts.ts";
import { type TagInText, tagsInText } from "./tags-in-text.ts";

/** The time limit for reading one document's text. */
const maxMs = 8_000;

type TagOnPage = TagInText & { readonly page: number; readonly box: PageBox };

/**
 * The fields that are requested by tags in the document's text. A field is placed over its tag. A tag can't be removed
 * from a document, so the field hides the tag, unless other words are too close.
 * @param signers the number of signers
 * @throws PdfRefusal
 * @throws UnmatchedTag for too many tags, for a tag of an unknown signer, and for one that breaks a rule of an order's
 * `fields`. Also for a text that is too long or takes too long to read
 */
export async function tagFields(look: PdfLookup, signers: number): Promise<PlannedField[]> {
  if (!mayHoldTags(look.file.bytes)) return [];
  const tags = await findTags(look).catch((error: unknown) => {
    if (error instanceof UnmatchedTag || error instanceof PdfRefusal) throw error;
    if (error instanceof TooMuchText) throw new TooLongForTags(`${error.message}; name the places in fields`);
    // If pdf.js can't read the document, no tags are found, and the signers sign on an added page.
    return [];
  });
  const asking = elementsOf(tags, signers);
  const elements = asking.map(({ element }) => element);
  const fields = readElements(elements, asking, signers);
  const planned: PlannedField[] = [];
  for (const [index, field] of fields.entries()) {
    const over = asking[index]?.tags ?? [];
    const here = asked(field, planned.length).map(
      (each, option) => over[option] && { ...each, ...coverOf(over[option]) },
    );
    planned.push(...here.filter((each) => each !== undefined));
  }
  return planned;
}

/**
 * An element as in an order's `fields`, and the tags that request it. Each option of a radio or multiple choice has a
 * tag of its own.
 */
type Asking = { element: Record<string, unknown>; tags: TagOnPage[] };

function elementsOf(tags: readonly TagOnPage[], signers: number): Asking[] {
  const roles = new Map<string, number>();
  const groups = new Map<string, Asking>();
  return tags.flatMap((found): Asking[] => {
    const { tag, page, text } = found;
    const signer = signerOf(found, roles);
    if (signer > signers) {
      const has = `the order has ${signers} ${signers === 1 ? "signer" : "signers"}`;
      throw new UnmatchedTag(`${text} on page ${page + 1} is for signer ${signer}, and ${has}`);
    }
    const { kind, label, required, more } = tag;
    // A placeholder of the smallest allowed size, so that the rules of `fields` accept the element. The real place is
    // checked later, as for all documents.
    const place = { x: 0, y: 0, ...minSize[kind] };
    const members = { kind, signer, page: page + 1, ...(label !== null && { label }), required, ...more };
    if (kind !== "radio" && kind !== "multiple") return [{ element: { ...members, ...place }, tags: [found] }];
    const option = { label: tag.option ?? "", ...place };
    const name = [kind, signer, page, more["id"] ?? label ?? ""].join(":");
    const group = groups.get(name);
    if (!group) {
      const first: Asking = { element: { ...members, options: [option] }, tags: [found] };
      groups.set(name, first);
      return [first];
    }
    group.element = { ...members, ...group.element, options: [...(group.element["options"] as object[]), option] };
    group.tags.push(found);
    return [];
  });
}

/**
 * Validates the elements that tags request, by the rules of an order's `fields`.
 * @throws UnmatchedTag naming the tag and the rule that it breaks
 */
function readElements(elements: readonly object[], asking: readonly Asking[], signers: number): RequestedField[] {
  try {
    return parseOwnFields(elements, signers);
  } catch (error) {
    throw unmatchedTagOf(
      error,
      asking.map(({ tags: [tag] }) => tag && `${tag.text} on page ${tag.page + 1}`),
    );
  }
}

/**
 * The place of a tag's field, and the rectangle with which the field hides the tag. If other words are close to the
 * tag, nothing is hidden, so that they stay readable.
 */
function coverOf(found: TagOnPage): Pick<PlannedField, "place" | "covers"> {
  const around = shownPlace(found.box, found.rect);
  const place = placeOf(found, around);
  if (!found.isAlone) return { place };
  return { place, covers: { ...around, x: around.x - place.x, y: place.y + place.height - around.y - around.height } };
}

const isBox = (kind: TagInText["tag"]["kind"]): boolean => ["checkbox", "radio", "multiple"].includes(kind);

async function findTags({ file, root }: PdfLookup): Promise<TagOnPage[]> {
  const found: TagOnPage[] = [];
  const isLate = timeLimit(maxMs);
  const each: Iterator<Page> = pages(file, root.dict);
  let page = 0;
  for await (const runs of pageTexts(file.bytes)) {
    const { value, done } = each.next();
    if (done) break;
    const tags = tagsInText(runs, maxFields + 1 - found.length);
    if (tags.length > 0) {
      const box = pageBox(file, value);
      found.push(...tags.map((tag) => ({ ...tag, page, box })));
    }
    if (found.length > maxFields)
      throw new UnmatchedTag(`its text has more than ${maxFields} tags; name the places in fields`);
    page++;
    if (isLate()) throw new TooLongForTags("looking for tags in its text takes too long; name the places in fields");
  }
  return found;
}

/** The number of the signer whom a tag means. Each new role without a number is assigned to the next signer. */
function signerOf({ tag: { role } }: TagInText, roles: Map<string, number>): number {
  if (role === null) return 1;
  if ("number" in role) return role.number;
  const name = role.name.toLowerCase();
  const number = Number(/^(?:signer|party|role|r) ?(\d{1,2})$/.exec(name)?.[1] ?? 0);
  if (number > 0) return number;
  const signer = roles.get(name) ?? roles.size + 1;
  roles.set(name, signer);
  return signer;
}

/**
 * The smallest sizes of fields whose tags set no size, in points. The width counts only if no words follow the tag. A
 * signature or initials need more height than the line of their tag.
 */
const least: Partial<Record<RequestedField["kind"], { width: number; height: number }>> = {
  signature: { width: 120, height: 28 },
  initials: { width: 36, height: 20 },
};

/** The size in points of a box whose tag sets none, about the height of a line of text. */
const usualBox = 12;

/**
 * The place of a field, at its tag's lower left corner and within the page. It is at least as large as the tag; only a
 * box may be smaller.
 */
function placeOf({ tag, box, endsLine }: TagOnPage, around: Place): Place {
  const page = shownSize(box);
  const { width: usual, height: high } = least[tag.kind] ?? { width: 0, height: 0 };
  // If words follow the tag on its line, they must stay readable, so the place gets no extra width.
  const wanted = { width: endsLine ? usual : 0, height: high };
  const smallest = minSize[tag.kind];
  const widest = Math.max(tag.width ?? wanted.width, around.width, smallest.width);
  const highest = Math.max(tag.height ?? wanted.height, around.height, smallest.height);
  const width = Math.min(isBox(tag.kind) ? (tag.width ?? tag.height ?? usualBox) : widest, page.width);
  const height = Math.min(isBox(tag.kind) ? (tag.height ?? tag.width ?? usualBox) : highest, page.height);
  const bottom = around.y + around.height;
  const within = (value: number, max: number) => Math.min(Math.max(value, 0), Math.max(max, 0));
  return { x: within(around.x, page.width - width), y: within(bottom - height, page.height - height), width, height };
}

/**
 * False if a quick search of the document's streams finds no `{{`. The search misses two braces if the font changes
 * between them. It usually decides within a millisecond, because it doesn't read the text.
 */
export function mayHoldTags(bytes: Buffer): boolean {
  if (bytes.includes("/Encrypt") || bytes.includes("/braceleft")) return true;
  for (const data of textStreams(bytes))
    if (typeof data === "string" || showsBraces(data.toString("latin1"))) return true;
  return false;
}

const showsText = /[)\]>]\s*(?:T[jJ]|['"])/;

/** Two consecutive braces in strings of a content stream. Operators that move the second brace may be between them. */
const literalBraces = /\{[\s\0()\d.\-\\[\]TJjDdm*<>]{0,60}\{/;
const hexBraces = /7b[\s<>\d.-]{0,60}?(?:00)?7b/i;
const escapedBraces = /\\173/;

function showsBraces(text: string): boolean {
  if (text.includes("/braceleft")) return true;
  if (/begin(?:bf|cid)/.test(text)) return mapsBrace(text);
  if (!beginsText.test(text) || !showsText.test(text)) return false;
  return literalBraces.test(text) || hexBraces.test(text) || escapedBraces.test(text);
}

const brace = 0x7b;

/** True if a ToUnicode map assigns `{` to a code other than 0x7B, or may do so. */
function mapsBrace(cmap: string): boolean {
  if (/<\s*007b\s*>/i.test(cmap)) return true;
  for (const [, low = "", high = "", to = ""] of cmap.matchAll(/<([0-9a-f]+)>\s*<([0-9a-f]+)>\s*<([0-9a-f]{4})>/gi)) {
    const [first, last, text] = [low, high, to].map((digits) => Number.parseInt(digits, 16));
    if (first === undefined || last === undefined || text === undefined || first === text) continue;
    if (text <= brace && brace <= text + last - first) return true;
  }
  return false;
}
