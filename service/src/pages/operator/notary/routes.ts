import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Operator } from "../../../firms/operators/operators.ts";
import { nullIf } from "../../../kernel/platform/errors.ts";
import {
  type Act,
  addGuest,
  askIdentity,
  askInPerson,
  claimedOrder,
  claimOrder,
  type DeskDeps,
  deskOf,
  dropGuest,
  factRules,
  findDraft,
  guestsOf,
  type IdentityDeps,
  identitiesOf,
  inviteToBook,
  type LiveDeps,
  liveObstacle,
  liveOf,
  mailAppointment,
  meansFor,
  notaryOf,
  notaryQueueOf,
  noteAct,
  onRecord,
  type RemoteSigningDeps,
  readAct,
  readForNotary,
  recordedAmong,
  refuseAct,
  releaseOrder,
  reportFailedAppointment,
  requireMode,
  roomlessDisk,
  ruleFaults,
  type SheetDeps,
  scheduledFor,
  sheetOf,
  signedBeforeAct,
  typedAct,
  typedOfSheet,
  typedOnRecord,
} from "../../../signing/notaries/notaries.ts";
import { shortCode } from "../../ui/format.ts";
import { done } from "../flash-messages.ts";
import { type ConsoleFrame, consolePage, consoleRoute, operatorOf } from "../frame/console.ts";
import { deskBody } from "./desk-pages.ts";
import { actTimes, inLocal, inUtc, zoneOf } from "./local-times.ts";
import { firstTyped, type OrderView, orderBody } from "./order-page.ts";
import { orderPath } from "./order-path.ts";
import { queueRoutes } from "./queue-routes.ts";

export type NotaryDeskDeps = {
  frame: ConsoleFrame;
  readNotices: (orderId: number) => Promise<OrderView["claimed"]["notices"]>;
  notaryDesk: DeskDeps;
  notarySheets: SheetDeps;
  notarySigning: RemoteSigningDeps;
  identity: IdentityDeps;
  /** Null if the service has no audio and video. */
  live: LiveDeps | null;
};

const permission = "notary.work" as const;

/**
 * The page of an order that the notary has claimed.
 * @throws ServiceError `not_found` for every other order; `role_required` for an operator without a record as a notary,
 * or with a suspended one
 */
export async function orderPage(
  deps: NotaryDeskDeps,
  request: FastifyRequest,
  operator: Operator,
  code: string,
  shown: Pick<OrderView, "act" | "typed" | "problem"> = {},
): Promise<string> {
  const order = await claimedOrder(deps.notaryDesk, operator, code);
  const claimed = { ...order, notices: await deps.readNotices(order.order.orderId) };
  const draft = await findDraft(deps.notaryDesk.db, claimed.order.taskId, claimed.notary.id);
  const identity = {
    people: await identitiesOf(deps.identity, claimed.order),
    means: meansFor(deps.identity, claimed.order.environment),
  };
  const sheet = await sheetOf(deps.notarySheets, claimed);
  const { live } = deps;
  const open = live && (await liveOf(live, claimed));
  // While nothing of the session is recorded yet, `onRecord` fails with `conflict`. The form is then the same as for an
  // order without a session.
  const onTape = live && open?.session.liveAt ? await onRecord(live, claimed).catch(nullIf("conflict")) : null;
  const initial = {
    ...firstTyped(claimed),
    ...(sheet && typedOfSheet(sheet)),
    ...(onTape && { ...typedOnRecord(onTape), witnesses: onTape.present.join("\n") }),
  };
  const zone = await zoneOf(deps.notaryDesk.db, claimed.notary.id);
  const typed = shown.act?.typed ?? inLocal(draft?.act ? typedAct(draft.act as Act) : initial, actTimes, zone);
  const hasPasskey = operator.session?.proof.hasPasskey ?? false;
  const appointment = await scheduledFor(deps.notaryDesk.db, claimed.order.orderId);
  const guests = await guestsOf(deps.notaryDesk.db, claimed.order.orderId);
  const obstacle =
    live &&
    (liveObstacle(live.identity, claimed, deps.notaryDesk.clock()) ??
      (await roomlessDisk(live, claimed.order.signers.length + recordedAmong(guests))));
  const meeting = live && { session: open?.session ?? null, obstacle };
  const isSigned = (await signedBeforeAct(deps.notaryDesk.db, claimed.order.orderId)) !== null;
  const hasRemote = deps.notarySigning.remote !== null;
  const body = orderBody(
    { claimed, draft, identity, appointment, guests, sheet, hasPasskey, hasRemote, isSigned, meeting, zone, ...shown },
    typed,
  );
  return consolePage(deps.frame, request, {
    title: `Order ${shortCode(code)}`,
    section: "notary",
    body,
    scripts: ["notary-sign.js"],
  });
}

/** Adds the pages on which a notary works: the desk with its queue, and the page of each claimed order. */
export function notaryRoutes(scope: FastifyInstance, deps: NotaryDeskDeps): void {
  deskRoutes(scope, deps);
  orderRoutes(scope, deps);
  changeRoutes(scope, deps);
  identityRoutes(scope, deps);
  actRoute(scope, deps);
}

function deskRoutes(scope: FastifyInstance, deps: NotaryDeskDeps): void {
  const { notaryDesk } = deps;

  async function show(request: FastifyRequest, operator: Operator, problem?: string): Promise<string> {
    const notary = await notaryOf(notaryDesk.db, operator);
    const queue = deps.live && (await notaryQueueOf(deps.live, operator, notary));
    const body = deskBody(
      { notary, ...(await deskOf(notaryDesk, operator, notary)), queue, now: notaryDesk.clock() },
      problem,
    );
    const scripts = queue ? (["notary-sign.js", "htmx.js"] as const) : (["notary-sign.js"] as const);
    return consolePage(deps.frame, request, { title: "Notary’s desk", section: "notary", body, scripts });
  }

  consoleRoute(scope, deps.frame, {
    url: "/operator/notary",
    permission,
    handle: ({ request, operator }) => show(request, operator),
  });

  consoleRoute(scope, deps.frame, {
    method: "POST",
    url: "/operator/notary/tasks/:task/claim",
    permission,
    async handle({ params: { task }, operator }) {
      return done(orderPath(await claimOrder(notaryDesk, operator, task)), "notary-claimed");
    },
    refused: ({ request, operator }, problem) => show(request, operator, problem),
  });

  if (deps.live)
    queueRoutes(scope, deps.frame, deps.live, (request, problem) => show(request, operatorOf(request), problem));
}

function orderRoutes(scope: FastifyInstance, deps: NotaryDeskDeps): void {
  const { notaryDesk } = deps;

  consoleRoute(scope, deps.frame, {
    url: "/operator/notary/orders/:code",
    permission,
    handle: ({ request, operator, params: { code } }) => orderPage(deps, request, operator, code),
  });

  consoleRoute(scope, deps.frame, {
    url: "/operator/notary/orders/:code/document",
    permission,
    async handle({ operator, params: { code } }) {
      const { order } = await claimedOrder(notaryDesk, operator, code);
      const { file } = await readForNotary(notaryDesk, operator, order);
      return { pdf: file, name: `order-${shortCode(code)}.pdf` };
    },
  });
}

/**
 * Adds the forms that release an order, mail or end an appointment, or refuse the act. Another form asks the firm to
 * agree to an act on paper.
 */
function changeRoutes(scope: FastifyInstance, deps: NotaryDeskDeps): void {
  const { notaryDesk } = deps;
  const changes = [
    ["release", releaseOrder, "notary-released", () => "/operator/notary"],
    ["appointment", mailAppointment, "appointment-mailed", (code: string) => orderPath(code, "#appointment")],
    ["appointment-ended", reportFailedAppointment, "appointment-ended", () => "/operator/notary"],
    ["in-person", askInPerson, "in-person-asked", (code: string) => orderPath(code, "#in-person")],
    ["refuse", refuseAct, "act-refused", () => "/operator/notary"],
  ] as const;
  for (const [verb, change, message, back] of changes)
    consoleRoute(scope, deps.frame, {
      method: "POST",
      url: `/operator/notary/orders/:code/${verb}`,
      permission,
      async handle({ operator, params: { code }, form }) {
        const { id } = await notaryOf(notaryDesk.db, operator);
        await change(notaryDesk, operator, code, inUtc(form, ["when"], await zoneOf(notaryDesk.db, id)));
        return done(back(code), message);
      },
      refused: ({ request, operator, params: { code }, form: typed }, problem) =>
        orderPage(deps, request, operator, code, { typed, problem }),
    });
}

/**
 * The forms that ask an order's people to book an appointment and to prove their identity, and the form that names
 * guests.
 */
function identityRoutes(scope: FastifyInstance, deps: NotaryDeskDeps): void {
  const { notaryDesk } = deps;

  consoleRoute(scope, deps.frame, {
    method: "POST",
    url: "/operator/notary/orders/:code/invite",
    permission,
    async handle({ operator, params: { code } }) {
      await claimedOrder(notaryDesk, operator, code);
      await inviteToBook(deps.identity, code, operator.actor);
      return done(orderPath(code, "#appointment"), "appointment-mailed");
    },
    refused: ({ request, operator, params: { code } }, problem) =>
      orderPage(deps, request, operator, code, { problem }),
  });

  const changes = [
    ["guests", "guest-added", addGuest],
    ["guests/remove", "guest-removed", dropGuest],
  ] as const;
  for (const [verb, message, change] of changes)
    consoleRoute(scope, deps.frame, {
      method: "POST",
      url: `/operator/notary/orders/:code/${verb}`,
      permission,
      async handle({ operator, params: { code }, form }) {
        await change(deps.identity, operator, code, form);
        return done(orderPath(code, "#appointment"), message);
      },
      refused: ({ request, operator, params: { code }, form: typed }, problem) =>
        orderPage(deps, request, operator, code, { typed, problem }),
    });

  consoleRoute(scope, deps.frame, {
    method: "POST",
    url: "/operator/notary/orders/:code/identity",
    permission,
    async handle({ operator, params: { code }, form }) {
      await askIdentity(deps.identity, operator, code, form);
      return done(orderPath(code, "#identity"), "identity-asked");
    },
    refused: ({ request, operator, params: { code } }, problem) =>
      orderPage(deps, request, operator, code, { problem }),
  });
}

function actRoute(scope: FastifyInstance, deps: NotaryDeskDeps): void {
  const { notaryDesk } = deps;
  consoleRoute(scope, deps.frame, {
    method: "POST",
    url: "/operator/notary/orders/:code/act",
    permission,
    async handle({ request, operator, params: { code }, form: typed }) {
      const claimed = await claimedOrder(notaryDesk, operator, code);
      const at = notaryDesk.clock();
      const onTape = deps.live && (await onRecord(deps.live, claimed));
      const zone = await zoneOf(notaryDesk.db, claimed.notary.id);
      const read = readAct(
        { ...inUtc(typed, actTimes, zone), ...(onTape && typedOnRecord(onTape)) },
        at,
        factRules(claimed.eligibility.rules),
      );
      const faults = read.ok ? ruleFaults(read.value, claimed.eligibility.rules) : read.faults;
      if (!read.ok || Object.keys(faults).length > 0)
        return { page: await orderPage(deps, request, operator, code, { act: { typed, faults } }), status: 400 };
      requireMode(claimed, read.value);
      const isSignedAgain = typed["signed_again"] !== undefined;
      await noteAct(notaryDesk, claimed, read.value, { at, onRecord: onTape, isSignedAgain });
      const isElectronic = read.value.mode === "ron" || read.value.mode === "ipen";
      return done(orderPath(code, isElectronic ? "#sign" : "#upload"), "act-saved");
    },
    refused: ({ request, operator, params: { code }, form: typed }, problem) =>
      orderPage(deps, request, operator, code, { act: { typed, faults: {} }, problem }),
  });
}
