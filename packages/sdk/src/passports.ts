import { formWith, type NamedPdf, type Pdf } from "./documents.ts";
import { newIdempotencyKey, path, type Transport, type WriteOptions } from "./transport.ts";

type PassportFacts = {
  passportId: string;
  verifyCode: string;
  verifyUrl: string;
  docSha256: string;
  sealedSha256: string;
  status: "sealed";
  environment: "live" | "test";
};

export type SealedPassport = PassportFacts & {
  /**
   * The time stamps of the seal. `rfc3161` is null when no time-stamping authority is configured or none answered.
   * `openTimestamps` is null when no calendar accepted the hash, or when the service anchors seals only through its
   * transparency log.
   */
  timestamps: {
    rfc3161: { authority: string; timestampedAtUtc: string } | null;
    openTimestamps: { calendar: string; submittedAtUtc: string; status: "pending" | "confirmed" } | null;
  };
  log: LogNote;
};

/**
 * The transparency log that contains the seal, and how far the seal's entry got. A new seal enters the log within
 * seconds.
 */
export type LogNote = { origin: string; state: "queued" | "logged" | "witnessed" | "anchored" };

export type Passport = PassportFacts & { createdAt: string; requestId: string };

export type PassportVerification = Pick<PassportFacts, "verifyCode" | "docSha256" | "sealedSha256" | "environment"> & {
  verdict: "verified" | "verified_test";
  sealedAtUtc: string;
  source: "proof_passport_api";
  certificateAvailable: boolean;
  /** The time at which the retention plan deleted the sealed PDF; absent while it is stored. */
  certificateDeletedAtUtc?: string;
  /** Present only when the certificate of the seal was retired. */
  sealRetirement?: { retiredAtUtc: string; reason: string };
  /** Present only when the operator retracted this seal in the transparency log: do not rely on the document. */
  retraction?: {
    reason: "superseded" | "wrong-document" | "key-compromise" | "court-order" | "withdrawn";
    retractedAtUtc: string;
  };
};

export type PassportWebhook = {
  webhookId: string;
  url: string;
  signingSecret: string;
  signatureHeader: string;
  /** The secret in the form that Standard Webhooks libraries accept. */
  standardWebhooksSecret: string;
  verification: string;
};

export const passportsOf = ({ json, bytes }: Transport) => ({
  /** Seals one completed PDF. */
  seal: async (
    pdf: Pdf | NamedPdf,
    { idempotencyKey = newIdempotencyKey() }: WriteOptions = {},
  ): Promise<SealedPassport> =>
    json("POST", "/api/passport/seal", { body: formWith([], ["file", pdf]), idempotencyKey }),

  get: (passportId: string): Promise<Passport> => json("GET", path`/api/passport/${passportId}`),

  /**
   * Verifies a passport by its verify code. Needs no key, like all calls by verify code. For an unknown code, the
   * refusal has status 404.
   */
  verify: (verifyCode: string): Promise<PassportVerification> => json("GET", path`/api/passport/verify/${verifyCode}`),

  /** The sealed PDF. */
  document: (verifyCode: string): Promise<Uint8Array> => bytes(path`/api/passport/verify/${verifyCode}/document`),

  /** A zip of all evidence. */
  evidence: (verifyCode: string): Promise<Uint8Array> => bytes(path`/api/passport/verify/${verifyCode}/evidence`),

  /**
   * The proof that the transparency log contains the seal. Refused with status 503 in the first seconds after the
   * sealing.
   */
  logProof: (verifyCode: string): Promise<Uint8Array> => bytes(path`/api/passport/verify/${verifyCode}/tlog-proof`),

  /**
   * The `.ots` proof of the log's hourly root, which covers this seal's entry. Refused with status 409 until the
   * OpenTimestamps calendars have that root.
   */
  rootOts: (verifyCode: string): Promise<Uint8Array> => bytes(path`/api/passport/verify/${verifyCode}/ots`),

  /** Returns the passport's certificate: a sealed page that states what was sealed. It does not name the firm. */
  certificate: (verifyCode: string): Promise<Uint8Array> => bytes(path`/api/passport/verify/${verifyCode}/certificate`),

  /** Returns the page of `certificate` with your firm's name added. Only for your own passports. */
  ownCertificate: (passportId: string): Promise<Uint8Array> => bytes(path`/api/passport/${passportId}/certificate`),

  /**
   * The proof that the transparency log contains the public certificate. Refused with status 503 until a few seconds
   * after the certificate's first download.
   */
  certificateLogProof: (verifyCode: string): Promise<Uint8Array> =>
    bytes(path`/api/passport/verify/${verifyCode}/certificate/tlog-proof`),

  /**
   * The `.ots` proof of the log's hourly root, which covers the public certificate's entry. Refused with status 409
   * until the proof exists.
   */
  certificateRootOts: (verifyCode: string): Promise<Uint8Array> =>
    bytes(path`/api/passport/verify/${verifyCode}/certificate/ots`),

  /** Like `certificateLogProof`, for the certificate with the firm's name. */
  ownCertificateLogProof: (passportId: string): Promise<Uint8Array> =>
    bytes(path`/api/passport/${passportId}/certificate/tlog-proof`),

  /** Like `certificateRootOts`, for the certificate with the firm's name. */
  ownCertificateRootOts: (passportId: string): Promise<Uint8Array> =>
    bytes(path`/api/passport/${passportId}/certificate/ots`),

  /** Subscribes a URL to `passport.sealed`. Only this answer contains the secret: store it. */
  subscribe: (url: string): Promise<PassportWebhook> => json("POST", "/api/passport/webhooks", { body: { url } }),

  unsubscribe: (webhookId: string): Promise<{ deleted: true; webhookId: string }> =>
    json("DELETE", path`/api/passport/webhooks/${webhookId}`),
});
