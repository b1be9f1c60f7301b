import type { FastifyRequest } from "fastify";

declare module "fastify" {
  interface FastifyRequest {
    clientAddress: string | null;
  }
}

/** The caller's address, past the proxies that are trusted. It is asked for more than once, and the framework reads the headers each time. */
export function clientAddress(request: FastifyRequest): string {
  request.clientAddress ??= request.ip;
  return request.clientAddress;
}
