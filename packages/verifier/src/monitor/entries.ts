import { EvidenceError } from "@signsealship/evidence/errors";
import {
  appendToEdge,
  type EdgeNode,
  emptyRoot,
  foldNodes,
  type LogEntry,
  leafMessage,
  parseEntry,
  tileWidth,
} from "@signsealship/evidence/log";
import { createAuditDays } from "./audit-days.ts";
import { sameBytes } from "./fork-proof.ts";
import { bundlesOf, LogBroken, nodeHash, type PublishedTree, rootOfLevel, sha256 } from "./published-log.ts";

/** The facts that a monitor stores about the log entries it has read, so that its next run can continue there. */
export type EntriesRead = {
  readonly size: number;
  /** The Merkle tree over the entries read so far, as its perfect subtrees, left to right. */
  readonly edge: readonly EdgeNode[];
  /**
   * The `link` of each `closing/v1` entry, with the index of the entry. Versions with the same predecessor have the
   * same link. So two entries with one link prove that a closing has two histories.
   */
  readonly links: ReadonlyMap<string, number>;
  /**
   * The index of a log's final entry, and the key of the next log that this entry names. Null while the log is in use,
   * and for a log that ended without such an entry.
   */
  readonly next: NextKey | null;
  /**
   * The latest day with an entry about the operator's records in this log or an earlier one, as YYYY-MM-DD; null for
   * none.
   */
  readonly auditDay: string | null;
  /** The last entry that names a policy of witnesses; null for none. */
  readonly policy: LoggedPolicy | null;
};

export type LoggedPolicy = { readonly index: number; readonly sha256: string };

export type NextKey = { readonly index: number; readonly key: string };

export const nothingRead: EntriesRead = {
  size: 0,
  edge: [],
  links: new Map(),
  next: null,
  auditDay: null,
  policy: null,
};

type Found = {
  readonly read: EntriesRead;
  /** Sentences about entries that can't be in an honest log. */
  readonly wrong: readonly string[];
  /** Sentences about entries that the log should have but lacks. */
  readonly missing: readonly string[];
  /**
   * The requested files that the log contains, keyed by SHA-256. `index` is that of the first entry about the file,
   * which can be a retraction. `retracted` is the reason of the file's retraction; null without one.
   */
  readonly places: ReadonlyMap<string, FilePlace>;
};

export type FilePlace = { readonly index: number; readonly retracted: string | null };

/** The number of bundles of entries that are downloaded at the same time. */
const ahead = 8;

type ReadOptions = {
  readonly wanted: ReadonlySet<string>;
  readonly earlierLinks: ReadonlySet<string>;
  readonly days: { readonly earlierDay: string | null; readonly judgedDay: string | null };
  readonly comparesTiles: boolean;
  readonly onEntry?: (index: number, line: string) => void;
};

/**
 * Reads the log's new entries, computes the root over all entries, and compares it with the checkpoint's root.
 *
 * @param options
 * - `wanted`: the SHA-256 in hex of sealed files to look for.
 * - `earlierLinks`: the hash links in earlier logs, as `EntriesRead.links`.
 * - `days.earlierDay`: the latest day with an `audit/v1` entry in earlier logs.
 * - `days.judgedDay`: the day up to which gaps were already reported.
 * - `comparesTiles`: also compares each tile of hashes with the entries, which requires reading from the first entry.
 * - `onEntry`: called with the index and the line of each entry that is read.
 * @throws LogBroken when the entries do not lead to the checkpoint, or a published file is missing or wrong
 */
export async function readEntries(tree: PublishedTree, before: EntriesRead, options: ReadOptions): Promise<Found> {
  const { size, root } = tree.checkpoint;
  const edge = [...before.edge];
  const rules = entryRules(before, options);
  const levels = options.comparesTiles ? tileComparison(tree) : null;
  for await (const { first, entries } of bundlesFrom(tree, before.size))
    for (const [place, entry] of entries.entries()) {
      const leaf = sha256(leafMessage(entry));
      appendToEdge(edge, leaf, nodeHash);
      rules.judgeLine(first + place, entry);
      options.onEntry?.(first + place, Buffer.from(entry).toString("latin1"));
      // Awaits only if tiles are compared, because one await for each of a million entries takes seconds.
      if (levels) await levels.push(0, leaf);
    }
  await levels?.finish();
  const hashes = edge.map(({ hash }) => hash);
  if (!sameBytes(foldNodes(hashes, nodeHash) ?? (await emptyRoot()), root))
    throw new LogBroken(`The ${size} entries do not lead to the root that the log signed.`);
  const { links, days, wrong, places } = rules;
  const read = { size, edge, links, ...rules.ends(), auditDay: days.last() };
  return { read, wrong, missing: days.gaps(options.days.judgedDay), places };
}

/** Reads the entries from index `start` on, bundle by bundle. `first` is the index of the first entry in `entries`. */
async function* bundlesFrom(tree: PublishedTree, start: number) {
  const count = bundlesOf(tree.checkpoint.size);
  for (let next = Math.floor(start / tileWidth); next < count; next += ahead) {
    const numbers = Array.from({ length: Math.min(ahead, count - next) }, (_, i) => next + i);
    const bundles = await Promise.all(numbers.map((n) => tree.bundle(n)));
    for (const [i, bundle] of bundles.entries()) {
      const first = (next + i) * tileWidth;
      const read = Math.max(0, start - first);
      yield { first: first + read, entries: bundle.slice(read) };
    }
  }
}

const maxSentences = 100;

/**
 * Collects at most a hundred sentences. Without a limit, a malicious log could cause one for each of millions of
 * entries.
 */
function cappedSentences() {
  const sentences: string[] = [];
  const add = (sentence: string): void => {
    if (sentences.length < maxSentences) sentences.push(sentence);
    else sentences[maxSentences] = "There are more such entries.";
  };
  return { sentences, add };
}

/** Checks that entries match the grammar, and that they do not contradict each other. */
function entryRules(before: EntriesRead, { wanted, earlierLinks, days: dayRules }: ReadOptions) {
  const links = new Map(before.links);
  const days = createAuditDays(before.auditDay ?? dayRules.earlierDay);
  let { next, policy } = before;
  const { sentences: wrong, add } = cappedSentences();
  const places = new Map<string, FilePlace>();
  const judge = (index: number, entry: LogEntry): void => {
    if (next) add(`Entry ${index} comes after entry ${next.index}, with which the log ended.`);
    if (entry.kind === "logkey/v1" && entry.change === "next") next ??= { index, key: entry.key };
    if (entry.kind === "closing/v1") {
      const earlier = links.get(entry.link);
      if (earlier !== undefined) add(`Entries ${earlier} and ${index} have one link: a closing has two histories.`);
      else links.set(entry.link, index);
      if (earlierLinks.has(entry.link))
        add(`Entry ${index} and an entry of an earlier log have one link: a closing has two histories.`);
    }
    if (entry.kind === "audit/v1") days.add(entry.day);
    if (entry.kind === "policy/v1") policy = { index, sha256: entry.sha256 };
    if (entry.kind === "import/v1" && Number(entry.count) !== index)
      add(`Entry ${index} says that ${entry.count} entries stand before it.`);
    if ("sealedSha256" in entry && wanted.has(entry.sealedSha256)) {
      const existing = places.get(entry.sealedSha256);
      const retracted = entry.kind === "retract/v1" ? entry.reason : (existing?.retracted ?? null);
      places.set(entry.sealedSha256, { index: existing?.index ?? index, retracted });
    }
  };
  return {
    links,
    days,
    wrong,
    places,
    ends: () => ({ next, policy }),
    judgeLine(index: number, bytes: Uint8Array): void {
      try {
        judge(index, parseEntry(Buffer.from(bytes).toString("latin1")));
      } catch (error) {
        if (!(error instanceof EvidenceError)) throw error;
        add(`Entry ${index} is not of the log's grammar: ${error.message}.`);
      }
    },
  };
}

/** Computes the tiles of all levels from the leaves, and compares each with the published one. */
function tileComparison(tree: PublishedTree) {
  const open = new Map<number, { n: number; hashes: Uint8Array[] }>();
  const compare = async (level: number, n: number, hashes: readonly Uint8Array[]): Promise<void> => {
    if (!sameBytes(await tree.tile(level, n), Buffer.concat(hashes)))
      throw new LogBroken(`Tile ${n} of level ${level} is not what the entries give.`);
  };
  const push = async (level: number, hash: Uint8Array): Promise<void> => {
    const { n, hashes } = open.get(level) ?? { n: 0, hashes: [] };
    hashes.push(hash);
    if (hashes.length < tileWidth) {
      open.set(level, { n, hashes });
      return;
    }
    await compare(level, n, hashes);
    open.set(level, { n: n + 1, hashes: [] });
    await push(level + 1, rootOfLevel(hashes));
  };
  const finish = async (): Promise<void> => {
    for (const [level, { n, hashes }] of open) if (hashes.length > 0) await compare(level, n, hashes);
  };
  return { push, finish };
}
