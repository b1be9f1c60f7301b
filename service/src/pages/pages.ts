import type { FastifyInstance } from "fastify";
import type { ResolveOperator } from "../firms/operators/operators.ts";
import type { Callers } from "../kernel/http/authentication.ts";
import { Passing } from "../kernel/http/pass-on.ts";
import type { RateLimits } from "../kernel/http/rate-limits.ts";
import { pageHeaders } from "../kernel/http/security-headers.ts";
import { acceptMultipart } from "../kernel/http/uploads/multipart.ts";
import type { UploadPlaces } from "../kernel/http/uploads/upload-places.ts";
import type { Clock } from "../kernel/platform/clock.ts";
import type { Outbox } from "../kernel/platform/mail/mail.ts";
import type { RetentionPlan } from "../kernel/retention/retention.ts";
import { appointmentPages } from "./client/appointment-routes.ts";
import { type ClientDeps, type ClientParts, clientPages } from "./client/client.ts";
import { type DashboardDeps, dashboard } from "./dashboard/dashboard.ts";
import { guidePages } from "./guides/guides.ts";
import { identityPages } from "./identity/routes.ts";
import { livePages } from "./live/routes.ts";
import { type OperatorDeps, operatorPages } from "./operator/operator.ts";
import { outboxRoutes } from "./outbox/outbox.ts";
import { previewPages } from "./signing/page.ts";
import { type SigningDeps, signingPages } from "./signing/signing.ts";
import { type Assets, openAssets } from "./ui/assets/assets.ts";
import { assetRoutes } from "./ui/assets/routes.ts";
import { errorPage, unmatchedPage } from "./ui/error-page.ts";
import { acceptForms } from "./ui/forms/form-body.ts";
import { type EvidenceSources, verifyPages } from "./verify/routes.ts";
import { type VisitorDeps, visitorPages } from "./visitor/visitor.ts";

export { openAssets, unmatchedPage };

type Common = { limits: RateLimits; assets: Assets; retention: RetentionPlan };

export type PageDeps = {
  common: Common;
  baseUrl: string;
  /** Null when a mail server sends the mails. */
  outbox: Outbox | null;
  client: Omit<ClientDeps, keyof Common | "baseUrl"> & Omit<ClientParts, "hasRooms">;
  verify: EvidenceSources;
  visitor: Pick<VisitorDeps, "recaptcha" | "requestAccess" | "site">;
  /** Null if the service has no signing. */
  signing: Omit<SigningDeps, keyof Common | "ownOrigin"> | null;
  /** The pages for signed-in members and operators. Null if signing in is not configured. */
  people: {
    callers: Callers;
    clock: Clock;
    uploadPlaces: UploadPlaces;
    resolveOperator: ResolveOperator;
    dashboard: Omit<DashboardDeps, "frame">;
    operator: Omit<OperatorDeps, "console">;
  } | null;
};

/** Adds the web pages and their assets: those of visitors, clients, signers, members and operators. */
export async function pages(app: FastifyInstance, deps: PageDeps): Promise<void> {
  const { common, baseUrl, client, verify, visitor, signing, people, outbox } = deps;
  const { limits, assets } = common;
  const ownOrigin = new URL(baseUrl).origin;
  const signIn = people && {
    members: people.dashboard.members,
    callers: people.callers,
    limits,
    assets,
    mailsStayHere: outbox !== null,
  };
  assetRoutes(app, assets);
  await app.register(async (scope) => {
    await acceptMultipart(scope);
    scope.setErrorHandler(errorPage(assets));
    scope.addHook("onRequest", async (_request, reply) => void reply.headers(pageHeaders));
    guidePages(scope, { limits, assets, baseUrl });
    visitorPages(scope, { limits, assets, ...visitor, baseUrl, ownOrigin, signIn });
    if (outbox) outboxRoutes(scope, { limits, assets, outbox });
    await scope.register(async (forms) => {
      acceptForms(forms);
      const hasRooms = Boolean(people?.operator.notaries.live);
      clientPages(forms, { ...common, ...client, baseUrl }, { ...client, hasRooms });
    });
    if (signing) signingPages(scope, { limits, assets, ...signing, ownOrigin });
    verifyPages(scope, { ...common, ...verify, baseUrl });
    if (people) {
      const { callers, clock, uploadPlaces, resolveOperator } = people;
      dashboard(scope, {
        frame: {
          ...common,
          baseUrl,
          callers,
          uploadPlaces,
          previewPages: (previewed) => previewPages(assets, { ...previewed, ownOrigin }),
        },
        ...people.dashboard,
      });
      const console = { frame: { clock, limits, assets }, ownOrigin, resolveOperator };
      const confirmation = people.dashboard.members;
      const { live } = people.operator.notaries;
      const passing = live && new Passing(live.own);
      const rooms = live && passing && { live, passing };
      appointmentPages(scope, { limits, assets, notaries: people.operator.notaries.identity, live: rooms });
      identityPages(scope, { limits, assets, identity: people.operator.notaries.identity });
      if (rooms) livePages(scope, { limits, assets, ...rooms, ownOrigin });
      operatorPages(scope, { console: { ...console, confirmation }, ...people.operator }, passing);
    }
  });
}
