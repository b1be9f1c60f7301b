import { parseCertificate } from "@signsealship/evidence/x509";
import { createSelfCheck, SealNotVerified } from "./self-check.ts";

export type CheckInput = {
  /** DER of the seal's own certificate. */
  readonly leaf: Uint8Array;
  readonly docSha256: string;
  readonly sealedSha256: string;
  readonly timeStamped: boolean;
  readonly at: Date;
};

/** Null for a seal that verifies, else what `SealNotVerified` says. */
export type CheckOutput = { readonly why: string; readonly documentAtFault: boolean } | null;

export async function run(bytes: Buffer, { leaf, ...sealed }: CheckInput): Promise<CheckOutput> {
  try {
    await createSelfCheck(parseCertificate(leaf))({ ...sealed, bytes });
    return null;
  } catch (error) {
    if (error instanceof SealNotVerified) return { why: error.why, documentAtFault: error.documentAtFault };
    throw error;
  }
}
