import type { FastifyInstance, FastifyRequest } from "fastify";
import { type MemberDeps, requireBilling } from "../../../firms/members/members.ts";
import { principalOf } from "../../../kernel/http/authentication.ts";
import type { Principal } from "../../../kernel/identity/identity.ts";
import { nullIfAltered } from "../../../kernel/platform/database/state-mac.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import {
  acceptsMethods,
  askForMethod,
  type CheckoutDeps,
  chargeWaiting,
  defaultZone,
  endOwnCharge,
  type FirmPaysDeps,
  finishTestSetup,
  listSpenders,
  openLossesOfFirm,
  paymentsOfFirm,
  removeMethod,
  selectMethods,
  setLimit,
  spentThisMonth,
  waitingOrders,
  zoneOf,
} from "../../../orders/payments/payments.ts";
import type { FormValues } from "../../ui/forms/form-body.ts";
import { leavingPage } from "../../ui/leaving-page.ts";
import { type PageCall, pageRoute } from "../../ui/page/route.ts";
import { done } from "../flash-messages.ts";
import { type DashboardFrame, dashboardPage } from "../page-shell.ts";
import { billingBody, limitRefusal, testMethodBody } from "./body.ts";
import { type BillingView, billingPath as path } from "./view.ts";

type BillingDeps = { frame: DashboardFrame; members: MemberDeps; checkout: CheckoutDeps };

/**
 * Adds the billing page: the firm's cards and bank accounts, the spending limits of members and keys, and the payments.
 */
export function billingPages(forms: FastifyInstance, { frame, members, checkout }: BillingDeps): void {
  const { db, clock, rowMac } = members;
  const { processor } = checkout;
  const deps = { db, clock, rowMac, processor };
  testMethodPages(forms, frame, deps);
  const form = {
    method: "POST",
    policy: "partner-write",
    refused: ({ request, form: typed }: PageCall, error: string) =>
      show(request, { error: limitRefusal(error), typed }),
  } as const;
  paymentForms(forms, { frame, members, checkout }, { ...form, show });

  pageRoute(forms, frame, {
    url: path,
    handle: ({ request, query }) => show(request, { hasReturned: query["setup"] === "returned" }),
  });

  pageRoute(forms, frame, {
    ...form,
    url: `${path}/method`,
    handle: async ({ request }) => {
      const principal = principalOf(request);
      const address = await askForMethod(deps, principal, frame.baseUrl + path);
      // The sandbox's page belongs to our own site, so the content security policy permits a redirect there.
      if (principal.environment === "test") return { redirect: address.slice(frame.baseUrl.length) };
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
    url: `${path}/limits`,
    handle: async ({ form: { spender = "", perOrder = "", perMonth = "" }, request }) => {
      await setLimit(deps, principalOf(request), { spender, perOrder, perMonth });
      return done(`${path}#limits`, "limit-saved");
    },
  });

  async function show(
    request: FastifyRequest,
    more: Pick<BillingView, "error" | "typed" | "hasReturned" | "left"> = {},
  ): Promise<string> {
    const principal = requireBilling(principalOf(request));
    const [methods, spenders, payments, waiting, losses] = await Promise.all([
      selectMethods(db, principal).catch(nullIfAltered),
      listSpenders({ db }, principal),
      paymentsOfFirm(db, principal),
      waitingOrders(db, principal),
      openLossesOfFirm(db, principal).catch(nullIfAltered),
    ]);
    const isPaidHere = acceptsMethods(processor, principal.environment);
    const used = await spentThisMonth({ db, clock }, principal, spenders);
    const zone = await zoneOf(db, principal.partnerId).catch(nullIfAltered);
    const times = { now: clock(), zone: zone ?? defaultZone, isZoneAltered: zone === null };
    const shown = { principal, isPaidHere, methods, spenders, used, payments, losses, waiting, ...times };
    const body = billingBody({ ...shown, ...more });
    return dashboardPage(frame, request, { title: "Billing", section: "billing", body });
  }
}

type Form = {
  method: "POST";
  policy: "partner-write";
  refused: (call: PageCall, error: string) => Promise<string>;
  show: (request: FastifyRequest, more: Pick<BillingView, "left">) => Promise<string>;
};

/** Adds the form that ends a stuck payment, and the form that charges the waiting orders. */
function paymentForms(
  forms: FastifyInstance,
  { frame, members, checkout }: BillingDeps,
  { show, ...form }: Form,
): void {
  const deps = { ...checkout, rowMac: members.rowMac };
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
    url: `${path}/charge-waiting`,
    handle: async ({ form: { method = "", ...sent }, request }) => {
      const left = await chargeWaiting(deps, requireBilling(principalOf(request)), {
        orders: shownOrders(sent),
        methodId: method,
      });
      return left.length === 0 ? done(`${path}#charges`, "orders-charged") : show(request, { left });
    },
  });
}

/**
 * Reads the orders from the form, with the prices in cents that the page showed.
 * @throws ServiceError for a form in which an order has no price
 */
function shownOrders({ orders = "" }: FormValues): ReadonlyMap<string, number> {
  const shown = orders.split(" ").map((each) => each.split(":"));
  if (!shown.every(([, cents = ""]) => /^\d{1,12}$/.test(cents)))
    throw new ServiceError("conflict", "The page was out of date. Nothing was charged: look at it again.");
  return new Map(shown.map(([code = "", cents]) => [code, Number(cents)]));
}

/**
 * Requires a member who may see billing. Also requires the test environment, because test cards and test bank accounts
 * exist only there.
 * @throws ServiceError `owner_required` for other members, `not_found` in the live environment
 */
function requireTest(request: FastifyRequest): Principal {
  const principal = requireBilling(principalOf(request));
  if (principal.environment !== "test") throw new ServiceError("not_found", "No such page.");
  return principal;
}

/** Adds the sandbox's page for a test card or a test bank account. */
function testMethodPages(forms: FastifyInstance, frame: DashboardFrame, deps: FirmPaysDeps): void {
  const testMethodUrl = `${path}/test-method/:id` as const;
  const showTestMethods = ({ params: { id }, request }: PageCall<{ id: string }>, error?: string): string => {
    requireTest(request);
    const body = testMethodBody(id, error);
    return dashboardPage(frame, request, { title: "Test card", section: "billing", body });
  };
  pageRoute(forms, frame, { url: testMethodUrl, handle: (call) => showTestMethods(call) });
  pageRoute(forms, frame, {
    method: "POST",
    policy: "partner-write",
    url: testMethodUrl,
    refused: showTestMethods,
    handle: async ({ params: { id }, form: { method = "" }, request }) => {
      await finishTestSetup(deps, requireTest(request), { id, name: method });
      return done(path, "method-added");
    },
  });
}
