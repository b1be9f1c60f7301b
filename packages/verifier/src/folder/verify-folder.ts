import { relative } from "node:path";
import type { Progress } from "../cli/progress.ts";
import type { Context } from "../context.ts";
import { UsageError } from "../errors.ts";
import { type ClosingPiece, roomRecordPiece, verifyClosingSet } from "../files/closing-set.ts";
import { readBounded } from "../files/read-file.ts";
import {
  type Check,
  check,
  exitCodeOf,
  failedOn,
  failure,
  type Report,
  type Verdict,
  worstOf,
} from "../files/report.ts";
import { verifyUnits } from "./pool.ts";
import { type Unit, unitsOf } from "./units.ts";

export type FolderDeps = {
  readonly workers: number;
  /** Creates a progress bar for this many units. Null if no progress bar is shown. */
  readonly progress: ((total: number) => Progress) | null;
};

type Member = { readonly path: string; readonly kind: Report["kind"] };

/**
 * Verifies everything in a folder. The report contains one check for a verified file, and all checks of any other file.
 * Manifests and certificates of one room are verified together. If such a file does not fail alone, only the checks of
 * the room cover it.
 */
export async function verifyFolder(root: string, context: Context, deps: FolderDeps): Promise<Report> {
  const { units, passedOver: otherNames } = await unitsOf(root).catch((error: unknown) => {
    if (error instanceof RangeError) throw new UsageError(`${root}: ${error.message}`);
    if (error instanceof Error && "code" in error) throw new UsageError(`${root} cannot be read (${error.code})`);
    throw error;
  });
  const bar = deps.progress === null || units.length === 0 ? null : deps.progress(units.length);
  let passedOver = otherNames;
  const found: Found = { checks: new Map(), verdicts: new Map(), rooms: new Map() };
  await verifyUnits(units, context, deps.workers, (index, report) => {
    const unit = units[index];
    if (report === null) passedOver++;
    else if (unit !== undefined) addResult(found, index, relative(root, unit.path) || ".", unit, report);
    bar?.step(report !== null && report.closing === undefined && exitCodeOf(report.verdict) !== 0);
  });
  bar?.end();
  const checks = [...found.checks].sort(([a], [b]) => a - b).flatMap(([, own]) => own);
  const verdicts = new Map(found.verdicts);
  const rooms = [...found.rooms].sort(([a], [b]) => (a < b ? -1 : 1));
  for (const [roomCode, members] of rooms) {
    const report = await verifyRoom(members, context).catch(failedOn);
    count(verdicts, report.verdict);
    const own = [check("verdict", resultOf(report.verdict), summaryOf(report)), ...report.checks];
    checks.push(...own.map((one) => ({ ...one, target: `room ${roomCode}` })));
  }
  if (verdicts.size === 0) {
    return failure("folder", "not_verified", "folder", "There is no evidence in this folder.");
  }
  return {
    verdict: worstOf(verdicts.keys()),
    kind: "folder",
    checks,
    facts: {
      ...Object.fromEntries([...verdicts].map(([verdict, n]) => [verdict, String(n)])),
      passedOver: String(passedOver),
    },
  };
}

type Found = {
  readonly checks: Map<number, Check[]>;
  readonly verdicts: Map<Verdict, number>;
  readonly rooms: Map<string, Member[]>;
};

/** Adds the result of one unit to the findings about the folder. */
function addResult(
  { checks, verdicts, rooms }: Found,
  index: number,
  target: string,
  unit: Unit,
  report: Report,
): void {
  const { closing, verdict, kind } = report;
  if (closing !== undefined) {
    const members = rooms.get(closing.roomCode) ?? [];
    members.push({ path: unit.path, kind });
    rooms.set(closing.roomCode, members);
    if (verdict !== "not_verified") return;
  }
  count(verdicts, verdict);
  const summary = { ...check("verdict", resultOf(verdict), summaryOf(report)), target };
  const all = exitCodeOf(verdict) === 0 ? [] : report.checks.map((one) => ({ ...one, target }));
  checks.set(index, [summary, ...all]);
}

async function verifyRoom(members: readonly Member[], context: Context): Promise<Report> {
  const pieces: ClosingPiece[] = [];
  for (const { path, kind } of members) {
    const bytes = await readBounded(path);
    if (kind === "room_record") pieces.push(roomRecordPiece({ path, bytes }));
    else pieces.push(kind === "manifest" ? { path, manifest: bytes } : { path, certificate: bytes });
  }
  return verifyClosingSet(pieces, context);
}

function count(verdicts: Map<Verdict, number>, verdict: Verdict): void {
  verdicts.set(verdict, (verdicts.get(verdict) ?? 0) + 1);
}

function resultOf(verdict: Verdict): Check["result"] {
  if (exitCodeOf(verdict) === 0) return "holds";
  return verdict === "intact" || verdict === "unchecked" ? "unchecked" : "fails";
}

function summaryOf({ verdict, kind, facts, checks }: Report): string {
  const fault = checks.find(({ result }) => result === "fails")?.detail;
  const about = facts.sealedSha256 ?? facts.digest ?? facts.messageImprint;
  return [`${verdict}: ${kind.replaceAll("_", " ")}`, about && `SHA-256 ${about}`, fault].filter(Boolean).join("; ");
}
