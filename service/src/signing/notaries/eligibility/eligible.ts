import type { Commission } from "../commissions/commission.ts";
import { type ActMode, blocksOf } from "../commissions/expiry.ts";
import type { NotaryRules, RulesAttribution, StateRules } from "./rules.ts";

/** The facts of an order that determine who may notarize it. */
export type OrderToNotarize = { docSlug: string | null; signerState: string | null };

export type Eligibility = {
  rules: StateRules;
  /**
   * The name of the rules' source, in the wording that the source's license requires. Null when the rules file names
   * none.
   */
  attribution: RulesAttribution | null;
  /**
   * If it is unknown to which class the order's document belongs: the classes that the notary's state excludes from
   * remote acts. Otherwise empty.
   */
  unclassed: string[];
  /** The modes in which the notary may act for the order. */
  modes: ActMode[];
  /** The reasons why the notary can't act in the remaining modes that the notary's state allows. */
  obstacles: string[];
};

export type EligibilityDeps = {
  rules: NotaryRules;
  /** True if remote notarization is blocked for signers of this U.S. state. */
  notarizationBlocked: (state: string) => boolean;
};

export const modeWords: Readonly<Record<ActMode, string>> = {
  ron: "by audio and video (RON)",
  ipen: "in person, electronically (IPEN)",
  ink: "in person, in ink",
  rin: "by audio and video, in ink (RIN)",
};

/**
 * The modes in which a notary may act for an order at the given instant. The notary's commission and the rules of its
 * state decide; for remote acts, the signer's state, too.
 */
export function eligibilityFor(
  { rules, notarizationBlocked }: EligibilityDeps,
  commission: Commission,
  { docSlug, signerState }: OrderToNotarize,
  now: Date,
): Eligibility {
  const own = rules.of(commission.state);
  const excluded = own.excluded?.value.find((name) => docSlug !== null && rules.classes.get(name)?.includes(docSlug));
  const isClassed = docSlug !== null && [...rules.classes.values()].some((slugs) => slugs.includes(docSlug));
  const obstaclesOf = (mode: ActMode): string[] => {
    const isRemote = mode === "ron" || mode === "rin";
    return [
      ...blocksOf(commission, mode, now),
      ...(isRemote && excluded ? [`${commission.state} excludes documents of the class ${excluded}.`] : []),
      ...(isRemote && signerState !== null && notarizationBlocked(signerState)
        ? [`${signerState}, where the signer is, does not recognize remote acts.`]
        : []),
    ];
  };
  const judged = own.modes.value.map((mode) => ({ mode, why: obstaclesOf(mode) }));
  return {
    rules: own,
    attribution: rules.attribution,
    unclassed: isClassed ? [] : (own.excluded?.value ?? []),
    modes: judged.filter(({ why }) => why.length === 0).map(({ mode }) => mode),
    obstacles: judged.flatMap(({ mode, why }) => why.map((each) => `Not ${modeWords[mode]}: ${each}`)),
  };
}
