import { parsePhoneNumberFromString } from "libphonenumber-js/min";

const national = /^[\d\s().-]+$/;
const international = /^\+[\d\s().-]+$/;

// Premium numbers (+1 900, and 976 in any area) and satellite numbers (Inmarsat, international networks). Calls to them
// cost dollars a minute.
const costly = /^\+(?:1900|1\d{3}976|1976|870|88[123])/;

/** True for the premium and satellite numbers listed above. Other countries' premium numbers are not known here. */
export const isCostlyNumber = (number: string): boolean => costly.test(number);

/** The ISO 3166 country of an E.164 number; null when it belongs to no country. */
export const countryOfNumber = (number: string): string | null => parsePhoneNumberFromString(number)?.country ?? null;

/**
 * Normalizes a fax number to E.164: a 10-digit US number, or an international number in `+country` form (contract,
 * fax_to). Null for any other text. Checks length and country code, not whether the number is in use.
 */
export function normalizeFaxNumber(text: string): string | null {
  const digits = text.replace(/\D/g, "");
  if (national.test(text)) return /^[2-9]\d{9}$/.test(digits) ? `+1${digits}` : null;
  if (!international.test(text)) return null;
  const number = parsePhoneNumberFromString(`+${digits}`);
  if (!number?.isPossible() || /^\+1[01]/.test(number.number)) return null;
  return number.number;
}
