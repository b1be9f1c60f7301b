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

/** Every two-letter code that the US postal service delivers to, with its name and kind. DC counts as a state here. */
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

/** True for a two-letter code in capitals that mail can be addressed to: a state, DC, a territory or the military. */
export function isUsState(code: string): boolean {
  return usStates.has(code);
}

/** True for the fifty states and DC, in capitals: where postage can be quoted. */
export function isOneOfTheFiftyOrDc(code: string): boolean {
  return usStates.get(code)?.kind === "state";
}

function entries(
  kind: StateKind,
  names: Readonly<Record<string, string>>,
): [string, { name: string; kind: StateKind }][] {
  return Object.entries(names).map(([code, name]) => [code, { name, kind }]);
}
