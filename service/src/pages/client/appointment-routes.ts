import type { FastifyInstance } from "fastify";
import { wireStatus } from "../../kernel/http/errors/wire-errors.ts";
import type { RateLimits } from "../../kernel/http/rate-limits.ts";
import { ServiceError } from "../../kernel/platform/errors.ts";
import {
  appointmentOf,
  askNow,
  type BookingDeps,
  bookAppointment,
  cancelByLink,
  type IdentityDeps,
  invitationOf,
  inviteToBook,
  leaveQueue,
  type QueuePlace,
  queuePlaceOf,
  whenText,
} from "../../signing/notaries/notaries.ts";
import type { Assets } from "../ui/assets/assets.ts";
import { inLanguage } from "../ui/error-page.ts";
import { acceptForms, type FormValues } from "../ui/forms/form-body.ts";
import { cameraHeaders } from "../ui/page/headers.ts";
import { type PageAnswer, pageRoute } from "../ui/page/route.ts";
import { linkFor, type Reader, readerOf } from "../ui/words/reader.ts";
import { appointmentPage, invitationPage } from "./appointment-page.ts";
import { appointmentWords } from "./appointment-words.ts";
import { type DeviceDeps, deviceRoutes } from "./device-routes.ts";
import { appointmentPath, queueFragment } from "./queue-part.ts";
import { queueWords } from "./queue-words.ts";

export type AppointmentPageDeps = {
  assets: Assets;
  limits: RateLimits;
  notaries: Pick<IdentityDeps, "desk" | "secrets">;
  /** Null when the service offers no audio and video. */
  live: Omit<DeviceDeps, "limits"> | null;
};

/** In these states of a place in the queue, the person waits for the meeting room to open and may test their device. */
const checkedIn: ReadonlySet<QueuePlace["state"]> = new Set(["booked", "waiting", "taken"]);

/** `key` is the secret part of the URL: the token of a person's link, or the order's code. */
type Asked = { key: string; form: FormValues; query: FormValues; reader: Reader };
type Refused = { error: string; status: number };
type Routed = {
  url: string;
  show: (asked: Asked, refused?: Refused) => Promise<PageAnswer>;
  /** Performs the action of a POST. Null for a GET, which only shows the page. */
  act: ((asked: Asked) => Promise<{ redirect: string }>) | null;
  /**
   * `now`: the route belongs to the queue of people who wait for a notary without an appointment. Its errors are shown
   * in the queue's words.
   */
  refused?: "now";
};

/**
 * Adds the appointment pages. Each person who must appear before the notary has a link to a page of their own. The page
 * of the order's link mails these links on request. A GET changes nothing.
 */
export function appointmentPages(app: FastifyInstance, deps: AppointmentPageDeps): void {
  const { limits, live } = deps;
  app.register(async (scope) => {
    if (!live) return;
    acceptForms(scope);
    deviceRoutes(scope, { limits, ...live });
  });
  app.register(async (scope) => {
    acceptForms(scope);
    for (const routed of [...appointmentRoutes(deps), ...queueRoutes(deps), ...invitationRoutes(deps)])
      addRoute(scope, limits, routed);
  });
}

/**
 * Adds a route. If a POST is refused, the page shows the error in the reader's language. An invalid link is `not_found`
 * instead.
 */
function addRoute(scope: FastifyInstance, limits: RateLimits, { url, show, act, refused }: Routed): void {
  pageRoute(
    scope,
    { limits },
    {
      method: act ? "POST" : "GET",
      url,
      policy: "page",
      async handle({ params, query, form, request }) {
        const { key } = params as { key: string };
        const reader = readerOf(query["lang"], request.headers);
        const asked = { key, form, query, reader };
        if (!act) return show(asked);
        try {
          return await act(asked);
        } catch (error) {
          if (!(error instanceof ServiceError) || error.code === "not_found") throw error;
          request.log.info({ reason: error.message }, "an appointment was refused");
          const { language } = reader.words;
          const words = refused === "now" ? queueWords[language].refused : appointmentWords[language].taken;
          return show(asked, { error: words, status: wireStatus[error.code] });
        }
      },
    },
  );
}

const roomsOf = ({ live }: AppointmentPageDeps) => live?.live ?? null;

const bookingOf = (deps: AppointmentPageDeps): BookingDeps => ({
  desk: deps.notaries.desk,
  rooms: roomsOf(deps)?.identity ?? null,
});

const backToAppointment = ({ key, reader }: Asked) => ({ redirect: linkFor(reader, appointmentPath(key)) });

/** Shows one person's appointment, and their place in the queue or the offer to join it. */
const showAppointment =
  (deps: AppointmentPageDeps): Routed["show"] =>
  async ({ key: token, reader }, refused) => {
    const live = roomsOf(deps);
    const [found, now] = await Promise.all([appointmentOf(bookingOf(deps), token), live && queuePlaceOf(live, token)]);
    // An observer sends no media, so there is no device to check.
    const hasDeviceCheck = now !== null && checkedIn.has(now.state) && found.guest?.role !== "observer";
    const page = appointmentPage(deps.assets, {
      token,
      found,
      now,
      hasDeviceCheck,
      reader,
      error: refused?.error ?? null,
    });
    const headers = { ...inLanguage(reader), ...(hasDeviceCheck && cameraHeaders) };
    return { page, status: refused?.status ?? 200, headers };
  };

function appointmentRoutes(deps: AppointmentPageDeps): Routed[] {
  const show = showAppointment(deps);
  return [
    { url: "/appointments/:key", show, act: null },
    {
      url: "/appointments/:key",
      show,
      act: async (asked) => {
        await bookAppointment(bookingOf(deps), asked.key, asked.form["slot"] ?? "");
        return backToAppointment(asked);
      },
    },
    {
      url: "/appointments/:key/cancel",
      show,
      act: async (asked) => {
        await cancelByLink(deps.notaries.desk, asked.key);
        return backToAppointment(asked);
      },
    },
  ];
}

/** The routes of people who request a meeting with a notary now. */
function queueRoutes(deps: AppointmentPageDeps): Routed[] {
  const live = roomsOf(deps);
  const show = showAppointment(deps);

  /** Serves the part of the page that refreshes while a person waits in the queue. */
  async function showPlace({ key: token, reader }: Asked): Promise<PageAnswer> {
    const place = live && (await queuePlaceOf(live, token));
    return { page: place ? queueFragment({ token, place, reader }) : "", status: 200, headers: inLanguage(reader) };
  }

  const inQueue = (act: typeof askNow) => async (asked: Asked) => {
    if (!live) throw new ServiceError("not_found", "This link opens no appointment.");
    await act(live, asked.key);
    return backToAppointment(asked);
  };
  return [
    { url: "/appointments/:key/now", show: showPlace, act: null },
    { url: "/appointments/:key/now", show, act: inQueue(askNow), refused: "now" },
    { url: "/appointments/:key/now/leave", show, act: inQueue(leaveQueue), refused: "now" },
  ];
}

function invitationRoutes({ assets, notaries }: AppointmentPageDeps): Routed[] {
  const url = "/orders/:key/appointment";

  async function show({ key: code, query, reader }: Asked, refused?: Refused): Promise<PageAnswer> {
    const appointment = await invitationOf(notaries.desk, code);
    const when = appointment && whenText(appointment.startsAt, appointment.zone, reader.words.language);
    const about = { code, when, isSent: query["done"] === "mailed", error: refused?.error ?? null };
    const page = invitationPage(assets, { ...about, reader });
    return { page, status: refused?.status ?? 200, headers: inLanguage(reader) };
  }

  return [
    { url, show, act: null },
    {
      url,
      show,
      act: async ({ key, reader }) => {
        await inviteToBook(notaries, key, "client");
        return { redirect: linkFor(reader, `/orders/${key}/appointment?done=mailed`) };
      },
    },
  ];
}
