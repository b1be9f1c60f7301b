import { randomBytes, randomInt } from "node:crypto";

/**
 * Random values from the system's CSPRNG. Functions that use chance take it as a parameter, so that a test can set the
 * values.
 */
export type Random = {
  readonly bytes: (length: number) => Buffer;
  /** A random whole number from 0 up to, but not including, the limit. */
  readonly below: (limit: number) => number;
};

export const systemRandom: Random = { bytes: (length) => randomBytes(length), below: (limit) => randomInt(limit) };
