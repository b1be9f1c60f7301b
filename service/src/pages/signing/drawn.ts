/** A drawn signature: strokes of a pen in a rectangle; y increases downward. */
export type Drawn = {
  readonly width: number;
  readonly height: number;
  readonly strokes: readonly (readonly (readonly [x: number, y: number])[])[];
};

const maxPoints = 6000;
const maxPixels = 10_000;
// A drawing as text, such as `300_120.12_34-15_36.40_50`. It has only characters that HTML forms send unescaped.
const encoded = /^\d{1,5}_\d{1,5}(?:\.\d{1,5}_\d{1,5}(?:-\d{1,5}_\d{1,5})*)+$/;

/** Encodes the strokes for a form field. */
export function writeDrawn({ width, height, strokes }: Drawn): string {
  const pair = ([x, y]: readonly [number, number]) => `${Math.round(x)}_${Math.round(y)}`;
  return [pair([width, height]), ...strokes.map((stroke) => stroke.map(pair).join("-"))].join(".");
}

/**
 * Parses the drawing in a form field. Null for a malformed or too large drawing, and for one with more points than a
 * hand can draw.
 */
export function readDrawn(text: string): Drawn | null {
  if (!encoded.test(text)) return null;
  const [size = "", ...strokes] = text.split(".");
  const pair = (part: string): [number, number] => {
    const [x = 0, y = 0] = part.split("_").map(Number);
    return [x, y];
  };
  const [width, height] = pair(size);
  const read = strokes.map((stroke) => stroke.split("-").map(pair));
  const points = read.flat();
  const isInside = points.every(([x, y]) => x <= width && y <= height);
  if (!isInside || points.length > maxPoints || Math.max(width, height) > maxPixels || width === 0 || height === 0)
    return null;
  return { width, height, strokes: read };
}
