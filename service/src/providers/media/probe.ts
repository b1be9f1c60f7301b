/** Credentials for the relay (TURN), and checks for `doctor` whether sessions would work with these settings. */
import { createHmac } from "node:crypto";
import { createSocket } from "node:dgram";
import { isIPv6 } from "node:net";
import type { EmbeddedMedia, MediaSettings } from "../../kernel/config/media.ts";
import { systemClock } from "../../kernel/platform/clock.ts";
import { parseAddress } from "../../kernel/platform/network.ts";
import type { IceServer } from "./media.ts";

/** The validity of credentials for the relay: the longest duration of a session. */
const turnSeconds = 4 * 60 * 60;

/**
 * Credentials for the relay, valid for the longest duration of a session (HMAC-SHA1 of `expiry:name`, as in coturn's
 * `use-auth-secret`).
 */
export function iceServersFor({ turn }: MediaSettings, name: string, now: Date): IceServer[] {
  if (!turn) return [];
  const username = `${Math.floor(now.getTime() / 1000) + turnSeconds}:${name}`;
  return [{ urls: turn.urls, username, credential: createHmac("sha1", turn.secret).update(username).digest("base64") }];
}

/**
 * Finds the first free UDP port of the range, by binding it briefly.
 * @throws Error when none is free
 */
export async function probePorts({ ports: [first, last], announce }: EmbeddedMedia): Promise<number> {
  for (let port = first; port <= last; port++) if (await canOpen(port, isIPv6(announce))) return port;
  throw new Error(`no UDP port of ${first}-${last} is free: is MEDIA_PORTS the same as another program's?`);
}

function canOpen(port: number, v6: boolean): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createSocket(v6 ? "udp6" : "udp4");
    socket.once("error", () => socket.close(() => resolve(false)));
    socket.bind(port, () => socket.close(() => resolve(true)));
  });
}

/**
 * The kind of the announced address: `public`, or a kind that browsers elsewhere can't reach, such as `loopback` or
 * `private`.
 */
export function reachOf({ announce }: EmbeddedMedia): string {
  const range = parseAddress(announce)?.range() ?? "invalid";
  return range === "unicast" ? "public" : range === "uniqueLocal" ? "private" : range;
}

/**
 * Requests an allocation from the first relay with generated credentials, then releases it.
 * @returns the relay's URL; null without a relay
 * @throws Error when the relay refuses or does not answer
 */
export async function probeTurn(settings: MediaSettings): Promise<string | null> {
  const [server] = iceServersFor(settings, "doctor", systemClock());
  const [url] = server?.urls ?? [];
  if (!server || url === undefined) return null;
  const { createTurnClient } = await import("werift");
  const { address, transport } = readTurnUrl(url);
  const turn = await createTurnClient(
    { address, username: server.username ?? "", password: server.credential ?? "" },
    { transport, connectTimeoutMs: 4_000 },
  );
  await turn.close();
  return url;
}

function readTurnUrl(url: string): { address: [string, number]; transport: "udp" | "tcp" | "tls" } {
  const { protocol, pathname, searchParams } = new URL(url);
  const isTls = protocol === "turns:";
  const [, host = "", port] = /^(.+?)(?::(\d+))?$/.exec(pathname) ?? [];
  const transport = isTls ? "tls" : searchParams.get("transport") === "tcp" ? "tcp" : "udp";
  return { address: [host.replace(/^\[|\]$/g, ""), Number(port ?? (isTls ? 5349 : 3478))], transport };
}
