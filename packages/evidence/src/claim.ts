/**
 * The result of a claim. `unchecked`: the claim can't be decided. For example, bytes or trusted certificates are
 * missing, or another claim on which it depends does not hold. An unchecked claim never counts as `holds`.
 */
export type ClaimState = "holds" | "fails" | "unchecked";

/** One statement about the evidence: its name, its result, and the reason as a sentence for people. */
export interface Claim<Name extends string = string> {
  readonly name: Name;
  readonly state: ClaimState;
  readonly why: string;
}

/** True if there is at least one claim and every claim holds. */
export function allHold(claims: readonly Claim[]): boolean {
  return claims.length > 0 && claims.every((claim) => claim.state === "holds");
}

/**
 * A claim that holds if the condition is true, and else fails. `good` and `bad` are the sentences for the two results.
 */
export function claim<Name extends string>(name: Name, holds: boolean, good: string, bad: string): Claim<Name> {
  return holds ? { name, state: "holds", why: good } : { name, state: "fails", why: bad };
}
