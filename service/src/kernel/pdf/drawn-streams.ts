import type { NamedContents } from "./reached-streams.ts";

/** The size of a content stream, and the streams that it draws by the names of its resources. */
export type Drawing = {
  /** The number of characters in the content's strings. */
  readonly characters: number;
  /** The number of occurrences of each resource name; null when only the length of the content is available. */
  readonly names: ReadonlyMap<string, number> | null;
  readonly length: number;
  /**
   * The content streams that this stream's own resources name; null when it uses the resources of the content that
   * draws it.
   */
  readonly named: NamedContents | null;
};

/** A content stream that a page or an annotation draws, and the content streams that the page's resources name. */
export type Root = { readonly num: number; readonly ofPage: NamedContents | null };

const aName = /\/([^\s\0/<>[\](){}%]+)/g;
/** The length of the shortest use of a resource: an operand and an operator, as in `/X Do`. */
const shortestUse = 5;

/** The number of occurrences of each name of another content stream in this one. */
export function namesIn(data: Buffer, named: NamedContents | null): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  if (named?.size === 0) return found;
  for (const [, written = ""] of data.toString("latin1").matchAll(aName)) {
    const name = written.replace(/#([\da-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
    if (named === null || named.has(name)) found.set(name, (found.get(name) ?? 0) + 1);
  }
  return found;
}

/**
 * The number of characters drawn, plus one for each time that a form XObject is drawn. A form counts as often as it is
 * drawn: ten nested forms that each draw the next one ten times take few bytes and 10^10 steps.
 */
export const drawnCharacters = (drawings: Drawings, roots: readonly Root[], most: number): number =>
  drawnSum(drawings, roots, {
    most,
    costOf: ({ characters }) => characters,
    unknownUses: (length) => length / shortestUse,
  });

/**
 * The bytes of content that a reader processes; each stream counts as often as it is drawn. A stream whose names can't
 * be read counts as if it drew each of its forms once.
 */
export const drawnBytes = (drawings: Drawings, roots: readonly Root[], most: number): number =>
  drawnSum(drawings, roots, { most, costOf: ({ length }) => length, unknownUses: () => 1 });

type Drawings = ReadonlyMap<number, Drawing>;
type Measure = {
  readonly most: number;
  readonly costOf: (drawing: Drawing) => number;
  /**
   * The assumed number of times that a content stream of this length draws a form, when only the length is available.
   */
  readonly unknownUses: (length: number) => number;
};

function drawnSum(drawings: Drawings, roots: readonly Root[], { most, costOf, unknownUses }: Measure): number {
  const sums = new Map<string, number>();
  const maps = new Map<NamedContents, number>();
  const none: NamedContents = new Map();

  function of(num: number, above: NamedContents): number {
    const drawing = drawings.get(num);
    if (!drawing) return 1;
    const named = drawing.named ?? above;
    if (!maps.has(named)) maps.set(named, maps.size);
    const key = `${num} ${maps.get(named)}`;
    const before = sums.get(key);
    if (before !== undefined) return before;
    // Ends endless recursion: readers refuse a form that draws itself.
    sums.set(key, 1);
    let sum = 1 + costOf(drawing);
    for (const [name, drawn] of named) {
      const times = drawing.names ? (drawing.names.get(name) ?? 0) : unknownUses(drawing.length);
      if (times === 0) continue;
      for (const each of drawn) if (sum <= most) sum += times * of(each, named);
    }
    sums.set(key, sum);
    return sum;
  }
  return roots.reduce((sum, { num, ofPage }) => (sum > most ? sum : sum + of(num, ofPage ?? none)), 0);
}
