import type { FastifyInstance, FastifyRequest } from "fastify";
import type { AccessDeps } from "../../firms/access-requests/access-requests.ts";
import type { Passing } from "../../kernel/http/pass-on.ts";
import type { RefundDeps } from "../../orders/refunds/refunds.ts";
import type {
  DeskDeps,
  EverythingDeps,
  IdentityDeps,
  LiveDeps,
  RemoteSigningDeps,
  RuleChangeDeps,
  SheetDeps,
} from "../../signing/notaries/notaries.ts";
import { passSessionsOn } from "../ui/live/pass-on.ts";
import { accountRoutes } from "./account/routes.ts";
import { type ActPagesDeps, actRoutes } from "./acts/routes.ts";
import { approvalRoutes } from "./approvals/routes.ts";
import { type CatalogFormRouteDeps, catalogFormRoutes, catalogFormUploads } from "./forms/routes.ts";
import { type ConsoleDeps, consoleScope } from "./frame/console.ts";
import { passkeyFirstRoute } from "./frame/passkey-first.ts";
import type { UploadDeps } from "./frame/uploads.ts";
import { type HealthPageDeps, healthRoutes } from "./health/routes.ts";
import { notaryAdminRoutes, proofUploadRoutes } from "./notaries/routes.ts";
import { notaryRuleRoutes } from "./notaries/rule-routes.ts";
import { handedOverPages } from "./notary/handed-over.ts";
import { journalRoutes, notaryHoursRoutes } from "./notary/own-pages.ts";
import { type NotaryDeskDeps, notaryRoutes } from "./notary/routes.ts";
import { sessionRoutes } from "./notary/session-routes.ts";
import { sheetRoutes } from "./notary/sheet-routes.ts";
import { notarySigningRoutes } from "./notary/signing-routes.ts";
import { notaryUploadRoutes } from "./notary/upload-routes.ts";
import {
  acceptanceRoutes,
  type FinishedRouteDeps,
  finishedRoutes,
  inPersonOrderRoutes,
} from "./orders/finished-routes.ts";
import { type OrderListDeps, orderListRoutes } from "./orders/list-routes.ts";
import { type OrderPageDeps, orderPageRoutes } from "./orders/order-routes.ts";
import { faxReportRoute, paperRoutes } from "./paper/routes.ts";
import { type PartnerPagesDeps, partnerPages } from "./partners/routes.ts";
import { type PaymentPagesDeps, paymentRoutes } from "./payments/routes.ts";
import { peopleRoutes } from "./people/routes.ts";
import { recordingRoutes } from "./recordings/routes.ts";
import { refundRoutes } from "./refunds/routes.ts";
import { todayRoutes } from "./today/routes.ts";

/** The features that the console shows, grouped by subject. */
export type OperatorDeps = {
  console: ConsoleDeps;
  orders: Omit<OrderPageDeps, "frame"> & Pick<NotaryDeskDeps, "readNotices"> & Pick<OrderListDeps, "titleOf">;
  /** Documents that people upload. `forms`: online forms of catalog documents. */
  documents: Pick<FinishedRouteDeps, "finished" | "approval"> &
    Pick<UploadDeps, "uploadPlaces"> & { forms: CatalogFormRouteDeps["templates"] };
  refunds: RefundDeps & Pick<PaymentPagesDeps, "processor">;
  firms: Pick<PartnerPagesDeps, "firms" | "storageUse">;
  access: AccessDeps;
  notaries: {
    notaryDesk: DeskDeps;
    notaryRules: RuleChangeDeps;
    notarySigning: RemoteSigningDeps;
    identity: IdentityDeps;
    notarySheets: SheetDeps;
    recordings: EverythingDeps;
    live: LiveDeps | null;
  };
  health: Pick<HealthPageDeps, "readiness" | "notaryState" | "acceptsPayments" | "providers" | "examine"> &
    Pick<ActPagesDeps, "providers">;
};

/**
 * Adds the console of the people who operate the service.
 * @param passing forwards requests for live sessions to other nodes; null if the service has no audio and video
 */
export function operatorPages(app: FastifyInstance, deps: OperatorDeps, passing: Passing | null): void {
  const { console, refunds, access, notaries, health } = deps;
  const { forms: templates, ...documents } = deps.documents;
  const { frame, confirmation, resolveOperator } = console;
  const { db } = confirmation;
  const upload = { clock: frame.clock, resolveOperator, uploadPlaces: documents.uploadPlaces };
  const { readNotices, titleOf, ...orders } = deps.orders;
  const orderPage = { frame, ...orders };
  const finished = { orderPage, upload, ...documents };
  const forms = { frame, templates };
  const notary = { frame, readNotices, ...notaries, upload };
  const { live } = notaries;
  const ofOrders = (scope: FastifyInstance) => live && passing && passSessionsOn(scope, live, passing, orderOfNotary);
  consoleScope(app, console, (scope) => {
    ofOrders(scope);
    todayRoutes(scope, {
      frame,
      tasks: confirmation,
      notaryState: health.notaryState,
      notaryDesk: notaries.notaryDesk,
    });
    orderListRoutes(scope, { frame, db, titleOf });
    orderPageRoutes(scope, orderPage);
    acceptanceRoutes(scope, finished);
    inPersonOrderRoutes(scope, finished);
    paperRoutes(scope, orderPage);
    healthRoutes(scope, { frame, db, ...health });
    approvalRoutes(scope, { frame, access });
    refundRoutes(scope, { frame, refunds });
    paymentRoutes(scope, { frame, db, refunds, processor: refunds.processor });
    actRoutes(scope, { frame, db, providers: health.providers });
    partnerPages(scope, { frame, ...deps.firms });
    catalogFormRoutes(scope, forms);
    passkeyFirstRoute(scope, frame);
    peopleRoutes(scope, { frame, people: confirmation });
    accountRoutes(scope, { frame, passkeys: confirmation });
    notaryRoutes(scope, notary);
    notarySigningRoutes(scope, notary);
    sheetRoutes(scope, notary);
    if (live) sessionRoutes(scope, { ...notary, live });
    notaryHoursRoutes(scope, notary);
    journalRoutes(scope, notary);
    recordingRoutes(scope, { frame, recordings: notaries.recordings });
    notaryAdminRoutes(scope, notary);
    notaryRuleRoutes(scope, notary);
  });
  const { assets, limits } = frame;
  const { ownOrigin } = console;
  handedOverPages(app, { members: confirmation, notarySheets: notaries.notarySheets, limits, assets, ownOrigin });
  const uploads = (scope: FastifyInstance) => {
    ofOrders(scope);
    notaryUploadRoutes(scope, notary);
    faxReportRoute(scope, orderPage, upload);
    finishedRoutes(scope, finished);
    proofUploadRoutes(scope, notary);
    catalogFormUploads(scope, forms, upload);
  };
  consoleScope(app, console, uploads, "uploads");
}

/**
 * Finds the order's code in a request for an order's page at the notary's desk; null for other pages. If another node
 * runs the order's live session, the request is passed on to it.
 */
function orderOfNotary({ routeOptions, params }: FastifyRequest): { code: string } | null {
  return routeOptions.url?.startsWith("/operator/notary/orders/:code")
    ? { code: (params as { code: string }).code }
    : null;
}
