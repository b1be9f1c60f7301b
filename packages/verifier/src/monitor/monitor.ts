import { readFile } from "node:fs/promises";
import { EvidenceError } from "@signsealship/evidence/errors";
import { parseCheckpoint, type SignedCheckpoint } from "@signsealship/evidence/log";
import { UsageError } from "../errors.ts";
import { printable } from "../files/shell.ts";
import type { Fetch } from "../url/fetch-bounded.ts";
import { type FilePlace, nothingRead, readEntries } from "./entries.ts";
import { Findings } from "./findings.ts";
import { isForkFile, isSignedBy, parseFork, whyNoFork } from "./fork-proof.ts";
import { type GivenCheckpoint, type GivenFile, givenFile } from "./given-files.ts";
import { readState, writeState } from "./monitor-state.ts";
import { judgeSuccession, type NextLog, nameAt, nameInKey, nextLog, publishedLogs } from "./next-log.ts";
import { LogUnreadable, openPublishedLog, PublishedTree, type ReadLog } from "./published-log.ts";

export type MonitorOptions = {
  /** The log's key, `NAME+ID+BASE64`; null to use the key of an earlier run, or the key that the log publishes. */
  readonly key: string | null;
  /** The folder that stores the state between runs; null to store nothing. */
  readonly state: string | null;
  /** Files that contain checkpoints (proofs, evidence zips, checkpoints), or sealed PDFs to look for. */
  readonly with: readonly string[];
  /** Whether to read all entries and all tiles again. */
  readonly isFull: boolean;
  readonly fetch: Fetch;
  /**
   * Given a log's origin, opens the records that the log's operator keeps, so that the log can be compared with them.
   * Only the operator can pass this.
   */
  readonly own?: (origin: string) => Promise<OwnRecords>;
};

/** The records that a log's operator keeps about it. */
type OwnRecords = {
  readonly key: string;
  /** The newest checkpoint that the operator recorded of a tree with at most `size` entries; null if there is none. */
  readonly checkpointUpTo: (size: number) => Promise<(GivenCheckpoint & { readonly size: number }) | null>;
  readonly take: (index: number, line: string) => void;
  readonly findings: () => readonly string[];
};

/**
 * The exit code: 0 when nothing is wrong, 1 when the log did what an honest log never does, 2 when the log can't be
 * read, or a given file does not belong to this log.
 */
export type MonitorAnswer = { readonly json: object; readonly text: string; readonly exitCode: 0 | 1 | 2 };

/**
 * Watches a transparency log from outside. Checks that its newest checkpoint is signed and continues every earlier or
 * given checkpoint, and that all entries lead to its root and follow the rules that anybody can check.
 *
 * @param from the log's address (`https://HOST/log/live`), the folder of a copy, or a file that claims to prove a fork
 * @throws UsageError for files or keys that cannot be read
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

/** Watches a log, and the logs that followed it. */
async function watch(from: string, options: MonitorOptions): Promise<MonitorAnswer> {
  const files = await Promise.all(options.with.map(givenFile));
  const logs: WatchedLog[] = [];
  for (let next: NextLog | null = { from, key: "", isVouchedFor: true }; next; ) {
    const one: WatchedLog = await watchOne(next, options, files, logs);
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

const checkpointsOf = (files: readonly GivenFile[]): GivenCheckpoint[] =>
  files.flatMap(({ checkpoints }) => checkpoints);

/** The findings of one run about one log, and the log that follows it. */
type WatchedLog = {
  readonly facts: Watched;
  readonly findings: Findings;
  readonly checkpoint: SignedCheckpoint | null;
  readonly found: Pick<Awaited<ReturnType<typeof readEntries>>, "read" | "places"> | null;
  readonly next: NextLog | null;
};

async function watchOne(
  { from, key: expected, isVouchedFor }: NextLog,
  options: MonitorOptions,
  files: readonly GivenFile[],
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
  const seen = state.checkpoint === null ? [] : [{ name: "the earlier run", note: state.checkpoint }];
  const given = checkpointsOf(files).filter(({ note }) => parseCheckpoint(note).origin === checkpoint.origin);
  for (const other of [...seen, ...given]) await findings.during(() => findings.requireBeginsWith(tree, other, key));
  const own = await options.own?.(checkpoint.origin);
  if (own) await holdAgainstOwn(own, tree, key, findings);
  if (previous?.checkpoint) {
    const before = { key: previous.facts.key, checkpoint: previous.checkpoint };
    findings.sentences.push(...((await findings.during(() => judgeSuccession(tree, before))) ?? []));
  }
  const wanted = new Set(files.flatMap(({ sealedSha256 }) => sealedSha256 ?? []));
  // Entries that earlier runs read are not enough in these cases. After a fault, for example, the log may have two
  // histories, and these entries may belong to the other one.
  const before = options.isFull || own || wanted.size > 0 || findings.isWrong ? nothingRead : state.read;
  const earlierLinks = new Set(earlier.flatMap((one) => [...(one.found?.read.links.keys() ?? [])]));
  const rules = { wanted, earlierLinks, comparesTiles: options.isFull, ...(own && { take: own.take }) };
  const found = await findings.during(() => readEntries(tree, before, rules));
  findings.sentences.push(...(found?.wrong ?? []), ...((found && own?.findings()) ?? []));
  const fork = await findings.writeFork(options.state ?? ".");
  // The state is not stored after a finding, so the next run compares the log with the last good state.
  if (options.state !== null && found && !findings.isWrong)
    await writeState(options.state, from, { key, checkpoint: note, read: found.read });
  const { origin, size } = checkpoint;
  const facts = { from, key, origin, size, read: size - before.size, fork };
  const next = await nextLog(from, key, found?.read.next?.key ?? null, options.fetch);
  return { facts, findings, checkpoint, found, next };
}

/**
 * The operator recorded each checkpoint that its log signed. Any other checkpoint means a stolen key or a lost
 * database.
 */
async function holdAgainstOwn(own: OwnRecords, tree: PublishedTree, key: string, findings: Findings): Promise<void> {
  const { size } = tree.checkpoint;
  if (own.key !== key) findings.sentences.push("The key is not the one of this installation's log.");
  const newest = await own.checkpointUpTo(size);
  if (newest) await findings.during(() => findings.requireBeginsWith(tree, newest, key));
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

/** Reads a checkpoint; for an unreadable one, returns the reason. */
function readCheckpoint(note: string): SignedCheckpoint | string {
  try {
    return parseCheckpoint(note);
  } catch (error) {
    if (error instanceof EvidenceError) return error.message;
    throw error;
  }
}

type Watched = {
  readonly from: string;
  readonly key: string;
  readonly origin?: string;
  readonly size?: number;
  /** How many entries this run read. */
  readonly read?: number;
  readonly fork?: string | null;
};

/** Where a sealed PDF is in the logs: its entry, and the log that contains it. Null if none does. */
type GivenPlace = { readonly path: string; readonly place: (FilePlace & { readonly origin: string }) | null };

function placeIn(logs: readonly WatchedLog[], sealedSha256: string): GivenPlace["place"] {
  const places = logs.flatMap(({ found, checkpoint }) => {
    const place = found?.places.get(sealedSha256);
    return place && checkpoint ? [{ ...place, origin: checkpoint.origin }] : [];
  });
  // A later log may retract entries of an earlier one.
  const [first] = places;
  return first ? { ...first, retracted: places.find(({ retracted }) => retracted !== null)?.retracted ?? null } : null;
}

/** The answer about a log. `followedBy` has the results for the logs after it, in their order. */
function answerOf(logs: readonly WatchedLog[], files: readonly GivenFile[]): MonitorAnswer {
  const places: GivenPlace[] = files.flatMap(({ path, sealedSha256 }) =>
    sealedSha256 === null || logs.some(({ found }) => !found) ? [] : [{ path, place: placeIn(logs, sealedSha256) }],
  );
  const ofFiles = [
    ...logs.flatMap(({ findings }) => findings.ofFiles),
    ...places.flatMap(({ path, place }) => (place ? [] : [`${path} is not in this log, or not yet.`])),
  ];
  const isWrong = logs.some(({ findings }) => findings.isWrong);
  const lines = [
    ...logs.flatMap(linesOf),
    ...places.flatMap(({ path, place }) => (place ? [placeText(path, place, logs.length > 1)] : [])),
    ...ofFiles,
    ...(isWrong ? [] : ["Nothing is wrong."]),
  ];
  const [first, ...others] = logs.map(({ facts, findings }) => ({ ...facts, findings: findings.sentences }));
  const followedBy = others.length > 0 ? { followedBy: others } : {};
  const exitCode = isWrong ? 1 : ofFiles.length > 0 ? 2 : 0;
  // Origins and entries come from the log. Unprintable characters in them could erase the findings from a terminal.
  const text = lines.map(printable).join("\n");
  return { json: { ...first, places, files: ofFiles, ...followedBy }, text, exitCode };
}

function linesOf({ facts, findings, next }: WatchedLog): string[] {
  const { from, origin = from, size, read = 0, fork = null } = facts;
  return [
    size === undefined ? origin : `${origin}: ${size} entries, ${read} of them read now`,
    ...findings.notes,
    ...findings.sentences.map((sentence) => `WRONG: ${sentence}`),
    ...(fork === null ? [] : [`The proof is in ${fork}. Show it to others.`]),
    ...(next ? [`${origin} has ended.`] : []),
  ];
}

function placeText(path: string, { index, origin, retracted }: NonNullable<GivenPlace["place"]>, isOneOfMany: boolean) {
  const where = isOneOfMany ? ` of ${origin}` : "";
  return `${path}: entry ${index}${where}${retracted === null ? "" : `, retracted (${retracted})`}`;
}
