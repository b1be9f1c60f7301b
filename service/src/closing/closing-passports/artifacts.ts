import { type TrailFacts, trailMembers } from "../envelopes/envelopes.ts";
import { type DocumentOwner, documentMembers, documentUse } from "../orders/orders.ts";
import type { Blobs } from "../platform/blobs/blobs.ts";
import { ServiceError } from "../platform/errors.ts";
import type { RowMac } from "../platform/row-mac.ts";

/** A document of an order as it is stored; `mac` in hex. */
export type StoredArtifact = { kind: string; sha256: string; blobKey: string; mac: string | null };

/** A completed envelope, by the record that ends its trail; `mac` in hex. */
export type StoredEnvelope = TrailFacts & { mac: string };

export type OrderArtifacts = DocumentOwner & { artifacts: StoredArtifact[]; envelope: StoredEnvelope | null };

const nameOf: Readonly<Record<string, "originalSha256" | "sealedSha256" | "custodyCertSha256">> = {
  original: "originalSha256",
  sealed: "sealedSha256",
  custody_certificate: "custodyCertSha256",
};

/**
 * The hashes that a manifest names of an order, and the code of its envelope.
 * @throws Error when a row is not what was written: a seal would vouch for it
 */
export function artifactHashes(
  rowMac: RowMac,
  { orderCode, partnerId, environment, artifacts, envelope }: OrderArtifacts,
) {
  const hashes: { originalSha256?: string; sealedSha256?: string; custodyCertSha256?: string } = {};
  for (const { mac, ...document } of artifacts) {
    const name = nameOf[document.kind];
    if (!name) continue;
    if (
      !rowMac.holds(
        "documents",
        documentMembers({ orderCode, partnerId, environment, ...document }),
        mac === null ? null : Buffer.from(mac, "hex"),
      )
    )
      throw new Error(`the ${document.kind} document of order ${orderCode} is not what was written`);
    hashes[name] = document.sha256;
  }
  return { ...hashes, ...(envelope && { envelopeVerifyCode: soundCode(rowMac, orderCode, envelope) }) };
}

function soundCode(rowMac: RowMac, orderCode: string, { mac, ...record }: StoredEnvelope): string {
  if (!rowMac.holds("envelope_events", trailMembers(record), Buffer.from(mac, "hex")))
    throw new Error(`the envelope of order ${orderCode} is not what was written`);
  return record.verifyCode;
}

/**
 * Reads documents back, one after another, and compares each with the hash that a manifest would name.
 * @param compared those that were before: they are not read again; what is compared now is added
 * @throws ServiceError `unavailable` when the store does not answer, or does not have a document
 * @throws Error when a document is another: a seal would vouch for its hash
 */
export async function compareStored(
  blobs: Blobs,
  partnerId: string,
  orders: readonly Omit<OrderArtifacts, "envelope">[],
  compared: Set<string> = new Set(),
): Promise<Set<string>> {
  for (const { orderCode, artifacts } of orders) {
    for (const { kind, sha256, blobKey } of artifacts) {
      const document = `${blobKey} ${sha256}`;
      if (!nameOf[kind] || compared.has(document)) continue;
      const what = `the ${kind} document of order ${orderCode}`;
      const file = await blobs.open(blobKey, documentUse(sha256), partnerId, "again").catch((cause: unknown) => {
        // A store that is away says nothing of what it holds.
        if (cause instanceof ServiceError) throw cause;
        throw new Error(`${what} is not the one that was stored`, { cause });
      });
      // A folder that is not mounted looks like this, too.
      if (file === null) {
        const cause = new Error(`${what} is gone`);
        throw new ServiceError("unavailable", "Documents can't be read now. Try again later.", { cause });
      }
      compared.add(document);
    }
  }
  return compared;
}
