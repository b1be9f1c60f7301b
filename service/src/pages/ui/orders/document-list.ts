import type { OrderDocument } from "../../../envelopes/envelopes.ts";
import type { StoredFile } from "../../../platform/blobs/stored-file.ts";
import { codeText } from "../components.ts";
import { plainTime } from "../format.ts";
import { type Html, html } from "../render.ts";
import { en } from "../words/en/en.ts";
import type { Words } from "../words/words.ts";

/** Where an order's documents are, and whether there is a page to look at them. */
type Place = { path: string; hasView?: boolean };

/** An order's documents, each to save, or to look at where there is a page for that, while it is there. */
export function documentList(
  { path, hasView = false }: Place,
  documents: readonly OrderDocument[],
  { orders, components, language }: Words = en,
): Html {
  const { documentTitles, deleted, hashOf, takenIn } = orders;
  const saved = (documentId: string, title: string) =>
    html`<a href="${path}/${documentId}" download>${title}</a>${hasView && html` (<a href="${path}/${documentId}/view">view<span class="visually-hidden"> ${title}</span></a>)`}`;
  return html`<ul class="order-documents">${documents.map(
    ({ documentId, kind, sha256, origin, createdAt, deletedAt }) => {
      const title = documentTitles[kind];
      const first = deletedAt ? html`${title}: ${deleted} ${plainTime(deletedAt, language)}` : saved(documentId, title);
      return html`<li>${first}, ${plainTime(createdAt, language)}${origin && html`. <strong>${takenIn}</strong>`}<br><span class="quiet">SHA-256</span> ${codeText(sha256, hashOf(title), components.copy)}</li>`;
    },
  )}</ul>`;
}

/** A document as a browser saves it. */
export const documentToSave = (
  orderCode: string,
  { kind, file }: Pick<OrderDocument, "kind"> & { file: StoredFile },
) => ({
  pdf: file,
  name: `${kind.replaceAll("_", "-")}-${orderCode.slice(0, 6)}.pdf`,
});
