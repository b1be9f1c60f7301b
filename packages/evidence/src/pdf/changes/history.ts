import { loadRevisions, type PdfDocument, startxrefValue } from "../document.ts";
import type { Revision } from "../revisions.ts";
import { lastIndexOfText } from "../search.ts";
import { integerOf } from "../values.ts";
import { judgeStep, type StepResult } from "./judge.ts";
import { isReadAlike, type Lost, lostIn, misleads } from "./lost.ts";
import { createReach, type Reach, reachFromChanged, reachFromTrailer } from "./reach.ts";
import { createView, entriesOfRevision, type Stored, type Table, type View } from "./view.ts";

/**
 * How close to the end of a file readers look for `startxref`. If it is farther away, some readers search the whole
 * file for objects.
 */
const STARTXREF_WINDOW = 1024;

/** The document as of a signed revision. */
export type Moment = {
  readonly view: View;
  readonly reach: Reach;
  /** The highest end offset of the objects read so far. */
  readonly reaches: number;
};

/**
 * Classifies each revision after revision `oldest` by its changes to the revision before it. Revisions are numbered
 * from the newest, which is 0.
 *
 * @param oldest index of the revision to start from: the next later revision is compared with it
 * @param end where revision `oldest` ends
 * @param visit called with the document at each revision, from `oldest` to the newest
 * @returns the result of each later revision, oldest first. One more result with the level `other` follows if unnamed
 * objects follow the last revision, or if some readers may search the file for objects
 * @throws EvidenceError when the document is unreadable, or reading takes too much work
 */
export function judgeHistory(
  document: PdfDocument,
  oldest: number,
  end: number,
  visit: (revision: number, moment: Moment) => void,
): StepResult[] {
  const revisions = loadRevisions(document);
  const table: Table = new Map();
  const containers = new Set<number>();
  for (const revision of revisions.slice(oldest).toReversed()) {
    merge(table, entriesOfRevision(document, revision), containers);
  }
  const cache: ObjectCache = new Map();
  const reach = createReach();
  let earlier = createView(documentAt(document, oldest), (number) => table.get(number), cache);
  reachFromTrailer(reach, earlier);
  const lost = lostIn(document, revisions);
  const signed = lost.filter(({ at }) => at < end);
  const { base, bytes } = document;
  const isFar = bytes.length - document.startxref > STARTXREF_WINDOW;
  const isMisled = end < bytes.length && (isFar || misleads(signed, table, base, cache.values()));
  let reaches = furthest(cache.values());
  visit(oldest, { view: earlier, reach, reaches });
  const steps: StepResult[] = [];
  for (let index = oldest - 1; index >= 0; index--) {
    const revision = revisions[index];
    if (revision === undefined) break;
    const changed = entriesOfRevision(document, revision);
    const fresh: ObjectCache = new Map();
    const entryOf = (number: number) => (changed.has(number) ? inUse(changed.get(number)) : table.get(number));
    const read = (number: number) => (changed.has(number) ? fresh : cache);
    const later = createView(documentAt(document, index), entryOf, {
      has: (number) => read(number).has(number),
      get: (number) => read(number).get(number),
      set: (number, stored) => read(number).set(number, stored),
    });
    const step = judgeStep(earlier, later, reach, { changed, revision, containers });
    steps.push(isReadAlike(revision, table) ? step : { ...step, level: "other" });
    merge(table, changed, containers);
    for (const number of changed.keys()) cache.delete(number);
    for (const [number, stored] of fresh) cache.set(number, stored);
    reaches = Math.max(reaches, furthest(fresh.values()));
    earlier = createView(documentAt(document, index), (number) => table.get(number), cache);
    reachFromChanged(reach, earlier, changed.keys());
    reachFromTrailer(reach, earlier);
    visit(index, { view: earlier, reach, reaches });
  }
  const later = lost.filter(({ at }) => at >= end);
  // If `isMisled`, some readers may search the file for objects. These readers can find objects that differ from those
  // in the cross-reference sections. Either `startxref` is far from the end, or the signed bytes contain an object that
  // no section names.
  if (isMisled) later.push({ at: bytes.length, number: null });
  return withLost(steps, revisions.slice(0, oldest), later);
}

/**
 * Assigns the level `other` to each revision with objects that no cross-reference section names. If such objects follow
 * the last revision, adds a step with this level.
 */
function withLost(steps: readonly StepResult[], later: readonly Revision[], lost: readonly Lost[]): StepResult[] {
  const ends = later.map(({ main }) => main.offset).reverse();
  const found = new Set(lost.map(({ at }) => ends.findIndex((end) => at < end)));
  const judged = steps.map((step, index) => (found.has(index) ? { ...step, level: "other" as const } : step));
  return found.has(-1) ? [...judged, { level: "other", touched: [], invisible: [] }] : judged;
}

type ObjectCache = Map<number, Stored | undefined>;

/**
 * Opens the document as of a revision. The result shares the budget, the decryption keys and the parsed object streams,
 * but not the cache of resolved objects.
 */
export function documentAt(document: PdfDocument, index: number): PdfDocument {
  const revisions = document.revisions.slice(index);
  const trailer = revisions[0]?.main.trailer ?? document.trailer;
  return { ...document, revisions, trailer, objects: new Map() };
}

/**
 * Adds a revision's cross-reference entries to the table of an older revision.
 * @param containers collects the object streams to which the entries point
 */
function merge(table: Table, entries: Table, containers: Set<number>): void {
  for (const [number, entry] of entries) {
    if (entry.type === "compressed") containers.add(entry.stream);
    if (entry.type === "free") table.delete(number);
    else table.set(number, entry);
  }
}

const inUse = (entry: ReturnType<Table["get"]>) => (entry?.type === "free" ? undefined : entry);

function furthest(objects: Iterable<Stored | undefined>): number {
  let end = 0;
  for (const stored of objects) end = Math.max(end, stored?.end ?? 0);
  return end;
}

/**
 * The index of the revision that consists of the first `end` bytes, or -1. The last `startxref` in these bytes must
 * lead to their newest cross-reference section. That section and all earlier sections must be complete.
 */
export function revisionEndingAt(document: PdfDocument, end: number): number {
  const revisions = loadRevisions(document);
  const index = revisions.findIndex(({ main }) => main.offset < end);
  const [revision] = revisions.slice(index, index + 1);
  if (index < 0 || revision === undefined) return -1;
  const startxref = lastIndexOfText(document.bytes, "startxref", end, 0);
  if (
    startxref < 0 ||
    startxrefValue(document.bytes.subarray(0, end), startxref) !== revision.main.offset - document.base
  ) {
    return -1;
  }
  if (sectionsEnd(revision) > startxref) return -1;
  return revisions.slice(index).every((one) => sectionsEnd(one) <= end) ? index : -1;
}

function sectionsEnd({ main, hybrid }: Revision): number {
  return Math.max(
    ...[main, hybrid].map((section) => {
      if (section === undefined) return 0;
      const data = section.kind === "stream" ? (integerOf(section.trailer, "Length") ?? 0) : 0;
      return section.end + data;
    }),
  );
}
