import type { FastifyInstance } from "fastify";
import { type DeliveryDeps, orderZip } from "../../../closing/deliveries/deliveries.ts";
import { proofForms } from "../../../evidence/transparency-log/transparency-log.ts";
import { requireBilling } from "../../../firms/members/members.ts";
import { principalOf } from "../../../kernel/http/authentication.ts";
import type { RateLimits } from "../../../kernel/http/rate-limits.ts";
import type { Database } from "../../../kernel/platform/database/database.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import { type BillingDeps, documentFile, documentsOfOrder } from "../../../orders/billing/billing.ts";
import type { TitleOf } from "../../../orders/order/order.ts";
import {
  type EnvelopeDeps,
  openOrderDocument,
  orderDocumentProof,
  orderDocuments,
} from "../../../signing/envelopes/envelopes.ts";
import type { Assets } from "../../ui/assets/assets.ts";
import { documentToSave, proofToSave } from "../../ui/orders/document-list.ts";
import { documentView } from "../../ui/orders/document-view.ts";
import { viewerPolicy } from "../../ui/page/policy.ts";
import { pageRoute } from "../../ui/page/route.ts";
import { dashboardPage } from "../page-shell.ts";

import { ownOrder } from "./own-order.ts";
import { orderName } from "./words.ts";

type Deps = {
  db: Database;
  frame: { limits: RateLimits; assets: Assets };
  titleOf: TitleOf;
  envelopes: EnvelopeDeps;
  billing: BillingDeps;
  deliveries: DeliveryDeps;
};

/**
 * Adds an order's documents, each as a page that shows it and as a file to download, and the transparency log's proofs
 * for them. Also adds the order's receipts, and a zip file of all finished documents.
 */
export function orderDocumentPages(forms: FastifyInstance, deps: Deps): void {
  const { db, frame, titleOf, envelopes } = deps;

  pageRoute(forms, frame, {
    url: "/dashboard/orders/:code/zip",
    handle: async ({ params: { code }, request }) => {
      const { name, file } = await orderZip(deps.deliveries, principalOf(request), code);
      return { pdf: file, name, type: "application/zip" };
    },
  });

  pageRoute(forms, frame, {
    url: "/dashboard/orders/:code/documents/:documentId/view",
    handle: async ({ params: { code, documentId }, request }) => {
      const order = await ownOrder(db, request, code);
      const documents = await orderDocuments(envelopes, order.code, principalOf(request));
      const document = documents.find((each) => each.documentId === documentId && each.deletedAt === null);
      if (!document) throw new ServiceError("not_found", "Document not found.");
      const back = `/dashboard/orders/${order.code}`;
      const orderTitle = orderName({ order, title: titleOf(order) });
      const url = `${back}/documents/${documentId}`;
      const body = documentView(frame.assets, { orderTitle, document, url, back });
      const page = dashboardPage(frame, request, {
        title: `Document of ${orderTitle}`,
        section: "orders",
        body,
        wide: true,
        scripts: ["copy.js", "preview.js"],
      });
      return { page, headers: { "Content-Security-Policy": viewerPolicy() } };
    },
  });

  pageRoute(forms, frame, {
    url: "/dashboard/orders/:code/receipts/:number",
    handle: async ({ params: { code, number }, request }) =>
      documentFile(deps.billing, await documentsOfOrder(db, code, requireBilling(principalOf(request))), number),
  });

  for (const form of proofForms)
    pageRoute(forms, frame, {
      url: `/dashboard/orders/:code/documents/:documentId/${form}`,
      handle: async ({ params: { code, documentId }, request }) => {
        const order = await ownOrder(db, request, code);
        const wanted = { orderCode: order.code, owner: principalOf(request), documentId };
        const proof = await orderDocumentProof(envelopes, wanted, form);
        const documents = await orderDocuments(envelopes, order.code, wanted.owner);
        return proofToSave({ ...order, title: titleOf(order) }, { documents, documentId, form, proof });
      },
    });

  pageRoute(forms, frame, {
    url: "/dashboard/orders/:code/documents/:documentId",
    handle: async ({ params: { code, documentId }, request }) => {
      const order = await ownOrder(db, request, code);
      const wanted = { orderCode: order.code, owner: principalOf(request), documentId };
      return documentToSave({ ...order, title: titleOf(order) }, await openOrderDocument(envelopes, wanted));
    },
  });
}
