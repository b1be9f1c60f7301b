import type { SealReason } from "@signsealship/evidence/seal";
import { type DocumentOwner, documentMembers, documentUse, type PeopleEvent } from "../orders/orders.ts";
import type { Blobs } from "../platform/blobs/blobs.ts";
import type { Sql } from "../platform/database/database.ts";
import { ServiceError } from "../platform/errors.ts";
import type { RowMac } from "../platform/row-mac.ts";
import type { SealDocument, Sealed, SealLock } from "../seals/seals.ts";
import { simulatedDocument } from "./sandbox/simulated-document.ts";
import { furthestDocument, type SealedDocument } from "./store.ts";

export type SealDeps = { blobs: Blobs; rowMac: RowMac; sealDocument: SealDocument };

/** Which order a document is sealed for, and what happened to it. */
export type SealFor = DocumentOwner & {
  on: PeopleEvent;
  /** Whether the order has a notary: who signs the document after its signers, where they like. */
  notarize?: boolean;
};

/** Seals a document that people finished, and stores it. @throws ServiceError `validation` for one that cannot be sealed */
export async function sealAndStore(
  deps: SealDeps,
  bytes: Buffer,
  reason: SealReason,
  of: SealFor,
): Promise<SealedDocument> {
  const sealed = await deps.sealDocument({ bytes, reason, locks: locksOf(of) });
  return storeSealed(deps, sealed, of, kindOf(of));
}

/**
 * What signing or notarizing makes of a test order: its furthest document, really sealed. Of a document that cannot be
 * sealed, a page that says so takes the place.
 */
export async function sealSimulated(
  deps: SealDeps,
  db: Sql,
  { id, ...of }: SealFor & { readonly id: number },
  reason: SealReason,
): Promise<SealedDocument> {
  const document = await furthestDocument(db, id);
  if (document && !deps.rowMac.holds("documents", documentMembers({ ...of, ...document }), document.mac))
    throw new Error(`the ${document.kind} document of order ${of.orderCode} is not what was written`);
  const input = { holder: of.partnerId, reason, timeStamped: false, locks: locksOf(of) };
  const seal = (each: Buffer) => deps.sealDocument({ bytes: each, ...input });
  const sealOr = async (bytes: Buffer | null) => {
    const none = () => Promise.reject(new ServiceError("validation", "no document"));
    const sealed = await (bytes ? seal(bytes) : none()).catch((error) => {
      if (!(error instanceof ServiceError) || error.code !== "validation") throw error;
      return seal(simulatedDocument(document?.sha256 ?? "none"));
    });
    return storeSealed(deps, sealed, of, kindOf(of));
  };
  if (!document) return sealOr(null);
  // The document, and the sealed one.
  const at = { key: document.blobKey, use: documentUse(document.sha256), holder: of.partnerId, times: 2 };
  return deps.blobs.withBytes(at, sealOr);
}

/** The last seal closes the document. */
const locksOf = ({ on, notarize }: SealFor): SealLock => (on === "signed" && notarize ? "fields" : "document");

const kindOf = ({ on }: SealFor) => (on === "signed" ? "sealed" : "notarized");

/** Stores a sealed document, for a row that is yet to be written. */
export async function storeSealed(
  { blobs, rowMac }: Omit<SealDeps, "sealDocument">,
  sealed: Sealed,
  { orderCode, partnerId, environment }: DocumentOwner,
  kind: SealedDocument["kind"],
): Promise<SealedDocument> {
  const sha256 = sealed.sealedSha256;
  const stored = { sha256, blobKey: await blobs.put(sealed.bytes, documentUse(sha256)) };
  const mac = rowMac.of("documents", documentMembers({ orderCode, partnerId, environment, kind, ...stored }));
  return { ...stored, kind, bytes: sealed.bytes.length, rowMac: mac };
}
