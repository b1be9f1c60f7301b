import { between, type Kind, type Rect, type Size } from "./field.ts";

/** The smallest and the largest size of each kind of field, in points, set by the service. */
export type SizeRules = Readonly<Record<Kind, { readonly least: Size; readonly most: Size }>>;

/** The part of the page's width that a text field leaves free, in points. */
const besideText = 36;

/** The allowed size that is nearest to `size`, by the limits of the field's kind and of its page. */
export function fitSize(kind: Kind, size: Size, page: Size, rules: SizeRules): Size {
  const { least, most } = rules[kind];
  const isMark = kind === "signature" || kind === "initials";
  const widest = Math.min(most.width, isMark ? page.width : page.width - besideText);
  return {
    width: between(size.width, least.width, Math.max(widest, least.width)),
    height: between(size.height, least.height, Math.max(Math.min(most.height, page.height), least.height)),
  };
}

/** A line on which edges meet; `at` is its position in points. */
export type Guide = { readonly axis: "x" | "y"; readonly at: number };
export type Snapped = { readonly rect: Rect; readonly guides: readonly Guide[] };

type Edges = readonly [start: number, middle: number, end: number];
const edges = (rect: Rect, axis: "x" | "y"): Edges => {
  const [start, length] = axis === "x" ? [rect.x, rect.width] : [rect.y, rect.height];
  return [start, start + length / 2, start + length];
};

/** The smallest shift that moves one of the edges `own` onto one of `others`, and the line on which they then meet. */
function nearest(own: readonly number[], others: readonly number[], reach: number) {
  let best: { readonly by: number; readonly at: number } | null = null;
  for (const edge of own)
    for (const at of others) {
      const by = at - edge;
      if (Math.abs(by) <= reach && (!best || Math.abs(by) < Math.abs(best.by))) best = { by, at };
    }
  return best;
}

/** A line to write on that the page shows; `y` is its height. */
export type Line = { readonly x: number; readonly y: number; readonly width: number };

/**
 * The lines below a rectangle, as edges: the lower edge of a field goes onto a line, and its left edge to the line's
 * beginning.
 */
function lineEdges(rect: Rect, lines: readonly Line[], reach: number) {
  const below = lines.filter(
    ({ x, y, width }) =>
      Math.min(x + width, rect.x + rect.width) - Math.max(x, rect.x) > 0 && Math.abs(y - rect.y - rect.height) <= reach,
  );
  return { x: below.map(({ x }) => x), y: below.map(({ y }) => y) };
}

/**
 * Puts a rectangle onto the line nearest to its middle, where the sender clicked. Null if no line is within its height.
 */
export function ontoLine(rect: Rect, lines: readonly Line[]): Rect | null {
  const [x, y] = [rect.x + rect.width / 2, rect.y + rect.height / 2];
  const [line] = lines
    .filter((each) => x >= each.x && x <= each.x + each.width && Math.abs(each.y - y) <= rect.height)
    .sort((a, b) => Math.abs(a.y - y) - Math.abs(b.y - y));
  if (!line) return null;
  const left = between(rect.x, line.x, Math.max(line.x, line.x + line.width - rect.width));
  return { ...rect, x: left, y: line.y - rect.height };
}

/**
 * Moves a rectangle so that its edges or its middle meet those of rectangles nearby, or so that it is on a line of the
 * page.
 * @param reach in points
 */
export function snapMove(rect: Rect, others: readonly Rect[], reach: number, lines: readonly Line[] = []): Snapped {
  const guides: Guide[] = [];
  const onLine = lineEdges(rect, lines, reach);
  const shift = (axis: "x" | "y"): number => {
    const [start, , end] = edges(rect, axis);
    const own = nearest([axis === "x" ? start : end], onLine[axis], reach);
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

/** Moves the lower right corner of a rectangle onto edges nearby, or gives the rectangle the size of another one. */
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
