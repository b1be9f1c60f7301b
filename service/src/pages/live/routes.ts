import { parseCookie, stringifySetCookie } from "cookie";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { refuseCrossSite } from "../../kernel/http/authentication.ts";
import { wireStatus } from "../../kernel/http/errors/wire-errors.ts";
import { eventStreams } from "../../kernel/http/event-stream.ts";
import type { Passing } from "../../kernel/http/pass-on.ts";
import type { RateLimits } from "../../kernel/http/rate-limits.ts";
import { ServiceError } from "../../kernel/platform/errors.ts";
import { isCode } from "../../kernel/platform/text.ts";
import {
  answerConsent,
  askingPage,
  connectPerson,
  documentFor,
  enteredBy,
  enterRoom,
  excludedAbroad,
  hasSignedHere,
  identitiesOf,
  isExcused,
  type LiveDeps,
  livePeopleOf,
  openForPerson,
  personName,
  type RoomLink,
  readMessages,
  reopen,
  reportPage,
  reportShown,
  requireOpenDocument,
  requireStep,
  sendRoomCode,
  wasUnrecorded,
  writeMessage,
} from "../../signing/notaries/notaries.ts";

import type { Assets } from "../ui/assets/assets.ts";
import { inLanguage } from "../ui/error-page.ts";
import { acceptForms, type FormValues } from "../ui/forms/form-body.ts";
import { messageOf } from "../ui/live/parts.ts";
import { passSessionsOn } from "../ui/live/pass-on.ts";
import { liveWords } from "../ui/live/words/languages.ts";
import { cameraHeaders, formHeaders } from "../ui/page/headers.ts";
import { roomPolicy, viewerPolicy } from "../ui/page/policy.ts";
import { type PageAnswer, type PageCall, pageRoute } from "../ui/page/route.ts";
import { render } from "../ui/render.ts";
import { linkFor, type Reader, readerOf } from "../ui/words/reader.ts";
import { type RoomView, roomDocumentPage, roomFragment, roomPage, roomPath } from "./room-page.ts";

type LivePageDeps = { assets: Assets; limits: RateLimits; live: LiveDeps; passing: Passing; ownOrigin: string };

const cookieName = "notary_room";
const cookieSeconds = 12 * 3600;

type Asked = { link: RoomLink; form: FormValues; query: FormValues; reader: Reader };
type Shown = { error?: string; status?: number };
type Act = (asked: Asked) => Promise<PageAnswer>;

/** The token of the room's link, together with the secret in this browser's cookie. */
function linkOf(request: FastifyRequest, token: string): RoomLink {
  const { cookie } = request.headers;
  return { token, browser: (cookie === undefined ? undefined : parseCookie(cookie)[cookieName]) ?? null };
}

function askedBy({ params, query, form, request }: PageCall): Asked {
  const { token } = params as { token: string };
  const reader = readerOf(query["lang"], request.headers);
  return { link: linkOf(request, token), form, query, reader };
}

/**
 * The view of one person's room. Before the code is entered, `roomPage` shows nothing of the view except the person's
 * name.
 *
 * @throws ServiceError `not_found`
 */
async function roomView(live: LiveDeps, { link, form, reader }: Asked): Promise<RoomView> {
  const entered = await enteredBy(live, link);
  const { session, person } = entered;
  const about = await livePeopleOf(live, session);
  if (!about) throw new ServiceError("not_found", "This link opens no room.");
  const { notary, people, act, signsAgain, order } = about;
  const identities = order ? await identitiesOf(live.identity, order) : [];
  const turn = live.rooms.roomOf(session.id)?.turn ?? null;
  const abroad = entered.step === "about" ? (await excludedAbroad(live, session)).get(personName(person.n)) : undefined;
  const isTurn = entered.step === "room" && turn?.person === personName(person.n);
  return {
    token: link.token,
    entered,
    notary,
    people,
    act,
    signsAgain,
    reader,
    identity: identities.find((each) => each.person === person.n) ?? null,
    consentText: live.consentTexts.current(reader.words.language),
    stated: { ...abroad, ...form },
    isAbroad: abroad !== undefined,
    hasSigned: await hasSignedHere(live, entered),
    isExcused: entered.step === "waiting" && (await isExcused(live, session, person)),
    signing: isTurn ? `/sign/${turn?.token}` : null,
    document: await documentFor(live, entered),
    isDiskLow: live.rooms.roomOf(session.id)?.minutesLeft != null,
    isOver: order === undefined,
    isUnrecorded: entered.step === "ended" && (await wasUnrecorded(live, session)),
  };
}

/** The actions that the page's script requests. If one fails, the script gets the error as JSON, not as a page. */
function scriptActs(live: LiveDeps): Record<string, Act> {
  return {
    async check({ link }) {
      const { session, person } = await requireStep(live, link, "about", "waiting");
      return { json: await live.rooms.check({ session: session.id, person: personName(person.n) }) };
    },
    async media({ link, form }) {
      const { session, person } = await requireStep(live, link, "room");
      await reopen(live, session);
      const isObserver = person.role === "observer";
      const of = { session: session.id, person: personName(person.n), asking: askingPage(form), isObserver };
      return { json: await connectPerson(live, link, of) };
    },
    async message({ link, form }) {
      await writeMessage(live, link, form);
      return { json: {} };
    },
    async shown({ link, form }) {
      await reportShown(live, link, form);
      return { json: {} };
    },
    async page({ link, form }) {
      return { json: { led: await reportPage(live, link, form) } };
    },
    async signal({ link, form }) {
      const { session, person } = await requireStep(live, link, "about", "waiting", "room");
      const of = { session: session.id, person: personName(person.n) };
      return { json: { messages: await live.rooms.signal(form["ticket"] ?? "", of, messageOf(form)) } };
    },
  };
}

type Show = (asked: Asked, shown?: Shown) => Promise<PageAnswer>;

function formActs(live: LiveDeps, show: Show, secure: boolean): Record<string, Act> {
  const cookie = (token: string, value: string) =>
    stringifySetCookie({
      name: cookieName,
      value,
      maxAge: cookieSeconds,
      path: roomPath(token),
      secure,
      httpOnly: true,
      sameSite: "strict",
    });
  return {
    async code({ link, reader }) {
      await sendRoomCode(live, link);
      return { redirect: linkFor(reader, `${roomPath(link.token)}?done=code`) };
    },
    async enter(asked) {
      const { link, form, reader } = asked;
      const browser = await enterRoom(live, link, form["code"] ?? "");
      if (browser === null) return show(asked, { error: liveWords[reader.words.language].code.wrong, status: 400 });
      const redirect = linkFor(reader, roomPath(link.token));
      return { redirect, headers: { "Set-Cookie": cookie(link.token, browser) } };
    },
    async consent(asked) {
      const { link, form, reader } = asked;
      const outcome = await answerConsent(live, link, form);
      const { abroad, changed } = liveWords[reader.words.language].consent;
      if (outcome === "abroad") return show(asked, { error: abroad, status: 400 });
      if (outcome === "changed") return show(asked, { error: changed, status: 409 });
      return { redirect: linkFor(reader, roomPath(link.token)) };
    },
  };
}

const pageOfLink = (token: string) => (isCode(token) ? { token } : null);

/**
 * Adds the rooms of signers, witnesses and observers: `/notary-room/{token}`. A GET changes nothing, and the link alone
 * gives nobody access to the session.
 */
export function livePages(app: FastifyInstance, { assets, limits, live, passing, ownOrigin }: LivePageDeps): void {
  const headers = { ...formHeaders, ...cameraHeaders, "Content-Security-Policy": roomPolicy() };
  const onRequest = async (request: FastifyRequest) => refuseCrossSite(request, ownOrigin);

  async function show(asked: Asked, { error, status = 200 }: Shown = {}): Promise<PageAnswer> {
    const view = await roomView(live, asked);
    const page = roomPage(assets, { ...view, error: error ?? null, isSent: asked.query["done"] === "code" });
    return { page, status, headers: inLanguage(asked.reader) };
  }

  const shownAgain = (act: Act) => async (call: PageCall) => {
    const asked = askedBy(call);
    try {
      return await act(asked);
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code === "not_found") throw error;
      call.request.log.info({ reason: error.message }, "a step of a room was refused");
      return show(asked, { error: liveWords[asked.reader.words.language].again, status: wireStatus[error.code] });
    }
  };

  app.register(async (scope) => {
    acceptForms(scope);
    passSessionsOn(scope, live, passing, ({ params }) => pageOfLink((params as { token: string }).token));
    const base = { limits };
    const room = { headers, policy: "page" } as const;
    pageRoute(scope, base, { ...room, url: "/notary-room/:token", handle: (call) => show(askedBy(call)) });
    pageRoute(scope, base, {
      url: "/notary-room/:token/part",
      policy: "log",
      headers,
      async handle(call) {
        const asked = askedBy(call);
        return { page: render(roomFragment(await roomView(live, asked))), headers: inLanguage(asked.reader) };
      },
    });
    pageRoute(scope, base, {
      url: "/notary-room/:token/messages",
      policy: "log",
      headers,
      async handle(call) {
        return { json: { messages: await readMessages(live, askedBy(call).link) } };
      },
    });
    documentPages(scope, { assets, limits, live });
    for (const [name, act] of Object.entries(formActs(live, show, ownOrigin.startsWith("https:"))))
      pageRoute(scope, base, {
        ...room,
        method: "POST",
        url: `/notary-room/:token/${name}`,
        onRequest,
        handle: shownAgain(act),
      });
    for (const [name, act] of Object.entries(scriptActs(live)))
      pageRoute(scope, base, {
        method: "POST",
        url: `/notary-room/:token/${name}`,
        policy: "log",
        headers,
        onRequest,
        handle: (call) => act(askedBy(call)),
      });
    events(scope, limits, live);
  });
}

/** Adds the page that shows the document in a frame of the room, and the PDF file that the page's script fetches. */
function documentPages(scope: FastifyInstance, deps: Pick<LivePageDeps, "assets" | "limits" | "live">): void {
  const { assets, limits, live } = deps;
  const headers = { ...formHeaders, "Content-Security-Policy": viewerPolicy([], "'self'") };
  pageRoute(
    scope,
    { limits },
    {
      url: "/notary-room/:token/document",
      policy: "page",
      headers,
      async handle(call) {
        const { link, reader } = askedBy(call);
        await requireOpenDocument(live, link);
        return { page: roomDocumentPage(assets, link.token, reader), headers: inLanguage(reader) };
      },
    },
  );
  pageRoute(
    scope,
    { limits },
    {
      url: "/notary-room/:token/document.pdf",
      policy: "page",
      headers,
      async handle(call) {
        const { file } = await openForPerson(live, askedBy(call).link);
        return { pdf: file, name: "document.pdf" };
      },
    },
  );
}

function events(scope: FastifyInstance, limits: RateLimits, live: LiveDeps): void {
  const stream = eventStreams(scope);
  const options = { schema: { hide: true }, onRequest: limits.limit("page") };
  scope.get<{ Params: { token: string } }>("/notary-room/:token/events", options, async (request, reply) => {
    const steps = ["about", "refused", "waiting", "room", "ended"] as const;
    const { session, person } = await requireStep(live, linkOf(request, request.params.token), ...steps);
    stream(reply, (hear, end) => live.rooms.listen(session.id, personName(person.n), { hear, end }));
    return reply;
  });
}
