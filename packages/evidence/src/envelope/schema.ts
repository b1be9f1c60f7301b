import type { JsonObject } from "../manifest/canonical-json.ts";

/** The format name in `envelope.json` (docs/evidence-format.md, section 20.1). */
export const envelopeFormat = "signsealship-envelope";
export const envelopeVersion = 1;

/** The kinds of revisions, each named after the event that creates it. */
export const revisionKinds = ["original", "prepared", "signed", "sealed"] as const;

/** A revision of the file: its bytes are the beginning of the next revision, and of the sealed document. */
export type EnvelopeRevision = {
  /** The revision's number, counted from 0. Number 0 is the original. */
  readonly number: number;
  readonly kind: (typeof revisionKinds)[number];
  /** The signer whose act created the revision; null for other revisions. */
  readonly signer: number | null;
  readonly bytes: number;
  readonly sha256: string;
};

export type EnvelopeSigner = {
  /** The signer's number, counted from 1. */
  readonly n: number;
  readonly name: string;
  readonly email: string;
  readonly language: string;
  readonly routing: number;
  readonly auth: string;
  /** The time of signing that the act itself states. */
  readonly signedAt: string;
};

/**
 * A record of the trail (the list of an envelope's events). It has the members that every record has, and those of its
 * kind of event.
 */
export type TrailEntry = JsonObject & {
  readonly at: string;
  readonly envelope: string;
  readonly event: string;
  readonly position: number;
  readonly previousSha256: string | null;
};

/** The evidence of a completed envelope: everything that the service stores for verification by others. */
export type EnvelopeEvidence = {
  readonly format: typeof envelopeFormat;
  readonly version: typeof envelopeVersion;
  readonly verifyCode: string;
  readonly orderCode: string;
  readonly environment: "live" | "test";
  /** `bytes` is the size of the sealed document. */
  readonly document: { readonly originalSha256: string; readonly sealedSha256: string; readonly bytes: number };
  readonly revisions: readonly EnvelopeRevision[];
  readonly signers: readonly EnvelopeSigner[];
  readonly trail: readonly TrailEntry[];
};

export const envelopeLimits = { bytes: 32 * 1024 * 1024, records: 200_000, signers: 10, textLength: 500 } as const;
