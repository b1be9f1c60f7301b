import { isIP } from "node:net";
import { StartupError } from "../platform/errors.ts";
import { parseAddress } from "../platform/network.ts";
import { type Env, listOf, oneOf, read, secretEnv, wholeNumber } from "./read.ts";

type Relay = { urls: string[]; secret: string };

/** Live audio and video through the media engine inside this service. */
export type EmbeddedMedia = {
  engine: "embedded";
  /**
   * The range of UDP ports, and of TCP ports when `tcp` is on. Each connection uses one port, and each participant has
   * two connections.
   */
  ports: readonly [first: number, last: number];
  /** The IP address to which browsers send their audio and video. */
  announce: string;
  tcp: boolean;
  turn: Relay | null;
};

/** Live audio and video through a LiveKit server, or through several LiveKit servers behind one URL. */
export type LivekitMedia = {
  engine: "livekit";
  /** The URL of the server's signalling and API, which only this service uses. */
  url: string;
  key: string;
  secret: string;
  turn: Relay | null;
};

export type MediaSettings = EmbeddedMedia | LivekitMedia;

const localNames = new Set(["localhost", "127.0.0.1", "[::1]"]);
const minPorts = 16;

/**
 * The settings of live audio and video; null when MEDIA is off.
 * @param baseUrl if it is local, MEDIA_ANNOUNCE defaults to the loopback address
 */
export function mediaFrom(env: Env, baseUrl: string): MediaSettings | null {
  const engine = read(env, "MEDIA", "off", "embedded, livekit or off", oneOf("embedded", "livekit", "off"));
  return engine === "off" ? null : engine === "livekit" ? livekitFrom(env) : embeddedFrom(env, baseUrl);
}

function embeddedFrom(env: Env, baseUrl: string): EmbeddedMedia {
  const isLocal = localNames.has(URL.parse(baseUrl)?.hostname ?? "");
  const announce = read<string | null>(env, "MEDIA_ANNOUNCE", isLocal ? "127.0.0.1" : null, "an IP address", (text) =>
    isIP(text) ? text : undefined,
  );
  if (announce === null)
    throw new StartupError(
      "MEDIA_ANNOUNCE must be set when MEDIA is embedded: the address that browsers reach this node by",
    );
  return {
    engine: "embedded",
    ports: read(
      env,
      "MEDIA_PORTS",
      [41_000, 41_999],
      `a range of ${minPorts} or more ports, as 41000-41999`,
      portRange,
    ),
    announce,
    tcp: read(env, "MEDIA_TCP", "on", "on or off", oneOf("on", "off")) === "on",
    turn: turnFrom(env),
  };
}

/** The least length of a LiveKit secret. LiveKit itself refuses a shorter one outside its development mode. */
const minSecretLength = 32;

function livekitFrom(env: Env): LivekitMedia {
  const url = read<string | null>(env, "LIVEKIT_URL", null, livekitRule, livekitUrl);
  const key = secretEnv(env, "LIVEKIT_API_KEY");
  const secret = secretEnv(env, "LIVEKIT_API_SECRET");
  if (url === null) throw new StartupError("LIVEKIT_URL must be set when MEDIA is livekit");
  if (key === null) throw new StartupError("LIVEKIT_API_KEY must be set when MEDIA is livekit");
  if (secret === null) throw new StartupError("LIVEKIT_API_SECRET must be set when MEDIA is livekit");
  if (secret.length < minSecretLength)
    throw new StartupError(`LIVEKIT_API_SECRET must have at least ${minSecretLength} characters`);
  return { engine: "livekit", url, key, secret, turn: turnFrom(env) };
}

/**
 * NODE_URL: the URL at which the other nodes of the same database reach this node; null when unset. Requests to it
 * contain session cookies, so plain HTTP is allowed only in a private network.
 */
export const nodeUrlFrom = (env: Env): string | null =>
  read<string | null>(
    env,
    "NODE_URL",
    null,
    "an https URL, or an http URL of a private host, without a path",
    (text) => {
      const url = URL.parse(text);
      if (!url || !/^https?:$/.test(url.protocol) || url.username || url.search || url.hash || url.pathname !== "/")
        return undefined;
      return url.protocol === "https:" || isPrivateHost(url.hostname) ? url.origin : undefined;
    },
  );

const [minFreeMb, maxFreeMb] = [100, 100_000_000];

/** Reads RECORDINGS_FREE_MB, and converts it to bytes. */
export const recordingsFreeFrom = (env: Env): number =>
  1_000_000 *
  read(
    env,
    "RECORDINGS_FREE_MB",
    5_000,
    `a whole number of megabytes, from ${minFreeMb} to ${maxFreeMb}`,
    wholeNumber(minFreeMb, maxFreeMb),
  );

const livekitRule = "an https or wss URL, or an http or ws URL of a private host";

/** True for a private IP address, or a name that resolves only on this machine or in a container network. */
const isPrivateHost = (name: string): boolean => {
  const address = parseAddress(name.replace(/^\[|\]$/g, ""));
  return address ? privateRanges.has(address.range()) : !name.includes(".") || name.endsWith(".internal");
};
const privateRanges: ReadonlySet<string> = new Set(["loopback", "private", "uniqueLocal", "linkLocal"]);

/**
 * Reads the URL of a LiveKit server.
 * @returns the URL with http or https instead of ws or wss, because fetch supports no ws. Undefined if the URL is
 * invalid, or if it is unencrypted and its host is public
 */
function livekitUrl(text: string): string | undefined {
  const url = URL.parse(text);
  if (!url || !/^(https?|wss?):$/.test(url.protocol) || url.username || url.search || url.hash) return undefined;
  // Tokens and session descriptions must not cross a public network unencrypted.
  if (/^(http|ws):$/.test(url.protocol) && !isPrivateHost(url.hostname)) return undefined;
  return text.replace(/^ws/, "http").replace(/\/$/, "");
}

function portRange(text: string): [number, number] | undefined {
  const [, first, last] = /^(\d{1,5})-(\d{1,5})$/.exec(text) ?? [];
  const range: [number, number] = [Number(first), Number(last)];
  return range[0] >= 1024 && range[1] <= 65_535 && range[1] - range[0] + 1 >= minPorts ? range : undefined;
}

const turnUrl = (text: string): string | undefined =>
  /^turns?:[\w.:[\]-]{1,250}(\?transport=(udp|tcp))?$/.test(text) ? text : undefined;

function turnFrom(env: Env): Relay | null {
  const urls = read<string[]>(env, "TURN_URLS", [], "turn: or turns: URLs, comma-separated", listOf(turnUrl));
  const secret = secretEnv(env, "TURN_SECRET");
  if (urls.length === 0 && secret === null) return null;
  if (urls.length === 0) throw new StartupError("TURN_URLS must be set when TURN_SECRET is");
  if (secret === null) throw new StartupError("TURN_SECRET must be set when TURN_URLS is");
  return { urls, secret };
}
