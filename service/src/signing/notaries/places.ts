/** Where a person is. `region` is a state or province; `country` is two letters, as in ISO 3166-1. */
export type Place = { city: string; region: string; country: string };

/** The codes of the countries and territories of ISO 3166-1, two letters each. */
const codes =
  "AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ CA CC CD " +
  "CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA GB GD GE GF " +
  "GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN " +
  "KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA " +
  "NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI " +
  "SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI " +
  "VN VU WF WS YE YT ZA ZM ZW";

const countries: ReadonlySet<string> = new Set(codes.split(" "));

/** The United States and its territories. */
const unitedStates: ReadonlySet<string> = new Set(["US", "AS", "GU", "MP", "PR", "UM", "VI"]);

export const isCountry = (code: string): boolean => countries.has(code);

/** True if a country is outside the United States and its territories. */
export const isAbroad = (code: string): boolean => !unitedStates.has(code);

const english = new Intl.DisplayNames(["en"], { type: "region" });

/** A place in English, such as “Columbus, Ohio, United States”. */
export const placeText = ({ city, region, country }: Place): string =>
  [city, region, english.of(country) ?? country].filter((part) => part !== "").join(", ");

/** The codes and names of all countries, sorted by their names in this language, the United States first. */
export function countryChoices(language: string): { value: string; label: string }[] {
  const names = new Intl.DisplayNames([language], { type: "region" });
  return [...countries]
    .map((value) => ({ value, label: names.of(value) ?? value }))
    .toSorted(
      (a, b) => Number(b.value === "US") - Number(a.value === "US") || a.label.localeCompare(b.label, language),
    );
}
