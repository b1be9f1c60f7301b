import { hashLength, inclusionRanges, tilesOf, widthAt } from "@signsealship/evidence/log";
import type { Sql } from "../../kernel/platform/database/database.ts";
import { byPlace, type HashTile, hashOfRange, nameOf, nodesOfTile } from "./grow.ts";
import { selectHashes } from "./store.ts";
import type { LogName } from "./trees.ts";

/**
 * The most tiles that are kept in memory for a database handle. A tile has 16 KB, which includes the nodes above its
 * hashes.
 */
const maxTiles = 1_000;

/**
 * Recently read tiles by log and place, the most recent last. A tile only grows, and its hashes never change. If a
 * proof needs more hashes than a cached partial tile has, the tile is read again. Callers check each proof against the
 * signed root.
 */
const cached = new WeakMap<Sql, Map<string, HashTile>>();

function cacheOf(db: Sql): Map<string, HashTile> {
  const tiles = cached.get(db) ?? new Map<string, HashTile>();
  cached.set(db, tiles);
  return tiles;
}

/**
 * Removes the cached tiles of one failed proof, so that they are read again: a tile may have been damaged when it was
 * read. The tiles of other proofs stay cached. So somebody who requests a failing proof again and again doesn't slow
 * down the others.
 */
export function forgetTiles(db: Sql, log: LogName, index: number, size: number): void {
  const cache = cacheOf(db);
  for (const place of tilesOf(inclusionRanges(index, size))) cache.delete(`${log}/${nameOf(place)}`);
}

/**
 * The hashes from a leaf up to the root of the first `size` leaves. The caller must check that they lead to the root.
 */
export async function inclusionHashes(db: Sql, log: LogName, index: number, size: number): Promise<Uint8Array[]> {
  const ranges = inclusionRanges(index, size);
  const tiles = await tilesFor(db, log, tilesOf(ranges), size);
  return ranges.map((range) => hashOfRange(tiles, range));
}

type Place = Pick<HashTile, "level" | "n">;

async function tilesFor(db: Sql, log: LogName, places: readonly Place[], size: number): Promise<Map<string, HashTile>> {
  const cache = cacheOf(db);
  const found = places.flatMap((place) => {
    const tile = cache.get(`${log}/${nameOf(place)}`);
    return tile && tile.hashes.length >= widthAt(place, size) * hashLength ? [tile] : [];
  });
  const tiles = byPlace(found);
  const missing = places.filter((place) => !tiles.has(nameOf(place)));
  const read = missing.length === 0 ? [] : await selectHashes(db, log, missing);
  for (const { level, n, hashes } of read)
    tiles.set(nameOf({ level, n }), { level, n, hashes, nodes: nodesOfTile(hashes) });
  for (const [name, tile] of tiles) {
    cache.delete(`${log}/${name}`);
    cache.set(`${log}/${name}`, tile);
  }
  for (const name of cache.keys()) {
    if (cache.size <= maxTiles) break;
    cache.delete(name);
  }
  return tiles;
}
