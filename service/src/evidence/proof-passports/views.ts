import type { Retraction } from "../transparency-log/transparency-log.ts";
import type { Facts, Passport, PassportVerification, SealedPassport, Timestamps } from "./schemas.ts";
import { isDocumentStored, type PassportFacts, type PassportRow, type PublicPassport } from "./store.ts";

export const verifyPath = (verifyCode: string): string => `/api/passport/verify/${verifyCode}`;

function factsView(passport: PassportFacts, baseUrl: string): Facts {
  const { id, verifyCode, docSha256, sealedSha256, environment } = passport;
  const verifyUrl = `${baseUrl}${verifyPath(verifyCode)}`;
  return { passportId: id, verifyCode, verifyUrl, docSha256, sealedSha256, status: "sealed", environment };
}

export type Times = Pick<PassportRow, "authority" | "stampedAt" | "calendar" | "submittedAt" | "anchorStatus">;

/**
 * The RFC 3161 time stamp and the OpenTimestamps anchor, both from independent parties; each is null when there is none
 * (contract, Proof passport).
 */
export function timestampsView({ authority, stampedAt, calendar, submittedAt, anchorStatus }: Times): Timestamps {
  return {
    rfc3161: authority && stampedAt ? { authority, timestampedAtUtc: stampedAt.toISOString() } : null,
    openTimestamps:
      calendar && submittedAt && anchorStatus
        ? { calendar, submittedAtUtc: submittedAt.toISOString(), status: anchorStatus }
        : null,
  };
}

export const sealedView = (
  passport: PassportFacts,
  times: Times,
  log: SealedPassport["log"],
  baseUrl: string,
): SealedPassport => ({
  ...factsView(passport, baseUrl),
  timestamps: timestampsView(times),
  log,
});

export const passportView = (passport: PassportFacts, baseUrl: string): Omit<Passport, "requestId"> => ({
  ...factsView(passport, baseUrl),
  createdAt: passport.createdAt.toISOString(),
});

/** The public view of a passport, for its verify code. It does not reveal the firm. */
export function verificationView(passport: PublicPassport, retraction: Retraction | null): PassportVerification {
  const { verifyCode, sealedSha256, docSha256, createdAt, environment, deletedAt } = passport;
  const { retiredAt, retirementReason: reason } = passport;
  return {
    verdict: environment === "live" ? "verified" : "verified_test",
    verifyCode,
    sealedSha256,
    docSha256,
    sealedAtUtc: createdAt.toISOString(),
    source: "proof_passport_api",
    certificateAvailable: isDocumentStored(passport),
    ...(deletedAt && { certificateDeletedAtUtc: deletedAt.toISOString() }),
    environment,
    ...(retiredAt && reason !== null && { sealRetirement: { retiredAtUtc: retiredAt.toISOString(), reason } }),
    ...(retraction && {
      retraction: { reason: retraction.reason, retractedAtUtc: retraction.retractedAt.toISOString() },
    }),
  };
}
