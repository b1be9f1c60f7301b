import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Passing } from "../../../kernel/http/pass-on.ts";
import { type LiveDeps, otherHolder, type SessionOfPage } from "../../../signing/notaries/notaries.ts";

/**
 * Passes requests for a live session on to the node that has it. The scope has refused strangers and counted the
 * request before, and nobody has read the body yet.
 * @param pageOf the page that a request belongs to; null for a request that any node answers
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
