import { auditLine } from "../../../kernel/audit/audit.ts";
import type { Principal } from "../../../kernel/identity/identity.ts";
import type { Tx } from "../../../kernel/platform/database/database.ts";
import { invalid, ServiceError } from "../../../kernel/platform/errors.ts";
import { newUuid } from "../../../kernel/platform/ids.ts";
import { isCode, isUuid } from "../../../kernel/platform/text.ts";
import { type EmailMove, hasEmailOf, type MovedInRooms } from "../../../orders/order/order.ts";
import { beginChange, type RoomChange, type RoomDeps, roomNotFound } from "../begin-change.ts";
import type { NewParticipant } from "../fields.ts";
import type { RoomChanged } from "../schemas.ts";
import { invite, invitedTo } from "./invite.ts";
import type { Participant, ParticipantAdded } from "./schemas.ts";
import {
  changeAddress,
  countParticipants,
  insertParticipant,
  markRemoved,
  presentParticipants,
  selectParticipants,
  signerRole,
  signerWithoutOrder,
} from "./store.ts";

const maxParticipants = 25;

/**
 * The present participants.
 * @throws ServiceError for an unknown room
 */
export async function listParticipants(
  { db }: RoomDeps,
  principal: Principal,
  roomCode: string,
): Promise<Participant[]> {
  const rows = isCode(roomCode) ? await selectParticipants(db, roomCode, principal) : undefined;
  if (!rows) throw roomNotFound();
  return rows.map((row) => ({ ...row, createdAt: row.createdAt.toISOString() }));
}

/**
 * Adds a participant, unless one with this email address is present already. Participants get no access to the room.
 * @throws ServiceError for an unknown room, and when the room already has 25 participants
 */
export async function addParticipant(
  { db, clock }: RoomDeps,
  principal: Principal,
  roomCode: string,
  fields: NewParticipant,
): Promise<ParticipantAdded> {
  return db.transaction(async (tx) => {
    const { alreadyPresent } = await addIn(tx, await beginChange(tx, clock, principal, roomCode), fields);
    return { ok: true, alreadyPresent };
  });
}

/**
 * Adds a participant, or finds the present one with this email, and mails the room's link. `invited` is false if the
 * address can't get mail, got the link in the last 24 hours, or would exceed the room's daily limit.
 */
export async function inviteParticipant(
  { db, clock }: RoomDeps,
  principal: Principal,
  roomCode: string,
  fields: NewParticipant,
): Promise<{ alreadyPresent: boolean; invited: boolean }> {
  return db.transaction(async (tx) => inviteIn(tx, await beginChange(tx, clock, principal, roomCode), fields));
}

export async function inviteIn(
  tx: Tx,
  change: RoomChange,
  fields: NewParticipant,
): Promise<{ alreadyPresent: boolean; invited: boolean }> {
  const { participantId, alreadyPresent } = await addIn(tx, change, fields);
  const { room, at, audit } = change;
  const invited = await invite(tx, room.id, { participantId, email: fields.email, at });
  if (invited) await audit("room.participant_invited", { detail: { participantId } });
  return { alreadyPresent, invited };
}

export async function addIn(tx: Tx, { room, at, audit }: RoomChange, fields: NewParticipant) {
  const { total, presentId } = await countParticipants(tx, room.id, fields.email);
  if (presentId !== null) return { participantId: presentId, alreadyPresent: true };
  if (total >= maxParticipants) throw invalid(`A room holds at most ${maxParticipants} participants.`);
  const participantId = newUuid();
  await insertParticipant(tx, room.id, { ...fields, participantId, createdAt: at });
  await audit("room.participant_added", { detail: { participantId } });
  return { participantId, alreadyPresent: false };
}

/**
 * Removes a participant; the row stays as history.
 * @throws ServiceError for an unknown room, or a participant who is not in the room
 */
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

/**
 * Replaces a participant's email address in a locked room. If the room's link was mailed to the earlier address,
 * `invite` mails the link to the new address. This is not repeated if the new address already got the link. The earlier
 * address still counts toward the room's daily limit of invitations. If the new address is listed already, the earlier
 * one is removed from the list.
 */
export async function moveParticipant(
  tx: Tx,
  { id: roomId, partnerId }: { id: string; partnerId: string },
  move: EmailMove,
  { actor, at }: { actor: string; at: Date },
): Promise<MovedInRooms> {
  const present = await presentParticipants(tx, roomId);
  const moved = present.find((each) => hasEmailOf(move, each));
  // Participants are told apart by their lowercase address.
  const email = move.to.toLowerCase();
  if (!moved) return { isMoved: false, isUnmailed: false };
  const { invitedAt } = moved;
  const listed = present.find((each) => each !== moved && each.email.toLowerCase() === email);
  const { participantId } = listed ?? moved;
  const { since, lastAt } = await invitedTo(tx, roomId, { email, at });
  const earlier = [
    ...moved.earlier.filter((each) => new Date(each.at) > since),
    ...(invitedAt === null ? [] : [{ email: moved.email, at: invitedAt.toISOString() }]),
  ];
  const audit = (action: string, id = participantId) =>
    tx.query(auditLine({ at, action, actor, partnerId, roomId, detail: { participantId: id } }));
  if (listed) {
    await markRemoved(tx, roomId, moved.participantId, at);
    await audit("room.participant_removed", moved.participantId);
  }
  // Also changes the address of a participant who was just removed. Otherwise, nobody who waits for a document at the
  // earlier address would get it any more (`isWithdrawn` in deliveries).
  await changeAddress(tx, roomId, { ...moved, email, invitedAt: lastAt, earlier });
  if (!listed) await audit("room.participant_corrected");
  const lacksLink = invitedAt !== null && (listed?.invitedAt ?? lastAt) === null;
  const isInvited = lacksLink && (await invite(tx, roomId, { participantId, email, at }));
  if (isInvited) await audit("room.participant_invited");
  return { isMoved: true, isUnmailed: lacksLink && !isInvited };
}

/**
 * Replaces a former signer by the new one among a locked room's participants. Does this only if the former signer is
 * listed as a signer, and no order in the room has that person as its client or signer.
 */
export async function replaceParticipant(
  tx: Tx,
  { id: roomId, partnerId }: { id: string; partnerId: string },
  { former, person }: { former: { email: string }; person: { name: string; email: string } },
  { actor, at }: { actor: string; at: Date },
): Promise<void> {
  const formerId = await signerWithoutOrder(tx, roomId, { email: former.email, next: person.email });
  if (formerId === null) return;
  const audit = (action: string, participantId: string) =>
    tx.query(auditLine({ at, action, actor, partnerId, roomId, detail: { participantId } }));
  await markRemoved(tx, roomId, formerId, at);
  await audit("room.participant_removed", formerId);
  const email = person.email.toLowerCase();
  const { presentId } = await countParticipants(tx, roomId, email);
  if (presentId !== null) return;
  const participantId = newUuid();
  await insertParticipant(tx, roomId, { participantId, name: person.name, email, role: signerRole, createdAt: at });
  await audit("room.participant_added", participantId);
}
