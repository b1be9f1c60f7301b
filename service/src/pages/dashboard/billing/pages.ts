import type { FastifyInstance, FastifyRequest } from "fastify";
import { type MemberDeps, requireBilling } from "../../../firms/members/members.ts";
import { principalOf } from "../../../kernel/http/authentication.ts";
import { serviceZone } from "../../../orders/billing/billing.ts";
import {
  askForMethod,
  type CheckoutDeps,
  endOwnCharge,
  listSpenders,
  paymentsOfFirm,
  removeMethod,
  selectMethods,
  setLimit,
  spentThisMonth,
  takesPayment,
} from "../../../orders/payments/payments.ts";
import { done } from "../../ui/flash-messages.ts";
import { leavingPage } from "../../ui/leaving-page.ts";
import { type PageCall, pageRoute } from "../../ui/page/route.ts";
import { type DashboardFrame, dashboardPage } from "../page-shell.ts";
import { type BillingView, billingBody, billingPath as path } from "./body.ts";

type BillingDeps = { frame: DashboardFrame; members: MemberDeps; checkout: CheckoutDeps };

/** Adds the page of the firm's cards and bank accounts, the spending limits of members and keys, and the charges. */
export function billingPages(forms: FastifyInstance, { frame, members, checkout }: BillingDeps): void {
  const { db, clock, rowMac } = members;
  const { processor } = checkout;
  const deps = { db, clock, rowMac, processor };
  const form = {
    method: "POST",
    policy: "partner-write",
    refused: ({ request, form: typed }: PageCall, error: string) => show(request, { error, typed }),
  } as const;

  pageRoute(forms, frame, {
    url: path,
    handle: ({ request, query }) => show(request, { hasReturned: query["setup"] === "returned" }),
  });

  pageRoute(forms, frame, {
    ...form,
    url: `${path}/method`,
    handle: async ({ request }) => {
      const address = await askForMethod(deps, principalOf(request), frame.baseUrl + path);
      return leavingPage(frame.assets, null, address);
    },
  });

  pageRoute(forms, frame, {
    ...form,
    url: `${path}/methods/:id/remove`,
    handle: async ({ params, request }) => {
      await removeMethod(deps, principalOf(request), params.id);
      return done(path, "method-removed");
    },
  });

  pageRoute(forms, frame, {
    ...form,
    url: `${path}/charges/:id/end`,
    handle: async ({ params, request }) => {
      await endOwnCharge(deps, principalOf(request), params.id);
      return done(`${path}#charges`, "charge-ended");
    },
  });

  pageRoute(forms, frame, {
    ...form,
    url: `${path}/limits`,
    handle: async ({ form: { spender = "", perOrder = "", perMonth = "" }, request }) => {
      await setLimit(deps, principalOf(request), { spender, perOrder, perMonth });
      return done(`${path}#limits`, "limit-saved");
    },
  });

  async function show(
    request: FastifyRequest,
    more: Pick<BillingView, "error" | "typed" | "hasReturned"> = {},
  ): Promise<string> {
    const principal = requireBilling(principalOf(request));
    const [methods, spenders, payments] = await Promise.all([
      selectMethods(db, principal),
      listSpenders({ db }, principal),
      paymentsOfFirm(db, principal),
    ]);
    const isPaidHere = takesPayment(processor, principal.environment);
    const [used, zone] = [await spentThisMonth({ db, clock }, principal, spenders), await serviceZone(db)];
    const shown = { principal, isPaidHere, methods, spenders, used, payments, now: clock(), zone };
    const body = billingBody({ ...shown, ...more });
    return dashboardPage(frame, request, { title: "Billing", section: "billing", body });
  }
}
