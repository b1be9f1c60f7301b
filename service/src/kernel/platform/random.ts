import { randomBytes, randomInt } from "node:crypto";

/** Randomness of the system's CSPRNG. Passed in wherever it decides something, so that a test can hold it. */
export type Random = {
  readonly bytes: (length: number) => Buffer;
  /** A whole number from 0 to before the limit. */
  readonly below: (limit: number) => number;
};

export const systemRandom: Random = { bytes: (length) => randomBytes(length), below: (limit) => randomInt(limit) };
