import type { StoredFile } from "../../../kernel/platform/blobs/stored-file.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import type { EnvelopeDeps } from "../records/deps.ts";
import { openOrderDocument, orderDocuments } from "../records/documents.ts";
import { type Linked, stateOf } from "./links.ts";
import { type CopyKind, copyKinds } from "./view.ts";

/** The copies that a signer may download now: the newest document of each kind, unless it was deleted. */
export async function copiesOf(deps: Pick<EnvelopeDeps, "db" | "rowMac">, linked: Linked) {
  if (stateOf(linked) !== "completed") return [];
  const { orderCode } = linked.envelope;
  const documents = await orderDocuments(deps, orderCode, linked.envelope);
  return copyKinds.flatMap((kind) => {
    const newest = documents.findLast((each) => each.kind === kind);
    return newest && newest.deletedAt === null ? [{ kind, documentId: newest.documentId }] : [];
  });
}

/**
 * Opens one of the documents that a signer may keep.
 * @throws ServiceError
 */
export async function openCopy(deps: EnvelopeDeps, linked: Linked, kind: CopyKind): Promise<StoredFile> {
  const copy = (await copiesOf(deps, linked)).find((each) => each.kind === kind);
  if (!copy) throw new ServiceError("conflict", "There is no such document to keep.");
  const { orderCode } = linked.envelope;
  return (await openOrderDocument(deps, { orderCode, owner: linked.envelope, documentId: copy.documentId })).file;
}
