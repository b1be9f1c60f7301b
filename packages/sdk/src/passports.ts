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
  /** Each is null when that authority could not be reached. */
  timestamps: {
    rfc3161: { authority: string; timestampedAtUtc: string } | null;
    openTimestamps: { calendar: string; submittedAtUtc: string; status: "pending" | "confirmed" } | null;
  };
};

export type Passport = PassportFacts & { createdAt: string; requestId: string };

export type PassportVerification = Pick<PassportFacts, "verifyCode" | "docSha256" | "sealedSha256" | "environment"> & {
  verdict: "verified" | "verified_test";
  sealedAtUtc: string;
  source: "proof_passport_api";
  certificateAvailable: boolean;
  /** When the retention plan deleted the sealed PDF; absent when it did not. */
  certificateDeletedAtUtc?: string;
  /** Only when the certificate of the seal was retired. */
  sealRetirement?: { retiredAtUtc: string; reason: string };
};

export type PassportWebhook = {
  webhookId: string;
  url: string;
  signingSecret: string;
  signatureHeader: string;
  /** The same secret as libraries of Standard Webhooks take it. */
  standardWebhooksSecret: string;
  verification: string;
};

export const passportsOf = ({ json, bytes }: Transport) => ({
  /** Seals one executed PDF. */
  seal: async (
    pdf: Pdf | NamedPdf,
    { idempotencyKey = newIdempotencyKey() }: WriteOptions = {},
  ): Promise<SealedPassport> =>
    json("POST", "/api/passport/seal", { body: formWith([], ["file", pdf]), idempotencyKey }),

  get: (passportId: string): Promise<Passport> => json("GET", path`/api/passport/${passportId}`),

  /** Needs no key, as all that goes by a verify code. An unknown code is a refusal with status 404. */
  verify: (verifyCode: string): Promise<PassportVerification> => json("GET", path`/api/passport/verify/${verifyCode}`),

  /** The sealed PDF. */
  document: (verifyCode: string): Promise<Uint8Array> => bytes(path`/api/passport/verify/${verifyCode}/document`),

  /** A zip of all evidence. */
  evidence: (verifyCode: string): Promise<Uint8Array> => bytes(path`/api/passport/verify/${verifyCode}/evidence`),

  /** A sealed page that says what was sealed; it never says for whom. */
  certificate: (verifyCode: string): Promise<Uint8Array> => bytes(path`/api/passport/verify/${verifyCode}/certificate`),

  /** The same with the firm's name, of one of your own passports. */
  ownCertificate: (passportId: string): Promise<Uint8Array> => bytes(path`/api/passport/${passportId}/certificate`),

  /** Subscribes a URL to `passport.sealed`; the secret is shown this once. */
  subscribe: (url: string): Promise<PassportWebhook> => json("POST", "/api/passport/webhooks", { body: { url } }),

  unsubscribe: (webhookId: string): Promise<{ deleted: true; webhookId: string }> =>
    json("DELETE", path`/api/passport/webhooks/${webhookId}`),
});
