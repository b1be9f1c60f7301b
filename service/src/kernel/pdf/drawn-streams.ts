import type { NamedContents } from "./reached-streams.ts";

/** The size of a content stream, and the other content streams that it draws. */
export type Drawing = {
  /** The weight of the content's strings and arrays (`weightOf`), or its length if it can't be decoded. */
  readonly characters: number;
  /**
   * How often each resource name occurs in the content. Null when the content can't be decoded and only its length is
   * known.
   */
  readonly names: ReadonlyMap<string, number> | null;
  readonly length: number;
  /**
   * The content streams listed in this stream's own resources. Null when it uses the resources of the content that
   * draws it.
   */
  readonly named: NamedContents | null;
};

/**
 * The object number of a content stream that a page or an annotation draws. `ofPage`: for a stream of a page's
 * Contents, the content streams that the page's resources list; otherwise null.
 */
export type Root = { readonly num: number; readonly ofPage: NamedContents | null };

const aName = /\/([^\s\0/<>[\](){}%]+)/g;
/** The fewest bytes in which a content stream can use a resource: an operand and an operator, as in `/X Do`. */
const minUseBytes = 5;

/**
 * How often each resource name occurs in a content stream. Counts only the names in `named`; counts all names if
 * `named` is null.
 */
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
 * The number of characters drawn, plus one for each time that a content stream is drawn. A form XObject counts as often
 * as it is drawn, because nesting multiplies. Ten nested forms that each draw the next one ten times need few bytes,
 * but 10^10 steps.
 * @param max counting stops once the sum exceeds this
 */
export const drawnCharacters = (drawings: Drawings, roots: readonly Root[], max: number): number =>
  drawnSum(drawings, roots, {
    max,
    costOf: ({ characters }) => characters,
    unknownUses: (length) => length / minUseBytes,
  });

/**
 * The number of bytes of content that a reader processes; each stream counts as often as it is drawn. A stream whose
 * names can't be read counts as if it drew each of its forms once.
 * @param max counting stops once the sum exceeds this
 */
export const drawnBytes = (drawings: Drawings, roots: readonly Root[], max: number): number =>
  drawnSum(drawings, roots, { max, costOf: ({ length }) => length, unknownUses: () => 1 });

type Drawings = ReadonlyMap<number, Drawing>;
type Measure = {
  readonly max: number;
  readonly costOf: (drawing: Drawing) => number;
  /** The number of times that a content stream is assumed to draw each form, when only the stream's length is known. */
  readonly unknownUses: (length: number) => number;
};

function drawnSum(drawings: Drawings, roots: readonly Root[], { max, costOf, unknownUses }: Measure): number {
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
    // A form that draws itself counts as 1, which ends the recursion. Readers refuse such a form.
    sums.set(key, 1);
    let sum = 1 + costOf(drawing);
    for (const [name, drawn] of named) {
      const times = drawing.names ? (drawing.names.get(name) ?? 0) : unknownUses(drawing.length);
      if (times === 0) continue;
      for (const each of drawn) if (sum <= max) sum += times * of(each, named);
    }
    sums.set(key, sum);
    return sum;
  }
  return roots.reduce((sum, { num, ofPage }) => (sum > max ? sum : sum + of(num, ofPage ?? none)), 0);
}
