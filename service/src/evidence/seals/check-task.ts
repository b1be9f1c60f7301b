import { parseCertificate } from "@signsealship/evidence/x509";
import { createSelfCheck, SealNotVerified } from "./self-check.ts";

export type CheckInput = {
  /** The seal's own certificate in DER. */
  readonly leaf: Uint8Array;
  readonly docSha256: string;
  readonly sealedSha256: string;
  readonly timeStamped: boolean;
  readonly at: Date;
};

/** The result of the check: null for a seal that verifies; otherwise the fields of `SealNotVerified`. */
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
