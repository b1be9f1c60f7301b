const isFull = process.env["FUZZ"] === "full";

/**
 * How many inputs a test of random ones tries: a tenth of the full number, or all of them with FUZZ=full.
 * Its random numbers are seeded, so that the tenth is the same in every run.
 */
export const fuzzRuns = (full: number): number => (isFull ? full : full / 10);

/** How often a test repeats what may end differently each time, as a kill does: as often with FUZZ=full, else a few times. */
export const repeats = (full: number, few: number): number => (isFull ? full : few);

/** Which of some variants the input of this number is tried with: one of them, in turn, or all of them with FUZZ=full. */
export const inTurn = <Variant>(variants: readonly Variant[], number: number): readonly Variant[] =>
  isFull ? variants : variants.filter((_, index) => index === number % variants.length);
