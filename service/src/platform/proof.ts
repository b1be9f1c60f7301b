import type { Principal, Proof } from "../identity/identity.ts";
import { ServiceError } from "./errors.ts";

/** For so long it counts that a person signed in, or confirmed it since (OWASP ASVS 5.0.0, 7.5). */
export const proofSeconds = 15 * 60;

export const isRecentProof = ({ confirmedAt }: Proof, now: Date): boolean =>
  now.getTime() - confirmedAt.getTime() < proofSeconds * 1000;

/** @throws ServiceError when it is too long ago that the person of a session signed in or confirmed it. */
export function requireRecentProof(proof: Proof, now: Date): void {
  if (isRecentProof(proof, now)) return;
  throw new ServiceError(
    "confirmation_required",
    "Sign in again to do this: it needs a sign-in within the last 15 minutes.",
  );
}

/** As `requireRecentProof`, for whoever calls: a key proves itself with each request. */
export function requireProof({ member }: Principal, now: Date): void {
  if (member) requireRecentProof(member.proof, now);
}
