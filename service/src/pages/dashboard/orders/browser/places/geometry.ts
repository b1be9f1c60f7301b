import { between, type Kind, type Rect, type Size } from "./field.ts";

/** The smallest and the largest size of each kind of field, in points, set by the service. */
export type SizeRules = Readonly<Record<Kind, { readonly least: Size; readonly most: Size }>>;

/** The part of the page's width that a text field must leave free, in points. */
const marginForText = 36;

/** The allowed size that is nearest to `size`, by the limits of the field's kind and of its page. */
export function fitSize(kind: Kind, size: Size, page: Size, rules: SizeRules): Size {
  const { least, most } = rules[kind];
  const isMark = kind === "signature" || kind === "initials";
  const widest = Math.min(most.width, isMark ? page.width : page.width - marginForText);
  return {
    width: between(size.width, least.width, Math.max(widest, least.width)),
    height: between(size.height, least.height, Math.max(Math.min(most.height, page.height), least.height)),
  };
}

/** A line on which edges align; `at` is its position in points. */
export type Guide = { readonly axis: "x" | "y"; readonly at: number };
export type Snapped = { readonly rect: Rect; readonly guides: readonly Guide[] };

type Edges = readonly [start: number, middle: number, end: number];
const edges = (rect: Rect, axis: "x" | "y"): Edges => {
  const [start, length] = axis === "x" ? [rect.x, rect.width] : [rect.y, rect.height];
  return [start, start + length / 2, start + length];
};

/** The snapping distance for lines to write on, as a multiple of the distance for other fields. */
const lineReach = 3;

/** The smallest shift that aligns one of the edges `own` with one of `others`, and the line on which they align. */
function nearest(own: readonly number[], others: readonly number[], reach: number) {
  let best: { readonly by: number; readonly at: number } | null = null;
  for (const edge of own)
    for (const at of others) {
      const by = at - edge;
      if (Math.abs(by) <= reach && (!best || Math.abs(by) < Math.abs(best.by))) best = { by, at };
    }
  return best;
}

/** A line to write on; `y` is its vertical position, and `room` the height of the empty space above it. */
export type Line = { readonly x: number; readonly y: number; readonly width: number; readonly room: number };

/**
 * The lines below a rectangle, as edges: a field's lower edge snaps to a line, and its left edge to the line's
 * beginning.
 */
function lineEdges(rect: Rect, lines: readonly Line[], reach: number) {
  const below = lines.filter(
    ({ x, y, width }) =>
      Math.min(x + width, rect.x + rect.width) - Math.max(x, rect.x) > 0 && Math.abs(y - rect.y - rect.height) <= reach,
  );
  return { x: below.map(({ x }) => x), y: below.map(({ y }) => y) };
}

/** In points: the width of a field on a longer line. */
const widestOnLine = 260;
/**
 * In points: the largest distance of a dropped field from its line. It is measured from the lower edge vertically, and
 * from the middle horizontally.
 */
const dropReach = 16;

/**
 * Places a new field on a line, with the line's width and a height that fits the space above it. The line is the one
 * nearest to the middle of a clicked field, or to the lower edge of a dropped one. Null if no line is near.
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
  const height = Math.min(rect.height, Math.max(line.room, leastHeight));
  return { x: between(middle - width / 2, line.x, line.x + line.width - width), y: line.y - height, width, height };
}

/** In points. Text in a lower field is hard to read. */
const leastHeight = 10;

/**
 * Moves a rectangle so that its edges or its middle align with nearby rectangles, or so that it is on a line of the
 * page.
 * @param reach in points
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
