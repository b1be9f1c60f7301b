import { parsePhoneNumberFromString } from "libphonenumber-js/min";

const national = /^[\d\s().-]+$/;
const international = /^\+[\d\s().-]+$/;

// Premium rates (+1 900, +1 976 in any area) and satellites (Inmarsat, networks of no country): minutes that cost dollars.
const costly = /^\+(?:1900|1\d{3}976|1976|870|88[123])/;

/** Whether a call to the E.164 number costs far more than what a fax is sold for. */
export const isCostlyNumber = (number: string): boolean => costly.test(number);

/** The ISO 3166 code of the country of an E.164 number; null for one that is no country's. */
export const countryOfNumber = (number: string): string | null => parsePhoneNumberFromString(number)?.country ?? null;

/**
 * E.164 of a 10-digit US number or an international one in `+country` form (contract, fax_to); null when it is neither.
 * Lengths and country codes are checked, not whether somebody holds the number.
 */
export function normalizeFaxNumber(text: string): string | null {
  const digits = text.replace(/\D/g, "");
  if (national.test(text)) return /^[2-9]\d{9}$/.test(digits) ? `+1${digits}` : null;
  if (!international.test(text)) return null;
  const number = parsePhoneNumberFromString(`+${digits}`);
  if (!number?.isPossible() || /^\+1[01]/.test(number.number)) return null;
  return number.number;
}
