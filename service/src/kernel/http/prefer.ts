import type { FastifyReply, FastifyRequest } from "fastify";
import { Type } from "typebox";

/** The longest wait. A longer wait that a caller requests is shortened to this one. */
const maxWaitSeconds = 10;

/** The schema of the `Prefer` header in /openapi.json, for routes that can wait for the transparency log. */
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

/**
 * Reads the wait that a caller prefers (RFC 7240, section 4.3: `Prefer: wait=N`).
 * @returns seconds, at most `maxWaitSeconds`; null if no valid wait was sent
 */
export function preferredWait({ headers }: Pick<FastifyRequest, "headers">): number | null {
  // If there are several `wait` preferences, the first counts (section 2).
  const wait = [headers.prefer ?? []]
    .flat()
    .join(",")
    .split(",")
    .map((one) => /^\s*wait\s*=\s*"?(\d{1,9})"?\s*(;|$)/i.exec(one)?.[1])
    .find((seconds) => seconds !== undefined);
  return wait === undefined ? null : Math.min(Number(wait), maxWaitSeconds);
}

/** The wait to apply, and a function that returns true once the caller has disconnected. */
export type AppliedWait = { seconds: number; isGone: () => boolean };

/**
 * Reads the wait that a caller prefers, and announces it in `Preference-Applied`; null when the caller requested no
 * wait.
 */
export function appliedWait(request: FastifyRequest, reply: FastifyReply): AppliedWait | null {
  const seconds = preferredWait(request);
  if (seconds === null) return null;
  reply.header("Preference-Applied", `wait=${seconds}`);
  return { seconds, isGone: () => request.raw.socket.destroyed };
}
