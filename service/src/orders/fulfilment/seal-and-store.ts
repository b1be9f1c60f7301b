import { createPdfFile } from "@signsealship/certificate/pdf-file";
import type { SealReason } from "@signsealship/evidence/seal";
import type { SealDocument, Sealed, SealLock } from "../../evidence/seals/seals.ts";
import type { Blobs } from "../../kernel/platform/blobs/blobs.ts";
import { memoryHolder } from "../../kernel/platform/bounds/memory-budget.ts";
import type { Sql } from "../../kernel/platform/database/database.ts";
import { AlteredDocumentError, isServiceError, ServiceError } from "../../kernel/platform/errors.ts";
import type { RowMac } from "../../kernel/platform/row-mac.ts";
import { type DocumentOwner, documentMembers, documentUse, type PeopleEvent } from "../order/order.ts";
import { furthestDocument, type SealedDocument } from "./store.ts";

export type SealDeps = { blobs: Blobs; rowMac: RowMac; sealDocument: SealDocument };

/** The order that a document is sealed for, and the event that needs the document. */
export type SealFor = DocumentOwner & {
  on: PeopleEvent;
  /** True if a notary signs after the signers. The seal then still allows the notary's signature. */
  notarize?: boolean;
};

/**
 * Seals and stores a document that people finished.
 * @throws ServiceError `validation` for a document that cannot be sealed
 */
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
 * Seals the document of a simulated signing or notarization of a test order. The seal is real, but without a time
 * stamp. If the order has no document, or the document can't be sealed, seals a page that explains this.
 */
export async function sealSimulated(
  deps: SealDeps,
  db: Sql,
  { id, ...of }: SealFor & { readonly id: number },
  reason: SealReason,
): Promise<SealedDocument> {
  const document = await furthestDocument(db, id);
  if (document) {
    const altered = () => new AlteredDocumentError(`the ${document.kind} document of order ${of.orderCode}`);
    deps.rowMac.verify("documents", documentMembers({ ...of, ...document }), document.mac, { altered });
  }
  const input = { holder: of.partnerId, reason, timeStamped: false, locks: locksOf(of) };
  const seal = (each: Buffer) => deps.sealDocument({ bytes: each, ...input });
  const sealOr = async (bytes: Buffer | null) => {
    const none = () => Promise.reject(new ServiceError("validation", "no document"));
    const sealed = await (bytes ? seal(bytes) : none()).catch((error) => {
      if (!isServiceError(error, "validation")) throw error;
      return seal(simulatedDocument(document?.sha256 ?? "none"));
    });
    return storeSealed(deps, sealed, of, kindOf(of));
  };
  if (!document) return sealOr(null);
  // Reserves memory for two copies of the document: as read, and sealed.
  const at = { key: document.blobKey, use: documentUse(document.sha256), holder: memoryHolder(of), times: 2 };
  return deps.blobs.withBytes(at, sealOr);
}

/** The last seal on a document locks all of it. A seal before the notary's signature locks only the fields. */
const locksOf = ({ on, notarize }: SealFor): SealLock => (on === "signed" && notarize ? "fields" : "document");

const kindOf = ({ on }: SealFor) => (on === "signed" ? "sealed" : "notarized");

/** Stores the bytes of a sealed document. The caller later writes the document's row. */
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

/**
 * A one-page PDF that replaces a test order's document which cannot be sealed.
 * @param sha256 of the replaced document, in hex
 */
function simulatedDocument(sha256: string): Buffer {
  const lines = [
    "Simulated document of a test order",
    "The document that was sent cannot be sealed. Its SHA-256:",
    sha256,
  ];
  const shown = lines.map((line, n) => `1 0 0 1 56 ${720 - 24 * n} Tm (${line}) Tj`).join(" ");
  const file = createPdfFile();
  const font = file.add("<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>");
  const content = file.stream("", `BT /F1 11 Tf ${shown} ET`, { compress: false });
  const pages = file.reserve();
  const resources = `<</Font<</F1 ${font}>>>>`;
  const page = file.add(
    `<</Type/Page/Parent ${pages.ref}/MediaBox[0 0 612 792]/Contents ${content}/Resources${resources}>>`,
  );
  pages.fill(`<</Type/Pages/Kids[${page}]/Count 1>>`);
  const root = file.add(`<</Type/Catalog/Pages ${pages.ref}>>`);
  return file.finish(root, file.add("<</Producer(SignSealShip)>>"));
}
