/** The test of a device on the appointment page, before the notary opens the room. It uses the rooms' media engine. */
import type { FastifyInstance, FastifyRequest } from "fastify";
import { eventStreams } from "../../kernel/http/event-stream.ts";
import type { Passing } from "../../kernel/http/pass-on.ts";
import type { RateLimits } from "../../kernel/http/rate-limits.ts";
import { ServiceError } from "../../kernel/platform/errors.ts";
import type { NodeAddress, OwnNode } from "../../kernel/platform/nodes.ts";
import { isCode } from "../../kernel/platform/text.ts";
import { type LiveDeps, testerOf } from "../../signing/notaries/notaries.ts";
import { messageOf } from "../ui/live/parts.ts";
import { pageRoute } from "../ui/page/route.ts";

export const devicePath = (token: string): string => `/appointments/${token}/device`;

type Params = { token: string };

/**
 * The query string that names this node, with a MAC. The later requests of a device test contain it, because they must
 * reach the node that holds the test's connection. Empty without NODE_URL.
 */
function queryOf(own: OwnNode, token: string): string {
  const address = own.addressFor(`device ${token}`);
  if (!address) return "";
  return `?at=${own.id}.${Buffer.from(address.url).toString("base64url")}.${address.mac.toString("hex")}`;
}

/**
 * The other node that a request names. Null if the request names no other node, or if the MAC is invalid for this link.
 */
function otherNode(own: OwnNode, { params, query }: FastifyRequest): NodeAddress | null {
  const { token } = params as Params;
  const { at } = query as { at?: unknown };
  const [, node, encoded, mac] =
    (typeof at === "string" && /^([0-9a-f-]{36})\.([\w-]+)\.([0-9a-f]{64})$/.exec(at)) || [];
  if (node === undefined || encoded === undefined || mac === undefined || node === own.id) return null;
  const address = { node, url: Buffer.from(encoded, "base64url").toString() };
  return own.isAddressOf(`device ${token}`, address, Buffer.from(mac, "hex")) ? address : null;
}

export type DeviceDeps = { limits: RateLimits; live: LiveDeps; passing: Passing };

/** Adds the URLs below `/appointments/{token}/device` that the script of the test requests. */
export function deviceRoutes(scope: FastifyInstance, { limits, live, passing }: DeviceDeps): void {
  const tester = async (token: string) => {
    const of = await testerOf(live, token);
    if (!of) throw new ServiceError("conflict", "This link leads to no meeting in a room now.");
    return of;
  };
  scope.addHook("preParsing", async (request, reply) => {
    const to = otherNode(live.own, request);
    const { token } = request.params as Params;
    if (to && isCode(token))
      await passing.pass(request, reply, { ...to, id: `device ${token}`, page: token }, () => () => {});
  });
  pageRoute(
    scope,
    { limits },
    {
      method: "POST",
      url: "/appointments/:token/device/check",
      policy: "page",
      async handle({ params }) {
        const { token } = params as Params;
        return { json: { ...(await live.rooms.check(await tester(token))), at: queryOf(live.own, token) } };
      },
    },
  );
  pageRoute(
    scope,
    { limits },
    {
      method: "POST",
      url: "/appointments/:token/device/signal",
      policy: "log",
      async handle({ params, form }) {
        const of = await tester((params as Params).token);
        return { json: { messages: await live.rooms.signal(form["ticket"] ?? "", of, messageOf(form)) } };
      },
    },
  );
  const stream = eventStreams(scope);
  const options = { schema: { hide: true }, onRequest: limits.limit("page") };
  scope.get<{ Params: Params }>("/appointments/:token/device/events", options, async (request, reply) => {
    const { session, person } = await tester(request.params.token);
    stream(reply, (hear, end) => live.rooms.listen(session, person, { hear, end }));
    return reply;
  });
}
