import type { FastifyInstance } from "fastify";
import type { RateLimits } from "../http/rate-limits.ts";
import { pageHeaders } from "../http/security-headers.ts";
import { acceptMultipart } from "../http/uploads/multipart.ts";
import type { Outbox } from "../platform/mail/mail.ts";
import type { RetentionPlan } from "../retention/retention.ts";
import { type ClientDeps, clientPages } from "./client/client.ts";
import { type DashboardDeps, dashboard } from "./dashboard/dashboard.ts";
import { guidePages } from "./guides/guides.ts";
import { type OperatorDeps, operatorPages } from "./operator/operator.ts";
import { outboxRoutes } from "./outbox/outbox-routes.ts";
import { type SigningDeps, signingPages } from "./signing/signing.ts";
import { type Assets, openAssets } from "./ui/assets/assets.ts";
import { assetRoutes } from "./ui/assets/routes.ts";
import { errorPage, unmatchedPage } from "./ui/error-page.ts";
import { type EvidenceSources, verifyPages } from "./verify/routes.ts";
import { type VisitorDeps, visitorPages } from "./visitor/visitor.ts";

export { type EvidenceSources, openAssets, unmatchedPage };

/** What all pages share. */
type Common = { limits: RateLimits; assets: Assets; retention: RetentionPlan };

export type PageDeps = Common & {
  baseUrl: string;
  /** Null where mails are sent. */
  outbox: Outbox | null;
  client: Omit<ClientDeps, keyof Common | "baseUrl">;
  verify: EvidenceSources;
  visitor: Pick<VisitorDeps, "recaptcha" | "requestAccess">;
  /** Null where nobody signs. */
  signing: Omit<SigningDeps, keyof Common | "ownOrigin"> | null;
  /** For who signs in: members of firms, and the operator; null where nobody can. */
  members: Omit<DashboardDeps & OperatorDeps, keyof Common> | null;
};

/** Pages for people, audience by audience, and what they are made of. */
export async function pages(app: FastifyInstance, deps: PageDeps): Promise<void> {
  const { limits, assets, baseUrl, client, verify, visitor, retention, signing, outbox } = deps;
  const ownOrigin = new URL(baseUrl).origin;
  const common = { limits, assets, retention };
  const members = deps.members && { ...deps.members, ...common };
  assetRoutes(app, assets);
  await app.register(async (people) => {
    await acceptMultipart(people);
    people.setErrorHandler(errorPage(assets));
    people.addHook("onRequest", async (_request, reply) => void reply.headers(pageHeaders));
    guidePages(people, { ...common, baseUrl });
    visitorPages(people, {
      ...common,
      ...visitor,
      baseUrl,
      ownOrigin,
      signIn: members && { ...members, mailsStayHere: outbox !== null },
    });
    if (outbox) outboxRoutes(people, { ...common, outbox });
    clientPages(people, { ...common, ...client, baseUrl });
    if (signing) signingPages(people, { ...common, ...signing, ownOrigin });
    verifyPages(people, { ...common, ...verify, baseUrl });
    if (members) {
      dashboard(people, members);
      operatorPages(people, members);
    }
  });
}
