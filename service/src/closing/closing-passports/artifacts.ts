import type { ManifestDocument } from "@signsealship/evidence/manifest";
import type { Blobs } from "../../kernel/platform/blobs/blobs.ts";
import type { Holder } from "../../kernel/platform/bounds/memory-budget.ts";
import { AlteredDocumentError, ServiceError } from "../../kernel/platform/errors.ts";
import { maskCode } from "../../kernel/platform/ids.ts";
import type { RowMac } from "../../kernel/platform/row-mac.ts";
import { type DocumentOwner, documentMembers, documentUse } from "../../orders/order/order.ts";
import { type TrailFacts, trailMembers } from "../../signing/envelopes/envelopes.ts";

/** A stored document of an order. `mac` is in hex. */
export type StoredArtifact = { kind: string; sha256: string; blobKey: string; mac: string | null };

/** A completed envelope, identified by the last record of its trail. `mac` is in hex. */
type StoredEnvelope = TrailFacts & { mac: string };

export type OrderArtifacts = DocumentOwner & { artifacts: StoredArtifact[]; envelope: StoredEnvelope | null };

type HashName = "originalSha256" | "sealedSha256" | "custodyCertSha256" | "notarizedSha256";

const nameOf: Readonly<Record<string, HashName>> = {
  original: "originalSha256",
  sealed: "sealedSha256",
  custody_certificate: "custodyCertSha256",
  notarized: "notarizedSha256",
};

export type ListedFile = Pick<StoredArtifact, "kind" | "sha256">;

export function listsDocument(
  listed: readonly ManifestDocument[],
  orderCode: string,
  { kind, sha256 }: ListedFile,
): boolean {
  const name = nameOf[kind];
  return name !== undefined && listed.some((each) => each.orderCode === orderCode && each[name] === sha256);
}

/**
 * Collects the hashes of an order's documents for the manifest, and the verify code of its envelope.
 * @throws AlteredDocumentError when the MAC of a row is invalid. Otherwise the seal would certify the altered row.
 */
export function artifactHashes(
  rowMac: RowMac,
  { orderCode, partnerId, environment, artifacts, envelope }: OrderArtifacts,
) {
  const hashes: Partial<Record<HashName, string>> = {};
  for (const { mac, ...document } of artifacts) {
    const name = nameOf[document.kind];
    if (!name) continue;
    const altered = () => new AlteredDocumentError(`the ${document.kind} document of order ${orderCode}`);
    const members = documentMembers({ orderCode, partnerId, environment, ...document });
    rowMac.verify("documents", members, mac === null ? null : Buffer.from(mac, "hex"), { altered });
    hashes[name] = document.sha256;
  }
  return { ...hashes, ...(envelope && { envelopeVerifyCode: soundCode(rowMac, orderCode, envelope) }) };
}

function soundCode(rowMac: RowMac, orderCode: string, { mac, ...record }: StoredEnvelope): string {
  const altered = () => new AlteredDocumentError(`the envelope of order ${orderCode}`);
  rowMac.verify("envelope_events", trailMembers(record), Buffer.from(mac, "hex"), { altered });
  return record.verifyCode;
}

/**
 * Reads from the store, one after another, the documents that a manifest can list. Compares the hash of each with the
 * recorded hash.
 * @param compared the documents that earlier calls compared. They are skipped, and this call adds its own.
 * @throws ServiceError `unavailable` when the store doesn't respond or lacks a document
 * @throws AlteredDocumentError when a document has another hash. Otherwise the seal would certify the recorded hash.
 */
export async function compareStored(
  blobs: Blobs,
  holder: Holder,
  orders: readonly Omit<OrderArtifacts, "envelope">[],
  compared: Set<string> = new Set(),
): Promise<Set<string>> {
  for (const { orderCode, artifacts } of orders) {
    for (const { kind, sha256, blobKey } of artifacts) {
      const document = `${blobKey} ${sha256}`;
      if (!nameOf[kind] || compared.has(document)) continue;
      const what = `the ${kind} document of order ${orderCode}`;
      const file = await blobs.open(blobKey, documentUse(sha256), holder, "again").catch((cause: unknown) => {
        // An unreachable store doesn't prove that the document was altered.
        if (cause instanceof ServiceError) throw cause;
        throw new AlteredDocumentError(what, { cause });
      });
      // A missing file is not reported as altered. Its folder may just be unmounted, and then a later try may succeed.
      if (file === null)
        throw new ServiceError(
          "unavailable",
          `The ${kind} document of order ${maskCode(orderCode)} is missing in the store, so the closing can't be sealed. The operator of this service has to look at it.`,
        );
      compared.add(document);
    }
  }
  return compared;
}
