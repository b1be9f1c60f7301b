/** Decides if the service offers a live session for an order. */
import { dayMs } from "../../../kernel/platform/clock.ts";
import type { EligibleOrder } from "../claims/claims.ts";
import { onlineForms, type ProofMeans, proofingGap } from "../eligibility/online-rules.ts";
import type { OnlineRules } from "../eligibility/rules.ts";
import { type IdentityDeps, meansFor } from "../identity/checks.ts";
import { maxPeople } from "../schedule/third-roles.ts";

/** The providers by which the service can identify people. */
export type ProofProviders = Pick<IdentityDeps, "proofing" | "quiz">;

/** How long an operator's confirmation of a U.S. state's requirement is valid: a year. */
const confirmedMs = 366 * dayMs;

/**
 * The reason why this service does not offer acts by audio and video for a U.S. state; null when it does. The service
 * never assumes that a state accepts such acts. Possible reasons:
 * - The state's rules lack a value.
 * - There is no available way to identify a signer.
 * - The service lacks a required certificate.
 * - The operator has not confirmed a requirement.
 */
export function liveGap(online: OnlineRules, means: ProofMeans, now: Date): string | null {
  const { platform, platformConfirmed, certificateOf, personalKnowledge } = online;
  if (!platform) return `The value “${onlineForms.platform.label}” is missing.`;
  const since = platformConfirmed ? now.getTime() - Date.parse(`${platformConfirmed.value.on}T00:00:00Z`) : null;
  if (platform.value !== "none" && (since === null || since < 0 || since > confirmedMs))
    return `“${onlineForms.platformConfirmed.label}” is missing, or older than a year.`;
  if (certificateOf?.value === "service") return "The state wants a certificate of the service, and this one has none.";
  if (personalKnowledge?.value) return null;
  return proofingGap(online, means);
}

/** The reason why a notary can't open a session for the order here at this time; null when the notary can. */
export function liveObstacle(identity: ProofProviders, { eligibility, order }: EligibleOrder, at: Date): string | null {
  const { modes, obstacles, rules } = eligibility;
  if (!modes.includes("ron"))
    return obstacles.join(" ") || "The rules of your state don’t offer acts by audio and video.";
  if (order.signers.length > maxPeople) return `A session has at most ${maxPeople} signers.`;
  return liveGap(rules.online, meansFor(identity, order.environment), at);
}
