import type { FastifyInstance } from "fastify";
import type { Operator } from "../../../firms/operators/operators.ts";
import { eventStreams } from "../../../kernel/http/event-stream.ts";
import { nullIf, ServiceError } from "../../../kernel/platform/errors.ts";
import {
  admitPerson,
  claimedOrder,
  connectNotary,
  currentSha256,
  endLive,
  excludedAbroad,
  excusePerson,
  giveTurn,
  identitiesOf,
  invitePerson,
  type LiveDeps,
  liveOf,
  liveSessionsOf,
  markLive,
  notaryName,
  noteLiveWitness,
  openLive,
  pauseLive,
  readAsNotary,
  releaseBrowser,
  reopen,
  reportShownToNotary,
  sheetOf,
  shownIn,
  showPage,
  startLive,
  unmetLive,
  wasUnrecorded,
  withdrawPerson,
  writeAsNotary,
} from "../../../signing/notaries/notaries.ts";
import { shortCode } from "../../ui/format.ts";
import { messageOf } from "../../ui/live/parts.ts";
import { cameraHeaders } from "../../ui/page/headers.ts";
import { roomPolicy } from "../../ui/page/policy.ts";
import { render } from "../../ui/render.ts";
import { type ConsoleCall, consolePage, consoleRoute, operatorOf, requireRights } from "../frame/console.ts";
import { orderPath } from "./order-path.ts";
import { type NotaryDeskDeps, orderPage } from "./routes.ts";
import { endedPart, type SessionView, sessionBody, sessionPart, sessionPath, unrecordedWords } from "./session-page.ts";

type Deps = NotaryDeskDeps & { live: LiveDeps };

const permission = "notary.work" as const;
const base = "/operator/notary/orders/:code/session" as const;
const headers = { ...cameraHeaders, "Content-Security-Policy": roomPolicy() };

/**
 * Adds the notary's side of a live session. Each button sends a request; the session and the run sheet decide whether
 * it is accepted.
 */
export function sessionRoutes(scope: FastifyInstance, deps: Deps): void {
  const { frame, live } = deps;
  type Call = Pick<ConsoleCall<{ code: string }>, "request" | "operator" | "params">;

  async function page({ request, operator, params: { code } }: Call, problem?: string): Promise<string | null> {
    const view = await viewOf(live, operator, code);
    if (!view) return null;
    const title = `Session for order ${shortCode(code)}`;
    const body = sessionBody(view, problem);
    return consolePage(frame, request, { title, section: "notary", body, scripts: ["notary-room.js"] });
  }

  const refused = async (call: Call, problem: string) =>
    (await page(call, problem)) ?? (await orderPage(deps, call.request, call.operator, call.params.code, { problem }));

  consoleRoute(scope, frame, {
    url: base,
    permission,
    async handle(call) {
      const shown = await page(call);
      return shown === null ? { redirect: orderPath(call.params.code) } : { page: shown, headers };
    },
  });

  consoleRoute(scope, frame, {
    url: `${base}/part`,
    permission,
    async handle({ operator, params: { code } }) {
      // After the act, the order is no longer the notary's, so its view can't be read.
      const view = await viewOf(live, operator, code).catch(nullIf("not_found"));
      return { page: render(view ? sessionPart(view, {}) : endedPart(await whyEnded(live, operator, code))), headers };
    },
  });

  const changes = {
    "": openLive,
    "/start": startLive,
    "/admit": admitPerson,
    "/release": releaseBrowser,
    "/excuse": excusePerson,
    "/hold": pauseLive,
    "/mark": markLive,
    "/turn": giveTurn,
    "/end": endLive,
    "/invite": invitePerson,
    "/withdraw": withdrawPerson,
    "/witness": noteLiveWitness,
  } as const;
  for (const [rest, change] of Object.entries(changes))
    consoleRoute(scope, frame, {
      method: "POST",
      url: `${base}${rest}` as typeof base,
      permission,
      async handle({ operator, params: { code }, form }) {
        await change(live, operator, code, form);
        return { redirect: sessionPath(code) };
      },
      refused,
    });

  mediaRoutes(scope, deps);
  messageRoutes(scope, deps);
}

/** The view of the order's open session; null when no session is open. */
async function viewOf(live: LiveDeps, operator: Operator, code: string): Promise<SessionView | null> {
  const claimed = await claimedOrder(live.sheets.desk, operator, code);
  const found = await liveOf(live, claimed);
  if (!found) return null;
  const { session, people } = found;
  const signers = people.filter(({ role }) => role === "signer");
  const sheet = await sheetOf(live.sheets, claimed, (envelope) => unmetLive(live, session, signers, envelope));
  if (!sheet) return null;
  const room = live.rooms.roomOf(session.id);
  const identities = await identitiesOf(live.identity, claimed.order);
  const [lines, turn] = [room?.people ?? new Map(), room?.turn?.person ?? null];
  const { db } = live.sheets.desk;
  const shown = { by: await shownIn(live, session), now: await currentSha256(db, claimed.order.orderId) };
  const excluded = await excludedAbroad(live, session);
  const minutesLeft = room?.minutesLeft ?? null;
  return { claimed, session, people, sheet, identities, lines, turn, minutesLeft, shown, excluded };
}

/**
 * The text for the notary if the order's last session ended because it could not be recorded; null for any other end.
 */
async function whyEnded(live: LiveDeps, operator: Operator, code: string): Promise<string | null> {
  const claimed = await claimedOrder(live.sheets.desk, operator, code).catch(() => null);
  if (!claimed) return null;
  const sessions = await liveSessionsOf(live.sheets.desk.db, claimed.order.orderId);
  const last = sessions.toSorted((one, other) => one.openedAt.getTime() - other.openedAt.getTime()).at(-1);
  return last && (await wasUnrecorded(live, last)) ? unrecordedWords : null;
}

/** @throws ServiceError `not_found` when no session of the order is open */
async function openOf(live: LiveDeps, operator: Operator, code: string) {
  const found = await liveOf(live, await claimedOrder(live.sheets.desk, operator, code));
  if (!found) throw new ServiceError("not_found", "No session is open for this order.");
  return found.session;
}

/** Adds the routes of the notary's own media connection, and of the events of the session. */
function mediaRoutes(scope: FastifyInstance, { frame, live }: Deps): void {
  const stream = eventStreams(scope);

  consoleRoute(scope, frame, {
    method: "POST",
    url: `${base}/media`,
    permission,
    async handle({ operator, params: { code }, form }) {
      await reopen(live, await openOf(live, operator, code));
      return { json: await connectNotary(live, operator, code, form) };
    },
  });

  consoleRoute(scope, frame, {
    method: "POST",
    url: `${base}/check`,
    permission,
    async handle({ operator, params: { code } }) {
      const { id, state } = await openOf(live, operator, code);
      if (state !== "open") throw new ServiceError("conflict", "The session has begun: your device is in use.");
      return { json: await live.rooms.check({ session: id, person: notaryName }) };
    },
  });

  consoleRoute(scope, frame, {
    method: "POST",
    url: `${base}/signal`,
    permission,
    async handle({ operator, params: { code }, form }) {
      const { id } = await openOf(live, operator, code);
      const of = { session: id, person: notaryName };
      return { json: { messages: await live.rooms.signal(form["ticket"] ?? "", of, messageOf(form)) } };
    },
  });

  const options = { schema: { hide: true }, config: { permissions: [permission] } };
  scope.get<{ Params: { code: string } }>(`${base}/events`, options, async (request, reply) => {
    const operator = operatorOf(request);
    requireRights(request, operator, frame.clock());
    const { id } = await openOf(live, operator, request.params.code);
    stream(reply, (hear, end) => live.rooms.listen(id, notaryName, { hear, end }));
    return reply;
  });
}

/**
 * Adds the routes for written messages. Also adds those by which the notary's page reports its document, and asks
 * signers to open a page.
 */
function messageRoutes(scope: FastifyInstance, { frame, live }: Deps): void {
  consoleRoute(scope, frame, {
    method: "POST",
    url: `${base}/message`,
    permission,
    async handle({ operator, params: { code }, form }) {
      await writeAsNotary(live, operator, code, form);
      return { json: {} };
    },
  });

  consoleRoute(scope, frame, {
    url: `${base}/messages`,
    permission,
    handle: async ({ operator, params: { code } }) => ({
      json: { messages: await readAsNotary(live, operator, code) },
    }),
  });

  consoleRoute(scope, frame, {
    method: "POST",
    url: `${base}/shown`,
    permission,
    async handle({ operator, params: { code }, form }) {
      await reportShownToNotary(live, operator, code, form);
      return { json: {} };
    },
  });

  consoleRoute(scope, frame, {
    method: "POST",
    url: `${base}/page`,
    permission,
    async handle({ operator, params: { code }, form }) {
      await showPage(live, operator, code, form);
      return { json: {} };
    },
  });
}
