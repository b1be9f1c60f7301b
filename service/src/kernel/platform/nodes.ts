import { createHmac, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { type IncomingMessage, request as overHttp } from "node:http";
import { request as overTls } from "node:https";
import type { Clock } from "./clock.ts";
import { newUuid } from "./ids.ts";
import { deriveKey, keysOf, type SecretBytes } from "./secrets.ts";

/** Another node, and the URL at which this node reaches it. */
export type NodeAddress = { node: string; url: string };

/** The header of a request that one node forwards to another. */
export const nodeHeader = "signsealship-node";

/** The parts of a forwarded request that its header authenticates. */
type PassedOn = { method: string; path: string; client: string };

/**
 * The time for which a forwarded request's header is valid. The header is used at once, so this time only allows for
 * differences between the nodes' clocks.
 */
const validMs = 30_000;

/** The current process as one of several nodes on a database. The nodes authenticate each other with the master key. */
export class OwnNode {
  /** The name of this process. It is new at each start, and differs from those of all other processes. */
  readonly id = newUuid();
  /** NODE_URL: the URL at which other nodes reach this node; null when unset. */
  readonly url: string | null;
  readonly #secrets: SecretBytes;
  readonly #clock: Clock;

  constructor({ secrets, clock, url }: { secrets: SecretBytes; clock: Clock; url: string | null }) {
    this.#secrets = secrets;
    this.#clock = clock;
    this.url = url;
  }

  /**
   * The node's own URL with a MAC; null without NODE_URL. The caller stores both in the row of an object that the node
   * serves, such as a live session.
   */
  addressFor(row: string): { url: string; mac: Buffer } | null {
    if (this.url === null) return null;
    return { url: this.url, mac: addressMac(this.#secrets, row, { node: this.id, url: this.url }) };
  }

  /** True if a node wrote this URL into the row. So database access alone is not enough to redirect requests. */
  isAddressOf(row: string, address: NodeAddress, mac: Buffer): boolean {
    return keysOf(this.#secrets).some((key) => isSame(addressMac(key, row, address), mac));
  }

  /** The header of a request that this node forwards to `node`. It authenticates the request. */
  headerFor({ node }: NodeAddress, request: PassedOn): string {
    const at = this.#clock().getTime();
    const client = Buffer.from(request.client).toString("base64url");
    return `${node}.${at}.${client}.${callMac(this.#secrets, node, at, request)}`;
  }

  /**
   * Verifies the header of a forwarded request.
   * @returns the client's IP address, if a node made the header for this request at most `validMs` ago. `stale` when
   * such a header is for an earlier process at this node's URL; null for any other header
   */
  readHeader(header: string, { method, path }: Pick<PassedOn, "method" | "path">): { client: string } | "stale" | null {
    const [, node, at, encoded, mac] = /^([0-9a-f-]{36})\.(\d{1,16})\.([\w-]{0,200})\.([\w-]{43})$/.exec(header) ?? [];
    if (node === undefined || at === undefined || encoded === undefined || mac === undefined) return null;
    const client = Buffer.from(encoded, "base64url").toString();
    const request = { method, path, client };
    const read = Buffer.from(mac);
    // The MACs are compared as texts, not as bytes: the last base64url digit has unused bits, so several texts decode
    // to the same bytes.
    const isBy = (key: SecretBytes) => isSame(Buffer.from(callMac(key, node, Number(at), request)), read);
    if (!keysOf(this.#secrets).some(isBy)) return null;
    if (Math.abs(this.#clock().getTime() - Number(at)) > validMs) return null;
    return node === this.id ? { client } : "stale";
  }

  /**
   * The answer to a forwarded request whose header names another node. It proves that a node of this service has read
   * the header.
   */
  answerTo(header: string): string {
    return `${this.id}.${answerMac(this.#secrets, this.id, header)}`;
  }

  /**
   * Verifies another node's answer to this header.
   * @returns the node's name; null if the answer is not from a node of this service
   */
  readAnswer(answer: string, header: string): string | null {
    const [, node, mac] = /^([0-9a-f-]{36})\.([\w-]{43})$/.exec(answer) ?? [];
    if (node === undefined || mac === undefined) return null;
    const isBy = (key: SecretBytes) => isSame(Buffer.from(answerMac(key, node, header)), Buffer.from(mac));
    return keysOf(this.#secrets).some(isBy) ? node : null;
  }
}

/**
 * Finds out which other node of this service is at a URL, by a forwarded request for /healthz, which has no effect.
 * @returns the node's name; null for this node itself, for another program, or for a service with another master key.
 * Also null for a node whose clock differs by more than `validMs`.
 * @throws Error when nothing responds
 */
export async function nodeAt(own: OwnNode, url: string, signal: AbortSignal): Promise<string | null> {
  const path = "/healthz";
  const header = own.headerFor({ node: own.id, url }, { method: "GET", path, client: "" });
  const { protocol } = new URL(url);
  // Opens a new connection for each call, because a load balancer chooses a node for each connection.
  const call = (protocol === "https:" ? overTls : overHttp)(url + path, {
    agent: false,
    signal,
    headers: { [nodeHeader]: header },
  });
  const answered = once(call, "response") as Promise<[IncomingMessage]>;
  call.end();
  const [answer] = await answered;
  answer.resume();
  const proof = answer.headers[nodeHeader];
  return typeof proof === "string" ? own.readAnswer(proof, header) : null;
}

const isSame = (one: Buffer, other: Buffer): boolean => one.length === other.length && timingSafeEqual(one, other);

const addressMac = (key: SecretBytes, row: string, { node, url }: NodeAddress): Buffer =>
  createHmac("sha256", deriveKey(key, "node-address"))
    .update(JSON.stringify([row, node, url]))
    .digest();

const callMac = (key: SecretBytes, node: string, at: number, { method, path, client }: PassedOn): string =>
  createHmac("sha256", deriveKey(key, "node-call"))
    .update(JSON.stringify([node, at, method, path, client]))
    .digest("base64url");

const answerMac = (key: SecretBytes, node: string, header: string): string =>
  createHmac("sha256", deriveKey(key, "node-answer"))
    .update(JSON.stringify([node, header]))
    .digest("base64url");
