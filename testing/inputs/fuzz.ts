/**
 * How many inputs a test of random ones tries: a tenth of the full number, or all of them with FUZZ=full.
 * Its random numbers are seeded, so that the tenth is the same in every run.
 */
export const fuzzRuns = (full: number): number => (process.env["FUZZ"] === "full" ? full : full / 10);
