import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Passing } from "../../../kernel/http/pass-on.ts";
import { type LiveDeps, otherHolder, type SessionOfPage } from "../../../signing/notaries/notaries.ts";

/**
 * Forwards requests about a live session to the node that runs it. The routes' `onRequest` hooks (such as rate limits
 * and cross-site checks) have run before. The body has not been read, so it can be forwarded.
 * @param pageOf returns the session and the page that a request is about; null if any node can answer the request
 */
export function passSessionsOn(
  scope: FastifyInstance,
  live: LiveDeps,
  passing: Passing,
  pageOf: (request: FastifyRequest) => SessionOfPage | null,
): void {
  scope.addHook("preParsing", async (request, reply) => {
    const page = pageOf(request);
    const holder = page && (await otherHolder(live, page));
    if (!holder) return;
    const to = { ...holder, page: "token" in page ? `link ${page.token}` : "notary" };
    await passing.pass(request, reply, to, (end) => live.rooms.passing(holder.id, { node: holder.node, end }));
  });
}
