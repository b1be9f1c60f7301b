import type { FastifyInstance, FastifyRequest } from "fastify";
import { type SealClosingDeps, sealClosing } from "../../../closing-passports/closing-passports.ts";
import { principalOf } from "../../../http/authentication.ts";
import type { RateLimits } from "../../../http/rate-limits.ts";
import { invalid, ServiceError } from "../../../platform/errors.ts";
import type { RetentionPlan } from "../../../retention/retention.ts";
import {
  addParticipant,
  closeRoom,
  detachOrder,
  inviteParticipant,
  participantFields,
  removeParticipant,
  reopenRoom,
  rotateRoom,
} from "../../../rooms/rooms.ts";
import type { Assets } from "../../ui/assets/assets.ts";
import { done } from "../../ui/flash-messages.ts";
import type { FormValues } from "../../ui/forms/form-body.ts";
import { type PageCall, pageRoute } from "../../ui/page/route.ts";
import { doOnce } from "../submit-once.ts";
import { attachTitled } from "./attach.ts";
import { orderCodesOf } from "./orders.ts";
import type { RoomPart, RoomProblem } from "./view.ts";

export type RoomsDeps = SealClosingDeps & { assets: Assets; limits: RateLimits; retention: RetentionPlan };

/** Shows the room's page again, with what was wrong. */
type Show = (request: FastifyRequest, code: string, problem: RoomProblem) => Promise<string>;

const pathOf = (code: string): string => `/dashboard/rooms/${code}`;

/** The forms on a room's page. A refusal is shown in the part of the page that the form is in. */
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
}

type FormIn = (part: RoomPart) => {
  method: "POST";
  policy: "partner-write";
  refused: (call: PageCall<{ code: string }>, error: string) => Promise<string>;
};

/** What was added before stays. */
const afterAdding = (added: number, { code, message }: ServiceError): ServiceError =>
  new ServiceError(code, `${message} ${added === 1 ? "1 order was" : `${added} orders were`} added before that.`);

function orderForms(forms: FastifyInstance, deps: RoomsDeps, formIn: FormIn): void {
  pageRoute(forms, deps, {
    ...formIn("attach"),
    url: "/dashboard/rooms/:code/orders",
    handle: doOnce(deps, async ({ params: { code }, form, request }) => {
      const [principal, codes] = [principalOf(request), orderCodesOf(form)];
      let added = 0;
      for (const orderCode of codes) {
        const order = { orderCode, label: form["label"] };
        const { alreadyAttached } = await attachTitled(deps, principal, code, order).catch((error) => {
          throw added > 0 && error instanceof ServiceError ? afterAdding(added, error) : error;
        });
        if (!alreadyAttached) added++;
      }
      if (added > 1) return done(pathOf(code), "room-orders-attached");
      return done(pathOf(code), added === 0 ? "room-order-there" : "room-order-attached");
    }),
  });

  pageRoute(forms, deps, {
    ...formIn("orders"),
    url: "/dashboard/rooms/:code/orders/:orderCode/detach",
    handle: async ({ params: { code, orderCode }, request }) => {
      await detachOrder(deps, principalOf(request), code, orderCode);
      return done(pathOf(code), "room-order-detached");
    },
  });
}

function participantForms(forms: FastifyInstance, deps: RoomsDeps, formIn: FormIn): void {
  pageRoute(forms, deps, {
    ...formIn("add-participant"),
    url: "/dashboard/rooms/:code/participants",
    handle: doOnce(deps, async ({ params: { code }, form, request }) => {
      const to = [deps, principalOf(request), code, participantFields(form)] as const;
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

  pageRoute(forms, deps, {
    ...formIn("participants"),
    url: "/dashboard/rooms/:code/participants/:participantId/remove",
    handle: async ({ params: { code, participantId }, request }) => {
      await removeParticipant(deps, principalOf(request), code, participantId);
      return done(pathOf(code), "participant-removed");
    },
  });
}

/** Sealing, replacing the link, closing and opening again. */
function roomForms(forms: FastifyInstance, deps: RoomsDeps, formIn: FormIn): void {
  pageRoute(forms, deps, {
    ...formIn("passport"),
    url: "/dashboard/rooms/:code/passport",
    handle: doOnce(deps, async ({ params: { code }, form, request }) => {
      await sealClosing(deps, principalOf(request), code, versionOf(form));
      return done(pathOf(code), "room-sealed");
    }),
  });

  pageRoute(forms, deps, {
    ...formIn("share"),
    url: "/dashboard/rooms/:code/rotate",
    handle: doOnce(deps, async ({ params: { code }, request }) => {
      const { roomCode } = await rotateRoom(deps, principalOf(request), code);
      return done(pathOf(roomCode), "room-rotated");
    }),
  });

  for (const [verb, change, message] of [
    ["close", closeRoom, "room-closed"],
    ["reopen", reopenRoom, "room-reopened"],
  ] as const)
    pageRoute(forms, deps, {
      ...formIn("state"),
      url: `/dashboard/rooms/:code/${verb}`,
      handle: async ({ params: { code }, request }) => {
        await change(deps, principalOf(request), code);
        return done(pathOf(code), message);
      },
    });
}

/** The version that the form offered to seal. */
function versionOf({ version = "" }: FormValues): number {
  if (!/^\d{1,3}$/.test(version)) throw invalid("version must be the number of the next version.");
  return Number(version);
}
