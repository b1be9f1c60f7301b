import type { Environment, Principal, Proof } from "../identity/identity.ts";
import { ServiceError } from "./errors.ts";

/** The time for which a sign-in, its confirmation or the use of a passkey counts as recent (OWASP ASVS 5.0.0, 7.5). */
const proofSeconds = 15 * 60;

const isRecent = (at: Date | null, now: Date): boolean =>
  at !== null && now.getTime() - at.getTime() < proofSeconds * 1000;

export const isRecentProof = ({ confirmedAt }: Proof, now: Date): boolean => isRecent(confirmedAt, now);

/**
 * Requires a recent sign-in.
 * @throws ServiceError when the session's person has not signed in, or confirmed the sign-in, recently
 */
export function requireRecentProof(proof: Proof, now: Date): void {
  if (isRecentProof(proof, now)) return;
  throw new ServiceError(
    "confirmation_required",
    "Sign in again to do this: it needs a sign-in within the last 15 minutes.",
  );
}

export const isRecentPasskey = ({ passkeyAt }: Proof, now: Date): boolean => isRecent(passkeyAt, now);

/**
 * Requires a recent use of a passkey.
 * @param why the words that complete the refusal's message
 * @throws ServiceError when the session has not used a passkey recently
 */
export function requireRecentPasskey(
  proof: Proof,
  now: Date,
  why = "the firm asks for one that was shown within the last 15 minutes",
): void {
  if (isRecentPasskey(proof, now)) return;
  throw new ServiceError("passkey_required", `Sign in with a passkey to do this: ${why}.`);
}

/**
 * The changes to live data that call `requireProof`, in words for the page on which a firm sets the rule. The deletion
 * of a webhook doesn't call it.
 */
export const passkeyChanges =
  "create a live webhook or rotate its secret, create or rotate a live key, give or end live access, charge in live or cancel a charge there, or change payment methods and spending limits in live";

/**
 * Requires that the session's person recently signed in or confirmed the sign-in. For live data of a firm that requires
 * passkeys, requires a recent use of a passkey instead. A caller with an API key passes, because the key authenticates
 * each request.
 * @param concerned the environment of the data that change
 * @throws ServiceError when the required sign-in or passkey is missing
 */
export function requireProof(
  { member, environment }: Principal,
  now: Date,
  concerned: Environment = environment,
): void {
  if (!member) return;
  const { proof } = member;
  if (concerned === "live" && proof.passkeyForLive) requireRecentPasskey(proof, now);
  else requireRecentProof(proof, now);
}
