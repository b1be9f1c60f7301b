import type { Environment, Principal, Proof } from "../identity/identity.ts";
import { ServiceError } from "./errors.ts";

/** For so long it counts that a person signed in, or confirmed it since (OWASP ASVS 5.0.0, 7.5). */
export const proofSeconds = 15 * 60;

const isRecent = (at: Date | null, now: Date): boolean =>
  at !== null && now.getTime() - at.getTime() < proofSeconds * 1000;

export const isRecentProof = ({ confirmedAt }: Proof, now: Date): boolean => isRecent(confirmedAt, now);

/** @throws ServiceError when it is too long ago that the person of a session signed in or confirmed it. */
export function requireRecentProof(proof: Proof, now: Date): void {
  if (isRecentProof(proof, now)) return;
  throw new ServiceError(
    "confirmation_required",
    "Sign in again to do this: it needs a sign-in within the last 15 minutes.",
  );
}

export const isRecentPasskey = ({ passkeyAt }: Proof, now: Date): boolean => isRecent(passkeyAt, now);

/** @param why completes the refusal @throws ServiceError when no passkey was shown in the session a short while ago. */
export function requireRecentPasskey(
  proof: Proof,
  now: Date,
  why = "the firm asks for one that was shown within the last 15 minutes",
): void {
  if (isRecentPasskey(proof, now)) return;
  throw new ServiceError("passkey_required", `Sign in with a passkey to do this: ${why}.`);
}

/**
 * Asks a session for a recent proof, in live of a firm that says so for a passkey. A key proves itself with each request.
 * @param concerned the environment of what is to change
 * @throws ServiceError when it is missing
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
