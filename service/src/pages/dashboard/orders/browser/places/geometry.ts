import { between, type Kind, type Rect, type Size } from "./field.ts";

/** The smallest and the largest size of each kind of field, in points, set by the service. */
export type SizeRules = Readonly<Record<Kind, { readonly min: Size; readonly max: Size }>>;

/** The part of the page's width, in points, that every field except signatures and initials must leave free. */
const marginForText = 36;

/** The allowed size that is nearest to `size`, by the limits of the field's kind and of its page. */
export function fitSize(kind: Kind, size: Size, page: Size, rules: SizeRules): Size {
  const { min, max } = rules[kind];
  const isMark = kind === "signature" || kind === "initials";
  const widest = Math.min(max.width, isMark ? page.width : page.width - marginForText);
  return {
    width: between(size.width, min.width, Math.max(widest, min.width)),
    height: between(size.height, min.height, Math.max(Math.min(max.height, page.height), min.height)),
  };
}

/** A guide line at which edges are aligned; `at` is its position in points. */
export type Guide = { readonly axis: "x" | "y"; readonly at: number };
export type Snapped = { readonly rect: Rect; readonly guides: readonly Guide[] };

type Edges = readonly [start: number, middle: number, end: number];
const edges = (rect: Rect, axis: "x" | "y"): Edges => {
  const [start, length] = axis === "x" ? [rect.x, rect.width] : [rect.y, rect.height];
  return [start, start + length / 2, start + length];
};

/**
 * The distance at which a field snaps to a writing line, as a multiple of the distance at which it snaps to other
 * fields.
 */
const lineReach = 3;

/**
 * Finds the pair of edges, one of `own` and one of `others`, that are nearest to each other. `by` is the shift that
 * aligns them, and `at` is the position of the edge in `others`. Null if no pair is within `reach`.
 */
function nearest(own: readonly number[], others: readonly number[], reach: number) {
  let best: { readonly by: number; readonly at: number } | null = null;
  for (const edge of own)
    for (const at of others) {
      const by = at - edge;
      if (Math.abs(by) <= reach && (!best || Math.abs(by) < Math.abs(best.by))) best = { by, at };
    }
  return best;
}

/**
 * A printed line on which people write. `y` is its vertical position, and `room` is the height of the empty space above
 * it.
 */
export type Line = { readonly x: number; readonly y: number; readonly width: number; readonly room: number };

/**
 * The edges to which a rectangle near a writing line snaps. The lower edge snaps to the line, and the left edge to the
 * beginning of the line.
 */
function lineEdges(rect: Rect, lines: readonly Line[], reach: number) {
  const below = lines.filter(
    ({ x, y, width }) =>
      Math.min(x + width, rect.x + rect.width) - Math.max(x, rect.x) > 0 && Math.abs(y - rect.y - rect.height) <= reach,
  );
  return { x: below.map(({ x }) => x), y: below.map(({ y }) => y) };
}

/** The largest width of a new field on a writing line, in points. */
const widestOnLine = 260;
/**
 * The largest distance in points at which a field that was dragged here is placed on a line. Vertically it is measured
 * from the field's lower edge, horizontally from its middle.
 */
const dropReach = 16;

/**
 * Moves a new field onto the nearest writing line. The field becomes as wide as the line, up to `widestOnLine`, and
 * fits into the space above. Null if no line is near.
 * @param isClick true if a click placed the field; the distance to a line is then measured from the field's middle. For
 * a field that was dragged here, the distance is measured from the field's lower edge
 */
export function ontoLine(rect: Rect, lines: readonly Line[], { isClick }: { readonly isClick: boolean }): Rect | null {
  const middle = rect.x + rect.width / 2;
  const [from, reach] = isClick ? [rect.y + rect.height / 2, rect.height] : [rect.y + rect.height, dropReach];
  const sideReach = isClick ? 0 : dropReach;
  const [line] = lines
    .filter(
      ({ x, y, width }) => middle >= x - sideReach && middle <= x + width + sideReach && Math.abs(y - from) <= reach,
    )
    .sort((a, b) => Math.abs(a.y - from) - Math.abs(b.y - from));
  if (!line) return null;
  const width = Math.min(line.width, widestOnLine);
  const height = Math.min(rect.height, Math.max(line.room, minHeight));
  return { x: between(middle - width / 2, line.x, line.x + line.width - width), y: line.y - height, width, height };
}

/** The smallest height of a field on a line, in points. Text in a field of less height is hard to read. */
const minHeight = 10;

/**
 * Moves a rectangle so that its edges or its middle align with nearby rectangles, or onto a writing line.
 * @param reach the largest distance, in points, at which two edges are aligned; for writing lines, `lineReach` times as
 * much
 */
export function snapMove(rect: Rect, others: readonly Rect[], reach: number, lines: readonly Line[] = []): Snapped {
  const guides: Guide[] = [];
  const onLine = lineEdges(rect, lines, lineReach * reach);
  const shift = (axis: "x" | "y"): number => {
    const [start, , end] = edges(rect, axis);
    const own = nearest([axis === "x" ? start : end], onLine[axis], lineReach * reach);
    const found =
      own ??
      nearest(
        edges(rect, axis),
        others.flatMap((other) => edges(other, axis)),
        reach,
      );
    if (found) guides.push({ axis, at: found.at });
    return found?.by ?? 0;
  };
  return { rect: { ...rect, x: rect.x + shift("x"), y: rect.y + shift("y") }, guides };
}

/** Aligns the lower right corner of a rectangle with nearby edges, or copies the size of another rectangle. */
export function snapResize(rect: Rect, others: readonly Rect[], reach: number): Snapped {
  const guides: Guide[] = [];
  const grow = (axis: "x" | "y"): number => {
    const [start, , end] = edges(rect, axis);
    const ends = others.flatMap((other) => {
      const [first, , last] = edges(other, axis);
      return [first, last, start + (last - first)];
    });
    const found = nearest([end], ends, reach);
    if (found) guides.push({ axis, at: found.at });
    return found?.by ?? 0;
  };
  return { rect: { ...rect, width: rect.width + grow("x"), height: rect.height + grow("y") }, guides };
}
