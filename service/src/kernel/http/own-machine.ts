import type { FastifyRequest } from "fastify";
import { isLoopback } from "../platform/network.ts";

const forwarding = ["forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip"];

/** Whether a request comes from this machine and was not forwarded by a proxy. */
export const isFromOwnMachine = ({ headers, raw }: Pick<FastifyRequest, "headers" | "raw">): boolean =>
  isLoopback(raw.socket.remoteAddress ?? "") && forwarding.every((name) => headers[name] === undefined);
