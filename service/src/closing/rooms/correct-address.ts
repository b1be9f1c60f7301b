import { actorOf, type Principal } from "../../kernel/identity/identity.ts";
import { ServiceError } from "../../kernel/platform/errors.ts";
import { type CorrectDeps, type CorrectedOrders, correctAddress } from "../../orders/corrections/corrections.ts";
import type { AddressCorrection } from "./fields.ts";
import { roomDocuments } from "./view/read-view.ts";

/**
 * Corrects an email address in the firm's orders of a room, for its participants, and for people who are sent its
 * documents. Orders with an altered record are left out.
 * @returns the orders, as the room lists them
 * @throws ServiceError naming the rule. `conflict` when the address is not found where it can still be changed. Also
 * `conflict` when the room's own record was altered: then nothing proves which orders belong to the room
 */
export async function correctInRoom(
  corrections: CorrectDeps,
  principal: Principal,
  code: string,
  typed: AddressCorrection,
): Promise<CorrectedOrders> {
  const room = await roomDocuments(corrections.orders, principal, code);
  if (!room.isAuthentic)
    throw new ServiceError("conflict", "The closing’s own record was altered, so no address was corrected.");
  const all = room.documents.map((document) => document.code);
  const altered = new Set(room.documents.filter(({ isAuthentic }) => !isAuthentic).map((document) => document.code));
  const wanted = {
    owner: principal,
    orderCodes: all.filter((each) => !altered.has(each)),
    roomId: room.id,
    actor: actorOf(principal),
  };
  const done = await correctAddress(corrections, wanted, typed);
  return {
    corrected: all.filter((each) => done.corrected.includes(each)),
    altered: all.filter((each) => altered.has(each) || done.altered.includes(each)),
    isUnmailed: done.isUnmailed,
  };
}
