/**
 * The hash chain of a session's chunks, with one line for each chunk. A take is one participant's recording over one
 * connection. All takes of a session share one sequence, so that no participant's takes can be removed unnoticed.
 */
import { createHash } from "node:crypto";
import { canonicalJson } from "@signsealship/evidence/manifest";

/**
 * `from` and `to` are milliseconds since the start of the take. `at` is this server's time in ISO 8601. `n` is the
 * number of the chunk in its take; the take's header is chunk 0.
 */
export type ChainLine = {
  readonly seq: number;
  readonly at: string;
  readonly take: number;
  /** The session's name for the participant whose media the take contains. */
  readonly person: string;
  readonly n: number;
  readonly from: number;
  readonly to: number;
  readonly key: boolean;
  readonly bytes: number;
  readonly sha256: string;
  readonly previousSha256: string;
};

/** The state of a chain: the number of its lines, and the hash of the last one. */
export type ChainHead = { readonly seq: number; readonly sha256: string };

export const sha256Hex = (bytes: string | Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

/** The head of a chain that has no lines yet. */
export const emptyChain: ChainHead = { seq: 0, sha256: sha256Hex("") };

/** The text of a line that is hashed: canonical JSON, as `jq -Sca .` writes it, without the line feed. */
export const lineText = (line: ChainLine): string => canonicalJson(line);

export const headAfter = (line: ChainLine): ChainHead => ({ seq: line.seq, sha256: sha256Hex(lineText(line)) });

const members = ["at", "bytes", "from", "key", "n", "person", "previousSha256", "seq", "sha256", "take", "to"];
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;
const isHash = (value: unknown): boolean => typeof value === "string" && /^[0-9a-f]{64}$/.test(value);

/**
 * Reads a line of the chain that a recording's chunks form.
 * @throws Error for a text that is not exactly one line of a chain in canonical form
 */
export function readLine(text: string): ChainLine {
  const line = JSON.parse(text) as ChainLine;
  const isLine =
    typeof line === "object" &&
    line !== null &&
    Object.keys(line).sort().join() === members.join() &&
    [line.seq, line.take, line.n, line.from, line.to, line.bytes].every(isCount) &&
    [line.sha256, line.previousSha256].every(isHash) &&
    typeof line.key === "boolean" &&
    typeof line.at === "string" &&
    typeof line.person === "string" &&
    lineText(line) === text;
  if (!isLine) throw new Error("a line of a recording's chain is not in its form");
  return line;
}

/**
 * Verifies that lines continue the chain from the head `from`.
 * @returns the new head, or the number (`seq`) of the first line that does not follow its predecessor
 */
export function followChain(from: ChainHead, lines: readonly ChainLine[]): ChainHead | { readonly brokenAt: number } {
  let head = from;
  for (const line of lines) {
    if (line.seq !== head.seq + 1 || line.previousSha256 !== head.sha256) return { brokenAt: line.seq };
    head = headAfter(line);
  }
  return head;
}
