import type { OrderDocument } from "../../../envelopes/envelopes.ts";
import { codeText } from "../../ui/components.ts";
import { time } from "../../ui/format.ts";
import { type Html, html } from "../../ui/render.ts";

const titles: Readonly<Record<OrderDocument["kind"], string>> = {
  original: "The document as it came",
  sealed: "Signed and sealed",
  notarized: "Notarized",
  custody_certificate: "Certificate of the signing",
};

/** An order's documents, each to download while it is there. */
export const documentsPart = (orderCode: string, documents: readonly OrderDocument[]): Html =>
  html`<ul class="order-documents">${documents.map(
    ({ documentId, kind, sha256, createdAt, deletedAt }) =>
      html`<li>${
        deletedAt
          ? html`${titles[kind]}: deleted ${time(deletedAt)}`
          : html`<a href="/dashboard/orders/${orderCode}/documents/${documentId}" download>${titles[kind]}</a>`
      }, ${time(createdAt)}<br><span class="quiet">SHA-256</span> ${codeText(sha256, `hash: ${titles[kind]}`)}</li>`,
  )}</ul>`;
