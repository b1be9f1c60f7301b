import { LRUCache } from "lru-cache";
import type { Owner, Principal } from "../../../kernel/identity/identity.ts";
import type { Sql } from "../../../kernel/platform/database/database.ts";
import { isAltered } from "../../../kernel/platform/database/state-mac.ts";
import type { RowMac } from "../../../kernel/platform/row-mac.ts";
import { isCode } from "../../../kernel/platform/text.ts";
import { roomNotFound } from "../begin-change.ts";
import type { Participant } from "../participants/schemas.ts";
import type { SealWish } from "../seal-wish.ts";
import type { RoomView } from "./schemas.ts";
import {
  findViewVersion,
  type OwnOrder,
  type OwnRoomRow,
  type RoomDocument,
  type RoomDocuments,
  type SealedVersion,
  selectOwnRoom,
  selectRoomDocuments,
  selectRoomRow,
} from "./store.ts";
import { viewOf } from "./view.ts";

type ViewDeps = { db: Sql; rowMac: RowMac };

/** The present view of a room, for any holder of its code; null for an unknown code. */
export async function roomView({ db, rowMac }: ViewDeps, roomCode: string): Promise<RoomView | null> {
  const row = isCode(roomCode) ? await selectRoomRow(db, roomCode) : undefined;
  return row ? viewOf(row, rowMac) : null;
}

/**
 * Reads views as JSON text. Checks the view's version each time, so that no response is older than its request, on any
 * node.
 * @param maxBytes the cache's size
 */
export function openViewReader(
  { db, rowMac }: ViewDeps,
  maxBytes: number,
): (roomCode: string) => Promise<Buffer | null> {
  const cache = createViewCache(maxBytes);
  return async (roomCode) => {
    if (!isCode(roomCode)) return null;
    // Looks up the present version only if the cache has some version of this view. Otherwise the whole view is read
    // below anyway.
    if (cache.has(roomCode)) {
      const version = await findViewVersion(db, roomCode);
      const cached = version && cache.get(roomCode, version);
      if (cached) return cached;
    }
    const row = await selectRoomRow(db, roomCode);
    if (!row) return null;
    const answer = Buffer.from(JSON.stringify(viewOf(row, rowMac)));
    cache.put(roomCode, row.version, answer);
    return answer;
  };
}

/**
 * Caches the JSON of views by room code, only one version for each room. Evicts the least recently used entry when
 * full.
 */
type ViewCache = {
  /** True if any version of this room's view is cached. */
  has: (code: string) => boolean;
  /** The cached JSON of exactly this version. */
  get: (code: string, version: string) => Buffer | undefined;
  put: (code: string, version: string, answer: Buffer) => void;
  /** The number of cached bytes, including each entry's overhead. */
  heldBytes: () => number;
};

// The approximate overhead of an entry: key, map entry and buffer object.
const entryBytes = 500;

/**
 * Creates an empty cache of room views.
 * @param maxBytes the limit of all entries together; JSON that is larger than this is not cached
 */
export function createViewCache(maxBytes: number): ViewCache {
  const entries = new LRUCache<string, { version: string; answer: Buffer }>({
    maxSize: maxBytes,
    sizeCalculation: ({ answer }) => answer.length + entryBytes,
  });
  return {
    has: (code) => entries.has(code),
    get(code, version) {
      const entry = entries.get(code);
      return entry?.version === version ? entry.answer : undefined;
    },
    put: (code, version, answer) => void entries.set(code, { version, answer }),
    heldBytes: () => entries.calculatedSize,
  };
}

/** The public view of a room, with additions that only its owner sees. */
export type OwnRoom = Omit<RoomView, "participants"> &
  Pick<OwnRoomRow, "closesOn" | "firmMethod" | "charges"> & {
    id: string;
    /** The state of the automatic seal; null when it is off. */
    sealWish: SealWish | null;
    /** The participants with full addresses; the public view masks the addresses. */
    participants: Participant[];
    /** The orders that the owner placed, by their codes, in the order of the room's list. */
    ownOrders: ReadonlyMap<string, OwnOrder>;
    /** The sealed versions, newest first. */
    versions: SealedVersion[];
    /** The orders that are left out, because a record of them was altered in the database. */
    altered: RoomDocument[];
  };

/**
 * A room of the caller. Orders with an altered record are left out.
 * @throws ServiceError for an unknown room, and for one of another owner or environment; `unavailable` when the record
 * of the room itself or of its firm was altered
 */
export async function ownRoom({ db, rowMac }: ViewDeps, principal: Principal, roomCode: string): Promise<OwnRoom> {
  const { row, altered } = isCode(roomCode) ? await readOwnRow(db, roomCode, principal) : {};
  if (!row || !altered) throw roomNotFound();
  const { roomId: id, closesOn, participants, versions, firmMethod, charges, sealWish: wish } = row;
  const ownOrders = row.ownOrders.map(({ documentName: name, ...order }) => ({
    ...order,
    documentName: name === null ? null : Buffer.from(name, "hex"),
  }));
  const timeOf = (text: string | null) => (text === null ? null : new Date(text));
  return {
    ...viewOf(row, rowMac),
    sealWish: wish && { ...wish, sealedAt: timeOf(wish.sealedAt), nextTryAt: timeOf(wish.nextTryAt) },
    id,
    closesOn,
    participants,
    versions,
    firmMethod,
    charges,
    altered,
    ownOrders: new Map(ownOrders.map((order) => [order.code, order])),
  };
}

/** Reads the whole room. If altered orders make that fail, reads the room without them. */
async function readOwnRow(db: Sql, roomCode: string, owner: Owner) {
  try {
    return { row: await selectOwnRoom(db, roomCode, owner), altered: [] };
  } catch (error) {
    const room = isAltered(error) ? await selectRoomDocuments(db, roomCode, owner) : undefined;
    const altered = room?.documents.filter(({ isAuthentic }) => !isAuthentic) ?? [];
    if (altered.length === 0) throw error;
    const ids = altered.map(({ id }) => id);
    return { row: await selectOwnRoom(db, roomCode, owner, ids), altered };
  }
}

/**
 * The room's participants, and its documents from the caller's own orders. Altered records are marked here; `ownRoom`
 * leaves them out.
 * @throws ServiceError for an unknown room, and for one of another owner or environment
 */
export async function roomDocuments(
  { db }: Pick<ViewDeps, "db">,
  principal: Principal,
  roomCode: string,
): Promise<RoomDocuments> {
  const room = isCode(roomCode) ? await selectRoomDocuments(db, roomCode, principal) : undefined;
  if (!room) throw roomNotFound();
  return { ...room, documents: room.documents.filter(({ isOwn }) => isOwn) };
}
