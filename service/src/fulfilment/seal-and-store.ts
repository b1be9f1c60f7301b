import type { SealReason } from "@signsealship/evidence/seal";
import type { StoredDocument } from "../orders/orders.ts";
import type { Blobs } from "../platform/blobs/blobs.ts";
import type { Sql } from "../platform/database.ts";
import { ServiceError } from "../platform/errors.ts";
import type { SealDocument } from "../seals/seals.ts";
import { simulatedDocument } from "./sandbox/simulated-document.ts";
import { furthestDocument } from "./store.ts";

export type SealDeps = { blobs: Blobs; sealDocument: SealDocument };

/** Seals a document that people finished, and stores it. @throws ServiceError `validation` for one that cannot be sealed */
export async function sealAndStore(deps: SealDeps, bytes: Buffer, reason: SealReason): Promise<StoredDocument> {
  const sealed = await deps.sealDocument({ bytes, reason });
  return store(deps, sealed);
}

/**
 * What signing or notarizing makes of a test order: its furthest document, really sealed. Of a document that cannot be
 * sealed, a page that says so takes the place.
 */
export async function sealSimulated(
  deps: SealDeps,
  db: Sql,
  order: { readonly id: number; readonly partnerId: string },
  reason: SealReason,
): Promise<StoredDocument> {
  const document = await furthestDocument(db, order.id);
  const bytes = document && (await deps.blobs.get(document.blobKey));
  const seal = (each: Buffer) =>
    deps.sealDocument({ bytes: each, holder: order.partnerId, reason, timeStamped: false });
  const sealed = await (bytes ? seal(bytes) : Promise.reject(new ServiceError("validation", "no document"))).catch(
    (error) => {
      if (!(error instanceof ServiceError) || error.code !== "validation") throw error;
      return seal(simulatedDocument(document?.sha256 ?? "none"));
    },
  );
  return store(deps, sealed);
}

async function store({ blobs }: SealDeps, sealed: Awaited<ReturnType<SealDocument>>): Promise<StoredDocument> {
  return { sha256: sealed.sealedSha256, bytes: sealed.bytes.length, blobKey: await blobs.put(sealed.bytes) };
}
