import type { FastifyInstance, FastifyRequest } from "fastify";
import { nextVersionOf } from "../../../closing/closing-passports/closing-passports.ts";
import { deliveriesOf } from "../../../closing/deliveries/deliveries.ts";
import {
  countOpenRooms,
  createRoom,
  dueOfRoom,
  failedFaxesIn,
  lastChanges,
  newRoomFields,
  type OwnRoom,
  openClosings,
  ownRoom,
  roomPage,
  sumDue,
} from "../../../closing/rooms/rooms.ts";
import { principalOf } from "../../../kernel/http/authentication.ts";
import type { Sql } from "../../../kernel/platform/database/database.ts";
import { nullIfAltered } from "../../../kernel/platform/database/state-mac.ts";
import { isPayable, type Payer } from "../../../orders/order/order.ts";
import {
  acceptsMethods,
  acceptsPayment,
  queuedForCharge,
  unpaidPayments,
  whyClientsCantPay,
} from "../../../orders/payments/payments.ts";
import { type FirmOrdersQuery, firmOrders } from "../../../orders/search/search.ts";
import { pageRoute } from "../../ui/page/route.ts";
import { roomRetention } from "../../ui/retention.ts";
import { done } from "../flash-messages.ts";
import { dashboardPage } from "../page-shell.ts";
import { requireSameEnvironment, submissionFor, submitOnce } from "../submit-once.ts";
import { addressPages } from "./addresses.ts";
import { type RoomsDeps, roomChanges } from "./changes.ts";
import { roomBody } from "./detail.ts";
import { type RoomsProblem, roomsBody } from "./list.ts";
import type { FirmPaysRoom, RoomPart, RoomProblem } from "./view.ts";

const path = "/dashboard/rooms";
const pageSize = "20";

/** Adds the list of the firm's rooms, the form that creates one, and the page of each room. */
export function roomsPages(forms: FastifyInstance, deps: RoomsDeps): void {
  pageRoute(forms, deps.frame, { url: path, handle: ({ request, query }) => show(request, query["cursor"]) });

  pageRoute(forms, deps.frame, {
    method: "POST",
    url: path,
    policy: "partner-write",
    handle: async ({ form, request }) => {
      requireSameEnvironment(request, form["environment"]);
      const { name: roomCode } = await submitOnce(deps.closings, request, {
        fields: new Map(Object.entries(form)),
        make: () => createRoom(deps.closings, principalOf(request), newRoomFields(form)),
        nameOf: (room) => room.roomCode,
      });
      return done(`${path}/${roomCode}`, "room-created");
    },
    refused: ({ form, query, request }, error) => show(request, query["cursor"], { error, typed: form }),
  });

  roomDetail(forms, deps);
  addressPages(forms, deps);

  async function show(request: FastifyRequest, cursor = "", problem?: RoomsProblem): Promise<string> {
    const principal = principalOf(request);
    const { db, clock } = deps.closings;
    const { titleOf } = deps.deliveries;
    const [page, openRooms, closings] = await Promise.all([
      roomPage(db, principal, { limit: pageSize, cursor }),
      countOpenRooms(db, principal),
      cursor === "" ? openClosings({ db, clock, titleOf }, principal) : [],
    ]);
    const codes = page.rooms.map(({ roomCode }) => roomCode);
    const body = roomsBody({
      ...page,
      lastChanges: await lastChanges(db, principal, codes),
      ...submissionFor(request, problem?.typed),
      isFirstPage: cursor === "",
      closings,
      openRooms,
      tier: principal.tier,
      problem,
    });
    return dashboardPage(deps.frame, request, { title: "Rooms", section: "rooms", body });
  }
}

const maxLatest = 25;
const latest: FirmOrdersQuery = {
  text: null,
  statuses: null,
  from: null,
  until: null,
  place: null,
  sort: "newest",
  side: "after",
};

/** Adds the page of one of the firm's rooms, with all actions of its owner. */
function roomDetail(forms: FastifyInstance, deps: RoomsDeps): void {
  pageRoute(forms, deps.frame, {
    url: "/dashboard/rooms/:code",
    handle: ({ params, request }) => show(request, params.code),
  });
  roomChanges(forms, deps, show);

  async function show(request: FastifyRequest, code: string, problem?: RoomProblem): Promise<string> {
    const principal = principalOf(request);
    const { db, titleOf } = deps.deliveries;
    const room = await ownRoom(deps.closings, principal, code);
    const [{ orders }, deliveries, failedFaxes] = await Promise.all([
      room.status === "open" ? firmOrders(db, principal, latest, maxLatest) : { orders: [] },
      deliveriesOf(deps.deliveries, room).catch(nullIfAltered),
      failedFaxesIn(db, room),
    ]);
    const { processor } = deps.checkout;
    const hasCheckout = acceptsPayment(processor, principal.environment);
    const { due, sending } = await withoutQueued(db, room);
    const payers: Payer[] = [
      ...(hasCheckout ? ["client" as const] : []),
      ...(acceptsMethods(processor, principal.environment) ? ["firm" as const] : []),
    ];
    const { chargeableCents, ...payable } = await dueOfRoom(deps.checkout, due, payers);
    const pays = await firmPaysOf(deps.checkout, due, problem?.part);
    const firmPays = { ...pays, chargeableCents, sending, paid: paidOf(room) };
    const { environment, submission } = submissionFor(request, problem?.typed);
    const retention = roomRetention(deps.frame.retention, environment);
    const { baseUrl } = deps.frame;
    const nextVersion = nextVersionOf(room);
    const parts = {
      nextVersion,
      failedFaxes,
      orders,
      payable,
      hasCheckout,
      firmPays,
      deliveries,
      titleOf,
      baseUrl,
      retention,
    };
    const body = roomBody({ room, environment, submission, ...parts, problem });
    return dashboardPage(deps.frame, request, { title: room.name, section: "rooms", body, scripts: ["copy.js"] });
  }
}

/**
 * Splits off the orders for which a queued job is about to charge the firm. `due` is the room without these orders, and
 * `sending` has their amounts.
 */
async function withoutQueued(db: Sql, room: OwnRoom): Promise<{ due: OwnRoom; sending: number[] }> {
  const own = [...room.ownOrders.values()].filter((order) => order.payBy === "firm" && sumDue(order) !== null);
  if (own.length === 0 || room.firmMethod === null) return { due: room, sending: [] };
  const queued = await queuedForCharge(
    db,
    own.map(({ id }) => id),
  );
  const left = [...room.ownOrders].filter(([, { id }]) => !queued.has(id));
  return {
    due: { ...room, ownOrders: new Map(left) },
    sending: own.flatMap((order) => (queued.has(order.id) ? (sumDue(order) ?? []) : [])),
  };
}

/** The firm's successful payments for orders of the room. A payment for several orders is one entry. */
const paidOf = ({ charges }: OwnRoom) => [
  ...Map.groupBy(
    charges.filter(({ state }) => state === "succeeded"),
    ({ id, groupId }) => groupId ?? id,
  ).values(),
];

/**
 * Describes the firm's payment of the unpaid orders in its room.
 *
 * @param refused the part of the page that shows an error. Only for `payment`, reads the reasons why clients can't pay,
 * because this takes several SQL statements for each order
 */
async function firmPaysOf(
  checkout: RoomsDeps["checkout"],
  room: OwnRoom,
  refused: RoomPart | undefined,
): Promise<Omit<FirmPaysRoom, "chargeableCents" | "sending" | "paid">> {
  const { ownOrders, charges, firmMethod: method } = room;
  const own = [...ownOrders.values()].filter((order) => order.payBy === "firm" && sumDue(order) !== null);
  const ids = new Set(own.map(({ id }) => id));
  const payments = unpaidPayments(charges.filter(({ orderId }) => ids.has(orderId)));
  const priced = [...ownOrders].filter(([, { payBy, status }]) => payBy === "firm" && isPayable(status));
  const asked = refused === "payment" ? priced.map(([, order]) => order) : [];
  const refusals = await whyClientsCantPay(checkout, asked);
  const prices = priced.map(([code, { totalCents }], n) => ({ code, totalCents, refusal: refusals[n] ?? null }));
  return { method, prices, ...payments };
}
