import { timingSafeEqual } from "node:crypto";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { isFromOwnMachine } from "../../http/own-machine.ts";
import type { RateLimits } from "../../http/rate-limits.ts";
import { ServiceError } from "../../platform/errors.ts";
import type { Outbox } from "../../platform/mail/mail.ts";
import type { Assets } from "../ui/assets/assets.ts";
import { credentialHeaders } from "../ui/page/headers.ts";
import { pageRoute } from "../ui/page/route.ts";
import { mailPage, outboxPage } from "./outbox-pages.ts";
import { listOutbox, readOutbox } from "./read-outbox.ts";

/** A mail as it is may hold anything: nothing in it runs or is loaded. */
const mailHeaders = {
  ...credentialHeaders,
  "Content-Security-Policy": "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:",
};

/** Mails of an installation without a mail server, for who runs it on their own machine: they hold sign-in links. */
export function outboxRoutes(app: FastifyInstance, deps: { limits: RateLimits; assets: Assets; outbox: Outbox }): void {
  const { assets, outbox } = deps;
  const common = { policy: "page", onRequest: requireOwner(outbox.token), headers: credentialHeaders } as const;

  pageRoute(app, deps, {
    ...common,
    url: "/outbox/:token/",
    handle: async () => outboxPage(assets, await listOutbox(outbox.folder)),
  });
  pageRoute(app, deps, {
    ...common,
    url: "/outbox/:token/:name",
    handle: async ({ params }) => mailPage(assets, await mailOf(outbox, params.name)),
  });
  pageRoute(app, deps, {
    ...common,
    headers: mailHeaders,
    url: "/outbox/:token/:name/html",
    handle: async ({ params }) => (await mailOf(outbox, params.name)).html,
  });
}

const notFound = () => new ServiceError("not_found", "Not found.");

const requireOwner = (token: string) => async (request: FastifyRequest) => {
  const given = Buffer.from((request.params as { token: string }).token);
  const wanted = Buffer.from(token);
  const known = given.length === wanted.length && timingSafeEqual(given, wanted);
  if (!known || !isFromOwnMachine(request)) throw notFound();
};

async function mailOf({ folder }: Outbox, name: string) {
  const mail = await readOutbox(folder, name);
  if (mail === null) throw notFound();
  return mail;
}
