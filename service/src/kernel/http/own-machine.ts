import type { FastifyRequest } from "fastify";
import { isLoopback } from "../platform/network.ts";

const forwarding = ["forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip"];

/** True if a request was sent from this machine and not through a proxy. */
export const isFromOwnMachine = ({ headers, raw }: Pick<FastifyRequest, "headers" | "raw">): boolean =>
  isLoopback(raw.socket.remoteAddress ?? "") && forwarding.every((name) => headers[name] === undefined);
