import { EvidenceError } from "@signsealship/evidence/errors";
import { type LogEntry, parseEntry, type SignedCheckpoint, type TrustedLog } from "@signsealship/evidence/log";
import { parseTrustList, trustListPath } from "@signsealship/evidence/seal";
import type { Fetch } from "../url/fetch-bounded.ts";
import { LogBroken, LogUnreadable, openPublishedLog, type PublishedTree } from "./published-log.ts";

/** Matches the URL of a service's log. The groups are the service's own URL and the name of the log. */
const addressForm = /^(https?:\/\/.*)\/log\/((?:live|test)(?:-\d{1,3})?)\/?$/i;

/**
 * Returns the logs in a service's trust list.
 * @param from the URL of one of the service's logs
 * @returns null if `from` is a folder, or if the service has no trust list
 */
export async function publishedLogs(from: string, fetch: Fetch): Promise<readonly TrustedLog[] | null> {
  const base = addressForm.exec(from)?.[1];
  const list = base === undefined ? null : await openPublishedLog(base, fetch)(trustListPath.slice(1));
  return list && parseTrustList(list).logs;
}

/** The name of the log that a key belongs to: the last part of the origin in the key. */
export const nameInKey = (key: string): string => /([^/]*?)\+/.exec(key)?.[1] ?? "";

/** The name of the log at a URL; null for a folder. */
export const nameAt = (from: string): string | null => addressForm.exec(from)?.[2] ?? null;

/** The log that follows one that ended: its URL and key. `isVouchedFor`: the ended log's last entry names this key. */
export type NextLog = { readonly from: string; readonly key: string; readonly isVouchedFor: boolean };

/**
 * Finds the log that follows an ended log. The ended log's last entry names the key of the next log. After a compromise
 * or a loss, that entry is missing, but the service's trust list names the next log.
 * @param named the key in the ended log's last entry; null without such an entry
 * @returns null for a log that has not ended, and for a copy in a folder. Also null when the trust list is unreadable,
 * or the key is not of a later log
 */
export async function nextLog(from: string, key: string, named: string | null, fetch: Fetch): Promise<NextLog | null> {
  const base = addressForm.exec(from)?.[1];
  if (base === undefined) return null;
  if (named !== null) return isLater(from, named) ? { ...addressOf(base, named), isVouchedFor: true } : null;
  const logs = await publishedLogs(from, fetch).catch((error) => {
    // Without a readable trust list, the order of the logs is unknown.
    if (error instanceof LogUnreadable || error instanceof EvidenceError) return null;
    throw error;
  });
  const place = logs?.findIndex((one) => one.key === key && one.end) ?? -1;
  const environment = logs?.[place]?.environment;
  const next = place < 0 ? undefined : logs?.slice(place + 1).find((one) => one.environment === environment);
  return next && isLater(from, next.key) ? { ...addressOf(base, next.key), isVouchedFor: false } : null;
}

const addressOf = (base: string, key: string) => ({ from: `${base}/log/${nameInKey(key)}`, key });

/**
 * True if a key is of a later log than the one at the URL, such as `live-3` after `live-2`. Without this check, the
 * keys could lead in a circle.
 */
function isLater(from: string, key: string): boolean {
  const [, environment, number = "1"] = /^(live|test)(?:-(\d{1,3}))?$/.exec(nameInKey(key)) ?? [];
  const [own, ownNumber = "1"] = nameAt(from)?.split("-") ?? [];
  return environment === own && Number(number) > Number(ownNumber);
}

/**
 * Checks the first two entries of a log: they must state the key and the end of the log before it.
 * @param before the earlier log's key and newest checkpoint
 * @returns sentences about dishonest behavior
 * @throws LogBroken for entries that can't be read
 */
export async function judgeSuccession(
  tree: PublishedTree,
  before: { readonly key: string; readonly checkpoint: Pick<SignedCheckpoint, "origin" | "size" | "root"> },
): Promise<string[]> {
  const { origin } = tree.checkpoint;
  const [first, second] = (await tree.bundle(0)).slice(0, 2).map(entryOf);
  const { origin: oldOrigin, size, root } = before.checkpoint;
  if (first?.kind !== "logkey/v1" || first.change !== "end" || first.key !== before.key)
    return [`The first entry of ${origin} does not end the key of ${oldOrigin}.`];
  if (second?.kind !== "end/v1" || second.origin !== oldOrigin)
    return [`The second entry of ${origin} does not say how ${oldOrigin} ended.`];
  const matchesEnd = String(size) === second.size && Buffer.from(root).toString("hex") === second.root;
  if (matchesEnd) return [];
  return [
    `${oldOrigin} ended with ${second.size} entries, as ${origin} says, and shows another state, of ${size} entries: somebody signs with the old key, or changed the end.`,
  ];
}

function entryOf(bytes: Uint8Array): LogEntry {
  try {
    return parseEntry(Buffer.from(bytes).toString("latin1"));
  } catch (error) {
    if (error instanceof EvidenceError) throw new LogBroken(`An entry can't be read: ${error.message}.`);
    throw error;
  }
}
