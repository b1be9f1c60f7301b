import type { SignedCheckpoint } from "@signsealship/evidence/log";
import { printable } from "../files/shell.ts";
import type { ComparedFile } from "./compared-files.ts";
import type { FilePlace, readEntries } from "./entries.ts";
import type { Findings } from "./findings.ts";
import type { NextLog } from "./next-log.ts";

/**
 * The result of the command. The exit code: 0 for no fault. 1: the log behaved dishonestly, or does not do what it
 * promised. 2: the log can't be read, or a given file is not about this log.
 */
export type MonitorAnswer = { readonly json: object; readonly text: string; readonly exitCode: 0 | 1 | 2 };

/** The findings of one run about one log, and the next log of the same service. */
export type WatchedLog = {
  readonly facts: Watched;
  readonly findings: Findings;
  readonly checkpoint: SignedCheckpoint | null;
  readonly found: Pick<Awaited<ReturnType<typeof readEntries>>, "read" | "places"> | null;
  readonly next: NextLog | null;
};

type Watched = {
  readonly from: string;
  readonly key: string;
  readonly origin?: string;
  readonly size?: number;
  /** The number of entries that this run read. */
  readonly read?: number;
  readonly fork?: string | null;
};

/** The position of a sealed PDF in the logs: its entry, and the log that contains it. Null if no log contains it. */
type PlaceOfFile = { readonly path: string; readonly place: (FilePlace & { readonly origin: string }) | null };

function placeIn(logs: readonly WatchedLog[], sealedSha256: string): PlaceOfFile["place"] {
  const places = logs.flatMap(({ found, checkpoint }) => {
    const place = found?.places.get(sealedSha256);
    return place && checkpoint ? [{ ...place, origin: checkpoint.origin }] : [];
  });
  // The first place is the seal's own entry. A later log can contain only the retraction of that entry.
  const [first] = places;
  return first ? { ...first, retracted: places.find(({ retracted }) => retracted !== null)?.retracted ?? null } : null;
}

/** Makes the answer about a log. Its member `followedBy` has the results for the log's successors, in their order. */
export function answerOf(logs: readonly WatchedLog[], files: readonly ComparedFile[]): MonitorAnswer {
  const places: PlaceOfFile[] = files.flatMap(({ path, sealedSha256 }) =>
    sealedSha256 === null || logs.some(({ found }) => !found) ? [] : [{ path, place: placeIn(logs, sealedSha256) }],
  );
  const ofFiles = [
    ...logs.flatMap(({ findings }) => findings.ofFiles),
    ...places.flatMap(({ path, place }) => (place ? [] : [`${path} is not in this log, or not yet.`])),
  ];
  const isWrong = logs.some(({ findings }) => findings.isWrong || findings.missing.length > 0);
  const lines = [
    ...logs.flatMap(linesOf),
    ...places.flatMap(({ path, place }) => (place ? [placeText(path, place, logs.length > 1)] : [])),
    ...ofFiles,
    ...(isWrong ? [] : ["Nothing is wrong."]),
  ];
  const [first, ...others] = logs.map(({ facts, findings: { sentences, missing } }) => ({
    ...facts,
    findings: sentences,
    missing,
  }));
  const followedBy = others.length > 0 ? { followedBy: others } : {};
  const exitCode = isWrong ? 1 : ofFiles.length > 0 ? 2 : 0;
  // The log chooses origins and entries. Unprintable characters in them could erase the findings from a terminal.
  const text = lines.map(printable).join("\n");
  return { json: { ...first, places, files: ofFiles, ...followedBy }, text, exitCode };
}

function linesOf({ facts, findings, next }: WatchedLog): string[] {
  const { from, origin = from, size, read = 0, fork = null } = facts;
  return [
    size === undefined ? origin : `${origin}: ${size} entries, ${read} of them read now`,
    ...findings.notes,
    ...findings.sentences.map((sentence) => `WRONG: ${sentence}`),
    ...findings.missing.map((sentence) => `MISSING: ${sentence}`),
    ...(fork === null ? [] : [`The proof is in ${fork}. Show it to others.`]),
    ...(next ? [`${origin} has ended.`] : []),
  ];
}

function placeText(
  path: string,
  { index, origin, retracted }: NonNullable<PlaceOfFile["place"]>,
  isOneOfMany: boolean,
) {
  const where = isOneOfMany ? ` of ${origin}` : "";
  return `${path}: entry ${index}${where}${retracted === null ? "" : `, retracted (${retracted})`}`;
}
