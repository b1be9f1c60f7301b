import { type PageBox, type Place, pageBox, shownPlace, shownSize } from "../../../../../kernel/pdf/pages/page-box.ts";
import { type Page, pages } from "../../../../../kernel/pdf/pages/page-tree.ts";
import { TooMuchText } from "../../../../../kernel/pdf/pdf-js.ts";
import { PdfRefusal } from "../../../../../kernel/pdf/refusal.ts";
import { beginsText, textStreams } from "../../../../../kernel/pdf/text-cost.ts";
import type { PdfLookup } from "../../../../../kernel/pdf/xref/lookup.ts";
import { mostFields } from "../../../../../orders/order/order.ts";
import type { PlannedField } from "../../fields.ts";
import { UnmatchedTag } from "../unmatched-tag.ts";
import { pageTexts } from "./page-texts.ts";
import { type TagInText, tagsInText } from "./tags-in-text.ts";

/** Limit of the reading of one document's text. */
const mostMs = 8_000;

type TagOnPage = TagInText & { readonly page: number; readonly box: PageBox };

/**
 * The fields that tags in the document's text ask for. They are over their tags, and hide those that no other words are near: nothing can be
 * taken out of a document.
 * @param signers how many there are
 * @throws PdfRefusal; UnmatchedTag for one of a signer who is not there, or a text that takes too long to read
 */
export async function tagFields(look: PdfLookup, signers: number): Promise<PlannedField[]> {
  if (!mayHoldTags(look.file.bytes)) return [];
  const tags = await findTags(look).catch((error: unknown) => {
    if (error instanceof UnmatchedTag || error instanceof PdfRefusal) throw error;
    if (error instanceof TooMuchText) throw new UnmatchedTag(`${error.message}; name the places in fields`);
    // A document that pdf.js can't read has no tags for it: the signers sign on a page that is added.
    return [];
  });
  const roles = new Map<string, number>();
  return tags.map((found): PlannedField => {
    const { tag, page, box, text } = found;
    const signer = signerOf(found, roles);
    if (signer > signers) {
      const has = `the order has ${signers} ${signers === 1 ? "signer" : "signers"}`;
      throw new UnmatchedTag(`${text} on page ${page + 1} is for signer ${signer}, and ${has}`);
    }
    const around = shownPlace(box, found.rect);
    const place = placeOf(found, around);
    const covers = { ...around, x: around.x - place.x, y: place.y + place.height - around.y - around.height };
    const field = { kind: tag.kind, signer, page, place, label: tag.label, required: tag.required };
    // Words that someone put below a tag stay to be seen, and the tag with them.
    return found.isAlone ? { ...field, covers } : field;
  });
}

async function findTags({ file, root }: PdfLookup): Promise<TagOnPage[]> {
  const found: TagOnPage[] = [];
  const until = performance.now() + mostMs;
  const each: Iterator<Page> = pages(file, root.dict);
  let page = 0;
  for await (const runs of pageTexts(file.bytes)) {
    const { value, done } = each.next();
    if (done) break;
    const tags = tagsInText(runs, mostFields + 1 - found.length);
    if (tags.length > 0) {
      const box = pageBox(file, value);
      found.push(...tags.map((tag) => ({ ...tag, page, box })));
    }
    if (found.length > mostFields)
      throw new UnmatchedTag(`its text has more than ${mostFields} tags; name the places in fields`);
    page++;
    if (performance.now() > until)
      throw new UnmatchedTag("looking for tags in its text takes too long; name the places in fields");
  }
  return found;
}

/** Each new role without a number is the next signer. */
function signerOf({ tag: { role } }: TagInText, roles: Map<string, number>): number {
  if (role === null) return 1;
  if ("number" in role) return role.number;
  const name = role.name.toLowerCase();
  const number = Number(/^(?:signer|party|role|r) ?(\d{1,2})$/.exec(name)?.[1] ?? 0);
  if (number > 0) return number;
  const known = roles.get(name) ?? roles.size + 1;
  roles.set(name, known);
  return known;
}

/** In points: a signature or initials need more room than the line of their tag. */
const least: Partial<Record<PlannedField["kind"], { width: number; height: number }>> = {
  signature: { width: 120, height: 28 },
  initials: { width: 36, height: 20 },
};

/** From the lower left corner of the tag, at least as large as it, and on the page. */
function placeOf({ tag, box, endsLine }: TagOnPage, around: Place): Place {
  const page = shownSize(box);
  const { width: usual, height: high } = least[tag.kind] ?? { width: 0, height: 0 };
  // The words behind it stay to be read.
  const wanted = { width: endsLine ? usual : 0, height: high };
  const width = Math.min(Math.max(tag.width ?? wanted.width, around.width), page.width);
  const height = Math.min(Math.max(tag.height ?? wanted.height, around.height), page.height);
  const bottom = around.y + around.height;
  const within = (value: number, most: number) => Math.min(Math.max(value, 0), Math.max(most, 0));
  return { x: within(around.x, page.width - width), y: within(bottom - height, page.height - height), width, height };
}

/**
 * Whether the text of a document may hold `{{`. Finds out in a millisecond or less, mostly, what would take a whole reader to know; errs
 * towards true.
 */
export function mayHoldTags(bytes: Buffer): boolean {
  if (bytes.includes("/Encrypt") || bytes.includes("/braceleft")) return true;
  for (const data of textStreams(bytes))
    if (typeof data === "string" || showsBraces(data.toString("latin1"))) return true;
  return false;
}

const showsText = /[)\]>]\s*(?:T[jJ]|['"])/;

/** Two braces one after the other in strings of a content stream, whatever stands between them to move the second. */
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

/** Whether a ToUnicode map gives another code than its own to `{`. */
function mapsBrace(cmap: string): boolean {
  if (/<\s*007b\s*>/i.test(cmap)) return true;
  for (const [, low = "", high = "", to = ""] of cmap.matchAll(/<([0-9a-f]+)>\s*<([0-9a-f]+)>\s*<([0-9a-f]{4})>/gi)) {
    const [first, last, text] = [low, high, to].map((digits) => Number.parseInt(digits, 16));
    if (first === undefined || last === undefined || text === undefined || first === text) continue;
    if (text <= brace && brace <= text + last - first) return true;
  }
  return false;
}
