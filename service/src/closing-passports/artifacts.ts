import { documentMembers } from "../orders/orders.ts";
import type { RowMac } from "../platform/row-mac.ts";

/** A document of an order as it is stored; `mac` in hex. */
export type StoredArtifact = { kind: string; sha256: string; blobKey: string; mac: string | null };

export type OrderArtifacts = { orderCode: string; artifacts: StoredArtifact[] };

const nameOf: Readonly<Record<string, "originalSha256" | "sealedSha256" | "custodyCertSha256">> = {
  original: "originalSha256",
  sealed: "sealedSha256",
  custody_certificate: "custodyCertSha256",
};

/**
 * The hashes that a manifest names of an order.
 * @throws Error when a row is not what was written: a seal would vouch for it
 */
export function artifactHashes(rowMac: RowMac, { orderCode, artifacts }: OrderArtifacts) {
  const hashes: { originalSha256?: string; sealedSha256?: string; custodyCertSha256?: string } = {};
  for (const { mac, ...document } of artifacts) {
    const name = nameOf[document.kind];
    if (!name) continue;
    if (
      !rowMac.holds(
        "documents",
        documentMembers({ orderCode, ...document }),
        mac === null ? null : Buffer.from(mac, "hex"),
      )
    )
      throw new Error(`the ${document.kind} document of order ${orderCode} is not what was written`);
    hashes[name] = document.sha256;
  }
  return hashes;
}
