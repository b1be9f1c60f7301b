import type { FastifyInstance } from "fastify";
import { type AccountDeps, accountRoutes } from "./account/routes.ts";
import { type ActPagesDeps, actRoutes } from "./acts/routes.ts";
import { type ApprovalsDeps, approvalRoutes } from "./approvals/routes.ts";
import { consoleScope } from "./frame/console.ts";
import { type HealthPageDeps, healthRoutes } from "./health/routes.ts";
import { notaryAdminRoutes, proofUploadRoutes } from "./notaries/routes.ts";
import { journalRoutes, notaryRoutes } from "./notary/routes.ts";
import { type NotaryUploadDeps, notaryUploadRoutes } from "./notary/upload-routes.ts";
import { type FinishedRouteDeps, finishedRoutes, takingInRoutes } from "./orders/finished-routes.ts";
import { type OrderListDeps, orderListRoutes } from "./orders/list-routes.ts";
import { type OrderPageDeps, orderPageRoutes } from "./orders/order-routes.ts";
import { faxReportRoute, type PaperRouteDeps, paperRoutes } from "./paper/routes.ts";
import { type PartnerPagesDeps, partnerPages } from "./partners/routes.ts";
import { type PaymentPagesDeps, paymentRoutes } from "./payments/routes.ts";
import { type PeoplePagesDeps, peopleRoutes } from "./people/routes.ts";
import { type RefundPagesDeps, refundRoutes } from "./refunds/routes.ts";
import { type TodayDeps, todayRoutes } from "./today/routes.ts";

export type OperatorDeps = TodayDeps &
  OrderListDeps &
  OrderPageDeps &
  FinishedRouteDeps &
  PaperRouteDeps &
  HealthPageDeps &
  ApprovalsDeps &
  RefundPagesDeps &
  PaymentPagesDeps &
  ActPagesDeps &
  PartnerPagesDeps &
  PeoplePagesDeps &
  AccountDeps &
  NotaryUploadDeps;

/** The console of the people who run the service. */
export function operatorPages(app: FastifyInstance, deps: OperatorDeps): void {
  consoleScope(app, deps, (scope) => {
    todayRoutes(scope, deps);
    orderListRoutes(scope, deps);
    orderPageRoutes(scope, deps);
    takingInRoutes(scope, deps);
    paperRoutes(scope, deps);
    healthRoutes(scope, deps);
    approvalRoutes(scope, deps);
    refundRoutes(scope, deps);
    paymentRoutes(scope, deps);
    actRoutes(scope, deps);
    partnerPages(scope, deps);
    peopleRoutes(scope, deps);
    accountRoutes(scope, deps);
    notaryRoutes(scope, deps);
    journalRoutes(scope, deps);
    notaryAdminRoutes(scope, deps);
  });
  consoleScope(
    app,
    deps,
    (scope) => {
      notaryUploadRoutes(scope, deps);
      faxReportRoute(scope, deps);
      finishedRoutes(scope, deps);
      proofUploadRoutes(scope, deps);
    },
    "uploads",
  );
}
