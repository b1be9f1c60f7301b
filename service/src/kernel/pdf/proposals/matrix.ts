/** A transformation matrix of PDF (ISO 32000-2 section 8.3.4). */
export type Matrix = readonly [number, number, number, number, number, number];
const identity: Matrix = [1, 0, 0, 1, 0, 0];

export const times = ([a, b, c, d, e, f]: Matrix, [g, h, i, j, k, l]: Matrix): Matrix => [
  a * g + c * h,
  b * g + d * h,
  a * i + c * j,
  b * i + d * j,
  a * k + c * l + e,
  b * k + d * l + f,
];
export const apply = ([a, b, c, d, e, f]: Matrix, x: number, y: number): readonly [number, number] => [
  a * x + c * y + e,
  b * x + d * y + f,
];
export const matrixOf = (values: ArrayLike<number>): Matrix =>
  [0, 1, 2, 3, 4, 5].map((at) => values[at] ?? identity[at] ?? 0) as unknown as Matrix;
