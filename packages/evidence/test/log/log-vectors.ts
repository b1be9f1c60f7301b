import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { EvidenceError } from "../../src/errors.ts";
import {
  formatEntry,
  formatNoteKey,
  parseBundle,
  parseCheckpoint,
  parseEntry,
  parseNoteKey,
  parseTilePath,
  parseWitnessPolicy,
  type TrustedLog,
  verifyCarried,
  verifyConsistency,
  verifyLogProof,
} from "../../src/log/log.ts";
import { readCarriedCheckpoint, readSealPurpose } from "../../src/seal/closing-certificate.ts";
import { verifyDetachedLogProof } from "../../src/seal/detached-evidence.ts";
import type { SealPurpose } from "../../src/seal/purpose.ts";
import { parseTrustList } from "../../src/seal/trust-list.ts";
import type { VectorCheck } from "../vector-cases.ts";

/** A case of the log's test vectors: see the README of the vectors. */
export type LogVector = {
  readonly name: string;
  readonly kind:
    | "carried"
    | "key"
    | "checkpoint"
    | "policy"
    | "proof"
    | "sealed"
    | "stated"
    | "tree"
    | "path"
    | "bundle"
    | "trust-list";
  readonly text?: string;
  readonly hex?: string;
  readonly again?: { readonly at: number; readonly times: number; readonly of: string };
  /** The log's line that the proof should be about. */
  readonly entry?: string;
  readonly environment?: "live" | "test" | null;
  readonly logs?: readonly TrustedLog[];
  /** A policy with the witnesses that must have cosigned; the policy applies to all `logs`. */
  readonly policy?: string;
  /**
   * `carried` is the checkpoint in a seal; null for a value that is not a text. The next two members are the time that
   * the seal states, and the earliest trusted time stamp over the proof's checkpoint.
   */
  readonly carried?: string | null;
  readonly claimedTime?: number | null;
  readonly stampedTime?: number | null;
  /**
   * `file` is the name of a file in the test vectors `whole`; `purpose` is the purpose that its seal states. In vectors
   * of the kind `stated`, null means that the seal states none.
   */
  readonly file?: string;
  readonly purpose?: SealPurpose | null;
  readonly claims?: Readonly<Record<string, string>>;
  readonly tree?: {
    readonly oldSize: number;
    readonly oldRoot: string;
    readonly size: number;
    readonly root: string;
    readonly proof: readonly string[];
  };
  readonly expect: "accepted" | "refused";
};

const folder = new URL("../../vectors/", import.meta.url);
const json = (path: string) => JSON.parse(readFileSync(new URL(path, folder), "utf8"));
const bytesOf = (hex: string): Uint8Array => new Uint8Array(Buffer.from(hex, "hex"));

export const entries: { accept: string[]; reject: Record<string, string> } = json("log/entries.json");

function inputOf({ text, hex, again }: LogVector): Uint8Array {
  const given = text ?? hex ?? "";
  const whole = again ? given.slice(0, again.at) + again.of.repeat(again.times) + given.slice(again.at) : given;
  return text === undefined ? bytesOf(whole) : new Uint8Array(Buffer.from(whole));
}

const textOf = (one: LogVector): string => Buffer.from(inputOf(one)).toString("utf8");

const statesOf = (claims: readonly { name: string; state: string }[]) =>
  Object.fromEntries(claims.map(({ name, state }) => [name, state]));

async function isConsistent({ tree }: LogVector): Promise<boolean> {
  assert.ok(tree);
  const { oldSize, oldRoot, size, root, proof } = tree;
  return verifyConsistency({
    oldSize,
    oldRoot: bytesOf(oldRoot),
    size,
    root: bytesOf(root),
    proof: proof.map(bytesOf),
  });
}

/** Reads bytes and tells if they can be read. False if reading throws an EvidenceError. */
async function isRead(read: () => unknown): Promise<boolean> {
  try {
    await read();
    return true;
  } catch (error) {
    if (error instanceof EvidenceError) return false;
    throw error;
  }
}

const judges: Readonly<Record<LogVector["kind"], (one: LogVector) => Promise<boolean>>> = {
  key: (one) => isRead(async () => assert.equal(formatNoteKey(await parseNoteKey(textOf(one))), one.text)),
  checkpoint: (one) => isRead(() => parseCheckpoint(textOf(one))),
  policy: (one) => isRead(() => parseWitnessPolicy(textOf(one))),
  async proof(one) {
    const { entry = "", environment = null, logs = [] } = one;
    const policy = one.policy === undefined ? {} : { policy: await parseWitnessPolicy(one.policy) };
    const trusted = logs.map((log) => ({ ...log, ...policy }));
    const states = statesOf(await verifyLogProof({ proof: inputOf(one), entry, environment, logs: trusted }));
    assert.deepEqual(states, one.claims);
    return Object.values(states).every((state) => state === "holds");
  },
  async carried(one) {
    const { carried = null, text, environment = null, logs = [], claimedTime = null, stampedTime = null } = one;
    const logProof = text === undefined ? undefined : inputOf(one);
    const states = statesOf(await verifyCarried({ carried, logProof, environment, logs, claimedTime, stampedTime }));
    assert.deepEqual(states, one.claims);
    return Object.values(states).every((state) => state === "holds");
  },
  async sealed({ text = "", file = "", purpose = null, claims = {} }) {
    const bytes = new Uint8Array(readFileSync(new URL(`whole/${file}`, folder)));
    const sealedSha256 = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
    const proof = new Uint8Array(Buffer.from(text));
    const states = statesOf(await verifyDetachedLogProof({ proof, bytes, sealedSha256, purpose, logs: [] }));
    for (const [name, state] of Object.entries(claims)) assert.equal(states[name], state);
    return true;
  },
  async stated({ file = "", carried = null, purpose = null }) {
    const bytes = new Uint8Array(readFileSync(new URL(`whole/${file}`, folder)));
    assert.equal(await readCarriedCheckpoint(bytes), carried);
    assert.deepEqual(await readSealPurpose(bytes), purpose);
    return true;
  },
  tree: isConsistent,
  path: async (one) => parseTilePath(textOf(one)) !== null,
  bundle: (one) => isRead(() => parseBundle(inputOf(one))),
  "trust-list": (one) => isRead(() => parseTrustList(inputOf(one))),
};

/** The vectors of the transparency log. */
export const logChecks = (): VectorCheck[] => [
  ...entries.accept.map((line) => ({
    name: `reads the line ${line.slice(0, -1)} and writes it back`,
    run: () => assert.equal(formatEntry(parseEntry(line)), line),
  })),
  ...Object.entries(entries.reject).map(([name, line]) => ({
    name: `refuses the line: ${name}`,
    run: () => assert.throws(() => parseEntry(line), EvidenceError),
  })),
  ...(json("log/index.json") as LogVector[]).map((one) => ({
    name: `${one.name}: ${one.expect}`,
    run: async () => assert.equal(await judges[one.kind](one), one.expect === "accepted"),
  })),
];
