import { endOf, overlap } from "./blanks.ts";
import type { Rect } from "./content.ts";
import type { PageWords } from "./labels.ts";
import { parties } from "./patterns.ts";
import type { Run } from "./runs.ts";

/** The distances, in points, within which words below, above or left of a place can name the party for the place. */
const reach = { below: 20, above: 120, left: 160 } as const;
/** A person's name can also be two or three lines below the place: "By: ____", "Name: Jane Roe". */
const reachOfNames = 42;
/** The number of texts near a place that are compared with the signers' names. */
const maxTexts = 8;
/** Distance in points that is added for words above a place, because such words usually label the line above them. */
const aboveCosts = 12;

/**
 * The party that a place is for. If the place's own words name no party, the nearest words on the place's row or in its
 * column decide.
 */
export function roleOf(words: string, place: Rect, page: PageWords): string | null {
  const own = partyIn(words);
  if (own !== null) return own;
  const near = page.words
    .map((run) => ({ role: partyIn(run.text), cost: distance(run, place, reach.below) }))
    .filter(({ role, cost }) => role !== null && Number.isFinite(cost))
    .sort((a, b) => a.cost - b.cost);
  return near[0]?.role ?? null;
}

/** The short texts near a place that may contain the signer's name, the nearest first. */
export function textsNear(place: Rect, page: PageWords): string[] {
  return page.words
    .filter((run) => !isOfAnother(run, place, page))
    .map(({ text, ...run }) => ({ text, cost: distance(run, place, reachOfNames) }))
    .filter(({ text, cost }) => Number.isFinite(cost) && text.split(/\s+/).length <= maxWords && / \p{Lu}/u.test(text))
    .sort((a, b) => a.cost - b.cost)
    .slice(0, maxTexts)
    .map(({ text }) => text.slice(0, 200));
}

/** True if words above a place are the caption of another blank, which is above those words. */
const isOfAnother = (run: Run, { x, y, width, height }: Rect, { blanks }: PageWords): boolean =>
  blanks.some(
    (blank) =>
      blank.y < run.y &&
      run.y - blank.y < y + height - run.y &&
      overlap(run, blank) > 0 &&
      overlap(blank, { x, width }) > 0,
  );

/** The distance from words to a place; infinite if the words are too far away to name the place's party. */
function distance(run: Pick<Run, "x" | "y" | "width">, place: Rect, below: number): number {
  const bottom = place.y + place.height;
  const isRow = Math.abs(run.y - bottom) < 8 && endOf(run) <= place.x + 4;
  if (isRow) return 1 + (place.x - endOf(run)) / 100;
  if (run.x >= place.x + place.width || endOf(run) <= place.x - reach.left) return Number.POSITIVE_INFINITY;
  const down = run.y - bottom;
  if (down >= 0) return down < below ? down : Number.POSITIVE_INFINITY;
  return -down < reach.above ? aboveCosts - down : Number.POSITIVE_INFINITY;
}

/** The most words in a text that names the party who signs. A longer text only mentions a party. */
const maxWords = 8;

function partyIn(text: string): string | null {
  if (text.split(/\s+/).length > maxWords) return null;
  const [first] = partiesIn(text);
  return first ? first.text.charAt(0).toUpperCase() + first.text.slice(1).toLowerCase() : null;
}

/** A party that words name: "Buyer's agent" and "Agent for the Buyer" have the head "agent" and the owner "buyer". */
type Party = { readonly text: string; readonly head: string; readonly owner: string | null };

const everywhere = parties.map((words) => new RegExp(words.source, `${words.flags}g`));
const ownedBy = /^ (?:for|of|to|del|de)(?: the| la)? $/i;
const owns = /^(?:['’]s?)? $/;

/** The parties that words name, in their order. */
function partiesIn(text: string): Party[] {
  const words = everywhere
    .flatMap((pattern) => [...text.matchAll(pattern)])
    .map(({ 0: word, index }) => ({ word, from: index, to: index + word.length }))
    .sort((a, b) => a.from - b.from);
  const found: (Party & { readonly from: number; readonly to: number })[] = [];
  for (const { word, from, to } of words) {
    const last = found.at(-1);
    if (last && from < last.to) continue;
    const head = singular(word);
    const between = last && last.head !== head ? text.slice(last.to, from) : "";
    if (last && (owns.test(between) || ownedBy.test(between))) {
      const names = owns.test(between) ? { head, owner: last.head } : { head: last.head, owner: head };
      found[found.length - 1] = { text: text.slice(last.from, to), ...names, from: last.from, to };
    } else found.push({ text: word, head, owner: null, from, to });
  }
  return found;
}

const singular = (word: string): string =>
  word
    .toLowerCase()
    .replace(/[^\p{L}]/gu, "")
    .replace(/s$/, "");

/**
 * True if a signer with this role signs where the page names this party. A buyer does not sign for "Buyer's agent", and
 * an agent of the buyer does not sign for "Buyer".
 */
export function isRoleOf(role: string, party: string): boolean {
  const [wanted] = partiesIn(party);
  const named = partiesIn(role);
  // A role may be a word that no pattern matches, such as "Homebuyer". Such a role only has to contain the party's
  // name.
  if (!wanted || named.length === 0) return singular(party) !== "" && singular(role).includes(singular(party));
  return named.some(
    ({ head, owner }) => head === wanted.head && (owner === null || wanted.owner === null || owner === wanted.owner),
  );
}
