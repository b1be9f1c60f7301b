import type { FastifyInstance } from "fastify";
import { requireBilling } from "../../../firms/members/members.ts";
import { principalOf } from "../../../kernel/http/authentication.ts";
import { nullIfAltered } from "../../../kernel/platform/database/state-mac.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import type { BillingDeps } from "../../../orders/billing/billing.ts";
import {
  buyerOf,
  drawnStatement,
  drawPaper,
  serviceZone,
  setBuyer,
  statementOf,
  statementsOf,
  withMatches,
} from "../../../orders/billing/billing.ts";
import { openLossesOfFirm } from "../../../orders/payments/payments.ts";
import { type PageCall, pageRoute } from "../../ui/page/route.ts";
import { done } from "../flash-messages.ts";
import { type DashboardFrame, dashboardPage } from "../page-shell.ts";
import { monthBody, statementsBody } from "./body.ts";
import { importCsv, importName, isImportProgram, statementCsv } from "./files.ts";

const path = "/dashboard/statements";

/** The search text for file numbers; empty for none. Removes NUL characters, which PostgreSQL rejects. */
const fileIn = ({ file = "" }: PageCall["query"]): string => file.replaceAll("\0", "").trim().slice(0, 100);

/**
 * The firm's statements, and the firm's name and postal address on receipts. Only members with the right to see billing
 * may open them.
 */
export function statementPages(
  forms: FastifyInstance,
  { frame, billing }: { frame: DashboardFrame; billing: BillingDeps },
): void {
  const show = async ({ request, query, form: typed }: PageCall, error?: string): Promise<string> => {
    const principal = requireBilling(principalOf(request));
    const statements = await statementsOf(billing, principal);
    const buyer = await buyerOf(billing.db, principal.partnerId);
    const zone = await serviceZone(billing.db);
    const file = fileIn(query);
    const body = statementsBody({
      principal,
      statements,
      found: file === "" ? null : { file, months: await withMatches(billing, principal, statements, file) },
      buyer,
      losses: await openLossesOfFirm(billing.db, principal).catch(nullIfAltered),
      serviceZone: zone,
      ...(error !== undefined && { error, typed }),
    });
    return dashboardPage(frame, request, { title: "Statements", section: "statements", body });
  };
  pageRoute(forms, frame, { url: path, handle: (call) => show(call) });
  pageRoute(forms, frame, {
    url: `${path}/address`,
    method: "POST",
    policy: "partner-write",
    refused: show,
    handle: async ({ form: { name = "", address = "", zone }, request }) => {
      await setBuyer(billing, principalOf(request), { name, address, zone });
      return done(path, "billing-address-saved");
    },
  });
  pageRoute(forms, frame, {
    url: `${path}/:month`,
    handle: async ({ params: { month }, query, request }) => {
      const principal = requireBilling(principalOf(request));
      const found = await statementOf(billing, principal, month);
      const { page = "1" } = query;
      const body = monthBody(found, principal.environment, {
        page: page === "all" ? null : Math.trunc(Number(page)) || 1,
        file: fileIn(query),
      });
      return dashboardPage(frame, request, { title: `Statement ${month}`, section: "statements", body, wide: true });
    },
  });
  pageRoute(forms, frame, {
    url: `${path}/:month/pdf`,
    handle: async ({ params: { month }, request }) => {
      const principal = requireBilling(principalOf(request));
      const { environment, partnerId } = principal;
      const found = await statementOf(billing, principal, month);
      const drawn = drawnStatement(found, { environment, now: billing.clock() });
      return { pdf: await drawPaper(billing.workers, partnerId, drawn), name: `statement-${environment}-${month}.pdf` };
    },
  });
  pageRoute(forms, frame, {
    url: `${path}/:month/csv`,
    handle: async ({ params: { month }, request }) => {
      const principal = requireBilling(principalOf(request));
      const found = await statementOf(billing, principal, month);
      const name = `statement-${principal.environment}-${month}.csv`;
      return { file: statementCsv(found), type: "text/csv; charset=utf-8", name };
    },
  });
  pageRoute(forms, frame, {
    url: `${path}/:month/import/:program`,
    handle: async ({ params: { month, program }, query, request }) => {
      const principal = requireBilling(principalOf(request));
      if (!isImportProgram(program)) throw new ServiceError("not_found", "No such file.");
      const found = await statementOf(billing, principal, month);
      const { payer = "" } = query;
      const file = importCsv(found, { program, payer });
      const name = importName({ program, payer, environment: principal.environment, month });
      return { file, type: "text/csv; charset=utf-8", name };
    },
  });
}
