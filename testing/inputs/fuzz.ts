// CI sets FUZZ=full, and npm run test:long sets FUZZ=long.
const isLong = process.env["FUZZ"] === "long";
const isFull = isLong || process.env["FUZZ"] === "full";

/**
 * The number of inputs for a randomized test: a tenth of `all`, a fifth with FUZZ=full, or all of them with FUZZ=long.
 * The random numbers are seeded, so the same number gives the same inputs in every run. A test that calls this function
 * belongs to a suite of tools/test-long.ts.
 */
export const fuzzRuns = (all: number): number => (isLong ? all : isFull ? all / 5 : all / 10);

/**
 * The number of times that a test repeats a nondeterministic step, such as a kill. It is `few`; with FUZZ=full it is
 * `full`, and with FUZZ=long it is `long`. A test with a `long` number belongs to a suite of tools/test-long.ts.
 */
export const repeats = (full: number, few: number, long = full): number => (isLong ? long : isFull ? full : few);

/**
 * The variants that a test tries with its input of this number. Each input gets the next variant in turn. With
 * FUZZ=long, each input gets all variants. A test that calls this belongs to a suite of tools/test-long.ts.
 */
export const inTurn = <Variant>(variants: readonly Variant[], number: number): readonly Variant[] =>
  isLong ? variants : variants.filter((_, index) => index === number % variants.length);
