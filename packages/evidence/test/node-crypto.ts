import { createHash, createPublicKey, verify } from "node:crypto";
import type { EvidenceCrypto } from "../src/crypto-port.ts";

/**
 * A crypto port for many thousand runs, for P-256 with SHA-256 only. It caches up to 10,000 results, so that few
 * signatures are verified twice.
 */
export function memoizedCrypto(): EvidenceCrypto {
  const known = new Map<string, boolean>();
  const digest = (name: string, chunks: readonly Uint8Array[]) => {
    const hash = createHash(name.replace("-", "").toLowerCase());
    for (const chunk of chunks) hash.update(chunk);
    return Uint8Array.from(hash.digest());
  };
  return {
    digest,
    digests: (name, messages) => messages.map((chunks) => digest(name, chunks)),
    verify: ({ spki, algorithm, signature, data }) => {
      const id = [spki, signature, data].map((bytes) => Buffer.from(bytes).toString("base64")).join(" ");
      const before = known.get(id);
      if (before !== undefined) return before;
      let good = false;
      try {
        const key = createPublicKey({ key: Buffer.from(spki), format: "der", type: "spki" });
        good =
          algorithm.scheme === "ecdsa" && verify(algorithm.hash.replace("-", "").toLowerCase(), data, key, signature);
      } catch {
        // A damaged key or signature makes the call throw, so the signature is not valid.
      }
      if (known.size > 10_000) known.clear();
      known.set(id, good);
      return good;
    },
  };
}
