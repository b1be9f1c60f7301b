import { readFile } from "node:fs/promises";
import { EvidenceError } from "@signsealship/evidence/errors";
import { parseCheckpoint, type SignedCheckpoint } from "@signsealship/evidence/log";
import { UsageError } from "../errors.ts";
import { printable } from "../files/shell.ts";
import type { Fetch } from "../url/fetch-bounded.ts";
import { judgeAnchors, type Seen } from "./anchors.ts";
import { answerOf, type MonitorAnswer, type WatchedLog } from "./answer.ts";
import { overdueDays } from "./audit-days.ts";
import { type ComparedFile, type NamedCheckpoint, readComparedFile } from "./compared-files.ts";
import { type EntriesRead, nothingRead, readEntries } from "./entries.ts";
import { Findings } from "./findings.ts";
import { isForkFile, isSignedBy, parseFork, whyNoFork } from "./fork-proof.ts";
import { readState, writeState } from "./monitor-state.ts";
import { judgeSuccession, type NextLog, nameAt, nameInKey, nextLog, publishedLogs } from "./next-log.ts";
import { LogUnreadable, openPublishedLog, PublishedTree, type ReadLog } from "./published-log.ts";
import { keyByPolicy, policyNotes, type QuorumWait, type ReaderPolicy, readPolicy, requireQuorum } from "./quorum.ts";

export type MonitorOptions = {
  /**
   * The log's key, `NAME+ID+BASE64`. Null to use the key in the policy, else that of an earlier run, else the key that
   * the log publishes.
   */
  readonly key: string | null;
  /** The folder that stores the state between runs; null to store nothing. */
  readonly state: string | null;
  /**
   * The paths of files that contain checkpoints (proofs, evidence zips, checkpoints), or of sealed PDFs to look for.
   */
  readonly with: readonly string[];
  /** True to read all entries and all tiles again. */
  readonly isFull: boolean;
  readonly fetch: Fetch;
  readonly now: () => Date;
  /**
   * The path of a file with the reader's policy: the witnesses that must have cosigned (C2SP tlog-policy). Null if no
   * witness is required.
   */
  readonly policy: string | null;
  readonly quorumWait: QuorumWait;
  /**
   * Opens the operator's own records of the log with this origin, for comparison with the log. Only the operator can
   * pass this function.
   */
  readonly own?: (origin: string) => Promise<OwnRecords>;
};

/** The operator's own records about a log. */
type OwnRecords = {
  readonly key: string;
  /** The newest checkpoint in the operator's records whose tree has at most `size` entries; null if there is none. */
  readonly checkpointUpTo: (size: number) => Promise<(NamedCheckpoint & { readonly size: number }) | null>;
  readonly onEntry: (index: number, line: string) => void;
  readonly findings: () => readonly string[];
};

/**
 * Watches a transparency log from outside. Verifies that its newest checkpoint is signed and extends every earlier or
 * given checkpoint. Verifies that all entries lead to the checkpoint's root, and follow the rules that anybody can
 * check.
 *
 * Also finds hours without an anchor, days without the operator's records, and a state without the quorum of the
 * reader's policy.
 *
 * @param from the log's URL (`https://HOST/log/live`), the folder of a copy, or a file that claims to prove a fork
 * @throws UsageError for files or keys that cannot be read, or that are of another log
 */
export async function monitorAnswer(from: string, options: MonitorOptions): Promise<MonitorAnswer> {
  try {
    const fork = await forkFile(from);
    return fork === null ? await watch(from, options) : await judgeFork(fork, options.key);
  } catch (error) {
    if (error instanceof EvidenceError) throw new UsageError(error.message);
    if (!(error instanceof LogUnreadable)) throw error;
    const text = printable(`The log cannot be read: ${error.message}. Nothing is said of it.`);
    return { json: { from, unreadable: error.message }, text, exitCode: 2 };
  }
}

/** The text of a file that claims to prove a fork; null for any other target. */
async function forkFile(path: string): Promise<string | null> {
  if (/^https?:\/\//i.test(path)) return null;
  const text = await readFile(path, "utf8").catch(() => "");
  return isForkFile(text) ? text : null;
}

async function judgeFork(text: string, key: string | null): Promise<MonitorAnswer> {
  if (key === null) throw new UsageError("name the key of the log by --key");
  const why = await whyNoFork(parseFork(text), key);
  return why === null
    ? { json: { fork: true }, text: "Proven: this key signed two histories.", exitCode: 1 }
    : { json: { fork: false, why }, text: `This file proves nothing. ${why}`, exitCode: 0 };
}

/** Watches a log and its successors. */
async function watch(from: string, options: MonitorOptions): Promise<MonitorAnswer> {
  const files = await Promise.all(options.with.map(readComparedFile));
  const policy = options.policy === null ? null : await readPolicy(options.policy);
  const withKey = { ...options, key: policy ? keyByPolicy(policy, from, options.key) : options.key };
  const logs: WatchedLog[] = [];
  for (let next: NextLog | null = { from, key: "", isVouchedFor: true }; next; ) {
    const one: WatchedLog = await watchOne(next, withKey, policy, files, logs);
    logs.push(one);
    next = one.next;
  }
  const last = logs.at(-1)?.checkpoint;
  const origins = new Set(logs.map(({ checkpoint }) => checkpoint?.origin));
  for (const { name, note } of last ? checkpointsOf(files) : []) {
    const { origin } = parseCheckpoint(note);
    if (!origins.has(origin))
      throw new UsageError(printable(`${name} is of the log ${origin}, and this is ${last?.origin}`));
  }
  return answerOf(logs, files);
}

const checkpointsOf = (files: readonly ComparedFile[]): NamedCheckpoint[] =>
  files.flatMap(({ checkpoints }) => checkpoints);

async function watchOne(
  { from, key: expected, isVouchedFor }: NextLog,
  options: MonitorOptions,
  policy: ReaderPolicy | null,
  files: readonly ComparedFile[],
  earlier: readonly WatchedLog[],
): Promise<WatchedLog> {
  const previous = earlier.at(-1);
  const stated = previous ? expected : options.key;
  const state = await readState(options.state, from);
  if (state.key !== null && stated !== null && state.key !== stated)
    throw new UsageError(
      previous
        ? `${from} is the next log, with another key than in the earlier runs: name a new folder for --state`
        : "--key is not the key of the earlier runs: name a new folder for --state",
    );
  const read = openPublishedLog(from, options.fetch);
  const key = stated ?? state.key ?? (await publishedKey(from, read, options.fetch));
  const published = await read("checkpoint");
  if (!published) throw new LogUnreadable(`${from} has no checkpoint`);
  const note = Buffer.from(published).toString("utf8");
  const findings = new Findings();
  const checkpoint = await signedCheckpoint(note, key, findings);
  if (!checkpoint) return { facts: { from, key }, findings, checkpoint, found: null, next: null };
  if (!isVouchedFor && state.key === null)
    findings.notes.push(`${checkpoint.origin} follows by the word of its address alone: compare its key, ${key}`);
  const tree = new PublishedTree(read, { ...checkpoint, signed: note });
  const earlierRun = state.checkpoint === null ? [] : [{ name: "the earlier run", note: state.checkpoint }];
  const fromFiles = checkpointsOf(files).filter(({ note }) => parseCheckpoint(note).origin === checkpoint.origin);
  for (const other of [...earlierRun, ...fromFiles])
    await findings.during(() => findings.compareCheckpoint(tree, other, key));
  const own = await options.own?.(checkpoint.origin);
  if (own) await holdAgainstOwn(own, tree, key, findings);
  if (previous?.checkpoint) {
    const before = { key: previous.facts.key, checkpoint: previous.checkpoint };
    findings.sentences.push(...((await findings.during(() => judgeSuccession(tree, before))) ?? []));
  }
  const wanted = new Set(files.flatMap(({ sealedSha256 }) => sealedSha256 ?? []));
  // Any of these conditions makes the monitor read all entries again. For example, a finding can mean that the log has
  // two histories, and the stored facts may be about the other history.
  const before = options.isFull || own || wanted.size > 0 || findings.isWrong ? nothingRead : state.read;
  const earlierLinks = new Set(earlier.flatMap((one) => [...(one.found?.read.links.keys() ?? [])]));
  const earlierDay = previous?.found?.read.auditDay ?? null;
  const judgedDay = options.isFull ? null : state.read.auditDay;
  const days = { earlierDay, judgedDay };
  const rules = { wanted, earlierLinks, days, comparesTiles: options.isFull, ...(own && { onEntry: own.onEntry }) };
  const found = await findings.during(() => readEntries(tree, before, rules));
  findings.sentences.push(...(found?.wrong ?? []), ...((found && own?.findings()) ?? []));
  findings.missing.push(...(found?.missing ?? []));
  const next = await nextLog(from, key, found?.read.next?.key ?? null, options.fetch);
  const about = { from, key, findings, seen: state.seen };
  const seen = found && !next ? await judgePromises({ read, tree, found: found.read, policy }, about, options) : null;
  const fork = await findings.writeFork(options.state ?? ".");
  // After a finding, the new state is not stored, so that the next run compares the log with the last good state again.
  if (options.state !== null && found && !findings.isWrong)
    await writeState(options.state, from, { key, checkpoint: note, read: found.read, seen: seen ?? state.seen });
  const { origin, size } = checkpoint;
  const facts = { from, key, origin, size, read: size - before.size, fork };
  return { facts, findings, checkpoint, found, next };
}

/**
 * Finds promises that a log in use does not keep. They concern anchors, the operator's records, and the policy's
 * quorum.
 */
async function judgePromises(
  {
    read,
    tree,
    found,
    policy,
  }: { read: ReadLog; tree: PublishedTree; found: EntriesRead; policy: ReaderPolicy | null },
  about: { from: string; key: string; findings: Findings; seen: Seen | null },
  { now, quorumWait }: MonitorOptions,
): Promise<Seen> {
  const { from, findings, key } = about;
  const at = now();
  const seen = await judgeAnchors(read, tree, { ...about, now: at });
  const overdue = overdueDays(from, { last: found.auditDay, since: seen.since, now: at });
  if (overdue !== null) findings.missing.push(overdue);
  if (policy) {
    findings.notes.push(...policyNotes(policy, key, found.policy));
    await requireQuorum(read, tree, { key, policy, findings, wait: quorumWait });
  }
  return seen;
}

/**
 * Compares the log with the operator's own records. The operator records each checkpoint that the log's key signs. An
 * unrecorded checkpoint means a stolen key or a lost database.
 */
async function holdAgainstOwn(own: OwnRecords, tree: PublishedTree, key: string, findings: Findings): Promise<void> {
  const { size } = tree.checkpoint;
  if (own.key !== key) findings.sentences.push("The key is not the one of this installation's log.");
  const newest = await own.checkpointUpTo(size);
  if (newest) await findings.during(() => findings.compareCheckpoint(tree, newest, key));
  if (newest?.size !== size)
    findings.sentences.push(`The checkpoint of ${size} entries is not one that this installation signed.`);
}

/** The log's key, from the copy of the log or from the service's trust list. */
async function publishedKey(from: string, read: ReadLog, fetch: Fetch): Promise<string> {
  const own = await read("vkey");
  if (own) return Buffer.from(own).toString("utf8").trim();
  const name = nameAt(from);
  const key = (await publishedLogs(from, fetch))?.find((one) => nameInKey(one.key) === name)?.key;
  if (!key) throw new UsageError(`${from} publishes no key: name it by --key`);
  return key;
}

async function signedCheckpoint(note: string, key: string, findings: Findings): Promise<SignedCheckpoint | null> {
  const checkpoint = readCheckpoint(note);
  if (typeof checkpoint !== "string" && (await isSignedBy(checkpoint, key))) return checkpoint;
  findings.sentences.push(
    typeof checkpoint === "string"
      ? `The newest checkpoint cannot be read: ${checkpoint}.`
      : `The key did not sign the newest checkpoint of ${checkpoint.origin}.`,
  );
  return null;
}

/** Reads a checkpoint. If it is unreadable, returns the reason as a text. */
function readCheckpoint(note: string): SignedCheckpoint | string {
  try {
    return parseCheckpoint(note);
  } catch (error) {
    if (error instanceof EvidenceError) return error.message;
    throw error;
  }
}
