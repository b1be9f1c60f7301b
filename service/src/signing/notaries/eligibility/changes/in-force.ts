import type { Clock } from "../../../../kernel/platform/clock.ts";
import type { Sql } from "../../../../kernel/platform/database/database.ts";
import { StartupError } from "../../../../kernel/platform/errors.ts";
import type { EligibilityDeps } from "../eligible.ts";
import { type NotaryRules, parseStateRules, type StateRules } from "../rules.ts";
import { type RuleChange, selectConfirmed } from "./store.ts";

/** Reads the rules in force. Nothing is cached, so that a confirmed change applies on all nodes at once. */
export type ReadEligibility = (db: Sql) => Promise<EligibilityDeps>;

type Shipped = { shipped: NotaryRules; clock: Clock } & Pick<EligibilityDeps, "notarizationBlocked">;

export const eligibilityReader =
  ({ shipped, clock, notarizationBlocked }: Shipped): ReadEligibility =>
  async (db) => ({ rules: await rulesInForce(db, shipped, clock()), notarizationBlocked });

/**
 * The rules in force: those of the rules file, except for states with a confirmed change whose start date has come. The
 * latest such change replaces the state's rules. A state with an altered confirmed change gets the default rules.
 */
export async function rulesInForce(db: Sql, shipped: NotaryRules, now: Date): Promise<NotaryRules> {
  const today = now.toISOString().slice(0, 10);
  const latest = new Map<string, RuleChange | "forged">();
  for (const { isAuthentic, ...change } of await selectConfirmed(db)) {
    if (!isAuthentic) latest.set(change.state, "forged");
    else if (latest.get(change.state) !== "forged" && change.effectiveOn <= today) latest.set(change.state, change);
  }
  // A forged change must not permit more than the genuine rules. So the state gets the default rules, which apply to
  // all states. Earlier changes are not parsed: the rules file may have lost a class that one of them names.
  const changed = new Map(
    [...latest].map(([state, change]) => [state, change === "forged" ? altered(shipped) : rulesOf(change, shipped)]),
  );
  return {
    ...shipped,
    of: (state) => changed.get(state) ?? shipped.of(state),
    states: [...new Set([...shipped.states, ...changed.keys()])].toSorted(),
  };
}

const altered = ({ base }: NotaryRules): StateRules => ({ ...base, origin: { kind: "altered" } });

function rulesOf(change: RuleChange, shipped: NotaryRules): StateRules {
  const { version, sourceUrl, effectiveOn, decidedByName: by, decidedAt: at } = change;
  if (by === null || at === null) return altered(shipped);
  try {
    return { ...readChange(change, shipped), origin: { kind: "confirmed", version, by, at, sourceUrl, effectiveOn } };
  } catch (error) {
    // A change may name a class of documents that the operator's own rules file lacks. Such a change is treated as
    // altered.
    if (error instanceof StartupError) return altered(shipped);
    throw error;
  }
}

/**
 * Parses the rules that a change contains.
 * @throws DataFileError
 */
export const readChange = ({ rules, state, version }: RuleChange, shipped: NotaryRules): StateRules =>
  parseStateRules(rules, `version ${version} of the rules of ${state}`, shipped);
