import type { ProofForm } from "../../../evidence/transparency-log/transparency-log.ts";
import type { StoredFile } from "../../../kernel/platform/blobs/stored-file.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import type { OrderDocument, ProvenDocument } from "../../../signing/envelopes/envelopes.ts";
import { codeText } from "../components.ts";
import { plainTime } from "../format.ts";
import { type Html, html } from "../render.ts";
import { en, type Words } from "../words/en/en.ts";

/**
 * Describes the page that lists the documents. `path` is the common prefix of their URLs. `hasView` is true if each
 * document also has a page that shows it. `isSimulated` is true if the sandbox completed the signing.
 */
type Place = { path: string; hasView?: boolean; isSimulated?: boolean };

/**
 * Lists an order's documents with links: to download, to view, and to the proofs of the transparency log. Deleted
 * documents have no links. If a signed document was notarized later, its entry says that only the notarized document is
 * valid.
 */
export function documentList(
  { path, hasView = false, isSimulated = false }: Place,
  documents: readonly (OrderDocument & Partial<Pick<ProvenDocument, "proofs">>)[],
  { orders, components, language }: Words = en,
): Html {
  const { documentTitles, deleted, hashOf, takenIn, simulated, isEarlier, proofs: proofTitles } = orders;
  const isNotarized = documents.some(({ kind, isSimulated }) => kind === "notarized" && !isSimulated);
  const proofLink = (documentId: string, form: ProofForm, title: string) =>
    html`<br><a href="${path}/${documentId}/${form}" download>${proofTitles[form]}<span class="visually-hidden">: ${title}</span></a>`;
  const saved = (documentId: string, title: string) =>
    html`<a href="${path}/${documentId}" download>${title}</a>${hasView && html` (<a href="${path}/${documentId}/view">view<span class="visually-hidden"> ${title}</span></a>)`}`;
  return html`<ul class="order-documents">${documents.map(
    ({ documentId, kind, sha256, origin, isSimulated: isActSimulated, createdAt, deletedAt, proofs = [] }) => {
      const title = isActSimulated ? simulated.notarization : documentTitles[kind];
      const first = deletedAt ? html`${title}: ${deleted} ${plainTime(deletedAt, language)}` : saved(documentId, title);
      const remarks = [
        origin && takenIn,
        isSimulated && kind === "sealed" && simulated.document,
        isNotarized && kind === "sealed" && isEarlier,
      ].map((remark) => remark && html`. <strong>${remark}</strong>`);
      const hash = html`<span class="quiet">SHA-256</span> ${codeText(sha256, hashOf(title), components.copy)}`;
      const proofLinks = !deletedAt && proofs.map((form) => proofLink(documentId, form, title));
      return html`<li>${first}, ${plainTime(createdAt, language)}${remarks}<br>${hash}${proofLinks}</li>`;
    },
  )}</ul>`;
}

/** The file name for a download, without the extension: the document's title, and the kind of the file. */
export const savedName = (called: string, { kind, isSimulated }: Saved, { orders }: Words): string =>
  `${called} - ${(isSimulated ? orders.simulated.notarization : orders.documentTitles[kind]).toLowerCase()}`;

type Saved = Pick<OrderDocument, "kind" | "isSimulated">;

/**
 * The response that downloads a document. If the document has no title, the file name contains the start of the order's
 * code instead.
 */
export const documentToSave = (
  order: { code: string; title: string | null },
  { file, ...saved }: Saved & { file: StoredFile },
  words: Words = en,
) => ({
  pdf: file,
  name: `${savedName(order.title ?? words.orders.unnamed(order.code.slice(0, 6)), saved, words)}.pdf`,
});

/**
 * The response that downloads a proof of a document. The file has the document's name, followed by the proof's kind.
 * @param proven.documents the order's documents, one of which is `documentId`
 * @throws ServiceError `not_found` when none of them is `documentId`
 */
export function proofToSave(
  order: { code: string; title: string | null },
  proven: { documents: readonly OrderDocument[]; documentId: string; form: ProofForm; proof: Buffer },
  words: Words = en,
) {
  const { documents, documentId, form, proof } = proven;
  const saved = documents.find((each) => each.documentId === documentId);
  if (!saved) throw new ServiceError("not_found", "Document not found.");
  const name = savedName(order.title ?? words.orders.unnamed(order.code.slice(0, 6)), saved, words);
  return { pdf: proof, name: `${name}.pdf.${form}`, type: proofTypes[form] };
}

export const proofTypes = { "tlog-proof": "text/plain", ots: "application/octet-stream" } as const;
