/** Facts about a principal that only some states' rules for acts by audio and video require. */
import type { FormReader, Typed } from "../form-reader.ts";
import { isAbroad, isCountry, type Place } from "../places.ts";

/** The facts that the rules of a U.S. state require. `abroad`: true if a principal may be outside the United States. */
export type FactRules = { place: boolean; knows: boolean; abroad: boolean };

/** An act in person requires no further facts, because everybody is at the venue. */
export const noFacts: FactRules = { place: false, knows: false, abroad: false };

export type Facts = {
  /** Where the principal was during the act. */
  place?: Place;
  /** How, and since when, the notary knows the principal. Set only for identification by personal knowledge. */
  knows?: string;
};

type Rules = {
  online: { [K in "signerPlace" | "knowledgeStated" | "signerAbroad"]?: { value: boolean } };
  certificates: { [act: string]: { value: { ron?: string } } };
};

/** The facts that a state's rules, or the wording of its certificates, require. */
export function factRules({ online, certificates }: Rules): FactRules {
  const named = (slot: string) => Object.values(certificates).some(({ value }) => value.ron?.includes(slot));
  return {
    place: online.signerPlace?.value === true || named("{places}"),
    knows: online.knowledgeStated?.value === true || named("{knowledge}"),
    abroad: online.signerAbroad?.value === true,
  };
}

/**
 * Reads the facts about one principal that the state's rules require.
 * @param at returns the name of this principal's form field for a fact
 */
export function readFacts(read: FormReader, at: (name: string) => string, basis: string, rules: FactRules): Facts {
  return {
    ...(rules.place && { place: readPlace(read, at, rules.abroad) }),
    ...(rules.knows && basis === "personal_knowledge" && { knows: read.required(at("knows"), { max: 500 }) }),
  };
}

function readPlace(read: FormReader, at: (name: string) => string, mayBeAbroad: boolean): Place {
  const [city, country] = [read.required(at("city"), { max: 80 }), read.required(at("country"), { max: 2 })];
  if (country !== "" && !isCountry(country)) read.fault(at("country"), "must be two letters, as in ISO 3166-1");
  else if (country !== "" && isAbroad(country) && !mayBeAbroad)
    read.fault(
      at("country"),
      "must be in the United States: your state is not known to allow an act for somebody who is abroad",
    );
  const region = isAbroad(country)
    ? (read.optional(at("region"), { max: 80 }) ?? "")
    : read.required(at("region"), { max: 80 });
  return { city, region, country };
}

/** The values with which a form shows the facts. Facts that are absent have no value. */
export const typedFacts = ({ place, knows }: Facts): Typed => ({ ...place, ...(knows !== undefined && { knows }) });
