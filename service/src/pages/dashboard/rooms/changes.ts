import type { FastifyInstance, FastifyRequest } from "fastify";
import { type SealClosingDeps, sealClosing } from "../../../closing/closing-passports/closing-passports.ts";
import type { DeliveryDeps } from "../../../closing/deliveries/deliveries.ts";
import {
  addParticipant,
  closeRoom,
  closesOnField,
  detachOrder,
  inviteParticipant,
  letRoomsClientsPay,
  ownRoom,
  participantFields,
  removeParticipant,
  reopenRoom,
  roomCharge,
  roomCheckout,
  rotateRoom,
  setClosesOn,
  switchSeal,
} from "../../../closing/rooms/rooms.ts";
import { principalOf } from "../../../kernel/http/authentication.ts";
import { invalid, ServiceError } from "../../../kernel/platform/errors.ts";
import { recordNothing } from "../../../kernel/platform/idempotency.ts";
import { wholeNumberIn } from "../../../kernel/platform/text.ts";
import type { ReplaceDeps } from "../../../orders/corrections/corrections.ts";
import type { SandboxDeps } from "../../../orders/fulfilment/fulfilment.ts";
import type { ChargeDeps, ShownOrder } from "../../../orders/payments/payments.ts";
import type { EnvelopeDeps } from "../../../signing/envelopes/envelopes.ts";
import type { FormValues } from "../../ui/forms/form-body.ts";
import { leavingPage } from "../../ui/leaving-page.ts";
import { type PageCall, pageRoute } from "../../ui/page/route.ts";
import { done } from "../flash-messages.ts";
import { attachTitled } from "../orders/attach.ts";
import { shownCharge } from "../orders/firm-pays.ts";
import { sittingForm } from "../orders/sitting.ts";
import type { DashboardFrame } from "../page-shell.ts";
import { doOnce } from "../submit-once.ts";
import { deliveryForms } from "./delivery.ts";
import { orderCodesOf } from "./orders.ts";
import { sandboxForms } from "./sandbox.ts";
import { deviceCodes, type FormIn, type RoomPart, type RoomProblem, signingCodes } from "./view.ts";

export type RoomsDeps = {
  frame: DashboardFrame;
  closings: SealClosingDeps;
  checkout: ChargeDeps;
  deliveries: DeliveryDeps;
  sandbox: SandboxDeps;
  envelopes: EnvelopeDeps;
  corrections: ReplaceDeps;
};

/** Renders the room's page with the error. */
type Show = (request: FastifyRequest, code: string, problem: RoomProblem) => Promise<string>;

const pathOf = (code: string): string => `/dashboard/rooms/${code}`;

/** Adds the forms on a room's page. An error appears in the same part of the page as its form. */
export function roomChanges(forms: FastifyInstance, deps: RoomsDeps, show: Show): void {
  const formIn = (part: RoomPart) =>
    ({
      method: "POST",
      policy: "partner-write",
      refused: ({ params, form: typed, request }: PageCall<{ code: string }>, error: string) =>
        show(request, params.code, { part, error, typed }),
    }) as const;
  orderForms(forms, deps, formIn);
  participantForms(forms, deps, formIn);
  roomForms(forms, deps, formIn);
  deliveryForms(forms, deps, formIn);
  sandboxForms(forms, deps, formIn);
  firmPaysForms(forms, deps, formIn);
  sealForm(forms, deps, formIn);
  signingForm(forms, deps, formIn);
  pageRoute(forms, deps.frame, {
    ...formIn("payment"),
    url: "/dashboard/rooms/:code/checkout",
    handle: async ({ params: { code }, form, request }) => {
      const payer = form["pay_by"] === "firm" ? "firm" : form["pay_by"] === "client" ? "client" : undefined;
      const { checkoutUrl } = await roomCheckout(deps.checkout, principalOf(request), code, payer, "firm");
      return leavingPage(deps.frame.assets, null, checkoutUrl);
    },
  });
}

/**
 * Adds the forms that hand this device to the signers of the firm's documents of the closing, and that end signing on
 * devices. Only documents that wait for signatures now are signed there.
 */
function signingForm(forms: FastifyInstance, { frame, closings }: RoomsDeps, formIn: FormIn): void {
  const { limits, baseUrl } = frame;
  sittingForm(
    forms,
    {
      limits,
      baseUrl,
      envelopes: closings,
      path: "/dashboard/rooms",
      anchor: "orders",
      async ordersOf(owner, code, isEnd) {
        const room = await ownRoom(closings, owner, code);
        const codes = isEnd ? deviceCodes(room) : signingCodes(room);
        if (codes.length === 0)
          throw new ServiceError("conflict", "No document of this closing waits for signatures now.");
        return codes;
      },
    },
    formIn("orders"),
  );
}

/** Adds the form that turns automatic sealing of the closing on or off. */
function sealForm(forms: FastifyInstance, { frame, closings }: RoomsDeps, formIn: FormIn): void {
  pageRoute(forms, frame, {
    ...formIn("passport"),
    url: "/dashboard/rooms/:code/seal-when-done",
    handle: async ({ params: { code }, form, request }) => {
      const isOn = form["to"] === "on";
      await switchSeal(closings, principalOf(request), code, isOn);
      return done(pathOf(code), isOn ? "room-seal-on" : "room-seal-off");
    },
  });
}

/**
 * Adds two forms. One form charges the firm's card or bank account once. The charge covers all payable orders of the
 * room that the firm pays, except those that `roomCharge` leaves out. The other form makes the clients pay the prices
 * that are still unpaid.
 */
function firmPaysForms(forms: FastifyInstance, { frame, checkout }: RoomsDeps, formIn: FormIn): void {
  pageRoute(forms, frame, {
    ...formIn("payment"),
    url: "/dashboard/rooms/:code/charge",
    handle: async ({ params: { code }, form, request }) => {
      // This form needs no deduplication record. A second click is rejected anyway, because the orders are already
      // being charged.
      const resultOf = <Result>(charged: Result) => charged;
      const end = { record: recordNothing, resultOf, expected: shownCharge(form) };
      await roomCharge(checkout, principalOf(request), code, end);
      return done(pathOf(code), "room-charged");
    },
  });
  pageRoute(forms, frame, {
    ...formIn("payment"),
    url: "/dashboard/rooms/:code/client-pays",
    handle: async ({ params: { code }, form, request }) => {
      await letRoomsClientsPay(checkout, principalOf(request), code, shownOrders(form));
      return done(pathOf(code), "room-clients-pay");
    },
  });
}

/**
 * Reads the orders from the form, with the prices that the page showed.
 * @throws ServiceError for a form without them
 */
const shownOrders = ({ orders = "" }: FormValues): ShownOrder[] =>
  orders.split(" ").map((each) => {
    const [, code = "", cents = ""] = /^([0-9a-f]{40}):(\d{1,12})$/.exec(each) ?? [];
    if (code === "") throw invalid("orders must be the orders that the page shows, with their prices in cents.");
    return { code, totalCents: Number(cents) };
  });

/** Adds to an error's message how many orders were attached to the room before the error. Those stay attached. */
const afterAdding = (added: number, { code, message }: ServiceError): ServiceError =>
  new ServiceError(code, `${message} ${added === 1 ? "1 order was" : `${added} orders were`} added before that.`);

function orderForms(forms: FastifyInstance, deps: RoomsDeps, formIn: FormIn): void {
  pageRoute(forms, deps.frame, {
    ...formIn("attach"),
    url: "/dashboard/rooms/:code/orders",
    handle: doOnce(deps.closings, async ({ params: { code }, form, request }) => {
      const [principal, codes] = [principalOf(request), orderCodesOf(form)];
      let added = 0;
      for (const orderCode of codes) {
        const order = { orderCode, label: form["label"] };
        const { alreadyAttached } = await attachTitled(
          { ...deps.closings, titleOf: deps.deliveries.titleOf },
          principal,
          code,
          order,
        ).catch((error) => {
          throw added > 0 && error instanceof ServiceError ? afterAdding(added, error) : error;
        });
        if (!alreadyAttached) added++;
      }
      if (added > 1) return done(pathOf(code), "room-orders-attached");
      return done(pathOf(code), added === 0 ? "room-order-there" : "room-order-attached");
    }),
  });

  pageRoute(forms, deps.frame, {
    ...formIn("orders"),
    url: "/dashboard/rooms/:code/orders/:orderCode/detach",
    handle: async ({ params: { code, orderCode }, request }) => {
      await detachOrder(deps.closings, principalOf(request), code, orderCode);
      return done(pathOf(code), "room-order-detached");
    },
  });
}

function participantForms(forms: FastifyInstance, deps: RoomsDeps, formIn: FormIn): void {
  pageRoute(forms, deps.frame, {
    ...formIn("add-participant"),
    url: "/dashboard/rooms/:code/participants",
    handle: doOnce(deps.closings, async ({ params: { code }, form, request }) => {
      const to = [deps.closings, principalOf(request), code, participantFields(form)] as const;
      if (form["invite"] === undefined) {
        const { alreadyPresent } = await addParticipant(...to);
        return done(pathOf(code), alreadyPresent ? "participant-there" : "participant-added");
      }
      const { alreadyPresent, invited } = await inviteParticipant(...to);
      return done(
        pathOf(code),
        `participant-${alreadyPresent ? "there" : "added"}-${invited ? "invited" : "uninvited"}`,
      );
    }),
  });

  pageRoute(forms, deps.frame, {
    ...formIn("participants"),
    url: "/dashboard/rooms/:code/participants/:participantId/remove",
    handle: async ({ params: { code, participantId }, request }) => {
      await removeParticipant(deps.closings, principalOf(request), code, participantId);
      return done(pathOf(code), "participant-removed");
    },
  });
}

/** Adds the forms that seal a room, replace its link, set its closing day, close it and open it again. */
function roomForms(forms: FastifyInstance, deps: RoomsDeps, formIn: FormIn): void {
  pageRoute(forms, deps.frame, {
    ...formIn("passport"),
    url: "/dashboard/rooms/:code/passport",
    handle: doOnce(deps.closings, async ({ params: { code }, form, request }) => {
      await sealClosing(deps.closings, principalOf(request), code, versionOf(form));
      return done(pathOf(code), "room-sealed");
    }),
  });

  pageRoute(forms, deps.frame, {
    ...formIn("share"),
    url: "/dashboard/rooms/:code/rotate",
    handle: doOnce(deps.closings, async ({ params: { code }, request }) => {
      const { roomCode } = await rotateRoom(deps.closings, principalOf(request), code);
      return done(pathOf(roomCode), "room-rotated");
    }),
  });

  pageRoute(forms, deps.frame, {
    ...formIn("day"),
    url: "/dashboard/rooms/:code/closes-on",
    handle: async ({ params: { code }, form, request }) => {
      const closesOn = closesOnField({ closesOn: form["closes_on"] });
      await setClosesOn(deps.closings, principalOf(request), code, closesOn);
      return done(pathOf(code), closesOn === null ? "room-day-removed" : "room-day-set");
    },
  });

  for (const [verb, change, message] of [
    ["close", closeRoom, "room-closed"],
    ["reopen", reopenRoom, "room-reopened"],
  ] as const)
    pageRoute(forms, deps.frame, {
      ...formIn("state"),
      url: `/dashboard/rooms/:code/${verb}`,
      handle: async ({ params: { code }, request }) => {
        await change(deps.closings, principalOf(request), code);
        return done(pathOf(code), message);
      },
    });
}

/**
 * The number of the closing passport's next version, as the page's Seal button sent it. The page may be out of date.
 */
function versionOf({ version }: FormValues): number {
  const number = wholeNumberIn(version, 0, 999);
  if (number === undefined) throw invalid("version must be the number of the next version.");
  return number;
}
