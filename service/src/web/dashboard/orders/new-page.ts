import type { FastifyInstance, FastifyRequest } from "fastify";
import { type Callers, principalOf } from "../../../http/authentication.ts";
import type { RateLimits } from "../../../http/rate-limits.ts";
import { type Form, readForm } from "../../../http/uploads/multipart.ts";
import type { UploadPlaces } from "../../../http/uploads/upload-places.ts";
import type { Principal } from "../../../identity/identity.ts";
import { keepUpload, type OrderDeps, placeOrder, readWhole } from "../../../orders/orders.ts";
import { documentName } from "../../../platform/document-name.ts";
import { ServiceError } from "../../../platform/errors.ts";
import type { Assets } from "../../ui/assets.ts";
import { wantsJson } from "../../ui/error-page.ts";
import { done } from "../../ui/flash-messages.ts";
import { acceptForms } from "../../ui/forms/form-body.ts";
import { formHeaders } from "../../ui/page-headers.ts";
import { viewerPolicy } from "../../ui/page-policy.ts";
import { type PageAnswer, pageRoute } from "../../ui/page-route.ts";
import { dashboardPage } from "../page-shell.ts";
import { reauthenticate } from "../reauthenticate.ts";
import { inOurWords, requireSameEnvironment, submissionFor, submissionKey } from "../submit-once.ts";
import { type OrderFormView, orderFormBody } from "./form.ts";
import { quoteRoute } from "./quote.ts";
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
  // The page counts the pages of a chosen file by pdf.js.
  const headers = { ...formHeaders, "Content-Security-Policy": viewerPolicy() };

  pageRoute(app, deps, { url: `${path}/new`, headers, handle: ({ request }) => show(request) });

  pageRoute(app, deps, {
    method: "POST",
    url: `${path}/new`,
    policy: "partner-write",
    headers,
    handle: async ({ request, form: shownAgain }) => {
      const typed = new Map<string, string>();
      const rules = { filePart: "document", places: deps.uploadPlaces, messages, typed, authenticate };
      try {
        const form = await readForm(request, rules);
        try {
          return await place(deps, request, form);
        } catch (error) {
          if (!(error instanceof ServiceError) || error.code !== "validation" || wantsJson(request)) throw error;
          const refusals = await keepRefused(deps, request, { ...form, fields: typed, message: error.message });
          return { page: show(request, { values: Object.fromEntries(typed), messages: refusals }), status: 400 };
        } finally {
          form.release();
        }
      } finally {
        Object.assign(shownAgain, Object.fromEntries(typed));
      }
    },
    refused: ({ request, form: values }, message) => show(request, { values, messages: [message] }),
  });

  // Without the file: it would be sent, and then have to be chosen again.
  app.register(async (forms) => {
    acceptForms(forms);
    quoteRoute(forms, deps);
    pageRoute(forms, deps, { url: moreSignersPath, handle: () => ({ redirect: `${path}/new` }) });
    pageRoute(forms, deps, {
      method: "POST",
      url: moreSignersPath,
      headers,
      handle: ({ request, form }) => {
        const values = { ...form, signer_rows: String(rowCount(form) + 1) };
        return show(request, { values, messages: [] });
      },
    });
  });

  function show(request: FastifyRequest, typed?: OrderFormView["typed"]): string {
    const body = orderFormBody({
      ...submissionFor(request, typed?.values),
      pricing: deps.pricing,
      paymentsConfigured: deps.checkoutUrlOf !== null,
      textCodes: deps.textCodes,
      pdfJs: deps.assets.pdfJs.folder,
      ...(typed && { typed }),
    });
    const title = typed?.messages.length ? "Please check the form: place an order" : "Place an order";
    return dashboardPage(deps, request, { title, section: "orders", body, scripts: ["new-order.js"] });
  }
}

type Refused = Pick<Form, "upload"> & { fields: Map<string, string>; message: string };

/** Keeps the file of a refused form for the form that is shown again. @returns everything that is refused of it */
async function keepRefused(
  deps: OrderNewDeps,
  request: FastifyRequest,
  { upload, fields, message }: Refused,
): Promise<string[]> {
  const sent = upload !== null && upload.bytes.length > 0;
  const { refusals } = readWhole(withSigners(fields), sent, deps.pricing);
  if (/^fill_token /.test(message)) fields.delete("fill_token");
  if (sent && !/^document /.test(message)) {
    const kept = await keptOrNull(deps, principalOf(request), upload.bytes);
    if (kept) {
      fields.set("fill_token", kept.fillToken);
      fields.set("document_name", documentName(upload.filename) ?? "");
      fields.set("document_pages", String(kept.pages));
    }
  }
  return refusals.includes(message) ? refusals : [message];
}

/** Why a form was refused matters more than that its file can't be kept. */
async function keptOrNull(deps: OrderNewDeps, principal: Principal, bytes: Buffer) {
  try {
    await deps.requireStorage(principal, bytes.length);
    return await keepUpload(deps, bytes, principal.partnerId);
  } catch (error) {
    if (!(error instanceof ServiceError)) deps.log.error({ err: error }, "the file of a refused form was not kept");
    return null;
  }
}

async function place(deps: OrderNewDeps, request: FastifyRequest, sent: Form): Promise<PageAnswer> {
  // A browser sends an empty file where none was chosen.
  const upload = sent.upload?.bytes.length === 0 ? null : sent.upload;
  // One that is chosen now is meant instead of the one that was kept.
  const fields = new Map([...sent.fields].filter(([name]) => upload === null || name !== "fill_token"));
  requireSameEnvironment(request, fields.get("environment"));
  const form = { fields: withSigners(fields), upload, documentName: fields.get("document_name") };
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
