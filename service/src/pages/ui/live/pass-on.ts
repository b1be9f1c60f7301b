import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Passing } from "../../../kernel/http/pass-on.ts";
import { type LiveDeps, otherHolder, type SessionOfPage } from "../../../signing/notaries/notaries.ts";

/**
 * Forwards requests for a live session to the node that has it. The scope's earlier hooks have rejected strangers and
 * applied the rate limit, and nothing has read the body yet.
 * @param pageOf the page of a request; null for a request that any node answers
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
