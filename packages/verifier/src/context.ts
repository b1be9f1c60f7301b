import type { EvidenceCrypto } from "@signsealship/evidence/crypto-port";
import type { ProofTrust } from "@signsealship/evidence/seal";

/** What every verification of one run has in common. */
export type Context = {
  readonly trust: ProofTrust;
  /** The instant of the verification, epoch ms. */
  readonly at: number;
  readonly crypto: EvidenceCrypto;
  /** The file given beside the target: the document before it was sealed, or what a proof or token is about. */
  readonly doc: NamedBytes | null;
  /** PEM files that the commands shown may name; null where none was given. */
  readonly trustPath: string | null;
  readonly tsaTrustPath: string | null;
};

/** Bytes and where they come from. */
export type NamedBytes = { readonly path: string; readonly bytes: Uint8Array };
