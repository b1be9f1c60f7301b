import type { FastifyInstance, FastifyRequest } from "fastify";
import { type Callers, principalOf } from "../../../http/authentication.ts";
import type { RateLimits } from "../../../http/rate-limits.ts";
import { type Form, readForm } from "../../../http/uploads/multipart.ts";
import type { UploadPlaces } from "../../../http/uploads/upload-places.ts";
import { type OrderDeps, placeOrder } from "../../../orders/orders.ts";
import type { Assets } from "../../ui/assets.ts";
import { done } from "../../ui/flash-messages.ts";
import { acceptForms } from "../../ui/forms/form-body.ts";
import { type PageAnswer, pageRoute } from "../../ui/page-route.ts";
import { dashboardPage } from "../page-shell.ts";
import { reauthenticate } from "../reauthenticate.ts";
import { inOurWords, requireSameEnvironment, submissionFor, submissionKey } from "../submit-once.ts";
import { type OrderFormView, orderFormBody } from "./form.ts";
import { rowCount, withSigners } from "./signer-rows.ts";
import { moreSignersPath } from "./signers-part.ts";

export type OrderNewDeps = OrderDeps &
  Pick<Callers, "resolveSession"> & { limits: RateLimits; uploadPlaces: UploadPlaces; assets: Assets };

const path = "/dashboard/orders";
const messages = {
  notMultipart: "The form could not be read. Please fill it out again.",
  tooLarge: "document must be a PDF of at most 35 MB.",
  incomplete: "The upload was interrupted. Please send the form again.",
};

/** Where a member places an order, by the rules of `POST /api/partner/orders`. Its scope takes multipart forms. */
export function orderNewPage(app: FastifyInstance, deps: OrderNewDeps): void {
  const authenticate = reauthenticate(deps);

  pageRoute(app, deps, { url: `${path}/new`, handle: ({ request }) => show(request) });

  pageRoute(app, deps, {
    method: "POST",
    url: `${path}/new`,
    policy: "partner-write",
    handle: async ({ request, form: shownAgain }) => {
      const typed = new Map<string, string>();
      const rules = { filePart: "document", places: deps.uploadPlaces, messages, typed, authenticate };
      try {
        const form = await readForm(request, rules);
        try {
          return await place(deps, request, form);
        } finally {
          form.release();
        }
      } finally {
        Object.assign(shownAgain, Object.fromEntries(typed));
      }
    },
    refused: ({ request, form: values }, message) => show(request, { values, message }),
  });

  // Without the file: it would be sent, and then have to be chosen again.
  app.register(async (forms) => {
    acceptForms(forms);
    pageRoute(forms, deps, { url: moreSignersPath, handle: () => ({ redirect: `${path}/new` }) });
    pageRoute(forms, deps, {
      method: "POST",
      url: moreSignersPath,
      handle: ({ request, form }) => {
        const values = { ...form, signer_rows: String(rowCount(form) + 1) };
        return show(request, { values, message: null });
      },
    });
  });

  function show(request: FastifyRequest, typed?: OrderFormView["typed"]): string {
    const body = orderFormBody({
      ...submissionFor(request, typed?.values),
      pricing: deps.pricing,
      paymentsConfigured: deps.checkoutUrlOf !== null,
      textCodes: deps.textCodes,
      ...(typed && { typed }),
    });
    const title = typed?.message ? "Please check the form: place an order" : "Place an order";
    return dashboardPage(deps, request, { title, section: "orders", body, scripts: ["signer-rows.js"] });
  }
}

async function place(deps: OrderNewDeps, request: FastifyRequest, sent: Form): Promise<PageAnswer> {
  const { fields } = sent;
  requireSameEnvironment(request, fields.get("environment"));
  // A browser sends an empty file where none was chosen.
  const upload = sent.upload?.bytes.length === 0 ? null : sent.upload;
  const form = { fields: withSigners(fields), upload };
  const idempotencyKey = submissionKey(fields, upload?.sha256 ?? null);
  const wanted = { principal: principalOf(request), sent: form, route: `POST ${path}/new`, idempotencyKey };
  const { body } = await placeOrder(deps, wanted, wording).catch(
    inOurWords("This order is already being placed. Check your orders in a moment."),
  );
  const [orderCode = "", checkoutUrl] = body.split(" ");
  const lacksCheckout = fields.get("create_checkout") === "on" && checkoutUrl === undefined;
  return done(`${path}/${orderCode}`, lacksCheckout ? "order-placed-unpayable" : "order-placed");
}

/** The order's code, and its checkout where it has one. */
const wording = {
  status: 303,
  bodyOf: (order: { code: string }) => order.code,
  async withCheckout(code: string, mint: (code: string) => Promise<string | null>) {
    const url = await mint(code);
    return url === null ? code : `${code} ${url}`;
  },
};
