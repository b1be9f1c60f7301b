import type { StoredFile } from "../../../kernel/platform/blobs/stored-file.ts";
import { isAltered } from "../../../kernel/platform/database/state-mac.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import type { EnvelopeDeps } from "../records/deps.ts";
import { openOrderDocument, orderDocuments } from "../records/documents.ts";
import { type Linked, stateOf } from "./links.ts";
import { type CopyKind, copyKinds } from "./view.ts";

/**
 * Whether the people of an order signed its document again before the notary, so that the notarized document replaces
 * the one that they had signed earlier.
 * @throws ServiceError `unavailable` for an altered row
 */
export type WasSignedAgain = (orderCode: string) => Promise<boolean>;

type CopyDeps = Pick<EnvelopeDeps, "db" | "rowMac"> & { wasSignedAgain: WasSignedAgain };

/**
 * The copies that a signer may download now: the newest document of each kind, unless it was deleted. A signed document
 * that the notarized one replaces is left out with its certificate, so that nobody takes it for the one that counts.
 */
export async function copiesOf(deps: CopyDeps, linked: Linked) {
  if (stateOf(linked) !== "completed") return [];
  const { orderCode } = linked.envelope;
  const documents = await orderDocuments(deps, orderCode, linked.envelope);
  const isNotarized = documents.some(({ kind }) => kind === "notarized");
  const kinds: readonly CopyKind[] = isNotarized && (await isReplaced(deps, orderCode)) ? ["notarized"] : copyKinds;
  return kinds.flatMap((kind) => {
    const newest = documents.findLast((each) => each.kind === kind);
    return newest && newest.deletedAt === null ? [{ kind, documentId: newest.documentId }] : [];
  });
}

/** With an altered row, only the notarized document is offered: it counts in either case. */
const isReplaced = (deps: CopyDeps, orderCode: string): Promise<boolean> =>
  deps.wasSignedAgain(orderCode).catch((error: unknown) => {
    if (!isAltered(error)) throw error;
    return true;
  });

/**
 * Opens one of the documents that a signer may keep.
 * @throws ServiceError
 */
export async function openCopy(deps: EnvelopeDeps & CopyDeps, linked: Linked, kind: CopyKind): Promise<StoredFile> {
  const copy = (await copiesOf(deps, linked)).find((each) => each.kind === kind);
  if (!copy) throw new ServiceError("conflict", "There is no such document to keep.");
  const { orderCode } = linked.envelope;
  return (await openOrderDocument(deps, { orderCode, owner: linked.envelope, documentId: copy.documentId })).file;
}
