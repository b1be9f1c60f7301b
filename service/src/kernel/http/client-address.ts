import type { Server, Socket } from "node:net";
import type { FastifyRequest } from "fastify";
import { clientNetwork, isInRanges, parseAddress, parseRange } from "../platform/network.ts";

declare module "fastify" {
  interface FastifyRequest {
    clientAddress: string | null;
  }
}

/**
 * The caller's IP address, as reported by trusted proxies or by the node that forwarded the request. It is cached,
 * because each request needs it several times and the framework parses the headers each time.
 */
export function clientAddress(request: FastifyRequest): string {
  request.clientAddress ??= request.ip;
  return request.clientAddress;
}

export type ConnectionBounds = {
  /** The largest number of open connections from one IPv4 address, or from one IPv6 network (/64). */
  readonly perAddress: number;
  /** The addresses and ranges of proxies, which have no limit: one proxy forwards the connections of many clients. */
  readonly unbounded: readonly string[];
  readonly onRefused: () => void;
};

/**
 * Limits the open connections of each network. A connection beyond the limit is closed at once, without reading from
 * it. Otherwise idle connections could use up the process's file descriptors.
 */
export function boundConnections(server: Server, { perAddress, unbounded, onRefused }: ConnectionBounds): void {
  const open = new Map<string, number>();
  const free = unbounded.map(parseRange).filter((range) => range !== null);
  const isFree = (ip: string): boolean => {
    const address = parseAddress(ip);
    return address !== null && isInRanges(address, free);
  };
  server.on("connection", (socket: Socket) => {
    const { remoteAddress = "" } = socket;
    if (isFree(remoteAddress)) return;
    const network = clientNetwork(remoteAddress);
    const count = open.get(network) ?? 0;
    if (count >= perAddress) {
      onRefused();
      socket.destroy();
      return;
    }
    open.set(network, count + 1);
    socket.once("close", () => {
      const left = (open.get(network) ?? 1) - 1;
      if (left > 0) open.set(network, left);
      else open.delete(network);
    });
  });
}
