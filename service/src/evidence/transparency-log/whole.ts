import { hash } from "node:crypto";
import { appendToEdge, type EdgeNode, foldNodes, leafMessage, nodeMessage, parseBundle } from "@signsealship/evidence/log";
import type { Environment } from "../../kernel/identity/identity.ts";
import type { Sql } from "../../kernel/platform/database/database.ts";
import { emptyRoot, LogHalt } from "./grow.ts";
import { selectTiles, selectTree } from "./store.ts";

const sha256 = (bytes: Uint8Array): Buffer => hash("sha256", bytes, "buffer");
const nodeHash = (left: Uint8Array, right: Uint8Array): Buffer => sha256(nodeMessage(left, right));

const tilesAtOnce = 64;
const tileWidth = 256;

/**
 * All lines of a log in the order of their leaves, by its tiles: the rows of entries may lack some.
 * @throws LogHalt when they do not lead to the root of the tree
 */
export async function readWholeLog(db: Sql, log: Environment): Promise<string[]> {
  const tree = await selectTree(db, log);
  const lines: string[] = [];
  const edge: EdgeNode[] = [];
  const size = tree?.size ?? 0;
  for (let n = 0; n * tileWidth < size; n += tilesAtOnce) {
    const places = Array.from({ length: tilesAtOnce }, (_, i) => ({ level: 0, n: n + i }));
    const tiles = (await selectTiles(db, log, places)).sort((one, other) => one.n - other.n);
    for (const entry of tiles.flatMap(({ entries }) => parseBundle(entries ?? Buffer.alloc(0)))) {
      // A batch that commits between two reads adds lines that the tree's row did not have yet.
      if (lines.length === size) break;
      appendToEdge(edge, sha256(leafMessage(entry)), nodeHash);
      lines.push(Buffer.from(entry).toString("latin1"));
    }
  }
  const hashes = edge.map((node) => node.hash);
  const root = foldNodes(hashes, nodeHash) ?? emptyRoot;
  if (tree && (lines.length < size || !tree.root.equals(root)))
    throw new LogHalt(`the entries of the ${log} log do not lead to the root of its tree`);
  return lines;
}
