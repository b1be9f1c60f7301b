/** Steps that people read at a glance: 1, 2 or 5 times a power of ten, the smallest that is not below `rough`. */
function roundStep(rough: number): number {
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5].find((times) => times * power >= rough) ?? 10;
  return step * power;
}

/**
 * Round numbers from 0 that cover `max`, at most `intervals` apart from each other; `smallest` is the least step.
 * A scale over nothing still has one step.
 */
export function ticks(max: number, { intervals = 4, smallest = 1 }: { intervals?: number; smallest?: number } = {}) {
  const step = Math.max(roundStep(Math.max(max, smallest) / intervals), smallest);
  const count = Math.max(1, Math.ceil(max / step));
  return Array.from({ length: count + 1 }, (_, at) => at * step);
}

/** How long `value` is on a scale from 0 to `max` that is `extent` long. A value above zero is at least `sliver` long, to stay visible. */
export function lengthOf(value: number, max: number, extent: number, sliver = 0): number {
  if (value <= 0 || max <= 0) return 0;
  const least = Math.min(sliver, extent);
  return Math.min(Math.max((value / max) * extent, least), extent);
}

export type Column = { x: number; width: number; center: number };

/** `count` bars side by side, evenly, between `from` and `to`; none wider than `widest`. */
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

/** A coordinate in the picture, with two decimals, which is finer than any screen. */
export const coordinate = (value: number): string => String(Math.round(value * 100) / 100);

/** A coordinate across the picture, which is as wide as its place. */
export const across = (value: number): string => `${coordinate(value)}%`;
