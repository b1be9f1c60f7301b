import { createHash } from "node:crypto";
import type { EvidenceCrypto } from "@signsealship/evidence/crypto-port";
import { type ProofClaimName, verifyProof } from "@signsealship/evidence/seal";
import type { Certificate } from "@signsealship/evidence/x509";
import { createNodeCrypto } from "@signsealship/verifier/node-crypto";

/**
 * The verifier refused a new seal. `why` is a sentence. `documentAtFault` is true if another document might be sealed
 * successfully.
 */
export class SealNotVerified extends Error {
  readonly why: string;
  readonly documentAtFault: boolean;

  constructor(why: string, documentAtFault: boolean) {
    super(`the sealed document does not verify: ${why}`);
    this.name = "SealNotVerified";
    this.why = why;
    this.documentAtFault = documentAtFault;
  }
}

const ofDocument: ReadonlySet<ProofClaimName> = new Set([
  "pdf_readable",
  "whole_file_covered",
  "signature_structure",
  "certification_respected",
]);

export type SelfCheck = (sealed: {
  readonly bytes: Uint8Array;
  readonly docSha256: string;
  readonly sealedSha256: string;
  readonly timeStamped: boolean;
  readonly at: Date;
}) => Promise<void>;

/**
 * Before a file counts as sealed, verifies the exact bytes to be stored. A verifier that shares no code with the sealer
 * must find them `verified`, with the expected hashes.
 * @throws SealNotVerified
 */
export function createSelfCheck(leaf: Certificate): SelfCheck {
  const crypto = hashingOnce(createNodeCrypto());
  const trust = { sealAnchors: [leaf], tsaAnchors: [] };
  return async ({ bytes, docSha256, sealedSha256, timeStamped, at }) => {
    const expectedHashes = { docSha256, sealedSha256 };
    const { verdict, claims, seal } = await verifyProof(bytes, trust, at.getTime(), {
      crypto,
      detached: expectedHashes,
    });
    const failed = claims.find(({ state }) => state === "fails");
    if (verdict !== "verified") {
      throw new SealNotVerified(failed?.why ?? `the verdict is ${verdict}`, !!failed && ofDocument.has(failed.name));
    }
    const level = timeStamped ? "B-T" : "B-B";
    if (seal?.pades.level !== level) throw new SealNotVerified(`it is not PAdES ${level}`, false);
    if (!seal.statesPlace) throw new SealNotVerified("it does not sign its place in the file", false);
    const hashes = claims.filter(
      ({ name }) => name === "document_hash_as_expected" || name === "sealed_hash_as_expected",
    );
    if (hashes.length !== 2 || hashes.some(({ state }) => state !== "holds")) {
      throw new SealNotVerified("its hashes could not be compared", false);
    }
  };
}

/**
 * Makes `digests` hash the common beginning of several messages only once. That is possible when all messages begin at
 * the same place of one buffer.
 */
function hashingOnce(crypto: EvidenceCrypto): EvidenceCrypto {
  return {
    ...crypto,
    async digests(hash, messages) {
      const [base] = messages[0] ?? [];
      const alike =
        base && messages.every(([first]) => first?.buffer === base.buffer && first.byteOffset === base.byteOffset);
      if (hash !== "SHA-256" || !alike) return crypto.digests(hash, messages);
      const order = messages.map(([first, ...rest], index) => ({ first: first ?? base, rest, index }));
      order.sort((one, other) => one.first.length - other.first.length);
      const digests: Uint8Array[] = [];
      const state = createHash("sha256");
      let done = 0;
      for (const { first, rest, index } of order) {
        state.update(first.subarray(done));
        done = first.length;
        const own = state.copy();
        for (const chunk of rest) own.update(chunk);
        digests[index] = own.digest();
      }
      return digests;
    },
  };
}
