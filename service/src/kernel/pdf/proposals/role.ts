import { endOf } from "./blanks.ts";
import type { Rect } from "./content.ts";
import type { PageWords } from "./labels.ts";
import { parties } from "./patterns.ts";
import type { Run } from "./runs.ts";

/** In points: how far below and above its line the words that name a party may be. */
const reach = { below: 20, above: 120, left: 160 } as const;
/** Words above a line usually belong to the line before them. */
const aboveCosts = 12;

/**
 * The party that a place is for. The place's own words name it or, if they don't, the nearest words on its row or in
 * its column.
 */
export function roleOf(words: string, place: Rect, page: PageWords): string | null {
  const own = partyIn(words);
  if (own !== null) return own;
  const bottom = place.y + place.height;
  const costOf = (run: Run): number => {
    const isRow = Math.abs(run.y - bottom) < 8 && endOf(run) <= place.x + 4;
    if (isRow) return 1 + (place.x - endOf(run)) / 100;
    if (run.x >= place.x + place.width || endOf(run) <= place.x - reach.left) return Number.POSITIVE_INFINITY;
    const down = run.y - bottom;
    if (down >= 0) return down < reach.below ? down : Number.POSITIVE_INFINITY;
    return -down < reach.above ? aboveCosts - down : Number.POSITIVE_INFINITY;
  };
  const near = page.words
    .map((run) => ({ role: partyIn(run.text), cost: costOf(run) }))
    .filter(({ role, cost }) => role !== null && Number.isFinite(cost))
    .sort((a, b) => a.cost - b.cost);
  return near[0]?.role ?? null;
}

/** The longest text, in words, that names the party who signs. A longer text only mentions a party. */
const longest = 8;

function partyIn(text: string): string | null {
  if (text.split(/\s+/).length > longest) return null;
  for (const party of parties) {
    const [found] = party.exec(text) ?? [];
    if (found) return found.charAt(0).toUpperCase() + found.slice(1).toLowerCase();
  }
  return null;
}
