import type { FastifyReply, FastifyRequest } from "fastify";
import { Type } from "typebox";

/** The longest wait that a caller gets. */
const mostWaitSeconds = 10;

/** The header of routes that may wait for the transparency log, for /openapi.json. */
export const preferHeader = {
  prefer: Type.Optional(
    Type.String({
      maxLength: 200,
      description:
        "`wait=N` (RFC 7240): the answer waits up to N seconds, 10 at most, until the transparency log has the seal and its witnesses cosigned it. `Preference-Applied` says so.",
      examples: ["wait=5"],
    }),
  ),
};

/** The wait that a caller prefers (RFC 7240, section 4.3: `Prefer: wait=N`), in seconds; null for none that can be read. */
export function preferredWait({ headers }: Pick<FastifyRequest, "headers">): number | null {
  // The first of several is the one that counts (section 2).
  const wait = [headers.prefer ?? []]
    .flat()
    .join(",")
    .split(",")
    .map((one) => /^\s*wait\s*=\s*"?(\d{1,9})"?\s*(;|$)/i.exec(one)?.[1])
    .find((seconds) => seconds !== undefined);
  return wait === undefined ? null : Math.min(Number(wait), mostWaitSeconds);
}

/** A wait that is applied, and a look at whether the caller has gone. */
export type AppliedWait = { seconds: number; isGone: () => boolean };

/** Applies the wait that a caller prefers, and says so in `Preference-Applied`; null where nobody asked for one. */
export function appliedWait(request: FastifyRequest, reply: FastifyReply): AppliedWait | null {
  const seconds = preferredWait(request);
  if (seconds === null) return null;
  reply.header("Preference-Applied", `wait=${seconds}`);
  return { seconds, isGone: () => request.raw.socket.destroyed };
}
