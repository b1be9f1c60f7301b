import { createHash, createHmac, randomBytes } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { startHttpDouble } from "./http-double.ts";

/** The calendar's behavior: `proper`, or one kind of fault. */
export type CalendarMode =
  | "proper"
  | "slow"
  | "server-error"
  | "redirect"
  | "hang-up"
  | "garbage"
  | "trailing-bytes"
  | "oversize"
  | "forgets"
  | "only-unknown";

/** A "mined" block of the double: its height and its 80-byte header. */
export type FakeBlock = { readonly height: number; readonly header: Buffer };

/** An OpenTimestamps calendar on loopback. It speaks the real protocol, on its own chain. */
export type CalendarDouble = {
  readonly url: string;
  readonly order: (mode: CalendarMode) => void;
  /** Puts all waiting submissions into a block. Each commitment gets its own Merkle path. */
  readonly mine: () => FakeBlock;
  /** The digests that `POST /digest` accepted, in hex. */
  readonly submitted: readonly string[];
  /** Requested paths, in order. */
  readonly requests: readonly string[];
  readonly close: () => Promise<void>;
};

const SLOW_MS = 60_000;
const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest();
const append = (bytes: Buffer) => Buffer.concat([Buffer.from([0xf0, bytes.length]), bytes]);
const prepend = (bytes: Buffer) => Buffer.concat([Buffer.from([0xf1, bytes.length]), bytes]);
const hashOp = Buffer.from([0x08]);
const pendingTag = "83dfe30d2ef90c8e";
const bitcoinTag = "0588960d73d71901";
const attestation = (tag: string, payload: Buffer) =>
  Buffer.concat([Buffer.from(`00${tag}`, "hex"), Buffer.from([payload.length]), payload]);

/** Starts the double. @param options.uri the calendar's URL in attestations; its real URL by default */
export async function startCalendar(options: { readonly uri?: string } = {}): Promise<CalendarDouble> {
  const key = randomBytes(32);
  const closing = new AbortController();
  const submitted: string[] = [];
  const requests: string[] = [];
  /** The timestamp of each known commitment, by the commitment in hex. Null until its block is mined. */
  const known = new Map<string, Buffer | null>();
  let mode: CalendarMode = "proper";
  let height = 800_000;

  const server = await startHttpDouble(async (request, body, response) => {
    requests.push(request.url ?? "");
    const uri = options.uri ?? server.url;
    if (mode === "hang-up") return void request.socket.destroy();
    if (mode === "server-error") return void response.writeHead(500).end("to order");
    if (mode === "redirect") return void response.writeHead(302, { location: "/elsewhere" }).end();
    if (mode === "slow") await wait(SLOW_MS, undefined, { signal: closing.signal }).catch(() => {});
    if (mode === "garbage") return void response.writeHead(200).end("<html>hello</html>");
    if (mode === "oversize") return void response.writeHead(200).end(Buffer.alloc(20_000, 0x08));

    if (request.method === "POST" && request.url === "/digest") {
      if (body.length === 0 || body.length > 64) return void response.writeHead(400).end("digest of a wrong length");
      submitted.push(body.toString("hex"));
      const promise = promised(body, key, uri);
      known.set(promise.commitment.toString("hex"), null);
      response.writeHead(200, { "content-type": "application/octet-stream" });
      if (mode === "only-unknown") return void response.end(attestation("0102030405060708", Buffer.from("x")));
      return void response.end(
        mode === "trailing-bytes" ? Buffer.concat([promise.timestamp, Buffer.from("x")]) : promise.timestamp,
      );
    }
    const commitment = /^\/timestamp\/([0-9a-f]+)$/.exec(request.url ?? "")?.[1];
    const timestamp = commitment === undefined || mode === "forgets" ? undefined : known.get(commitment);
    if (timestamp === undefined) return void response.writeHead(404).end("Commitment not found");
    if (timestamp === null) return void response.writeHead(404).end("Pending confirmation in Bitcoin blockchain");
    response.writeHead(200).end(timestamp);
  });

  return {
    url: server.url,
    submitted,
    requests,
    order: (next) => {
      mode = next;
    },
    mine: () => {
      height += 1;
      const waiting = [...known].filter(([, timestamp]) => timestamp === null).map(([hex]) => hex);
      const { root, paths } = merkleTree(waiting.map((hex) => Buffer.from(hex, "hex")));
      const block = attestation(bitcoinTag, varuint(height));
      for (const [index, hex] of waiting.entries())
        known.set(hex, Buffer.concat([paths[index] ?? Buffer.alloc(0), block]));
      return { height, header: header(root) };
    },
    close: async () => {
      closing.abort();
      await server.close();
    },
  };
}

/**
 * The operations that a calendar applies to a submitted digest: they add a nonce, the time in seconds, and an
 * authentication code. The result is the commitment.
 */
function promised(digest: Buffer, key: Buffer, uri: string): { commitment: Buffer; timestamp: Buffer } {
  const nonce = randomBytes(16);
  const second = Buffer.alloc(4);
  second.writeUInt32BE(Math.floor(Date.now() / 1000));
  const leaf = Buffer.concat([second, sha256(Buffer.concat([digest, nonce]))]);
  const code = createHmac("sha256", key).update(leaf).digest().subarray(0, 8);
  const text = Buffer.from(uri);
  const promise = attestation(pendingTag, Buffer.concat([varuint(text.length), text]));
  return {
    commitment: Buffer.concat([leaf, code]),
    timestamp: Buffer.concat([append(nonce), hashOp, prepend(second), append(code), promise]),
  };
}

/**
 * Hashes the commitments one after another into one root. `paths` has, for each commitment, the operations that lead
 * from it to the root.
 */
function merkleTree(commitments: readonly Buffer[]): { root: Buffer; paths: Buffer[] } {
  let root = sha256(Buffer.from("an empty block"));
  const paths: Buffer[] = [];
  for (const commitment of commitments) {
    const leaf = sha256(commitment);
    for (const [index, path] of paths.entries()) paths[index] = Buffer.concat([path, append(leaf), hashOp]);
    paths.push(Buffer.concat([hashOp, prepend(root), hashOp]));
    root = sha256(Buffer.concat([root, leaf]));
  }
  return { root, paths };
}

/** A block header with this merkle root. Its other fields match no real block. */
function header(root: Buffer): Buffer {
  const bytes = Buffer.alloc(80);
  root.copy(bytes, 36);
  bytes.writeUInt32LE(1_700_000_000, 68);
  return bytes;
}

function varuint(value: number): Buffer {
  const groups: number[] = [];
  let rest = value;
  for (; rest > 0x7f; rest = Math.floor(rest / 128)) groups.push(0x80 | (rest % 128));
  return Buffer.from([...groups, rest]);
}
