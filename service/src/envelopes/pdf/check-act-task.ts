import { equalBytes } from "@signsealship/evidence/bytes";
import { EvidenceError } from "@signsealship/evidence/errors";
import { verifySignatures } from "@signsealship/evidence/seal";
import { createNodeCrypto } from "@signsealship/verifier/node-crypto";

export type CheckActInput = {
  /** DER of the certificate that signed last. */
  readonly leaf: Uint8Array;
  /** Length of the file as it was prepared: what is signed beyond is ours. */
  readonly preparedBytes: number;
  readonly at: Date;
};

/**
 * The verifier, asked before an act counts as signed: it reads the very bytes that will be kept, with code that it does not
 * share with what signs. The last signature must cover all of the file, and every act before it still hold.
 * @returns why it does not accept them; null when it does
 */
export async function run(bytes: Buffer, { leaf, preparedBytes, at }: CheckActInput): Promise<string | null> {
  try {
    const all = await verifySignatures(bytes, [], at.getTime(), createNodeCrypto());
    const acts = all.filter(({ revisionEnd }) => revisionEnd !== null && revisionEnd > preparedBytes);
    const last = acts.at(-1);
    if (last?.revisionEnd !== bytes.length) return "no signature covers the whole file";
    if (!last.pades?.certificate || !equalBytes(last.pades.certificate.der, leaf)) return "it is another signer's";
    const failed = acts.flatMap(({ claims }) => claims).find(({ state }) => state !== "holds");
    return failed?.why ?? null;
  } catch (error) {
    if (error instanceof EvidenceError) return error.message;
    throw error;
  }
}
