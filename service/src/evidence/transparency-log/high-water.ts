import { readFile } from "node:fs/promises";
import {
  consistencyRanges,
  parseCheckpoint,
  type SignedCheckpoint,
  tilesOf,
  verifyConsistency,
} from "@signsealship/evidence/log";
import type { Sql } from "../../kernel/platform/database/database.ts";
import { writeFileDurably } from "../../kernel/platform/durable-file.ts";
import { byPlace, hashOfRange, LogHalt, nodeHash } from "./grow.ts";
import { selectHashes } from "./store.ts";
import type { Tree } from "./trees.ts";

/**
 * The file with the newest checkpoint that a node signed, or accepted from another node. It is outside of the database,
 * next to the key, so that a restored backup can't undo it.
 */
const highWaterPath = (keyPath: string): string => `${keyPath}.state`;

/**
 * Reads the newest checkpoint that this node signed, or accepted from another node; null when there is none.
 * @throws LogHalt for a file that can't be read or does not contain a checkpoint
 */
export async function readHighWater(keyPath: string): Promise<SignedCheckpoint | null> {
  const path = highWaterPath(keyPath);
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw new LogHalt(`${path} cannot be read`, { cause: error });
  }
  try {
    return parseCheckpoint(text);
  } catch (error) {
    throw new LogHalt(`${path} holds no checkpoint`, { cause: error });
  }
}

/**
 * Writes a checkpoint durably to the file, in place of the earlier one. Call this before a checkpoint of this node is
 * published.
 */
export const writeHighWater = (keyPath: string, note: string): Promise<void> =>
  writeFileDurably(highWaterPath(keyPath), note, { mode: 0o600 });

/**
 * Checks that a tree extends the tree of an earlier checkpoint.
 * @param name names the checkpoint in the error
 * @throws LogHalt if it does not
 */
export async function requireBeginsWith(
  db: Sql,
  tree: Pick<Tree, "log" | "origin" | "size" | "root">,
  checkpoint: Pick<SignedCheckpoint, "origin" | "size" | "root">,
  name: string,
): Promise<void> {
  const { log, origin, size, root } = tree;
  const { size: oldSize, root: oldRoot } = checkpoint;
  if (checkpoint.origin !== origin)
    throw new LogHalt(`${name} is of the log ${checkpoint.origin}, and this is ${origin}`);
  if (oldSize > size)
    throw new LogHalt(`the database has ${size} entries, and ${name} has ${oldSize}: it is an older database`);
  const ranges = consistencyRanges(oldSize, size);
  const tiles = byPlace(ranges.length === 0 ? [] : await selectHashes(db, log, tilesOf(ranges)));
  const proof = ranges.map((range) => hashOfRange(tiles, range));
  if (!(await verifyConsistency({ oldSize, oldRoot, size, root, proof }, nodeHash)))
    throw new LogHalt(
      `the tree of ${size} entries does not begin with ${name} of ${oldSize} entries: it was rewritten`,
    );
}
