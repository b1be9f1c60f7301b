import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { EvidenceError } from "@signsealship/evidence/errors";
import {
  parseCheckpoint,
  parseWitnessPolicy,
  quorumClaim,
  type SignedCheckpoint,
  type WitnessPolicy,
} from "@signsealship/evidence/log";
import { UsageError } from "../errors.ts";
import type { LoggedPolicy } from "./entries.ts";
import type { Findings } from "./findings.ts";
import { isSignedBy } from "./fork-proof.ts";
import { nameAt, nameInKey } from "./next-log.ts";
import { LogBroken, PublishedTree, type ReadLog } from "./published-log.ts";

/**
 * A reader's policy: the witnesses that must have cosigned a log's states. `sha256` is the hash of the policy's file.
 */
export type ReaderPolicy = WitnessPolicy & { readonly sha256: string };

/**
 * Reads a reader's policy.
 * @throws UsageError for a file that can't be read, or that is not a policy (C2SP tlog-policy)
 */
export async function readPolicy(path: string): Promise<ReaderPolicy> {
  try {
    const text = await readFile(path, "utf8");
    return { ...(await parseWitnessPolicy(text)), sha256: createHash("sha256").update(text).digest("hex") };
  } catch (error) {
    if (error instanceof EvidenceError) throw new UsageError(`--policy: ${path}: ${error.message}`);
    if ((error as NodeJS.ErrnoException).code !== undefined) throw new UsageError(`--policy: ${path} cannot be read`);
    throw error;
  }
}

/**
 * Finds a log's key in the policy, by the caller's key or by the name of the log in its URL. If the policy names no
 * logs, returns the caller's key.
 * @param from the log's URL or folder
 * @param key the caller's key; null for none
 * @throws UsageError for a policy that does not name this log, or in which several logs could be meant
 */
export function keyByPolicy({ logs }: WitnessPolicy, from: string, key: string | null): string | null {
  if (logs.length === 0) return key;
  const name = nameAt(from);
  const named = logs.filter((one) => (key === null ? name === null || nameInKey(one) === name : one === key));
  if (named.length === 1) return named[0] ?? null;
  throw new UsageError(
    named.length === 0
      ? "--policy: the policy does not name this log"
      : "--policy: the policy names several such logs: name one by --key",
  );
}

export type QuorumWait = {
  /**
   * How long a state may lack its quorum, because the log requests cosignatures only after it has published the state.
   */
  readonly seconds: number;
  readonly sleep?: (ms: number) => Promise<unknown>;
};

const askEveryMs = 5_000;

/**
 * Requires the policy's quorum for a log's newest state. A log publishes a state before its witnesses cosign it. So the
 * newest state is read again until it has the quorum or the time is over. Adds a note for a quorum, and a `missing`
 * finding without one. A newer state must begin with the tree of the first one.
 */
export async function requireQuorum(
  read: ReadLog,
  tree: PublishedTree,
  { key, policy, findings, wait }: { key: string; policy: ReaderPolicy; findings: Findings; wait: QuorumWait },
): Promise<void> {
  const { size, signed } = tree.checkpoint;
  const sleep = wait.sleep ?? delay;
  let latest = parseCheckpoint(signed);
  let note = signed;
  let { state, why } = await quorumClaim(latest, policy);
  for (let waitedMs = 0; state !== "holds" && waitedMs < wait.seconds * 1_000; waitedMs += askEveryMs) {
    await sleep(askEveryMs);
    note = Buffer.from((await read("checkpoint")) ?? signed).toString("utf8");
    const newer = await signedOrNull(note, key);
    if (!newer || newer.origin !== latest.origin || newer.size < size) continue;
    latest = newer;
    ({ state, why } = await quorumClaim(newer, policy));
  }
  if (state !== "holds") {
    findings.missing.push(`The state of ${latest.size} entries still lacks its quorum after ${wait.seconds} s: ${why}`);
    return;
  }
  findings.notes.push(why);
  if (note === signed) return;
  const cosigned = new PublishedTree(read, { ...latest, signed: note });
  const first = { name: "the first checkpoint of this run", note: signed };
  await findings.during(() => findings.compareCheckpoint(cosigned, first, key));
}

async function signedOrNull(note: string, key: string): Promise<SignedCheckpoint | null> {
  try {
    const checkpoint = parseCheckpoint(note);
    return (await isSignedBy(checkpoint, key)) ? checkpoint : null;
  } catch (error) {
    if (error instanceof EvidenceError || error instanceof LogBroken) return null;
    throw error;
  }
}

/** Notes on whether the reader's policy names the log, and whether the log's entries name that policy. */
export function policyNotes({ logs, sha256 }: ReaderPolicy, key: string, logged: LoggedPolicy | null): string[] {
  const stranger = logs.length > 0 && !logs.includes(key) ? ["The policy does not name this log."] : [];
  if (!logged) return [...stranger, "The log names no policy of its own."];
  const { index } = logged;
  return logged.sha256 === sha256
    ? [...stranger, `The log names this policy in entry ${index}.`]
    : [...stranger, `The log names another policy in entry ${index}: compare it, at policy/${logged.sha256}.`];
}
