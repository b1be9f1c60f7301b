import type { PdfFile } from "../file.ts";
import type { Span } from "../lexer.ts";
import { resolve } from "../objects.ts";
import type { Page } from "../page-tree.ts";
import { PdfRefusal } from "../refusal.ts";
import { elements, entry, isArray } from "../values.ts";

/** A rectangle on a page as readers show it: in points from the upper left corner, after rotation and /UserUnit. */
export type Place = { readonly x: number; readonly y: number; readonly width: number; readonly height: number };

/** The visible part of a page, and its orientation (ISO 32000-2 section 7.7.3.3). */
export type PageBox = {
  /** The visible area: left, bottom, right and top in user space. */
  readonly shown: readonly [number, number, number, number];
  /** The page's rotation, clockwise, in degrees. */
  readonly rotate: 0 | 90 | 180 | 270;
  /** The size of a unit of user space, in points of 1/72 inch. */
  readonly unit: number;
};

/** A rectangle in user space, and the matrix that turns an appearance so that it looks upright on the page as shown. */
export type UserSpaceRect = {
  /** The rectangle's left, bottom, right and top. */
  readonly rect: readonly [number, number, number, number];
  readonly matrix: readonly [number, number, number, number, 0, 0];
  /** The size of the appearance before rotation, in units of user space. */
  readonly width: number;
  readonly height: number;
};

const letter = [0, 0, 612, 792] as const;

/**
 * The part of a page that readers show: the overlap of its crop box and its media box, in the page's own units, before
 * rotation. Without an overlap, it is the media box.
 * @throws PdfRefusal `needs_repair` for a page without an area
 */
export function pageBox(file: PdfFile, page: Page): PageBox {
  const media = rectangle(file, inherited(page, "MediaBox")) ?? letter;
  const crop = rectangle(file, inherited(page, "CropBox")) ?? media;
  const left = Math.max(media[0], crop[0]);
  const bottom = Math.max(media[1], crop[1]);
  const right = Math.min(media[2], crop[2]);
  const top = Math.min(media[3], crop[3]);
  // When the crop box is outside the media box, readers show the whole media box.
  const shown = left < right && bottom < top ? ([left, bottom, right, top] as const) : media;
  if (shown[0] >= shown[2] || shown[1] >= shown[3])
    throw new PdfRefusal("needs_repair", `the page at ${page.dict.start} has no area`);
  const turns = (number(file, inherited(page, "Rotate")) ?? 0) / 90;
  const unit = number(file, entry(page.dict, "UserUnit")) ?? 1;
  return {
    shown,
    rotate: quarters[Number.isInteger(turns) ? ((turns % 4) + 4) % 4 : 0] ?? 0,
    unit: unit > 0 ? unit : 1,
  };
}

const quarters = [0, 90, 180, 270] as const;

/** Width and height of the page as shown, in points. */
export function shownSize({ shown, rotate, unit }: PageBox): { width: number; height: number } {
  const [across, up] = [(shown[2] - shown[0]) * unit, (shown[3] - shown[1]) * unit];
  return rotate % 180 === 0 ? { width: across, height: up } : { width: up, height: across };
}

/** Converts a place on the shown page to user space. */
export function toUserSpace({ shown, rotate, unit }: PageBox, place: Place): UserSpaceRect {
  const [left, bottom, right, top] = shown;
  const [x, y, w, h] = [place.x / unit, place.y / unit, place.width / unit, place.height / unit];
  const size = { width: w, height: h };
  if (rotate === 90)
    return { rect: [left + y, bottom + x, left + y + h, bottom + x + w], matrix: [0, 1, -1, 0, 0, 0], ...size };
  if (rotate === 180)
    return { rect: [right - x - w, bottom + y, right - x, bottom + y + h], matrix: [-1, 0, 0, -1, 0, 0], ...size };
  if (rotate === 270)
    return { rect: [right - y - h, top - x - w, right - y, top - x], matrix: [0, -1, 1, 0, 0, 0], ...size };
  return { rect: [left + x, top - y - h, left + x + w, top - y], matrix: [1, 0, 0, 1, 0, 0], ...size };
}

/** Converts a rectangle of user space to the shown page. */
export function shownPlace({ shown, rotate, unit }: PageBox, [l, b, r, t]: UserSpaceRect["rect"]): Place {
  const [left, bottom, right, top] = shown;
  const [across, up] = [(r - l) * unit, (t - b) * unit];
  const upright = { width: across, height: up };
  const turned = { width: up, height: across };
  if (rotate === 90) return { x: (b - bottom) * unit, y: (l - left) * unit, ...turned };
  if (rotate === 180) return { x: (right - r) * unit, y: (b - bottom) * unit, ...upright };
  if (rotate === 270) return { x: (top - t) * unit, y: (right - r) * unit, ...turned };
  return { x: (l - left) * unit, y: (top - t) * unit, ...upright };
}

/** The attribute of the page itself, or else of the nearest ancestor that has it. */
function inherited({ dict, above }: Page, key: string): Span | undefined {
  return [...above, dict].map((node) => entry(node, key)).findLast((value) => value !== undefined);
}

/** Left, bottom, right and top of a rectangle in any notation (ISO 32000-1 7.9.5); undefined for anything else. */
export function rectangle(file: PdfFile, value: Span | undefined): UserSpaceRect["rect"] | undefined {
  const array = resolve(file, value);
  if (!array || !isArray(array)) return undefined;
  const [a, b, c, d] = [...elements(array)].slice(0, 5).map((element) => number(file, element));
  if (a === undefined || b === undefined || c === undefined || d === undefined) return undefined;
  return [Math.min(a, c), Math.min(b, d), Math.max(a, c), Math.max(b, d)];
}

function number(file: PdfFile, value: Span | undefined): number | undefined {
  const found = resolve(file, value);
  const text = found?.bytes.toString("latin1", found.start, Math.min(found.end, found.start + 32)) ?? "";
  return /^[-+]?(\d+\.?\d*|\.\d+)$/.test(text) ? Number(text) : undefined;
}
