import type { Principal } from "../../identity/identity.ts";
import { invalid, ServiceError } from "../../platform/errors.ts";
import { newUuid } from "../../platform/ids.ts";
import { isCode, isUuid } from "../../platform/text.ts";
import { beginChange, type RoomDeps, roomNotFound } from "../change.ts";
import type { RoomChanged } from "../schemas.ts";
import type { Participant, ParticipantAdded } from "./schemas.ts";
import { countParticipants, insertParticipant, markRemoved, selectParticipants } from "./store.ts";

const maxParticipants = 25;

/** Those present. @throws ServiceError for an unknown room. */
export async function listParticipants(
  { db }: RoomDeps,
  principal: Principal,
  roomCode: string,
): Promise<Participant[]> {
  const rows = isCode(roomCode) ? await selectParticipants(db, roomCode, principal) : undefined;
  if (!rows) throw roomNotFound();
  return rows.map((row) => ({ ...row, createdAt: row.createdAt.toISOString() }));
}

/** Adds a participant, which grants no access. An email is in a room once. @throws ServiceError when 25 are there. */
export async function addParticipant(
  { db, clock }: RoomDeps,
  principal: Principal,
  roomCode: string,
  fields: { name: string; email: string; role: string },
): Promise<ParticipantAdded> {
  return db.transaction(async (tx) => {
    const { room, at, audit } = await beginChange(tx, clock, principal, roomCode);
    const { total, present } = await countParticipants(tx, room.id, fields.email);
    if (present) return { ok: true, alreadyPresent: true };
    if (total >= maxParticipants) throw invalid(`A room holds at most ${maxParticipants} participants.`);
    const participantId = newUuid();
    await insertParticipant(tx, room.id, { ...fields, participantId, createdAt: at });
    await audit("room.participant_added", { detail: { participantId } });
    return { ok: true, alreadyPresent: false };
  });
}

/** Removes a participant; the row stays as history. @throws ServiceError for an unknown room or a participant not in it. */
export async function removeParticipant(
  { db, clock }: RoomDeps,
  principal: Principal,
  roomCode: string,
  participantId: string,
): Promise<RoomChanged> {
  return db.transaction(async (tx) => {
    const { room, at, audit } = await beginChange(tx, clock, principal, roomCode);
    if (!isUuid(participantId) || !(await markRemoved(tx, room.id, participantId, at)))
      throw new ServiceError("not_found", "That participant is not in this room.");
    await audit("room.participant_removed", { detail: { participantId } });
    return { ok: true };
  });
}
