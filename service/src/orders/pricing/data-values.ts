import { isScalar } from "yaml";
import { fail, type Place } from "./data-file.ts";

const MAX_CENTS = 10_000_000;

/**
 * An amount in whole cents. Refuses `12.00`, although it is a whole number, because its author probably meant dollars.
 * @throws {DataFileError}
 */
export function cents(place: Place, min = 0): number {
  const value = wholeNumber(place);
  if (value === null || value < min) fail(place, `must be an integer of cents >= ${min}`);
  if (value > MAX_CENTS) fail(place, `must be at most ${MAX_CENTS} cents`);
  return value;
}

/**
 * An integer from `min` to `max`.
 * @throws {DataFileError}
 */
export function integer(place: Place, min: number, max: number): number {
  const value = wholeNumber(place);
  if (value === null || value < min || value > max) fail(place, `must be an integer from ${min} to ${max}`);
  return value;
}

/**
 * A number from `min` to `max`, which may have decimals.
 * @throws {DataFileError}
 */
export function decimal(place: Place, min: number, max: number): number {
  const value = scalar(place);
  if (typeof value !== "number" || !(value >= min && value <= max))
    fail(place, `must be a number from ${min} to ${max}`);
  return value;
}

/**
 * A percentage with at most two decimals, in hundredths of a percent: 12.5 gives 1250.
 * @throws {DataFileError}
 */
export function basisPoints(place: Place): number {
  const value = scalar(place);
  const points = typeof value === "number" ? Math.round(value * 100) : -1;
  if (typeof value !== "number" || value < 0 || value > 100 || Math.abs(points - value * 100) > 1e-6) {
    fail(place, "must be a percentage from 0 to 100 with at most two decimals");
  }
  return points;
}

/**
 * The value `true` or `false`.
 * @throws {DataFileError}
 */
export function boolean(place: Place): boolean {
  const value = scalar(place);
  if (typeof value !== "boolean") fail(place, "must be true or false");
  return value;
}

/** One line of text. Refuses leading and trailing blanks. @throws {DataFileError} */
export function text(place: Place, max = 120): string {
  const value = scalar(place);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: labels are shown and printed, so control characters are refused
  if (typeof value !== "string" || value === "" || value.length > max || /^\s|\s$|[\x00-\x1f]/.test(value)) {
    fail(place, `must be text of 1 to ${max} characters on one line (in quotes if it looks like a number)`);
  }
  return value;
}

/** Text that matches a pattern; `what` describes the pattern in errors. @throws {DataFileError} */
export function matching(place: Place, pattern: RegExp, what: string): string {
  const value = scalar(place);
  if (typeof value !== "string" || !pattern.test(value)) fail(place, `must be ${what}`);
  return value;
}

/**
 * A value that must be one of the choices.
 * @throws {DataFileError}
 */
export function oneOf<T extends string>(place: Place, choices: readonly T[]): T {
  const value = scalar(place);
  const choice = choices.find((candidate) => candidate === value);
  if (choice === undefined) fail(place, `must be one of ${choices.join(", ")}`);
  return choice;
}

function scalar(place: Place): unknown {
  return isScalar(place.node) ? place.node.value : undefined;
}

function wholeNumber(place: Place): number | null {
  const value = scalar(place);
  if (typeof value !== "number" || !isScalar(place.node)) return null;
  return /^-?(0|[1-9]\d*)$/.test(place.node.source ?? "") && Number.isSafeInteger(value) && !Object.is(value, -0)
    ? value
    : null;
}
