import { hash } from "node:crypto";
import { mkdir, readFile, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import {
  appendToEdge,
  type EdgeNode,
  foldNodes,
  hashesAt,
  type LogEntry,
  leafMessage,
  nodeMessage,
  parseBundle,
  parseCheckpoint,
  parseEntry,
  parseNoteKey,
  type SignedCheckpoint,
  type Tile,
  tilePath,
  tileWidth,
  verifyNote,
  widthAt,
} from "@signsealship/evidence/log";
import { auditLine } from "../../kernel/audit/audit.ts";
import type { Environment } from "../../kernel/identity/identity.ts";
import { type Fetch, requestBounded } from "../../kernel/platform/bounds/bounded-request.ts";
import type { Clock } from "../../kernel/platform/clock.ts";
import { type Database, longStatements, type Sql, type Tx } from "../../kernel/platform/database/database.ts";
import { writeFileDurably } from "../../kernel/platform/durable-file.ts";
import { StartupError } from "../../kernel/platform/errors.ts";
import type { RowMac } from "../../kernel/platform/row-mac.ts";
import { edgePlaces, emptyRoot, grow, LogHalt } from "./grow.ts";
import { readHighWater, requireBeginsWith, writeHighWater } from "./high-water.ts";
import type { LogKeys } from "./key.ts";
import { publishedTile } from "./published.ts";
import { succeed } from "./retire.ts";
import {
  insertCheckpoint,
  insertLeaves,
  selectCheckpoint,
  selectNewestCheckpoint,
  selectTiles,
  tryLock,
  writeGrowth,
} from "./store.ts";
import {
  currentTree,
  endHalt,
  endTree,
  environmentOf,
  type LogName,
  type StoredTree,
  selectTree,
  selectTrees,
  type Tree,
} from "./trees.ts";

/** All tiles of a tree, lowest level first. A partial tile is listed with the width that the tree fills. */
function* tilesOfTree(size: number): Generator<Tile> {
  for (const level of ["entries", 0, 1, 2, 3, 4, 5, 6, 7] as const) {
    const count = Math.ceil(hashesAt(level === "entries" ? 0 : level, size) / tileWidth);
    for (let n = 0; n < count; n++) yield { level, n, width: widthAt({ level, n }, size) };
  }
}

type Exported = { folder: string; origin: string; size: number; files: number };

/**
 * Writes a log as static files: `checkpoint`, `vkey` and its tiles, for a web server or a bucket. Full tiles that
 * already exist are kept. The checkpoint is written last, so that it never covers a tile that is missing.
 * @throws StartupError for a log without a checkpoint, or a folder of another log
 */
export async function exportLog(db: Sql, log: LogName, folder: string): Promise<Exported> {
  const tree = await selectTree(db, log);
  const newest = await selectNewestCheckpoint(db, log);
  if (!tree || !newest) throw new StartupError(`the ${log} log has no checkpoint yet: start the service first`);
  const { origin, noteKey } = tree;
  const before = await textIfThere(join(folder, "checkpoint"));
  if (before !== null && parseCheckpoint(before).origin !== origin)
    throw new StartupError(`${folder} holds another log: name a new folder`);
  const { size } = newest;
  let files = 0;
  for (const tile of tilesOfTree(size)) {
    const path = join(folder, tilePath(tile));
    if (tile.width === tileWidth && (await textIfThere(path)) !== null) continue;
    const bytes = await publishedTile(db, log, tilePath(tile));
    if (!bytes) throw new Error(`the ${log} log lacks ${tilePath(tile)}`);
    await mkdir(dirname(path), { recursive: true });
    await writeFileDurably(path, bytes, { mode: 0o644 });
    files += 1;
  }
  await writeFileDurably(join(folder, "vkey"), `${noteKey}\n`, { mode: 0o644 });
  await writeFileDurably(join(folder, "checkpoint"), newest.note, { mode: 0o644 });
  return { folder, origin, size, files };
}

async function textIfThere(path: string): Promise<string | null> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

type RecoverDeps = { db: Database; rowMac: RowMac; clock: Clock; fetch: Fetch; keys: LogKeys };

type Recovered = { origin: string; size: number; added: number };

/** Reads a file of the copy by its path below the log's prefix; null when it does not exist. */
type ReadCopy = (path: string) => Promise<Buffer | null>;

const maxBytes = 256 * 1024;

/**
 * Restarts a log that halted because the database was restored from an older backup. Reads the missing entries from a
 * copy of the log. Requires that this log signed the copy's checkpoint, and that the resulting tree has the
 * checkpoint's root.
 * @param from an export (a folder), the URL of a log, or a file with only the newest checkpoint
 * @throws StartupError when the copy is not of this log, or is older than this node's high-water file; LogHalt when the
 * copy contradicts the log
 */
export async function recoverLog(deps: RecoverDeps, environment: Environment, from: string): Promise<Recovered> {
  const read = await openCopy(deps.fetch, from);
  const note = (await read("checkpoint"))?.toString("utf8");
  if (note === undefined) throw new StartupError(`${from} has no checkpoint`);
  const current = await currentTree(deps.db, environment);
  if (!current) throw new StartupError(`the ${environment} log has not begun: start the service first`);
  const signer = await deps.keys.open(current);
  const checkpoint = await ownCheckpoint(note, signer.key, from);
  const keyPath = deps.keys.pathOf(current.log);
  const highWater = await readHighWater(keyPath);
  if (highWater && highWater.size > checkpoint.size)
    throw new StartupError(
      `${from} has ${checkpoint.size} entries, and this node signed ${highWater.size}: name a newer copy`,
    );
  const recovered = await deps.db.transaction(async (tx) => {
    const busy = () => new StartupError(`another node works on the ${environment} log: try again`);
    if (!(await tryLock(tx, environment))) throw busy();
    const tree = await currentTree(tx, environment);
    if (tree?.log !== current.log) throw busy();
    const at = deps.clock();
    const { whole, last } = await grownTo(tx, at, tree, checkpoint.size, read);
    await requireBeginsWith(tx, whole, checkpoint, from);
    if (highWater) await requireBeginsWith(tx, whole, highWater, "what this node signed last");
    // The copy's note may also have cosignatures. So the log signs the checkpoint again, which gives the same signature
    // as before.
    const { size, root } = checkpoint;
    await insertCheckpoint(tx, tree.log, { size, note: signer.signed(size, root) }, at);
    await beginNext(tx, deps, await endHalt(tx, whole, at), last);
    const detail = { origin: tree.origin, size: whole.size, added: whole.size - tree.size };
    const line = { at, action: "log.recovered", actor: "operator", detail: { log: environment, ...detail } };
    await tx.query(auditLine(line));
    return detail;
  }, longStatements);
  if ((highWater?.size ?? -1) < checkpoint.size) await writeHighWater(keyPath, note);
  return recovered;
}

async function ownCheckpoint(note: string, key: string, from: string): Promise<SignedCheckpoint> {
  const checkpoint = parseCheckpoint(note);
  if ((await verifyNote(checkpoint.note, await parseNoteKey(key))) !== "signed")
    throw new StartupError(`the key of this log did not sign the checkpoint of ${from}`);
  return checkpoint;
}

/**
 * Begins the next log if the copy shows that this log ended. The next log is halted until it is recovered from its own
 * copy, because the database may lack its entries.
 * @param last the last entry in the copy; null for none
 */
async function beginNext(tx: Tx, deps: RecoverDeps, tree: Tree, last: LogEntry | null): Promise<void> {
  const at = deps.clock();
  if (last?.kind === "logkey/v1" && last.change === "next")
    await endTree(tx, {
      ...tree,
      finalSize: tree.size,
      successorKey: last.key,
      endReason: "rotation",
      endedAt: at,
    });
  else if (tree.finalSize === null) return;
  await succeed(tx, deps, environmentOf(tree.log), at);
}

/** Grows the tree by the entries that it lacks, one bundle of the copy after the other. */
async function grownTo(tx: Tx, at: Date, tree: StoredTree, size: number, read: ReadCopy) {
  let grown = tree;
  let last: LogEntry | null = null;
  while (grown.size < size) {
    const n = Math.floor(grown.size / tileWidth);
    const width = widthAt({ level: "entries", n }, size);
    const path = tilePath({ level: "entries", n, width });
    const bundle = await read(path);
    if (bundle === null) throw new StartupError(`the copy has no ${path}, with the entries that are missing`);
    const lines = parseBundle(bundle)
      .slice(grown.size % tileWidth)
      .map((entry) => Buffer.from(entry).toString("latin1"));
    for (const line of lines) last = parseEntry(line);
    if (lines.length === 0) throw new StartupError(`the copy's ${path} is too short`);
    const next = await grow(grown, await selectTiles(tx, grown.log, edgePlaces(grown.size)), lines);
    const after = { ...grown, size: next.size, root: next.root };
    if (!(await writeGrowth(tx, { tree: after, from: grown.size, tiles: next.tiles })))
      throw new StartupError(`another node works on the ${grown.log} log: try again`);
    await insertLeaves(tx, grown.log, grown.size, lines, at);
    grown = after;
  }
  return { whole: grown, last };
}

async function openCopy(fetch: Fetch, from: string): Promise<ReadCopy> {
  if (/^https?:\/\//.test(from)) return readUrl(fetch, from.replace(/\/+$/, ""));
  const found = await stat(from).catch(() => null);
  if (!found) throw new StartupError(`${from} cannot be read: name a folder, a file with a checkpoint, or an address`);
  if (!found.isDirectory()) return async (path) => (path === "checkpoint" ? readFile(from) : null);
  return async (path) => readFile(join(from, path)).catch(() => null);
}

const readUrl =
  (fetch: Fetch, prefix: string): ReadCopy =>
  async (path) => {
    const answer = await requestBounded(fetch, `${prefix}/${path}`, {}, { timeoutMs: 30_000, maxBytes });
    if (!answer.ok) throw new StartupError(`${prefix}/${path} cannot be read: ${answer.why}`);
    return answer.status === 200 ? Buffer.from(answer.body) : null;
  };

const sha256 = (bytes: Uint8Array): Buffer => hash("sha256", bytes, "buffer");
const nodeHash = (left: Uint8Array, right: Uint8Array): Buffer => sha256(nodeMessage(left, right));

const tilesAtOnce = 64;

/**
 * All lines of the logs that an environment has had, in the order of their leaves. They are read from the tiles,
 * because rows of entries may be missing.
 * @throws LogHalt when the lines do not give the root of their tree
 */
export async function readWholeLog(db: Sql, environment: Environment): Promise<string[]> {
  const lines: string[] = [];
  for (const tree of await selectTrees(db))
    if (environmentOf(tree.log) === environment) for (const line of await linesOf(db, tree)) lines.push(line);
  return lines;
}

/**
 * The lines of one log. An ended log has only the lines that its last checkpoint covers; the lines of further leaves
 * belong to the next log.
 */
async function linesOf(db: Sql, tree: StoredTree): Promise<string[]> {
  const lines: string[] = [];
  const edge: EdgeNode[] = [];
  const size = tree.finalSize ?? tree.size;
  for (let n = 0; n * tileWidth < size; n += tilesAtOnce) {
    const places = Array.from({ length: tilesAtOnce }, (_, i) => ({ level: 0, n: n + i }));
    const tiles = (await selectTiles(db, tree.log, places)).sort((one, other) => one.n - other.n);
    for (const entry of tiles.flatMap(({ entries }) => parseBundle(entries ?? Buffer.alloc(0)))) {
      // Stops at the size that the tree's row had. A batch may have committed since that row was read, so the tiles may
      // contain more lines.
      if (lines.length === size) break;
      appendToEdge(edge, sha256(leafMessage(entry)), nodeHash);
      lines.push(Buffer.from(entry).toString("latin1"));
    }
  }
  const hashes = edge.map((node) => node.hash);
  const root = foldNodes(hashes, nodeHash) ?? emptyRoot;
  if (lines.length < size || !(await rootOf(db, tree, size))?.equals(root))
    throw new LogHalt(`the entries of the ${tree.log} log do not lead to the root of its tree`);
  return lines;
}

async function rootOf(db: Sql, tree: StoredTree, size: number): Promise<Buffer | null> {
  if (size === tree.size) return tree.root;
  const final = await selectCheckpoint(db, tree.log, size);
  return final ? Buffer.from(parseCheckpoint(final.note).root) : null;
}
