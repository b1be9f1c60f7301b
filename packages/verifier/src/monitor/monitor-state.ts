import { createHash } from "node:crypto";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type EdgeNode, emptyRoot, foldNodes, parseCheckpoint } from "@signsealship/evidence/log";
import { UsageError } from "../errors.ts";
import type { Seen } from "./anchors.ts";
import { type EntriesRead, type LoggedPolicy, type NextKey, nothingRead } from "./entries.ts";
import { sameBytes } from "./fork-proof.ts";
import { nodeHash } from "./published-log.ts";

/** The facts about a log that a monitor stores between its runs. */
export type MonitorState = {
  readonly key: string | null;
  /** The checkpoint of the last run without a finding, as it was signed; null before such a run. */
  readonly checkpoint: string | null;
  readonly read: EntriesRead;
  /** The facts for judging whether the log's anchors come in time; null if no run has stored them. */
  readonly seen: Seen | null;
};

type Stored = {
  key: string;
  checkpoint: string;
  edge: [number, string][];
  links: Record<string, number>;
  next?: NextKey;
  auditDay?: string | null;
  policy?: LoggedPolicy | null;
  seen?: Seen | null;
};

const emptyState: MonitorState = { key: null, checkpoint: null, read: nothingRead, seen: null };

/** The state file of the log at a URL or in a folder. Each URL or folder has its own file. */
const pathOf = (folder: string, from: string): string =>
  join(folder, `${createHash("sha256").update(from).digest("hex").slice(0, 16)}.json`);

/**
 * Reads the stored state of a log.
 * @throws UsageError for a file that can't be read, is not the state of a monitor, or contradicts itself
 */
export async function readState(folder: string | null, from: string): Promise<MonitorState> {
  if (folder === null) return emptyState;
  const path = pathOf(folder, from);
  const text = await textIfThere(path);
  if (text === null) return emptyState;
  const state = parsedState(text);
  const root =
    state &&
    foldNodes(
      state.read.edge.map(({ hash }) => hash),
      nodeHash,
    );
  const stored =
    state?.checkpoint === undefined || state.checkpoint === null ? null : parseCheckpoint(state.checkpoint);
  if (!state || !stored || stored.size !== state.read.size || !sameBytes(root ?? (await emptyRoot()), stored.root))
    throw new UsageError(`${path} is damaged: name a new folder for --state`);
  return state;
}

function parsedState(text: string): MonitorState | null {
  try {
    // A state file that an earlier release wrote lacks some members.
    const stored = JSON.parse(text) as Stored;
    const { key, checkpoint, edge, links, next = null, auditDay = null, policy = null, seen = null } = stored;
    const nodes = edge.map(([level, hash]): EdgeNode => ({ level, hash: new Uint8Array(Buffer.from(hash, "hex")) }));
    const size = nodes.reduce((sum, { level }) => sum + 2 ** level, 0);
    const read = { size, edge: nodes, links: new Map(Object.entries(links)), next, auditDay, policy };
    return { key, checkpoint, read, seen };
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return null;
    throw error;
  }
}

/**
 * Stores the state: writes a new file and renames it over the old one, so that an interrupted run leaves the old state.
 */
export async function writeState(
  folder: string,
  from: string,
  { key, checkpoint, read, seen }: MonitorState & { key: string; checkpoint: string },
): Promise<void> {
  const edge = read.edge.map(({ level, hash }): [number, string] => [level, Buffer.from(hash).toString("hex")]);
  const ended = read.next && { next: read.next };
  const { auditDay, policy } = read;
  const links = Object.fromEntries(read.links);
  const stored: Stored = { key, checkpoint, edge, links, ...ended, auditDay, policy, seen };
  await mkdir(folder, { recursive: true });
  const path = pathOf(folder, from);
  const unfinished = `${path}.${process.pid}`;
  await writeFile(unfinished, JSON.stringify(stored));
  await rename(unfinished, path);
}

async function textIfThere(path: string): Promise<string | null> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw new UsageError(`${path} cannot be read`);
  }
}
