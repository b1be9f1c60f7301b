import type { FastifyInstance, FastifyRequest } from "fastify";
import { principalOf } from "../../../kernel/http/authentication.ts";
import type { Principal } from "../../../kernel/identity/identity.ts";
import { ownFill, usableFill } from "../../../orders/fills/fills.ts";
import { type OrderDeps, type PlacementResult, placeOrder } from "../../../orders/order/order.ts";
import { requestedOf, type TemplateVersion } from "../../../orders/templates/templates.ts";
import type { FormValues } from "../../ui/forms/form-body.ts";
import { pageRoute } from "../../ui/page/route.ts";
import type { Html } from "../../ui/render.ts";
import { done } from "../flash-messages.ts";
import { afterPlacing } from "../orders/new/after-placing.ts";
import { dashboardPage } from "../page-shell.ts";
import { inOurWords, submissionFor, submissionKey } from "../submit-once.ts";
import { path } from "./body.ts";
import { fillsPath } from "./fill-body.ts";
import { pageWords, valueLabels, withPeople } from "./form-fields.ts";
import { templateOrderBody } from "./order-body.ts";
import { ownTemplate, type TemplatePagesDeps, withForm } from "./own-template.ts";

/** Adds the form with which a member places an order from a template, by the rules of `POST /api/partner/orders`. */
export function templateOrderPage(app: FastifyInstance, deps: TemplatePagesDeps): void {
  const { orders, withTemplate, fills } = deps;
  const url = `${path}/:id/order` as const;

  pageRoute(app, deps.frame, {
    url,
    handle: async ({ request, params, query: { fill = "" } }) => {
      if (fill === "") return show(request, params.id, {});
      const { id, state, person } = await ownFill(fills, principalOf(request), fill);
      // If the online form has no completed document, redirects to the online form's page. That page shows the reason,
      // or the order that already uses the document.
      if (state !== "completed") return { redirect: `${fillsPath}/${id}` };
      return show(request, params.id, { fill, name: person.name ?? "", email: person.email ?? "" });
    },
  });

  pageRoute(app, deps.frame, {
    method: "POST",
    url,
    policy: "partner-write",
    handle: ({ request, params, form: shownAgain }) =>
      withForm(deps, request, shownAgain, async ({ fields, upload }) => {
        const filled = await filledFor(request, fields.get("fill") ?? "");
        const template = await ownTemplate(deps, request, params.id, filled?.version);
        const form = withPeople(fields, template, fieldsWithValues(template));
        form.delete("fill");
        if (filled) form.set("fill_token", filled.token);
        const sent = { fields: form, upload: filled ? null : upload, withTemplate };
        const idempotencyKey = submissionKey(fields, upload?.sha256 ?? null);
        const route = `POST ${path}/${params.id}/order`;
        const wanted = { principal: principalOf(request), sent, route, idempotencyKey };
        const { result } = await placeOrder(orders, wanted, {
          status: 303,
          resultOf: ({ code }): PlacementResult => ({ orderCode: code, checkoutUrl: null }),
        }).catch(inOurWords("This order is already being placed. Check your orders in a moment."));
        return done(`/dashboard/orders/${result.orderCode}`, "order-placed");
      }),
    refused: ({ request, params, form }, error) => show(request, params.id, form, pageWords(error)),
  });

  async function show(request: FastifyRequest, id: string, values: FormValues, error?: string): Promise<string> {
    const filled = await filledFor(request, values["fill"] ?? "").catch(() => null);
    const template = await ownTemplate(deps, request, id, filled?.version);
    const fields = fieldsWithValues(template);
    const body = templateOrderBody({
      ...submissionFor(request, values),
      template,
      fields,
      values,
      error,
      after: await afterOrdering(orders, principalOf(request), template),
      fill: filled && { id: filled.id, by: filled.by },
    });
    return dashboardPage(deps.frame, request, { title: `Order from ${template.name}`, section: "templates", body });
  }

  /**
   * The document that somebody filled in online; null for an empty id.
   * @throws ServiceError when no order can use the document, because it is unknown, not completed, or already in an
   * order
   */
  async function filledFor(request: FastifyRequest, id: string) {
    if (id === "") return null;
    const { fillToken, use, person } = await usableFill(fills, principalOf(request), id);
    return { id, token: fillToken, version: String(use.version), by: person.name ?? person.email };
  }
}

const fieldsWithValues = ({ content: { fields, roles } }: TemplateVersion) =>
  valueLabels(fields === null ? [] : requestedOf(fields, roles));

/**
 * Describes what happens after an order is placed from the template. The order's client pays. The text promises a price
 * at once only if the template alone determines the price.
 */
async function afterOrdering(
  { db, offer }: OrderDeps,
  { environment }: Principal,
  { content: { services } }: TemplateVersion,
): Promise<Html> {
  const docSlug = services.doc_slug ?? null;
  const own = { sign: services.svc_sign !== undefined, notarize: services.svc_notary !== undefined };
  const { sign, notarize } = (docSlug === null ? null : offer.pricing.catalogRow(docSlug)) ?? own;
  const sale = { environment, docSlug, signerState: null, acceptsSignature: true };
  return afterPlacing({
    subject: "order",
    payBy: "client",
    isPriced: !notarize || (await offer.notaries.gapOf(db, sale)) === null,
    sum: null,
    signs: sign,
    hasCheckout: offer.acceptsPayment(environment),
  }).text;
}
