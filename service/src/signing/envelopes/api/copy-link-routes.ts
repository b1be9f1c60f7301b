import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { principalOf } from "../../../kernel/http/authentication.ts";
import { jsonRoute, type RouteDeps } from "../../../kernel/http/route.ts";
import { actorOf, type Principal } from "../../../kernel/identity/identity.ts";
import { isCode } from "../../../kernel/platform/text.ts";
import { findOwnOrder, orderNotFound } from "../../../orders/order/order.ts";
import { copyLinksOf, endCopyLink } from "../lifecycle/copy-links.ts";
import type { EnvelopeDeps } from "../records/deps.ts";
import { CopyLink, CopyLinks } from "./schemas.ts";

const frame = { tag: "Signing", caller: "key", policy: "partner-write" } as const;
const path = "/api/partner/orders/:code/copy-links";
const code = Type.String({ description: "The order code." });

/** Adds the routes that list and end the links through which signers download their copies. */
export function copyLinkRoutes(app: FastifyInstance, deps: { frame: RouteDeps; envelopes: EnvelopeDeps }): void {
  app.addSchema(CopyLink);
  const { db } = deps.envelopes;
  async function list(principal: Principal, orderCode: string, requestId: string) {
    if (!isCode(orderCode) || !(await findOwnOrder(db, orderCode, principal))) throw orderNotFound();
    const links = await copyLinksOf(db, orderCode, principal);
    return {
      links: links.map(({ attempt, n, name, email, issuedAt }) => ({
        linkId: `${attempt}-${n}`,
        n,
        name,
        email,
        issuedAt: issuedAt.toISOString(),
      })),
      requestId,
    };
  }
  jsonRoute(app, deps.frame, {
    ...frame,
    method: "GET",
    scope: "read",
    url: path,
    operationId: "listCopyLinks",
    summary: "List the links to an order's copies",
    description:
      "The links through which signers read and save the finished documents. The list is empty while people sign, and it never contains the links' URLs.",
    params: Type.Object({ code }),
    answer: CopyLinks,
    refusals: { 404: "Order not found." },
    handle: (request) => list(principalOf(request), request.params.code, request.id),
  });
  jsonRoute(app, deps.frame, {
    ...frame,
    method: "DELETE",
    scope: "orders",
    url: `${path}/:linkId`,
    operationId: "endCopyLink",
    summary: "End a link to an order's copies",
    description:
      "The link stops working at once, for example after it was mailed to a wrong address. If it opens several documents of a closing, it ends for all of them. Documents that the person has yet to sign get another link with the next reminder.",
    params: Type.Object({ code, linkId: Type.String({ description: "The id, from the list." }) }),
    bodyIs: "none",
    answer: CopyLinks,
    refusals: {
      404: "There is no such link. Perhaps it was ended already.",
      409: "The closing was changed at the same time. Try again.",
    },
    async handle(request) {
      const principal = principalOf(request);
      const { code: orderCode, linkId } = request.params;
      const [, attempt = 0, n = 0] = (/^(\d{1,6})-(\d{1,2})$/.exec(linkId) ?? []).map(Number);
      await endCopyLink(deps.envelopes, { owner: principal, orderCode, attempt, n, actor: actorOf(principal) });
      return list(principal, orderCode, request.id);
    },
  });
}
