/** The smallest easy-to-read step that is at least `rough`: 1, 2 or 5 times a power of ten. */
function roundStep(rough: number): number {
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5].find((times) => times * power >= rough) ?? 10;
  return step * power;
}

/**
 * Evenly spaced numbers from 0 to `max` or a little more, with at most `intervals` steps between them. A step is a
 * round number and at least `minStep`. When `max` is 0, there is still one step.
 */
export function ticks(max: number, { intervals = 4, minStep = 1 }: { intervals?: number; minStep?: number } = {}) {
  const step = Math.max(roundStep(Math.max(max, minStep) / intervals), minStep);
  const count = Math.max(1, Math.ceil(max / step));
  return Array.from({ length: count + 1 }, (_, at) => at * step);
}

/**
 * The length of `value` on a scale from 0 to `max` that is `extent` long. A value above zero is at least `sliver` long,
 * so that it stays visible.
 */
export function lengthOf(value: number, max: number, extent: number, sliver = 0): number {
  if (value <= 0 || max <= 0) return 0;
  const minExtent = Math.min(sliver, extent);
  return Math.min(Math.max((value / max) * extent, minExtent), extent);
}

export type Column = { x: number; width: number; center: number };

/** The positions of `count` evenly spaced bars between `from` and `to`. No bar is wider than `widest`. */
export function columns(
  count: number,
  { from, to, widest }: { from: number; to: number; widest: number },
): readonly Column[] {
  const slot = (to - from) / Math.max(count, 1);
  const width = Math.min(slot * 0.64, widest);
  return Array.from({ length: count }, (_, at) => {
    const center = from + slot * (at + 0.5);
    return { x: center - width / 2, width, center };
  });
}

/** A coordinate in the picture, rounded to two decimals, which is finer than any screen resolution. */
export const coordinate = (value: number): string => String(Math.round(value * 100) / 100);

/** A horizontal coordinate in per cent, because the picture is as wide as its container. */
export const across = (value: number): string => `${coordinate(value)}%`;
