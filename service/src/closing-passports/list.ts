import { manifestLimits } from "@signsealship/evidence/manifest";
import type { Owner } from "../identity/identity.ts";
import type { Sql } from "../platform/database/database.ts";
import { isCode } from "../platform/text.ts";
import { roomNotFound } from "../rooms/rooms.ts";
import { findRoomId, type SealedVersion, selectVersionsOf } from "./store.ts";

/** The sealed versions of a room, newest first, and the number of the one to be sealed next; null when it holds all it may. */
export type ClosingVersions = { versions: SealedVersion[]; nextVersion: number | null };

/** @throws ServiceError when the owner has no such room. */
export async function closingVersions(
  db: Sql,
  { partnerId, environment }: Owner,
  roomCode: string,
): Promise<ClosingVersions> {
  const room = { roomCode, partnerId, environment };
  if (!isCode(roomCode) || !(await findRoomId(db, room))) throw roomNotFound();
  const versions = await selectVersionsOf(db, room);
  const next = (versions[0]?.version ?? 0) + 1;
  return { versions, nextVersion: next > manifestLimits.versions ? null : next };
}
