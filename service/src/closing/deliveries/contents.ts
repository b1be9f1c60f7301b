import { hash } from "node:crypto";
import { type ZipEntry, zipFile, zipLength } from "../../evidence/proof-passports/proof-passports.ts";
import { existingProofs, type ProofForm, proofForms } from "../../evidence/transparency-log/transparency-log.ts";
import { readShownFirm } from "../../firms/partners/partners.ts";
import type { StoredFile } from "../../kernel/platform/blobs/stored-file.ts";
import { memoryHolder } from "../../kernel/platform/bounds/memory-budget.ts";
import { isServiceError, ServiceError } from "../../kernel/platform/errors.ts";
import { numberedNames, type TitleOf } from "../../orders/order/order.ts";
import {
  openOrderDocument,
  orderDocumentProof,
  readDocuments,
  type StoredDeps,
} from "../../signing/envelopes/envelopes.ts";
import { whereSignedAgain } from "../../signing/notaries/notaries.ts";
import { type CertificateDeps, closingLogProof } from "../closing-passports/closing-passports.ts";
import { certificateEntry, closingCertificatePath, type OpenedCertificate } from "./certificate.ts";
import {
  documentTitle,
  fileName,
  fitsChecker,
  namePart,
  readme,
  receipts,
  simulatedNotarization,
  uniqueNames,
} from "./names.ts";
import type { DeliveredFile, OrderOfRoom } from "./store.ts";

export type ZipDeps = StoredDeps &
  CertificateDeps & {
    titleOf: TitleOf;
    /**
     * Two ways to verify documents: this service at its web address, and a page in one file that works without a
     * network.
     */
    verifier: {
      baseUrl: string;
      page: () => Promise<Buffer>;
      /**
       * True if the transparency log's roots are sent to OpenTimestamps calendars, so that documents get `.ots` proofs.
       */
      hasCalendars: boolean;
    };
  };

/** `isNotarySimulated` is optional, because only functions that name files need it. */
type OrderToDeliver = Omit<OrderOfRoom, "isSimulated" | "isNotarySimulated"> &
  Partial<Pick<OrderOfRoom, "isNotarySimulated">>;

/** An order with its stored documents. */
export type Deliverable = Pick<OrderOfRoom, "id" | "code" | "status" | "isNotarySimulated"> & {
  /** True if the notarized document replaces one that was signed earlier and is no longer valid. */
  replacesSigned: boolean;
  title: string | null;
  reference: string | null;
  documents: Document[];
  /** The final document. Null until every service that changes the document is finished. */
  final: Document | null;
};

type Document = ReturnType<typeof readDocuments>[number];

/**
 * The orders of a delivery, each with its stored documents.
 * @param reference the file number of the closing; null to use each order's own reference
 * @throws ServiceError `unavailable` for a document or an entry of a notary's journal whose MAC is invalid
 */
export const deliverablesOf = (
  deps: Pick<ZipDeps, "rowMac" | "titleOf">,
  orders: readonly OrderToDeliver[],
  reference: string | null,
): Deliverable[] => orders.map((order) => deliverableOf(deps, order, reference));

export function deliverableOf(
  deps: Pick<ZipDeps, "rowMac" | "titleOf">,
  order: OrderToDeliver,
  reference: string | null,
): Deliverable {
  const { id, code, status, sign, notarize, partnerId, environment, externalReference, signingAgain } = order;
  const { isNotarySimulated = false } = order;
  const documents = readDocuments(deps.rowMac, { orderCode: code, partnerId, environment }, order.documents);
  const kind = notarize ? "notarized" : sign ? "sealed" : "original";
  const final = documents.findLast((each) => each.kind === kind) ?? null;
  const title = deps.titleOf(order);
  const replacesSigned = whereSignedAgain(deps.rowMac, code, signingAgain) !== null;
  const called = { title, reference: reference ?? externalReference };
  return { id, code, status, isNotarySimulated, replacesSigned, ...called, documents, final };
}

/**
 * The files to deliver for a finished order: the final document, the newest custody certificate, and receipts. If the
 * final document is notarized, the signed document is delivered as well. If people signed again in the notary's
 * presence, the earlier signed document and the custody certificate are left out.
 */
export function filesOf({ id, final, documents, replacesSigned }: Deliverable): DeliveredFile[] {
  if (final === null) return [];
  const newest = (wanted: string) => documents.findLast(({ kind }) => kind === wanted) ?? [];
  // A notarized document is delivered with the signed file, because the custody certificate describes the signed file.
  // If people signed again in the notary's presence, neither the signed file nor that certificate is delivered. A
  // recipient could mistake the earlier signatures for the valid ones.
  const before = replacesSigned
    ? []
    : [final.kind === "notarized" ? newest("sealed") : [], newest("custody_certificate")].flat();
  const others = documents.filter(({ kind }) => receipts.has(kind));
  return [final, ...before, ...others].map(({ kind, sha256 }) => ({
    orderId: id,
    kind,
    sha256,
  }));
}

/** A file with the name that people see. `path` includes the folder. */
export type NamedFile = DeliveredFile & {
  path: string;
  orderCode: string;
  /** True if the order has a custody certificate, because people signed its document with this service. */
  isSignedHere: boolean;
  /** True if the file is a notarized document of the sandbox, which no notary signed. */
  isNotarySimulated: boolean;
  deletedAt: Date | null;
};

function folderOf(kind: string, isNotarized: boolean): string {
  if (receipts.has(kind)) return "Receipts";
  if (kind === "custody_certificate") return "Certificates";
  return kind === "sealed" && isNotarized ? "Evidence" : "Documents";
}

/**
 * Names each file. The result lists the files of one order after another, in the sequence of `orders`.
 * @throws ServiceError `unavailable` for a file that is not on record. A file that was deleted remains on record
 */
export function namedFiles(orders: readonly Deliverable[], files: readonly DeliveredFile[]): NamedFile[] {
  const unique = uniqueNames();
  let number = 0;
  const delivered = orders.filter(({ id }) => files.some(({ orderId }) => orderId === id));
  const titles = numberedNames(delivered.map(({ title }) => documentTitle(title)));
  return delivered.flatMap((order, index) => {
    const own = files.filter(({ orderId }) => orderId === order.id);
    const { reference } = order;
    const title = titles[index] ?? null;
    const isNotarized = own.some(({ kind }) => kind === "notarized");
    const isSignedHere = order.documents.some(({ kind }) => kind === "custody_certificate");
    return own.flatMap((file) => {
      const document = order.documents.find(({ kind, sha256 }) => kind === file.kind && sha256 === file.sha256);
      if (!document)
        throw new ServiceError("unavailable", "A document of this delivery is not on record any more. Ask its sender.");
      const folder = folderOf(file.kind, isNotarized);
      const prefix = folder === "Documents" ? `${String(++number).padStart(2, "0")} ` : "";
      // `unique` gets the name without the folder. Names must also differ between folders, because a proof is named
      // after its file alone.
      const isNotarySimulated = file.kind === "notarized" && order.isNotarySimulated;
      const kind = isNotarySimulated ? simulatedNotarization : file.kind;
      const path = `${folder}/${unique(`${prefix}${fileName({ reference, title, kind })}`, ".pdf")}`;
      return [{ ...file, path, orderCode: order.code, isSignedHere, isNotarySimulated, deletedAt: document.deletedAt }];
    });
  });
}

export type ZipOf = {
  /**
   * The closing certificate to add to the zip; null for none. Its manifest contains the codes of the room and of all
   * its orders. So people outside of the firm get it only if the firm chose to send it.
   */
  certificate: OpenedCertificate | null;
  /** True if the zip should contain a certificate, but that certificate is missing or altered. */
  isCertificateLost: boolean;
  owner: Pick<OrderOfRoom, "partnerId" | "environment">;
  title: string;
  reference: string | null;
  files: readonly NamedFile[];
};

/**
 * The largest zip. The format allows 4 GiB without its 64-bit extension (Zip64), but mail gateways and some programs
 * allow less.
 */
const maxBytes = 2 * 1024 ** 3;

/**
 * One zip with folders for documents, certificates and receipts, the page that verifies them, and an explanation for
 * lawyers. Equal files give equal bytes. The zip is not stored: each file is read and compared with its hash while it
 * is sent. If the retention plan deleted a file, the zip lists its hash and the time of deletion instead.
 * @throws ServiceError `conflict` when the zip would be too large
 */
export async function zipOf(deps: ZipDeps, zip: ZipOf): Promise<{ name: string; file: StoredFile }> {
  const { certificate, isCertificateLost, owner, title, reference, files } = zip;
  const { partnerId, environment } = owner;
  const called = reference === null || title.startsWith(reference) ? title : `${reference} ${title}`;
  const top = namePart(called, 80) || "Documents";
  const entries: ZipEntry[] = [];
  for (const { path, orderCode, kind, sha256, deletedAt } of files) {
    if (deletedAt) continue;
    const documentId = `${kind}-${sha256}`;
    const { file } = await openOrderDocument(deps, { orderCode, owner: { partnerId, environment }, documentId });
    entries.push({ name: `${top}/${path}`, bytes: file });
  }
  if (certificate?.file) entries.push({ name: `${top}/${closingCertificatePath}`, bytes: certificate.file });
  const proofs = await proofsOf(deps, zip);
  for (const { path, bytes } of proofs.files) entries.push({ name: `${top}/${path}`, bytes });
  const contents = [
    ...[...files, certificate ? entryOf(certificate) : []].flat().map(({ path, kind, sha256, deletedAt }) => ({
      path,
      kind,
      sha256,
      ...(deletedAt && { deletedAt }),
    })),
    ...proofs.files.map(({ path, form, of, bytes }) => ({ path, kind: form, of, sha256: hash("sha256", bytes) })),
  ];
  const { name: firmName } = await readShownFirm(deps.db, partnerId);
  const documents = contents.filter(({ path }) => path.startsWith("Documents/"));
  const hasSigned = files.some(({ kind, path }) => kind === "sealed" && path.startsWith("Evidence/"));
  const kinds = new Set(contents.flatMap((file) => ("deletedAt" in file ? [] : [file.kind])));
  const unsigned = new Set(files.flatMap(({ path, isSignedHere }) => (isSignedHere ? [] : [path])));
  const simulated = new Set(files.flatMap(({ path, isNotarySimulated }) => (isNotarySimulated ? [path] : [])));
  const facts = {
    simulated,
    title,
    reference,
    firmName,
    environment,
    documents,
    unsigned,
    hasSigned,
    kinds,
    isCertificateLost,
  };
  entries.push(
    {
      name: `${top}/contents.json`,
      bytes: Buffer.from(`${JSON.stringify({ title, reference, files: contents }, null, 2)}\n`),
    },
    { name: `${top}/verify.html`, bytes: await deps.verifier.page() },
  );
  const isWhole = fitsChecker(zipLength(entries));
  const text = readme({ ...facts, baseUrl: deps.verifier.baseUrl, ...proofs, fitsChecker: isWhole });
  entries.push({ name: `${top}/README.txt`, bytes: Buffer.from(text) });
  if (zipLength(entries) > maxBytes)
    throw new ServiceError("conflict", "These files are more than 2 GiB together. Download them order by order.");
  const frame = { memory: deps.blobs.memory, holder: memoryHolder(owner) };
  return { name: `${top}.zip`, file: zipFile(frame, entries) };
}

type ProofFile = { path: string; form: ProofForm; of: string; bytes: Buffer };

/**
 * The transparency log's proofs for the files of a zip, and the paths of the files that lack one. A proof that is
 * missing or can't be read never prevents the download.
 */
async function proofsOf(
  deps: ZipDeps,
  { owner, files, certificate }: ZipOf,
): Promise<{ files: ProofFile[]; waiting: Record<ProofForm, string[]> }> {
  const { partnerId, environment } = owner;
  const present = files.filter(({ deletedAt }) => deletedAt === null);
  const sealed = await existingProofs(
    deps.db,
    environment,
    present.map(({ sha256 }) => sha256),
  );
  const unique = uniqueNames();
  const found: ProofFile[] = [];
  const waiting: Record<ProofForm, string[]> = { "tlog-proof": [], ots: [] };
  const add = async (of: string, form: ProofForm, read: () => Promise<Buffer | null>): Promise<void> => {
    const bytes = await read().catch((error: unknown) => {
      const isExpected = isServiceError(error, "unavailable") || isServiceError(error, "conflict");
      if (!isExpected) deps.log.error({ err: error, form }, "a proof of the transparency log was left out of a zip");
      return null;
    });
    const name = of.slice(of.lastIndexOf("/") + 1, -".pdf".length);
    if (bytes) found.push({ path: unique(`Evidence/${name}`, `.pdf.${form}`), form, of, bytes });
    else if (form === "tlog-proof" || deps.verifier.hasCalendars) waiting[form].push(of);
  };
  for (const { path, orderCode, kind, sha256 } of present) {
    const wanted = { orderCode, owner: { partnerId, environment }, documentId: `${kind}-${sha256}` };
    // A file that this service did not seal never gets a proof.
    if (!sealed.has(sha256)) continue;
    for (const form of proofForms) await add(path, form, () => orderDocumentProof(deps, wanted, form));
  }
  if (certificate?.file)
    for (const form of proofForms)
      await add(closingCertificatePath, form, () => closingLogProof(deps, certificate.record.verifyCode, form));
  return { files: found, waiting };
}

const entryOf = ({ record: { sealedSha256: sha256, deletedAt } }: OpenedCertificate) =>
  certificateEntry({ sha256, deletedAt });
