import { equalBytes } from "../bytes.ts";
import type { Claim } from "../claim.ts";
import type { Certificate } from "../x509/certificate.ts";

/** The reasons for retiring a seal certificate, from RFC 5280, section 5.3.1, with hyphens. */
export const retirementReasons = [
  "unspecified",
  "key-compromise",
  "ca-compromise",
  "affiliation-changed",
  "superseded",
  "cessation-of-operation",
  "privilege-withdrawn",
] as const;

/** A retired certificate. Seals that were made with it from `retiredAt` on are not accepted. */
export type RetiredCertificate = {
  readonly certificate: Certificate;
  /** The time of the retirement, epoch ms. */
  readonly retiredAt: number;
  /** One of `retirementReasons`; any other text counts as a compromise. */
  readonly reason: string;
};

/**
 * After a retirement for one of these reasons, the owner is assumed to be the only one who has the key. So a seal
 * without a proven time is refused only if it states the time of the retirement or a later time.
 */
const KEY_STAYS_SAFE: ReadonlySet<string> = new Set(["superseded", "affiliation-changed", "cessation-of-operation"]);

/** True if the owner is assumed to be the only one who has the key after a retirement for this reason. */
export const keyStaysSafe = (reason: string): boolean => KEY_STAYS_SAFE.has(reason);

/**
 * True if the certificate is retired. If someone else may have the retired certificate's key, all other certificates
 * for that key are unreliable, too.
 */
const isRetired =
  (certificate: Certificate) =>
  ({ certificate: retired, reason }: RetiredCertificate): boolean =>
    equalBytes(retired.der, certificate.der) || (!keyStaysSafe(reason) && equalBytes(retired.spki, certificate.spki));

/** The times that are available for a seal, epoch ms each; null when unavailable. */
export type SealTimes = {
  /** The earliest time at which the seal provably existed. */
  readonly provenTime: number | null;
  /** The earliest time of a trusted token inside the seal. */
  readonly stampedTime: number | null;
  /** The time that the seal states itself. */
  readonly claimedTime: number | null;
};

/**
 * The claims about retired certificates of a seal; none unless one of the certificates is retired.
 *
 * Only a proven time from before the retirement makes the claim hold. The time that the seal itself states can only
 * make the claim fail. A token inside the seal was made together with the seal. So a token from after the retirement
 * makes the claim fail. A detached proof can be years younger than the seal. So a detached proof from after the
 * retirement does not make the claim fail.
 *
 * @param path the seal's own certificate, the others in its signature, and those above it
 */
export function retirementClaims(
  path: readonly Certificate[],
  retired: readonly RetiredCertificate[],
  times: SealTimes,
): Claim<"seal_certificate_not_retired">[] {
  const found = path.flatMap((certificate) => retired.filter(isRetired(certificate)));
  const claims = found.map((one) => retirementClaim(one, times));
  const worst =
    claims.find(({ state }) => state === "fails") ?? claims.find(({ state }) => state === "unchecked") ?? claims[0];
  return worst === undefined ? [] : [worst];
}

function retirementClaim(
  { retiredAt, reason }: RetiredCertificate,
  { provenTime, stampedTime, claimedTime }: SealTimes,
): Claim<"seal_certificate_not_retired"> {
  const name = "seal_certificate_not_retired";
  const retirement = `The certificate was retired on ${new Date(retiredAt).toISOString()} (${reason})`;
  if (provenTime !== null && provenTime < retiredAt) {
    return { name, state: "holds", why: `${retirement}. It is proven that the seal is older.` };
  }
  if (stampedTime !== null) {
    return { name, state: "fails", why: `${retirement}, and the seal was first stamped after that.` };
  }
  if (!keyStaysSafe(reason)) {
    return { name, state: "fails", why: `${retirement}, and nothing proves that the seal is older.` };
  }
  if (claimedTime !== null && claimedTime >= retiredAt) {
    return { name, state: "fails", why: `${retirement}, and the seal itself says that it was made after that.` };
  }
  return {
    name,
    state: "unchecked",
    why: `${retirement}. Nothing proves that the seal is older; its key was not said to be stolen.`,
  };
}
