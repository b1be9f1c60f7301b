import { apply, type Matrix } from "./matrix.ts";
import { type Operators, type Ops, walk } from "./walk.ts";

/** A place on a page as shown, in points from its upper left corner. */
export type Rect = { readonly x: number; readonly y: number; readonly width: number; readonly height: number };
/** A horizontal line that the page draws, at height `y`. */
export type Rule = { readonly x: number; readonly y: number; readonly width: number };

/** In points. A filled rectangle with a smaller height than this is a rule. */
const thin = 2.5;

/**
 * The transformation and the clip at a point in the page's content. The clip matters because some typesetters draw a
 * border as a box, clipped to one of its edges.
 */
type State = { readonly matrix: Matrix; readonly clip: Rect | null };
type Lines = { readonly rules: Rule[]; readonly boxes: Rect[]; readonly uprights: Upright[] };
type Points = readonly (readonly [number, number])[];

/** Collects the horizontal lines and the boxes that a page draws, with its transformations and clips applied. */
export function linesIn(operators: Operators, OPS: Ops, toShown: Matrix) {
  const into: Lines = { rules: [], boxes: [], uprights: [] };
  let clips = false;
  walk<State>(operators, OPS, { matrix: toShown, clip: null }, (state, operator, args) => {
    if (operator === OPS.paintSolidColorImageMask)
      // Some printer drivers draw lines as images: the unit square, scaled.
      collect({ points: unitSquare.map(([x, y]) => apply(state.matrix, x, y)), isCurved: false }, state.clip, into);
    if (operator === OPS.clip || operator === OPS.eoClip) clips = true;
    if (operator !== OPS.constructPath) return state;
    const [paint, data] = args as [number, [ArrayLike<number> | null] | null];
    const path = data?.[0];
    const parts = path ? subpaths(path, state.matrix) : [];
    const bounds = clips ? boundsOf(parts.flatMap(({ points }) => points)) : null;
    const clip = bounds ? (clipped(bounds, state.clip) ?? nowhere) : state.clip;
    clips = false;
    if (paint !== OPS.endPath) for (const part of parts) collect(part, clip, into);
    return { ...state, clip };
  });
  const drawn = joined(into.rules);
  const cells = cellsIn(drawn, into.uprights);
  const rules = drawn.filter((rule) => rule.width > 6 && !cells.some((cell) => isEdgeOf(rule, cell)));
  return { rules, boxes: [...into.boxes, ...cells] };
}

const unitSquare: Points = [
  [0, 0],
  [1, 0],
  [1, 1],
  [0, 1],
];

type Subpath = { readonly points: Points; readonly isCurved: boolean };

function collect({ points, isCurved }: Subpath, clip: Rect | null, into: Lines): void {
  const bounds = boundsOf(points);
  if (!bounds || (isCurved && (bounds.width > thin || bounds.height > thin) && !isRounded(points, bounds))) return;
  const shown = clipped(bounds, clip);
  if (!shown) return;
  const { x, y, width, height } = shown;
  // Ignores pieces that are narrower than 0.3 points. Even a dot of a dotted line is wider.
  if (width > 0.3 && height <= thin) into.rules.push({ x, y: y + height, width });
  else if (width <= thin && height > 6) into.uprights.push({ x, top: y, bottom: y + height });
  else if (points.length >= 4 && width > 8 && height > 6 && (isCurved || isBox(points, bounds))) into.boxes.push(shown);
}

/** True if a path with curves is a box with round corners: both ends of each curve are at the edges of the box. */
const isRounded = (points: Points, { x, y, width, height }: Rect): boolean =>
  points.length >= 8 &&
  points.every(([left, top]) => near(left, x) || near(left, x + width) || near(top, y) || near(top, y + height));

function boundsOf(points: Points): Rect | null {
  const [first] = points;
  if (!first) return null;
  let [[left, top], [right, bottom]] = [first, first];
  for (const [x, y] of points) {
    [left, top] = [Math.min(left, x), Math.min(top, y)];
    [right, bottom] = [Math.max(right, x), Math.max(bottom, y)];
  }
  return { x: left, y: top, width: right - left, height: bottom - top };
}

const nowhere: Rect = { x: Number.NEGATIVE_INFINITY, y: 0, width: 0, height: 0 };

/** The part of a rectangle inside a clip; null when the clip hides the whole rectangle. */
function clipped(bounds: Rect, clip: Rect | null): Rect | null {
  if (!clip) return bounds;
  const [x, y] = [Math.max(bounds.x, clip.x), Math.max(bounds.y, clip.y)];
  const width = Math.min(bounds.x + bounds.width, clip.x + clip.width) - x;
  const height = Math.min(bounds.y + bounds.height, clip.y + clip.height) - y;
  return width < 0 || height < 0 ? null : { x, y, width, height };
}

const isBox = (points: Points, { x, y, width, height }: Rect): boolean =>
  points.every(([left, top]) => (near(left, x) || near(left, x + width)) && (near(top, y) || near(top, y + height)));
const near = (a: number, b: number): boolean => Math.abs(a - b) < 1;

/**
 * The points of each part of a path. In pdf.js, a number begins each step of the path: 0 move, 1 line, 2 cubic, 3
 * quadratic, 4 close.
 */
function subpaths(path: ArrayLike<number>, matrix: Matrix): Subpath[] {
  const found: Subpath[] = [];
  let points: (readonly [number, number])[] = [];
  let isCurved = false;
  const end = () => {
    if (points.length > 1) found.push({ points, isCurved });
    points = [];
    isCurved = false;
  };
  const lengths = [2, 2, 6, 4, 0];
  for (let at = 0; at < path.length; ) {
    const operator = path[at] ?? 4;
    const length = lengths[operator] ?? 0;
    if (operator === 0) end();
    if (operator === 2 || operator === 3) isCurved = true;
    if (length > 0) points.push(apply(matrix, path[at + length - 1] ?? 0, path[at + length] ?? 0));
    at += 1 + length;
  }
  end();
  return found;
}

/** Joins short pieces on one line into one rule: dashes that are drawn one by one, and a line with a piece per letter. */
function joined(rules: readonly Rule[]): Rule[] {
  const found: Rule[] = [];
  let piece = 0;
  for (const rule of [...rules].sort((a, b) => Math.round(a.y) - Math.round(b.y) || a.x - b.x)) {
    const last = found.at(-1);
    if (
      last &&
      Math.abs(last.y - rule.y) < 1 &&
      rule.x - (last.x + last.width) < 5 &&
      (rule.width < 12 || isNextPiece(rule, last, piece)) &&
      rule.x > last.x
    )
      found[found.length - 1] = { ...last, width: Math.max(last.width, rule.x + rule.width - last.x) };
    else {
      found.push(rule);
      piece = rule.width;
    }
  }
  return found;
}

/**
 * True if a piece continues a line that is drawn in short pieces. The piece must be as long as the line's first piece,
 * and start where the line ends so far.
 */
const isNextPiece = ({ x, width }: Rule, line: Rule, piece: number): boolean =>
  width < maxPieceWidth && Math.abs(width - piece) < 1 && Math.abs(x - line.x - line.width) < 1;
/** In points. A longer piece is not joined, because it may be a place to write one word. */
const maxPieceWidth = 30;

/** A vertical line that the page draws. */
type Upright = { readonly x: number; readonly top: number; readonly bottom: number };

/**
 * A page with more horizontal or vertical lines than this is not searched for cells. Such a page counts as a drawing; a
 * form's tables have fewer lines.
 */
const maxLines = 400;
const touch = 2;

type Span = { readonly at: number; readonly from: number; readonly to: number };

/** Joins the pieces of a line that is drawn cell by cell. */
function whole(spans: readonly Span[]): Span[] {
  const found: Span[] = [];
  for (const span of [...spans].sort((a, b) => Math.round(a.at) - Math.round(b.at) || a.from - b.from)) {
    const last = found.at(-1);
    if (last && Math.abs(last.at - span.at) < 1 && span.from - last.to < touch)
      found[found.length - 1] = { ...last, to: Math.max(last.to, span.to) };
    else found.push(span);
  }
  return found;
}

/**
 * The cells of tables that are drawn line by line: each cell is between two vertical lines, from one horizontal line to
 * the next.
 */
function cellsIn(rules: readonly Rule[], uprights: readonly Upright[]): Rect[] {
  if (uprights.length < 2 || rules.length > maxLines || uprights.length > maxLines) return [];
  const across = whole(rules.map(({ x, y, width }) => ({ at: y, from: x, to: x + width })));
  const down = whole(uprights.map(({ x, top, bottom }) => ({ at: x, from: top, to: bottom })));
  const covers = ({ from, to }: Span, start: number, end: number) => from <= start + touch && to >= end - touch;
  return across.flatMap((top) => {
    const sides = down.filter(
      ({ at, from, to }) => covers(top, at, at) && from <= top.at + touch && to > top.at + touch * 3,
    );
    return sides.slice(1).flatMap((right, index): Rect[] => {
      const left = sides[index];
      if (!left) return [];
      const below = across.filter(
        ({ at, from, to }) => at > top.at + touch * 3 && covers({ at, from, to }, left.at, right.at),
      );
      const bottom = below[0];
      if (!bottom || !covers(left, top.at, bottom.at) || !covers(right, top.at, bottom.at)) return [];
      return [{ x: left.at, y: top.at, width: right.at - left.at, height: bottom.at - top.at }];
    });
  });
}

/** True if a rule is the upper or lower edge of a box. Such a rule is not a line to write on. */
const isEdgeOf = ({ x, y, width }: Rule, box: Rect): boolean =>
  (Math.abs(y - box.y) < touch || Math.abs(y - box.y - box.height) < touch) &&
  Math.min(x + width, box.x + box.width) - Math.max(x, box.x) > 0.5 * Math.min(width, box.width);
