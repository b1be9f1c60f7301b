import { type DataFile, dataFile, fail, fields, list, parseDataFile, readDataFile } from "./data-file.ts";
import { text } from "./data-values.ts";

/** A US postal address. `state` is a code of `usStates`, `postal` a ZIP or ZIP+4 code. */
export type Address = {
  name: string;
  line1: string;
  line2: string | null;
  city: string;
  state: string;
  postal: string;
};

export type StateKind = "state" | "territory" | "military";

/** All two-letter codes to which the US Postal Service delivers, with name and kind. DC counts as a state here. */
export const usStates: ReadonlyMap<string, { name: string; kind: StateKind }> = new Map([
  ...entries("state", {
    AL: "Alabama",
    AK: "Alaska",
    AZ: "Arizona",
    AR: "Arkansas",
    CA: "California",
    CO: "Colorado",
    CT: "Connecticut",
    DE: "Delaware",
    DC: "District of Columbia",
    FL: "Florida",
    GA: "Georgia",
    HI: "Hawaii",
    ID: "Idaho",
    IL: "Illinois",
    IN: "Indiana",
    IA: "Iowa",
    KS: "Kansas",
    KY: "Kentucky",
    LA: "Louisiana",
    ME: "Maine",
    MD: "Maryland",
    MA: "Massachusetts",
    MI: "Michigan",
    MN: "Minnesota",
    MS: "Mississippi",
    MO: "Missouri",
    MT: "Montana",
    NE: "Nebraska",
    NV: "Nevada",
    NH: "New Hampshire",
    NJ: "New Jersey",
    NM: "New Mexico",
    NY: "New York",
    NC: "North Carolina",
    ND: "North Dakota",
    OH: "Ohio",
    OK: "Oklahoma",
    OR: "Oregon",
    PA: "Pennsylvania",
    RI: "Rhode Island",
    SC: "South Carolina",
    SD: "South Dakota",
    TN: "Tennessee",
    TX: "Texas",
    UT: "Utah",
    VT: "Vermont",
    VA: "Virginia",
    WA: "Washington",
    WV: "West Virginia",
    WI: "Wisconsin",
    WY: "Wyoming",
  }),
  ...entries("territory", {
    AS: "American Samoa",
    FM: "Federated States of Micronesia",
    GU: "Guam",
    MH: "Marshall Islands",
    MP: "Northern Mariana Islands",
    PR: "Puerto Rico",
    PW: "Palau",
    VI: "US Virgin Islands",
  }),
  ...entries("military", {
    AA: "Armed Forces Americas",
    AE: "Armed Forces Europe",
    AP: "Armed Forces Pacific",
  }),
]);

/** The upper-case code of a text that names a US state by its two letters, in any case; null for other texts. */
export function usStateOf(text: string): string | null {
  const code = text.trim().toUpperCase();
  return code.length === 2 && isUsState(code) ? code : null;
}

const borders: ReadonlySet<string> = new Set(
  [
    "AL-FL AL-GA AL-MS AL-TN AR-LA AR-MO AR-MS AR-OK AR-TN AR-TX AZ-CA AZ-CO AZ-NM AZ-NV AZ-UT CA-NV CA-OR CO-KS CO-NE",
    "CO-NM CO-OK CO-UT CO-WY CT-MA CT-NY CT-RI DC-MD DC-VA DE-MD DE-NJ DE-PA FL-GA GA-NC GA-SC GA-TN IA-IL IA-MN IA-MO",
    "IA-NE IA-SD IA-WI ID-MT ID-NV ID-OR ID-UT ID-WA ID-WY IL-IN IL-KY IL-MO IL-WI IN-KY IN-MI IN-OH KS-MO KS-NE KS-OK",
    "KY-MO KY-OH KY-TN KY-VA KY-WV LA-MS LA-TX MA-NH MA-NY MA-RI MA-VT MD-PA MD-VA MD-WV ME-NH MI-OH MI-WI MN-ND MN-SD",
    "MN-WI MO-NE MO-OK MO-TN MS-TN MT-ND MT-SD MT-WY NC-SC NC-TN NC-VA ND-SD NE-SD NE-WY NH-VT NJ-NY NJ-PA NM-OK NM-TX",
    "NM-UT NV-OR NV-UT NY-PA NY-VT OH-PA OH-WV OK-TX OR-WA PA-WV SD-WY TN-VA UT-WY VA-WV",
  ].flatMap((line) => line.split(" ")),
);

/** True if two states, by their upper-case codes, touch. DC counts as a state. */
export const areNeighbors = (one: string, other: string): boolean => borders.has([one, other].sort().join("-"));

export const isZipCode = (text: string): boolean => /^\d{5}(-\d{4})?$/.test(text);

/** True if mail can be addressed to this upper-case two-letter code: a state, DC, a territory or the military. */
export function isUsState(code: string): boolean {
  return usStates.has(code);
}

/** True if the upper-case code is one of the fifty states or DC. The zone table has postage only between these. */
export function isOneOfTheFiftyOrDc(code: string): boolean {
  return usStates.get(code)?.kind === "state";
}

function entries(
  kind: StateKind,
  names: Readonly<Record<string, string>>,
): [string, { name: string; kind: StateKind }][] {
  return Object.entries(names).map(([code, name]) => [code, { name, kind }]);
}

/** The states for whose signers remote notarization is refused: two letters, upper case, sorted. */
export type NotarizationStates = { notRecognized: string[] };

/**
 * Reads the states that do not recognize remote notarizations from a YAML file.
 * @throws DataFileError when the file cannot be read or is not valid; the message names the line, the field and the
 * rule
 */
export const loadNotarizationStates = (path: string): DataFile<NotarizationStates> =>
  parseNotarizationStates(readDataFile(path), path);

/**
 * Like `loadNotarizationStates`, but parses the file's text. `file`: its path, for error messages.
 * @throws DataFileError naming the line, the field and the rule
 */
export function parseNotarizationStates(source: string, file: string): DataFile<NotarizationStates> {
  const root = fields(parseDataFile(source, file), { required: ["notRecognized"] });
  const codes = new Set<string>();
  for (const place of list(root.notRecognized)) {
    const code = text(place);
    if (!isUsState(code)) fail(place, "must be the two-letter code of a US state or territory");
    if (codes.has(code)) fail(place, `must be unique (${code} is listed twice)`);
    codes.add(code);
  }
  return dataFile({ notRecognized: [...codes].sort() });
}
