import type { deliveriesOf } from "../../../closing/deliveries/deliveries.ts";
import type { OwnRoom } from "../../../closing/rooms/rooms.ts";
import type { Environment } from "../../../kernel/identity/identity.ts";
import type { Payer, TitleOf } from "../../../orders/order/order.ts";
import type { ChargeOfOrder, FirmMethod, ShownOrder } from "../../../orders/payments/payments.ts";
import type { FirmOrder } from "../../../orders/search/search.ts";
import { statusBadge } from "../../ui/components.ts";
import { errorSummary } from "../../ui/forms/fields.ts";
import type { FormValues } from "../../ui/forms/form-body.ts";
import type { PageCall } from "../../ui/page/route.ts";
import type { Html } from "../../ui/render.ts";

/** The parts of the page in which an error can be shown. */
export type RoomPart =
  | "attach"
  | "orders"
  | "payment"
  | "day"
  | "sandbox"
  | "delivery"
  | "add-participant"
  | "participants"
  | "passport"
  | "share"
  | "state";

/**
 * The properties that all routes of a room's forms share.
 * @param part the part of the page with the form, in which an error is shown
 */
export type FormIn = (part: RoomPart) => {
  method: "POST";
  policy: "partner-write";
  refused: (call: PageCall<{ code: string }>, error: string) => Promise<string>;
};

export type FirmPaysRoom = {
  method: FirmMethod;
  /** The amount, in cents, that a payment by the firm would charge now for the room's orders. */
  chargeableCents: number;
  /**
   * The orders that the firm pays and whose price is unpaid. `refusal` says why an order's client can't pay the order
   * instead. `refusal` is read only if the part `payment` shows an error; otherwise it is null.
   */
  prices: readonly (ShownOrder & { refusal: string | null })[];
  /** The firm's payments that are in progress; for each, its charges of orders in this room. */
  moving: readonly (readonly ChargeOfOrder[])[];
  /** The amounts of the orders for which a queued job is about to charge the firm, in cents. */
  sending: readonly number[];
  /** The firm's payments that succeeded; for each, its charges of orders in this room. */
  paid: readonly (readonly ChargeOfOrder[])[];
  /** The charges of the latest payment, if it has failed; otherwise empty. */
  failed: readonly ChargeOfOrder[];
};

export type RoomProblem = { part: RoomPart; error: string; typed: FormValues };

export type RoomDetailView = {
  room: OwnRoom;
  environment: Environment;
  submission: string;
  /** The number of the closing passport's next version; null when the room has the maximum number of versions. */
  nextVersion: number | null;
  /**
   * For each payer: the amounts due, in cents, of the orders that one payment can cover. Empty if this payer can't pay
   * in this environment.
   */
  payable: Record<Payer, readonly number[]>;
  /** True if orders of this environment are paid by a hosted checkout. */
  hasCheckout: boolean;
  /** The firm's payments of its orders in the room, by card or bank account. */
  firmPays: FirmPaysRoom;
  /** The firm's latest orders, to choose from. Empty for a closed room. */
  orders: readonly FirmOrder[];
  titleOf: TitleOf;
  baseUrl: string;
  /** The sentence on how long the room's certificates are stored; null if they are not deleted. */
  retention: string | null;
  /** The deliveries of the room's documents. Null when somebody altered an order of the room in the database. */
  deliveries: Awaited<ReturnType<typeof deliveriesOf>> | null;
  /**
   * The codes of the orders whose fax failed while they are still being shipped. Such a fax was sent early, before the
   * shipping ended.
   */
  failedFaxes: ReadonlySet<string>;
  problem: RoomProblem | undefined;
};

/** The error of one part of the page. */
export const problemOf = ({ problem }: RoomDetailView, part: RoomPart): Html =>
  errorSummary(problem?.part === part ? problem.error : null);

/** Values of the rejected form. */
export const typedInto = ({ problem }: RoomDetailView, part: RoomPart): FormValues =>
  problem?.part === part ? problem.typed : {};

/** The codes of the firm's own orders in the room that wait for signatures. */
export const signingCodes = ({ ownOrders }: Pick<OwnRoom, "ownOrders">): string[] =>
  [...ownOrders].flatMap(([code, { status }]) => (status === "EsignPending" ? [code] : []));

/**
 * The codes of the firm's own orders in the room that may be on a device. These orders await signatures now, or did so
 * before they were put on hold.
 */
export const deviceCodes = ({ ownOrders }: Pick<OwnRoom, "ownOrders">): string[] =>
  [...ownOrders].flatMap(([code, order]) =>
    (order.statusBeforeHold ?? order.status) === "EsignPending" ? [code] : [],
  );

/** The URL of a form of the room. */
export const formPath = ({ room }: RoomDetailView, form: string): string => `/dashboard/rooms/${room.roomCode}/${form}`;

export const openOrClosed = (status: string): Html =>
  status === "closed" ? statusBadge("stopped", "Closed") : statusBadge("progress", "Open");
