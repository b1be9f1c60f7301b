import { invalid } from "../../kernel/platform/errors.ts";

const defaultDays = 90;
const maxDays = 366;

/**
 * The number of days that the query parameter `days` requests (contract, Analytics): 90 when absent, clamped to 1-366.
 * @throws ServiceError when it is not an integer or is repeated
 */
export function windowDays(days: unknown): number {
  if (days === undefined) return defaultDays;
  if (typeof days !== "string" || !/^[+-]?\d+$/.test(days))
    throw invalid(`days must be an integer from 1 to ${maxDays}.`);
  return Math.min(Math.max(Number(days), 1), maxDays);
}
