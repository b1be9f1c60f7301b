import { EvidenceError } from "../errors.ts";
import { type DerNode, TAG } from "./der.ts";

/**
 * Reads a UTCTime or GeneralizedTime as epoch milliseconds, UTC (X.690, sections 11.7 and 11.8). Seconds and `Z` are
 * required. A GeneralizedTime may have a fraction without trailing zeros; digits below a millisecond are cut off.
 * @throws EvidenceError `der` when malformed or not a calendar date
 */
export function readTime(node: DerNode): number {
  const { source, contentStart, end } = node;
  let at = contentStart;
  let year: number;
  if (node.tag === TAG.utcTime) {
    const short = twoDigits(source, at, end);
    year = short >= 50 ? 1900 + short : 2000 + short;
    at += 2;
  } else if (node.tag === TAG.generalizedTime) {
    year = twoDigits(source, at, end) * 100 + twoDigits(source, at + 2, end);
    at += 4;
  } else throw new EvidenceError("der", "Expected a time");
  const [month, day, hour, minute, second] = [0, 2, 4, 6, 8].map((skip) => twoDigits(source, at + skip, end));
  at += 10;
  let milliseconds = 0;
  if (node.tag === TAG.generalizedTime && source[at] === 0x2e && at < end) {
    const from = ++at;
    while (at < end && isDigit(source[at])) at++;
    if (at === from || at - from > 12 || source[at - 1] === 0x30) throw malformed();
    for (let i = 0; i < 3; i++)
      milliseconds = milliseconds * 10 + (from + i < at ? (source[from + i] ?? 0x30) - 0x30 : 0);
  }
  if (at !== end - 1 || source[at] !== 0x5a) throw malformed();
  return calendar(year, month ?? 0, day ?? 0, hour ?? 0, minute ?? 0, second ?? 0) + milliseconds;
}

function calendar(year: number, month: number, day: number, hour: number, minute: number, second: number): number {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  date.setUTCHours(hour, minute, second);
  const same = date.getUTCMonth() === month - 1 && date.getUTCDate() === day && date.getUTCHours() === hour;
  if (!same || minute > 59 || second > 59) throw malformed();
  return date.getTime();
}

function twoDigits(source: Uint8Array, at: number, end: number): number {
  const tens = source[at];
  const ones = source[at + 1];
  if (at + 2 > end || tens === undefined || ones === undefined || !isDigit(tens) || !isDigit(ones)) throw malformed();
  return (tens - 0x30) * 10 + (ones - 0x30);
}

const isDigit = (octet: number | undefined): boolean => octet !== undefined && octet >= 0x30 && octet <= 0x39;
const malformed = (): EvidenceError => new EvidenceError("der", "A time is malformed");
