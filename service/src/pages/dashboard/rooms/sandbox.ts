import type { FastifyInstance } from "fastify";
import type { SealClosingDeps } from "../../../closing/closing-passports/closing-passports.ts";
import { ownRoom, sandboxRoomCheckout } from "../../../closing/rooms/rooms.ts";
import { principalOf } from "../../../kernel/http/authentication.ts";
import { type SandboxDeps, sandboxComplete, sandboxMoves } from "../../../orders/fulfilment/fulfilment.ts";
import { card } from "../../ui/components.ts";
import { buttonForm } from "../../ui/forms/button-form.ts";
import { pageRoute } from "../../ui/page/route.ts";
import { type Html, html } from "../../ui/render.ts";
import { done } from "../flash-messages.ts";
import { discardQuestion, signatureCheck } from "../orders/sandbox-forms.ts";
import { signingEnds } from "../orders/words.ts";
import type { DashboardFrame } from "../page-shell.ts";
import { doOnce } from "../submit-once.ts";
import { type FormIn, formPath, problemOf, type RoomDetailView } from "./view.ts";

type Deps = { frame: DashboardFrame; closings: SealClosingDeps; sandbox: SandboxDeps };

/**
 * Adds the forms that move all of the firm's test orders in a room. One payment pays all orders of the same payer.
 * Completions run one after another and stop at the first error, which the page shows. Orders that were completed
 * before the error keep their new status.
 */
export function sandboxForms(forms: FastifyInstance, { frame, closings, sandbox }: Deps, formIn: FormIn): void {
  pageRoute(forms, frame, {
    ...formIn("sandbox"),
    url: "/dashboard/rooms/:code/sandbox/pay",
    handle: doOnce(sandbox, async ({ params: { code }, request }) => {
      const asked = { principal: principalOf(request), roomCode: code };
      const room = await ownRoom(closings, asked.principal, code);
      const unpaid = movable(room, "pay").map(({ orderCode }) => room.ownOrders.get(orderCode)?.payBy);
      // One payment can't have two payers, so each payer's orders are paid separately.
      for (const payBy of new Set(unpaid))
        await sandboxRoomCheckout(sandbox, { ...asked, payBy, attempt: `${request.id}:${payBy}` }, "success");
      return done(`/dashboard/rooms/${code}`, "room-paid");
    }),
  });
  pageRoute(forms, frame, {
    ...formIn("sandbox"),
    url: "/dashboard/rooms/:code/sandbox/complete",
    handle: doOnce(sandbox, async ({ params: { code }, form, request }) => {
      const principal = principalOf(request);
      const room = await ownRoom(closings, principal, code);
      const moved = movable(room, "advance").map(({ orderCode }) => orderCode);
      const check = signatureCheck(form);
      // Checks all orders before the first one changes its status, so that a signature on the last order also stops the
      // first.
      for (const orderCode of moved) await check(sandbox.db, orderCode);
      for (const orderCode of moved)
        await sandboxComplete(sandbox, { principal, code: orderCode, attempt: request.id, check });
      return done(`/dashboard/rooms/${code}`, "room-completed");
    }),
  });
}

const movable = (
  { orders, ownOrders }: Pick<RoomDetailView["room"], "orders" | "ownOrders">,
  move: "pay" | "advance",
) => orders.filter(({ orderCode, status }) => ownOrders.has(orderCode) && sandboxMoves(status) === move);

const count = (orders: readonly unknown[]) => (orders.length === 1 ? "1 order" : `${orders.length} orders`);

/** The text of the button that completes the room's test orders. */
export const completeLabel = ({ room }: Pick<RoomDetailView, "room">): string =>
  `Complete ${count(movable(room, "advance"))}`;

/** The buttons that move all test orders of a room; null in live, and when the sandbox can move none of them. */
export function sandboxCard(view: RoomDetailView): Html | null {
  const [unpaid, open] = [movable(view.room, "pay"), movable(view.room, "advance")];
  if (view.environment !== "test" || unpaid.length + open.length === 0) return null;
  const fields = { submission: view.submission };
  const isPartlySigned = open.some(
    ({ status, signers }) => status === "EsignPending" && signers.some(({ signed }) => signed),
  );
  const isBeingSigned = open.some(({ status }) => status === "EsignPending");
  const completePath = formPath(view, "sandbox/complete");
  const payButton =
    unpaid.length > 0 && buttonForm(formPath(view, "sandbox/pay"), `Pay for ${count(unpaid)}`, { fields });
  const completeButton =
    open.length > 0 &&
    !isPartlySigned &&
    buttonForm(completePath, completeLabel(view), { fields, kind: unpaid.length > 0 ? "quiet-button" : "" });
  return card(
    "sandbox",
    "Sandbox",
    html`${problemOf(view, "sandbox")}<p>Simulate what others do. No money moves, and nothing is shipped or faxed; your webhooks are notified as they would be for real orders.${isBeingSigned && signingEnds}</p>
<div class="button-row">${payButton}${completeButton}</div>${isPartlySigned && discardQuestion(completeLabel(view), completePath, fields)}`,
  );
}
