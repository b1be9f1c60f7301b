const isFull = process.env["FUZZ"] === "full";

/**
 * How many inputs a randomized test tries: a tenth of the full number, or all of them with FUZZ=full. The random
 * numbers are seeded, so the tenth is the same in every run.
 */
export const fuzzRuns = (full: number): number => (isFull ? full : full / 10);

/**
 * How often a test repeats a nondeterministic step, such as a kill: the full number with FUZZ=full, otherwise a few
 * times.
 */
export const repeats = (full: number, few: number): number => (isFull ? full : few);

/**
 * The variants to try with the input that has this number: with FUZZ=full all of them, otherwise one of them in
 * rotation.
 */
export const inTurn = <Variant>(variants: readonly Variant[], number: number): readonly Variant[] =>
  isFull ? variants : variants.filter((_, index) => index === number % variants.length);
