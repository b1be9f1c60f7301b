import { attachFields, attachOrder, type RoomDeps } from "../../../closing/rooms/rooms.ts";
import type { Principal } from "../../../kernel/identity/identity.ts";
import { isCode } from "../../../kernel/platform/text.ts";
import { findOrder, type TitleOf } from "../../../orders/order/order.ts";

export type AttachDeps = RoomDeps & { titleOf: TitleOf };

/**
 * Attaches an order to a room, as a member's form does. If the form gives no label and the order belongs to the firm,
 * the label is the title of its document.
 */
export async function attachTitled(
  deps: AttachDeps,
  principal: Principal,
  roomCode: string,
  typed: { orderCode: string; label?: string | undefined },
): Promise<{ alreadyAttached: boolean }> {
  const { orderCode, label } = attachFields(typed);
  return attachOrder(deps, principal, roomCode, {
    orderCode,
    label: label ?? (await ownTitle(deps, principal, orderCode)),
  });
}

async function ownTitle({ db, titleOf }: AttachDeps, principal: Principal, code: string): Promise<string | null> {
  const order = isCode(code) ? await findOrder(db, code) : undefined;
  return order?.partnerId === principal.partnerId ? titleOf(order) : null;
}
