import type { FastifyInstance } from "fastify";
import { wireStatus } from "../../kernel/http/errors/wire-errors.ts";
import type { RateLimits } from "../../kernel/http/rate-limits.ts";
import { ServiceError } from "../../kernel/platform/errors.ts";
import {
  appointmentOf,
  askNow,
  type BookingDeps,
  bookAppointment,
  cancelAppointment,
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
  /** Null when the installation has no audio and video. */
  live: Omit<DeviceDeps, "limits"> | null;
};

/** The states in which people wait for a room, and may test their device before. */
const checkedIn: ReadonlySet<QueuePlace["state"]> = new Set(["booked", "waiting", "taken"]);

/** `key` is the last part of the address: the token of a person's link, or the order's code. */
type Asked = { key: string; form: FormValues; query: FormValues; reader: Reader };
type Refused = { error: string; status: number };
type Routed = {
  url: string;
  show: (asked: Asked, refused?: Refused) => Promise<PageAnswer>;
  /** Performs the action of a POST. Null for a GET, which only shows the page. */
  act: ((asked: Asked) => Promise<{ redirect: string }>) | null;
  /** Set for the routes of the queue: the messages of their refusals differ from those about appointments. */
  refused?: "now";
};

/**
 * Adds the appointment pages. Each person who must appear has a link to one of them. The page that opens by the order's
 * link mails these links on request. A GET changes nothing.
 */
export function appointmentPages(app: FastifyInstance, deps: AppointmentPageDeps): void {
  const { assets, limits, notaries } = deps;
  const { desk } = notaries;
  const live = deps.live?.live ?? null;
  const booking: BookingDeps = { desk, rooms: live?.identity ?? null };

  async function showAppointment({ key: token, reader }: Asked, refused?: Refused): Promise<PageAnswer> {
    const [found, now] = await Promise.all([appointmentOf(booking, token), live && queuePlaceOf(live, token)]);
    const hasDeviceCheck = now !== null && checkedIn.has(now.state);
    const page = appointmentPage(assets, {
      ...{ token, found, now, hasDeviceCheck, reader },
      error: refused?.error ?? null,
    });
    const headers = { ...inLanguage(reader), ...(hasDeviceCheck && cameraHeaders) };
    return { page, status: refused?.status ?? 200, headers };
  }

  /** Serves the part of the page that refreshes while a person waits in the queue. */
  async function showPlace({ key: token, reader }: Asked): Promise<PageAnswer> {
    const place = live && (await queuePlaceOf(live, token));
    return { page: place ? queueFragment({ token, place, reader }) : "", status: 200, headers: inLanguage(reader) };
  }

  const inQueue =
    (act: typeof askNow) =>
    async ({ key, reader }: Asked) => {
      if (!live) throw new ServiceError("not_found", "This link opens no appointment.");
      await act(live, key);
      return { redirect: linkFor(reader, appointmentPath(key)) };
    };

  async function showInvitation({ key: code, query, reader }: Asked, refused?: Refused): Promise<PageAnswer> {
    const session = await invitationOf(desk, code);
    const when = session && whenText(session.startsAt, session.zone, reader.words.language);
    const about = { code, when, isSent: query["done"] === "mailed", error: refused?.error ?? null };
    const page = invitationPage(assets, { ...about, reader });
    return { page, status: refused?.status ?? 200, headers: inLanguage(reader) };
  }

  const routes: Routed[] = [
    { url: "/appointments/:key", show: showAppointment, act: null },
    {
      url: "/appointments/:key",
      show: showAppointment,
      act: async ({ key, form, reader }: Asked) => {
        await bookAppointment(booking, key, form["slot"] ?? "");
        return { redirect: linkFor(reader, appointmentPath(key)) };
      },
    },
    {
      url: "/appointments/:key/cancel",
      show: showAppointment,
      act: async ({ key, reader }: Asked) => {
        await cancelAppointment(desk, key);
        return { redirect: linkFor(reader, appointmentPath(key)) };
      },
    },
    { url: "/appointments/:key/now", show: showPlace, act: null },
    { url: "/appointments/:key/now", show: showAppointment, act: inQueue(askNow), refused: "now" },
    { url: "/appointments/:key/now/leave", show: showAppointment, act: inQueue(leaveQueue), refused: "now" },
    { url: "/orders/:key/appointment", show: showInvitation, act: null },
    {
      url: "/orders/:key/appointment",
      show: showInvitation,
      act: async ({ key, reader }: Asked) => {
        await inviteToBook(notaries, key, "client");
        return { redirect: linkFor(reader, `/orders/${key}/appointment?done=mailed`) };
      },
    },
  ];

  app.register(async (scope) => {
    const { live: rooms } = deps;
    if (!rooms) return;
    acceptForms(scope);
    deviceRoutes(scope, { limits, ...rooms });
  });

  app.register(async (scope) => {
    acceptForms(scope);
    for (const { url, show, act, refused } of routes)
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
  });
}
