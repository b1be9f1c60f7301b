import type { FastifyInstance } from "fastify";
import { wireStatus } from "../../kernel/http/errors/wire-errors.ts";
import type { RateLimits } from "../../kernel/http/rate-limits.ts";
import { ServiceError } from "../../kernel/platform/errors.ts";
import { appointmentOf, bookAppointment, cancelAppointment, type DeskDeps } from "../../signing/notaries/notaries.ts";
import type { Assets } from "../ui/assets/assets.ts";
import { inLanguage } from "../ui/error-page.ts";
import { acceptForms } from "../ui/forms/form-body.ts";
import { type PageAnswer, pageRoute } from "../ui/page/route.ts";
import { linkFor, type Reader, readerOf } from "../ui/words/reader.ts";
import { appointmentPage, appointmentPath } from "./appointment-page.ts";
import { appointmentWords } from "./appointment-words.ts";

export type AppointmentPageDeps = { assets: Assets; limits: RateLimits; desk: DeskDeps };

/** Appointments by the order's link, which is the credential of all of a client's pages. A GET changes nothing. */
export function appointmentPages(app: FastifyInstance, { assets, limits, desk }: AppointmentPageDeps): void {
  const show = async (code: string, reader: Reader, error: string | null = null, status = 200): Promise<PageAnswer> => {
    const page = appointmentPage(assets, { code, found: await appointmentOf(desk, code), reader, error });
    return { page, status, headers: inLanguage(reader) };
  };
  const acts = [
    ["/orders/:code/appointment", (code: string, slot: string) => bookAppointment(desk, code, slot)],
    ["/orders/:code/appointment/cancel", (code: string) => cancelAppointment(desk, code)],
  ] as const;

  app.register(async (scope) => {
    acceptForms(scope);
    pageRoute(
      scope,
      { limits },
      {
        url: "/orders/:code/appointment",
        policy: "page",
        handle: ({ params: { code }, query, request }) =>
          show(code, readerOf(query["lang"], request.headers["accept-language"])),
      },
    );
    for (const [url, act] of acts)
      pageRoute(
        scope,
        { limits },
        {
          method: "POST",
          url,
          policy: "page",
          async handle({ params, query, form, request }) {
            const { code } = params as { code: string };
            const reader = readerOf(query["lang"], request.headers["accept-language"]);
            try {
              await act(code, form["slot"] ?? "");
              return { redirect: linkFor(reader, appointmentPath(code)) };
            } catch (error) {
              if (!(error instanceof ServiceError) || error.code === "not_found") throw error;
              request.log.info({ reason: error.message }, "an appointment was refused");
              return show(code, reader, appointmentWords[reader.words.language].taken, wireStatus[error.code]);
            }
          },
        },
      );
  });
}
