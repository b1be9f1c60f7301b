import type { Server, Socket } from "node:net";
import type { FastifyRequest } from "fastify";
import { clientNetwork, isInRanges, parseAddress, parseRange } from "../platform/network.ts";

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

export type ConnectionBounds = {
  /** How many connections an IPv4 address, or an IPv6 network of 64 bits, may have open. */
  readonly perAddress: number;
  /** Addresses and ranges without a bound: a proxy has the connections of all its clients. */
  readonly unbounded: readonly string[];
  readonly onRefused: () => void;
};

/** Closes connections beyond the bound at once, before a byte of them is read: idle ones would use up the process's files. */
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
