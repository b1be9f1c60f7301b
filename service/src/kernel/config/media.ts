import { isIP } from "node:net";
import { StartupError } from "../platform/errors.ts";
import { type Env, listOf, oneOf, read, secretEnv } from "./read.ts";

/** Live audio and video, by the engine in this service; null when MEDIA is off. */
export type MediaSettings = {
  /**
   * The UDP ports, used for TCP too when `tcp` is on. Each connection has one port, and each person has two
   * connections.
   */
  ports: readonly [first: number, last: number];
  /** The address that browsers are told to send to. */
  announce: string;
  tcp: boolean;
  turn: { urls: string[]; secret: string } | null;
};

const localNames = new Set(["localhost", "127.0.0.1", "[::1]"]);
const fewestPorts = 16;

/** @param baseUrl when it is local, MEDIA_ANNOUNCE defaults to the loopback address */
export function mediaFrom(env: Env, baseUrl: string): MediaSettings | null {
  if (read(env, "MEDIA", "off", "embedded or off", oneOf("embedded", "off")) === "off") return null;
  const isLocal = localNames.has(URL.parse(baseUrl)?.hostname ?? "");
  const announce = read<string | null>(env, "MEDIA_ANNOUNCE", isLocal ? "127.0.0.1" : null, "an IP address", (text) =>
    isIP(text) ? text : undefined,
  );
  if (announce === null)
    throw new StartupError(
      "MEDIA_ANNOUNCE must be set when MEDIA is embedded: the address that browsers reach this node by",
    );
  return {
    ports: read(
      env,
      "MEDIA_PORTS",
      [41_000, 41_999],
      `a range of ${fewestPorts} or more ports, as 41000-41999`,
      portRange,
    ),
    announce,
    tcp: read(env, "MEDIA_TCP", "on", "on or off", oneOf("on", "off")) === "on",
    turn: turnFrom(env),
  };
}

function portRange(text: string): [number, number] | undefined {
  const [, first, last] = /^(\d{1,5})-(\d{1,5})$/.exec(text) ?? [];
  const range: [number, number] = [Number(first), Number(last)];
  return range[0] >= 1024 && range[1] <= 65_535 && range[1] - range[0] + 1 >= fewestPorts ? range : undefined;
}

const turnUrl = (text: string): string | undefined =>
  /^turns?:[\w.:[\]-]{1,250}(\?transport=(udp|tcp))?$/.test(text) ? text : undefined;

function turnFrom(env: Env): MediaSettings["turn"] {
  const urls = read<string[]>(env, "TURN_URLS", [], "turn: or turns: URLs, comma-separated", listOf(turnUrl));
  const secret = secretEnv(env, "TURN_SECRET");
  if (urls.length === 0 && secret === null) return null;
  if (urls.length === 0) throw new StartupError("TURN_URLS must be set when TURN_SECRET is");
  if (secret === null) throw new StartupError("TURN_SECRET must be set when TURN_URLS is");
  return { urls, secret };
}
