import type { FastifyInstance, FastifyRequest } from "fastify";
import { latestOpenRooms } from "../../../../closing/rooms/rooms.ts";
import { principalOf } from "../../../../kernel/http/authentication.ts";
import { type Form, readForm } from "../../../../kernel/http/uploads/multipart.ts";
import type { Principal } from "../../../../kernel/identity/identity.ts";
import { documentName } from "../../../../kernel/platform/document-name.ts";
import { isServiceError, ServiceError } from "../../../../kernel/platform/errors.ts";
import { type FillView, ownFill } from "../../../../orders/fills/fills.ts";
import { keepUpload, openUpload, readWhole } from "../../../../orders/order/order.ts";
import { templatePageCounts } from "../../../../orders/templates/templates.ts";
import { wantsJson } from "../../../ui/error-page.ts";
import { acceptForms, type FormValues } from "../../../ui/forms/form-body.ts";
import { formHeaders } from "../../../ui/page/headers.ts";
import { viewerPolicy } from "../../../ui/page/policy.ts";
import { pageRoute } from "../../../ui/page/route.ts";
import { dashboardPage } from "../../page-shell.ts";
import { reauthenticate } from "../../reauthenticate.ts";
import { submissionFor } from "../../submit-once.ts";
import { firmZone, zoneNote } from "../../time-zone.ts";
import { roomsToChooseFrom } from "../rooms.ts";
import { modelOrder } from "./another.ts";
import { type OrderFormView, orderFormBody } from "./form.ts";
import { type OrderNewDeps, path, place, shippedFaults } from "./place.ts";
import { storedFilePath } from "./places-part.ts";
import { quoteRoute } from "./quote.ts";
import { rowCount, withSigners } from "./signer-rows.ts";
import { moreSignersPath } from "./signers-part.ts";

// The content security policy permits pdf.js, with which the page's script counts the pages of a file.
const headers = { ...formHeaders, "Content-Security-Policy": viewerPolicy() };

const messages = {
  notMultipart: "The form could not be read. Please fill it out again.",
  tooLarge: "document must be a PDF of at most 35 MB.",
  incomplete: "The upload was interrupted. Please send the form again.",
};

/**
 * Adds the form with which a member places an order, by the rules of `POST /api/partner/orders`. Its routes accept
 * multipart forms.
 */
export function orderNewPage(app: FastifyInstance, deps: OrderNewDeps): void {
  showRoute(app, deps);
  placeRoute(app, deps);
  pageRoute(app, deps.frame, {
    url: `${storedFilePath}/:token`,
    handle: async ({ request, params: { token } }) => ({
      pdf: await openUpload(deps.orders, token, principalOf(request)),
      name: "document.pdf",
    }),
  });

  // Requests that only change the form must not contain the file. Otherwise it would be uploaded for nothing, and the
  // person would have to choose it again.
  app.register(async (forms) => {
    acceptForms(forms);
    quoteRoute(forms, { limits: deps.frame.limits, orders: deps.orders });
    pageRoute(forms, deps.frame, { url: moreSignersPath, handle: () => ({ redirect: `${path}/new` }) });
    pageRoute(forms, deps.frame, {
      method: "POST",
      url: moreSignersPath,
      headers,
      handle: ({ request, form }) => {
        const values = { ...form, signer_rows: String(rowCount(form) + 1) };
        return showForm(deps, request, { typed: { values, messages: [] } });
      },
    });
  });
}

/** Opens the form: empty, or with the values of a completed online form or of an earlier order. */
function showRoute(app: FastifyInstance, deps: OrderNewDeps): void {
  pageRoute(app, deps.frame, {
    url: `${path}/new`,
    headers,
    handle: async ({ request, query: { like, room, fill } }) => {
      if (fill !== undefined) {
        const found = await ownFill(deps.fills, principalOf(request), fill);
        // If the online form has no completed document, redirects to the online form's page. That page shows the
        // reason, or the order that already uses the document.
        if (found.state !== "completed") return { redirect: `/dashboard/fills/${found.id}` };
        return showForm(deps, request, { typed: { values: filledIn(found), messages: [] } });
      }
      if (like === undefined) return showForm(deps, request, { room });
      return showForm(deps, request, {
        model: await modelOrder({ db: deps.orders.db, titleOf: deps.titleOf }, request, like),
      });
    },
  });
}

/** Places the order of a form. Shows a rejected form again, with the file that was sent. */
function placeRoute(app: FastifyInstance, deps: OrderNewDeps): void {
  const authenticate = reauthenticate(deps.frame.callers);
  pageRoute(app, deps.frame, {
    method: "POST",
    url: `${path}/new`,
    policy: "partner-write",
    headers,
    handle: async ({ request, form: shownAgain }) => {
      const typed = new Map<string, string>();
      const rules = { filePart: "document", places: deps.frame.uploadPlaces, messages, typed, authenticate };
      try {
        const form = await readForm(request, rules);
        try {
          return await place(deps, request, form);
        } catch (error) {
          if (!isServiceError(error, "validation") || wantsJson(request)) throw error;
          const refusals = await keepRefused(deps, request, { ...form, fields: typed, message: error.message });
          return {
            page: await showForm(deps, request, { typed: { values: Object.fromEntries(typed), messages: refusals } }),
            status: 400,
          };
        } finally {
          form.release();
        }
      } finally {
        Object.assign(shownAgain, Object.fromEntries(typed));
      }
    },
    refused: ({ request, form: values }, message) =>
      showForm(deps, request, { typed: { values, messages: [message] } }),
  });
}

async function showForm(
  deps: OrderNewDeps,
  request: FastifyRequest,
  shown: Pick<OrderFormView, "typed" | "model" | "room">,
): Promise<string> {
  const { typed, model, room } = shown;
  const chosen = typed?.values["room"] ?? model?.values["room"] ?? room;
  const body = orderFormBody({
    ...submissionFor(request, typed?.values),
    pricing: deps.orders.offer.pricing,
    paymentsConfigured: deps.orders.offer.acceptsPayment(principalOf(request).environment),
    textCodes: deps.orders.offer.texts !== null,
    pdfJs: deps.frame.assets.pdfJs.folder,
    zone: zoneNote(await firmZone(deps.orders.db, principalOf(request)), principalOf(request)),
    templatePages: await templatePageCounts(deps.orders.db, principalOf(request)),
    openRooms: await latestOpenRooms(deps.orders.db, principalOf(request), roomsToChooseFrom, chosen),
    ...shown,
  });
  const title = typed?.messages.length ? "Please check the form: place an order" : "Place an order";
  return dashboardPage(deps.frame, request, { title, section: "orders", body, scripts: ["new-order.js"] });
}

/** The form's values for an order whose document was filled in online. */
function filledIn({ fillToken, title, slug, pages, person }: FillView): FormValues {
  return {
    fill_token: fillToken ?? "",
    document_name: `${title}.pdf`,
    document_pages: String(pages),
    doc_slug: slug ?? "",
    name: person.name ?? "",
    email: person.email ?? "",
  };
}

type Refused = Pick<Form, "upload"> & { fields: Map<string, string>; message: string };

/**
 * Stores the file of a rejected form, and puts the file's token into `fields`. The form can then be sent again without
 * the file. Does not store a file that is the reason for the rejection.
 * @returns all errors of the form if `message` is one of them; otherwise `message` alone
 */
async function keepRefused(
  deps: OrderNewDeps,
  request: FastifyRequest,
  { upload, fields, message }: Refused,
): Promise<string[]> {
  const sent = upload !== null && upload.bytes.length > 0;
  const { pricing } = deps.orders.offer;
  const refusals = [...readWhole(withSigners(fields), sent, pricing).refusals, ...shippedFaults(pricing, fields)];
  if (/^fill_token /.test(message)) fields.delete("fill_token");
  if (sent && !/^document /.test(message)) {
    const stored = await storeOrNull(deps, principalOf(request), upload.bytes);
    if (stored) {
      fields.set("fill_token", stored.fillToken);
      fields.set("document_name", documentName(upload.filename) ?? "");
      fields.set("document_pages", String(stored.pages));
    }
  }
  return refusals.includes(message) ? refusals : [message];
}

/**
 * Stores the file of a rejected form; null when this fails. The failure is not shown, because the page already shows
 * why the form was rejected.
 */
async function storeOrNull(deps: OrderNewDeps, principal: Principal, bytes: Buffer) {
  try {
    await deps.orders.originals.requireStorage(principal, bytes.length);
    return await keepUpload(deps.orders, bytes, principal, "order");
  } catch (error) {
    if (!(error instanceof ServiceError))
      deps.orders.log.error({ err: error }, "the file of a refused form was not kept");
    return null;
  }
}
