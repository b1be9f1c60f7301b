import type { JsonObject } from "../manifest/canonical-json.ts";

/** What `envelope.json` says that it is (docs/evidence-format.md, section 20.1). */
export const envelopeFormat = "signsealship-envelope";
export const envelopeVersion = 1;

/** How a state of the file came about. */
export const revisionKinds = ["original", "prepared", "signed", "sealed"] as const;

/** A state of the file: each is a prefix of the next, and of the sealed document. */
export type EnvelopeRevision = {
  /** 0 is the original. */
  readonly number: number;
  readonly kind: (typeof revisionKinds)[number];
  /** Whose act made it; null where none did. */
  readonly signer: number | null;
  readonly bytes: number;
  readonly sha256: string;
};

export type EnvelopeSigner = {
  /** From 1. */
  readonly n: number;
  readonly name: string;
  readonly email: string;
  readonly language: string;
  readonly routing: number;
  readonly auth: string;
  /** The time of the act, as the act says it. */
  readonly signedAt: string;
};

/** A record of the trail: what every one has, and what its event adds. */
export type TrailEntry = JsonObject & {
  readonly at: string;
  readonly envelope: string;
  readonly event: string;
  readonly position: number;
  readonly previousSha256: string | null;
};

/** The evidence of an envelope that was completed: all that the service keeps of it, to be checked by strangers. */
export type EnvelopeEvidence = {
  readonly format: typeof envelopeFormat;
  readonly version: typeof envelopeVersion;
  readonly verifyCode: string;
  readonly orderCode: string;
  readonly environment: "live" | "test";
  /** `bytes` of the sealed document. */
  readonly document: { readonly originalSha256: string; readonly sealedSha256: string; readonly bytes: number };
  readonly revisions: readonly EnvelopeRevision[];
  readonly signers: readonly EnvelopeSigner[];
  readonly trail: readonly TrailEntry[];
};

export const envelopeLimits = { bytes: 32 * 1024 * 1024, records: 200_000, signers: 10, textLength: 500 } as const;
