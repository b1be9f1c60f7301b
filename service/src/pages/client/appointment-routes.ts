import type { FastifyInstance } from "fastify";
import { wireStatus } from "../../kernel/http/errors/wire-errors.ts";
import type { RateLimits } from "../../kernel/http/rate-limits.ts";
import { ServiceError } from "../../kernel/platform/errors.ts";
import {
  appointmentOf,
  bookAppointment,
  cancelAppointment,
  type IdentityDeps,
  invitationOf,
  inviteToBook,
  whenText,
} from "../../signing/notaries/notaries.ts";
import type { Assets } from "../ui/assets/assets.ts";
import { inLanguage } from "../ui/error-page.ts";
import { acceptForms, type FormValues } from "../ui/forms/form-body.ts";
import { type PageAnswer, pageRoute } from "../ui/page/route.ts";
import { linkFor, type Reader, readerOf } from "../ui/words/reader.ts";
import { appointmentPage, appointmentPath, invitationPage } from "./appointment-page.ts";
import { appointmentWords } from "./appointment-words.ts";

export type AppointmentPageDeps = {
  assets: Assets;
  limits: RateLimits;
  notaries: Pick<IdentityDeps, "desk" | "secrets">;
};

/** The last part of the address: the token of a person's link, or the order's code. */
type Asked = { key: string; form: FormValues; query: FormValues; reader: Reader };
type Refused = { error: string; status: number };

/** Appointments, by a link of each person who is to appear; by the order's link they are mailed theirs. A GET changes nothing. */
export function appointmentPages(app: FastifyInstance, { assets, limits, notaries }: AppointmentPageDeps): void {
  const { desk } = notaries;

  async function showAppointment({ key: token, reader }: Asked, refused?: Refused): Promise<PageAnswer> {
    const found = await appointmentOf(desk, token);
    const page = appointmentPage(assets, { token, found, reader, error: refused?.error ?? null });
    return { page, status: refused?.status ?? 200, headers: inLanguage(reader) };
  }

  async function showInvitation({ key: code, query, reader }: Asked, refused?: Refused): Promise<PageAnswer> {
    const session = await invitationOf(desk, code);
    const when = session && whenText(session.startsAt, session.zone, reader.words.language);
    const about = { code, when, isSent: query["done"] === "mailed", error: refused?.error ?? null };
    const page = invitationPage(assets, { ...about, reader });
    return { page, status: refused?.status ?? 200, headers: inLanguage(reader) };
  }

  const routes = [
    { url: "/appointments/:key", show: showAppointment, act: null },
    {
      url: "/appointments/:key",
      show: showAppointment,
      act: async ({ key, form, reader }: Asked) => {
        await bookAppointment(desk, key, form["slot"] ?? "");
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
    acceptForms(scope);
    for (const { url, show, act } of routes)
      pageRoute(
        scope,
        { limits },
        {
          method: act ? "POST" : "GET",
          url,
          policy: "page",
          async handle({ params, query, form, request }) {
            const { key } = params as { key: string };
            const reader = readerOf(query["lang"], request.headers["accept-language"]);
            const asked = { key, form, query, reader };
            if (!act) return show(asked);
            try {
              return await act(asked);
            } catch (error) {
              if (!(error instanceof ServiceError) || error.code === "not_found") throw error;
              request.log.info({ reason: error.message }, "an appointment was refused");
              const { taken } = appointmentWords[reader.words.language];
              return show(asked, { error: taken, status: wireStatus[error.code] });
            }
          },
        },
      );
  });
}
