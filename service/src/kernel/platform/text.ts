import { invalid } from "./errors.ts";

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const code = /^[0-9a-f]{40}$/;
const verifyCode = /^[a-z2-7]{26}$/;
const secret = /^[a-z2-7]{52}$/;
// Characters that are not readable text: control characters, lone surrogates and U+FFFD. A lone surrogate is left when
// a text is cut inside a character. U+FFFD stands for bytes that are not UTF-8.
const unreadable = /[\p{Cc}\p{Cs}\uFFFD]/u;
const invisible = /^[\p{Default_Ignorable_Code_Point}\p{Cf}\p{Z}\p{M}\u2800]*$/u;
const unreadableInLines = /[\p{Cs}\uFFFD]|(?![\t\n\r])\p{Cc}/u;

/** True if the text is a UUID in lowercase hex. */
export const isUuid = (text: string): boolean => uuid.test(text);

/**
 * Returns the text if it is a UUID.
 * @throws ServiceError naming the field when it is not
 */
export function requireUuid(field: string, text: string): string {
  if (!isUuid(text)) throw invalid(`${field} must be a UUID.`);
  return text;
}

/**
 * The whole number that a text has in decimal digits. Undefined for another text, for a number outside the bounds, and
 * for more digits than `max` has.
 */
export function wholeNumberIn(text: string | undefined, min: number, max: number): number | undefined {
  if (text === undefined || !/^\d+$/.test(text) || text.length > String(max).length) return undefined;
  const number = Number(text);
  return number >= min && number <= max ? number : undefined;
}

/** The id of a row that a text has in decimal digits; undefined for another text. */
export const rowIdIn = (text: string | undefined): number | undefined => wholeNumberIn(text, 0, 999_999_999_999_999);

/** True if the text is a code of 160 bits in lowercase hex, as for an order, a room, a fill token or a link. */
export const isCode = (text: string): boolean => code.test(text);

export const codeStartLength = 6;

/** The first digits of an order's code. People refer to an order by them, and the search accepts them. */
export const codeStart = (code: string): string => code.slice(0, codeStartLength);

/** The start of a code as people see it: enough to distinguish orders, too few to open one. */
export const shortCode = (code: string): string => codeStart(code).toUpperCase();

/** True if the text is a verify code: 128 bits in lowercase base32. */
export const isVerifyCode = (text: string): boolean => verifyCode.test(text);

/** True if the text is a secret of 256 bits in lowercase base32, without its prefix. */
export const isSecret = (text: string): boolean => secret.test(text);

/** True if the text has a visible character. Spaces and marks without a shape are invisible. */
export const isVisible = (text: string): boolean => !invisible.test(text);

/**
 * True if a JSON text has an escaped NUL, which no column can store. The test takes linear time, however deep the JSON
 * is nested.
 */
export const hasNulEscape = (json: string): boolean => /(?<!\\)(?:\\\\)*\\u0000/.test(json);

/** True if people can read the text on one line: it has no control characters, no lone surrogates and no U+FFFD. */
export const isPlainText = (text: string): boolean => !unreadable.test(text);

/** Like `isPlainText`, but the text may contain tabs and line breaks. */
export const isPlainLines = (text: string): boolean => !unreadableInLines.test(text);

/** The text with `?` for each character that is not plain text. */
export const toPlainText = (text: string): string => text.replace(new RegExp(unreadable, "gu"), "?");

/** Shortens an external text for a message or a log to its first 100 characters, as plain text. */
export const shownText = (text: string): string => toPlainText(text.slice(0, 100));

/**
 * Returns the same key for texts that look the same: the text in compatibility form (UAX #15, NFKC), without invisible
 * characters, and with single spaces.
 */
export const lookOf = (text: string): string =>
  text
    .normalize("NFKC")
    .replace(/[\p{Default_Ignorable_Code_Point}\p{Cf}]/gu, "")
    .replace(/[\s\u2800]+/g, " ")
    .trim();

/** The digits of a typed number or code. Input methods for Chinese and Japanese type them as full-width characters. */
export const digitsIn = (typed: string): string => typed.normalize("NFKC").replaceAll(/\D/g, "");

const alphabets = [/\p{Script=Latin}/u, /\p{Script=Cyrillic}/u, /\p{Script=Greek}/u, /\p{Script=Armenian}/u];

/**
 * True if one word mixes alphabets whose letters look alike, such as a Cyrillic letter in a Latin name (UTS #39,
 * section 5.1).
 */
export const mixesAlphabets = (text: string): boolean =>
  text.split(/[^\p{L}\p{M}]+/u).some((word) => alphabets.filter((alphabet) => alphabet.test(word)).length > 1);
