import type { FastifyInstance, FastifyRequest } from "fastify";
import { principalOf } from "../../../kernel/http/authentication.ts";
import { type PlacedOrder, placeOrder } from "../../../orders/order/order.ts";
import { requestedOf, type TemplateVersion } from "../../../orders/templates/templates.ts";
import { done } from "../../ui/flash-messages.ts";
import type { FormValues } from "../../ui/forms/form-body.ts";
import { pageRoute } from "../../ui/page/route.ts";
import { dashboardPage } from "../page-shell.ts";
import { inOurWords, submissionFor, submissionKey } from "../submit-once.ts";
import { path } from "./body.ts";
import { pageWords, valueLabels, withPeople } from "./form-fields.ts";
import { templateOrderBody } from "./order-body.ts";
import { ownTemplate, type TemplatePagesDeps, withForm } from "./own-template.ts";

/** Where a member places an order from a template, by the rules of `POST /api/partner/orders`. */
export function templateOrderPage(app: FastifyInstance, deps: TemplatePagesDeps): void {
  const { orders, withTemplate } = deps.desk;
  const url = `${path}/:id/order` as const;

  pageRoute(app, deps.frame, { url, handle: ({ request, params }) => show(request, params.id, {}) });

  pageRoute(app, deps.frame, {
    method: "POST",
    url,
    policy: "partner-write",
    handle: ({ request, params, form: shownAgain }) =>
      withForm(deps, request, shownAgain, async ({ fields, upload }) => {
        const template = await ownTemplate(deps, request, params.id);
        const sent = { fields: withPeople(fields, template, fieldsWithValues(template)), upload, withTemplate };
        const idempotencyKey = submissionKey(fields, upload?.sha256 ?? null);
        const route = `POST ${path}/${params.id}/order`;
        const wanted = { principal: principalOf(request), sent, route, idempotencyKey };
        const { result } = await placeOrder(orders, wanted, {
          status: 303,
          resultOf: ({ code }): PlacedOrder => ({ orderCode: code, checkoutUrl: null }),
        }).catch(inOurWords("This order is already being placed. Check your orders in a moment."));
        return done(`/dashboard/orders/${result.orderCode}`, "order-placed");
      }),
    refused: ({ request, params, form }, error) => show(request, params.id, form, pageWords(error)),
  });

  async function show(request: FastifyRequest, id: string, values: FormValues, error?: string): Promise<string> {
    const template = await ownTemplate(deps, request, id);
    const fields = fieldsWithValues(template);
    const body = templateOrderBody({ ...submissionFor(request, values), template, fields, values, error });
    return dashboardPage(deps.frame, request, { title: `Order from ${template.name}`, section: "templates", body });
  }
}

const fieldsWithValues = ({ content: { fields, roles } }: TemplateVersion) =>
  valueLabels(fields === null ? [] : requestedOf(fields, roles.length));
