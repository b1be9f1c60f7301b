import type { EvidenceCrypto } from "@signsealship/evidence/crypto-port";
import type { ProofTrust } from "@signsealship/evidence/seal";

/** Settings that all verifications of a run share. */
export type Context = {
  readonly trust: ProofTrust;
  /** The instant of the verification, epoch ms. */
  readonly at: number;
  readonly crypto: EvidenceCrypto;
  /** The file of `--doc`: the document before it was sealed, or the file that a proof or time-stamp token covers. */
  readonly doc: NamedBytes | null;
  /** The paths of PEM files that the printed commands may name. Each is null unless there is exactly one such file. */
  readonly trustPath: string | null;
  readonly tsaTrustPath: string | null;
};

/** Bytes, and their file path or URL. */
export type NamedBytes = { readonly path: string; readonly bytes: Uint8Array };
