/**
 * The percentages of the parts of a whole, as whole numbers that sum to 100. Each is rounded down; the missing points
 * are added to the parts that lost most by rounding. If the whole is 0, all are 0.
 */
export function percentages(parts: readonly number[]): number[] {
  const total = parts.reduce((sum, part) => sum + part, 0);
  if (total === 0) return parts.map(() => 0);
  const exact = parts.map((part) => (part / total) * 100);
  const whole = exact.map(Math.floor);
  const missing = 100 - whole.reduce((sum, percent) => sum + percent, 0);
  const byLoss = exact.map((percent, at) => ({ at, loss: percent - Math.floor(percent) }));
  byLoss.sort((a, b) => b.loss - a.loss || a.at - b.at);
  for (const { at } of byLoss.slice(0, missing)) whole[at] = (whole[at] ?? 0) + 1;
  return whole;
}

/**
 * The percentage of one part, rounded to a whole number. The parts may overlap, so their percentages need not sum to
 * 100.
 */
export const percentage = (part: number, total: number): number => (total === 0 ? 0 : Math.round((part / total) * 100));

/** A percentage as text. A part above zero is never shown as 0%, and a part smaller than the whole never as 100%. */
export function percentText(percent: number, part: number, total: number): string {
  if (part > 0 && percent === 0) return "<1%";
  if (part < total && percent === 100) return ">99%";
  return `${percent}%`;
}
