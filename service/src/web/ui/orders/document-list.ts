import type { OrderDocument } from "../../../envelopes/envelopes.ts";
import { codeText } from "../components.ts";
import { time } from "../format.ts";
import { type Html, html } from "../render.ts";

export const documentTitles: Readonly<Record<OrderDocument["kind"], string>> = {
  original: "The document as it came",
  sealed: "Signed and sealed",
  notarized: "Notarized",
  custody_certificate: "Certificate of the signing",
  fax_report: "The fax machine’s report",
  delivery_receipt: "Receipt of the delivery",
  mail_receipt: "Receipt of the mailing",
  fax_certificate: "Certificate of the fax",
};

/** An order's documents, each to save, or to look at where there is a page for that, while it is there. @param path of the folder that they are in */
export const documentList = (path: string, documents: readonly OrderDocument[], hasView = false): Html =>
  html`<ul class="order-documents">${documents.map(
    ({ documentId, kind, sha256, createdAt, deletedAt }) =>
      html`<li>${
        deletedAt
          ? html`${documentTitles[kind]}: deleted ${time(deletedAt)}`
          : html`<a href="${path}/${documentId}" download>${documentTitles[kind]}</a>${hasView && html` (<a href="${path}/${documentId}/view">view<span class="visually-hidden"> ${documentTitles[kind]}</span></a>)`}`
      }, ${time(createdAt)}<br><span class="quiet">SHA-256</span> ${codeText(sha256, `hash: ${documentTitles[kind]}`)}</li>`,
  )}</ul>`;

/** A document as a browser saves it. */
export const documentToSave = (
  orderCode: string,
  { kind, bytes }: Pick<OrderDocument, "kind"> & { bytes: Buffer },
) => ({
  pdf: bytes,
  name: `${kind.replaceAll("_", "-")}-${orderCode.slice(0, 6)}.pdf`,
});
