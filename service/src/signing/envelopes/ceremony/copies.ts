import type { StoredFile } from "../../../kernel/platform/blobs/stored-file.ts";
import { isAltered } from "../../../kernel/platform/database/state-mac.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import type { EnvelopeDeps } from "../records/deps.ts";
import { openOrderDocument, orderDocuments } from "../records/documents.ts";
import { type Linked, stateOf } from "./links.ts";
import { type CopyKind, copyKinds } from "./view.ts";

/**
 * True if the signers signed the order's document again, in the presence of the notary. The notarized document then
 * replaces the document that they had signed earlier.
 * @throws ServiceError `unavailable` for an altered row
 */
export type WasSignedAgain = (orderCode: string) => Promise<boolean>;

type CopyDeps = Pick<EnvelopeDeps, "db" | "rowMac"> & { wasSignedAgain: WasSignedAgain };

/**
 * The copies that a signer may download now: the newest document of each kind, unless it was deleted. Empty until the
 * envelope is completed, and before the browser has passed the access step.
 *
 * If a notarized document has replaced the signed document, the signed document and its certificate are left out. So no
 * signer mistakes them for valid ones.
 */
export async function copiesOf(deps: CopyDeps, linked: Linked) {
  if (stateOf(linked) !== "completed") return [];
  const { orderCode } = linked.envelope;
  const documents = await orderDocuments(deps, orderCode, linked.envelope);
  const isNotarized = documents.some(({ kind }) => kind === "notarized");
  const kinds: readonly CopyKind[] = isNotarized && (await isReplaced(deps, orderCode)) ? ["notarized"] : copyKinds;
  return kinds.flatMap((kind) => {
    const newest = documents.findLast((each) => each.kind === kind);
    return newest && newest.deletedAt === null
      ? [{ kind, documentId: newest.documentId, isSimulated: newest.isSimulated }]
      : [];
  });
}

/**
 * True if the notarized document replaces the signed one. Also true if the row that decides this was altered, because
 * the notarized document is valid in either case.
 */
const isReplaced = (deps: CopyDeps, orderCode: string): Promise<boolean> =>
  deps.wasSignedAgain(orderCode).catch((error: unknown) => {
    if (!isAltered(error)) throw error;
    return true;
  });

/**
 * Opens a document that the signer may download.
 * @throws ServiceError
 */
export async function openCopy(deps: EnvelopeDeps & CopyDeps, linked: Linked, kind: CopyKind): Promise<StoredFile> {
  const copy = (await copiesOf(deps, linked)).find((each) => each.kind === kind);
  if (!copy) throw new ServiceError("conflict", "There is no such document to keep.");
  const { orderCode } = linked.envelope;
  return (await openOrderDocument(deps, { orderCode, owner: linked.envelope, documentId: copy.documentId })).file;
}
