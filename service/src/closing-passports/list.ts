import { manifestLimits } from "@signsealship/evidence/manifest";
import type { Principal } from "../identity/identity.ts";
import type { Sql } from "../platform/database.ts";
import { isCode, roomNotFound } from "../rooms/rooms.ts";
import { findRoomId, type SealedVersion, selectVersionsOf } from "./store.ts";

/** The sealed versions of a room, newest first, and the number of the one to be sealed next; null when it holds all it may. */
export type ClosingVersions = { versions: SealedVersion[]; nextVersion: number | null };

/** @throws ServiceError when the caller has no such room in its environment. */
export async function closingVersions(db: Sql, principal: Principal, roomCode: string): Promise<ClosingVersions> {
  const room = { roomCode, partnerId: principal.partnerId, environment: principal.environment };
  if (!isCode(roomCode) || !(await findRoomId(db, room))) throw roomNotFound();
  const versions = await selectVersionsOf(db, room);
  const next = (versions[0]?.version ?? 0) + 1;
  return { versions, nextVersion: next > manifestLimits.versions ? null : next };
}
