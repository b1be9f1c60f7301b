import type { FastifyInstance, FastifyRequest } from "fastify";
import { principalOf } from "../../../kernel/http/authentication.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import { findOrder } from "../../../orders/order/order.ts";
import {
  addVersion,
  archiveTemplate,
  createTemplate,
  matchesOf,
  openTemplateDocument,
  orderContent,
  templatePage,
} from "../../../orders/templates/templates.ts";
import { wantsJson } from "../../ui/error-page.ts";
import type { FormValues } from "../../ui/forms/form-body.ts";
import { formHeaders } from "../../ui/page/headers.ts";
import { viewerPolicy } from "../../ui/page/policy.ts";
import { pageRoute } from "../../ui/page/route.ts";
import { done } from "../flash-messages.ts";
import { orderName } from "../orders/words.ts";
import { dashboardPage } from "../page-shell.ts";
import { doOnce, submissionFor, submitOnce } from "../submit-once.ts";
import { newTemplateBody, path, type TemplateDetailView, templateBody } from "./body.ts";
import { bulkPages } from "./bulk-pages.ts";
import { fillPages } from "./fill-pages.ts";
import { pageWords, roleRows, withRoles } from "./form-fields.ts";
import { type Match, templatesBody } from "./list.ts";
import { templateOrderPage } from "./order-page.ts";
import { ownTemplate, type TemplatePagesDeps, withForm } from "./own-template.ts";

const section = "templates";
const pageSize = "20";
const scripts = ["template.js"] as const;
// The pages show the template's document with pdf.js.
const headers = { ...formHeaders, "Content-Security-Policy": viewerPolicy() };

/**
 * Adds the pages of the firm's templates.
 * @param app the scope for multipart forms
 * @param forms the scope for other forms
 */
export function templatePages(app: FastifyInstance, forms: FastifyInstance, deps: TemplatePagesDeps): void {
  listPages(app, deps);
  newPage(app, deps);
  detailPages(app, forms, deps);
  templateOrderPage(app, deps);
  bulkPages(app, forms, deps);
  fillPages(forms, deps);
}

function listPages(app: FastifyInstance, deps: TemplatePagesDeps): void {
  const { orders } = deps;
  pageRoute(app, deps.frame, { url: path, handle: ({ request, query }) => show(request, query) });
  pageRoute(app, deps.frame, {
    method: "POST",
    url: `${path}/match`,
    policy: "partner-write",
    handle: ({ request, form: shownAgain }) =>
      withForm(deps, request, shownAgain, async ({ upload }) => {
        if (!upload) throw new ServiceError("validation", "Choose a PDF of up to 35 MB.");
        const matches = await matchesOf(deps.templates, principalOf(request), upload);
        // The script of the order form also sends this request, when a file is chosen there.
        return wantsJson(request) ? { json: { matches } } : show(request, {}, { matches });
      }),
    refused: ({ request }, error) => show(request, {}, { error: pageWords(error) }),
  });

  async function show(
    request: FastifyRequest,
    { cursor = "", archived = "" }: FormValues,
    shown: { matches?: readonly Match[]; error?: string } = {},
  ): Promise<string> {
    const query = { limit: pageSize, cursor, archived: archived === "true" ? "true" : "" };
    const { items, nextCursor } = await templatePage(orders, principalOf(request), query);
    const body = templatesBody({
      ...submissionFor(request),
      templates: items,
      nextCursor,
      isFirstPage: cursor === "",
      archived: archived === "true",
      matches: shown.matches ?? null,
      error: shown.error,
    });
    return dashboardPage(deps.frame, request, { title: "Templates", section, body });
  }
}

function newPage(app: FastifyInstance, deps: TemplatePagesDeps): void {
  const { orders, titleOf } = deps;
  pageRoute(app, deps.frame, {
    url: `${path}/new`,
    headers,
    handle: ({ request, query }) => show(request, query["order"] ?? "", {}),
  });
  pageRoute(app, deps.frame, {
    method: "POST",
    url: `${path}/new`,
    policy: "partner-write",
    headers,
    handle: ({ request, form: shownAgain }) =>
      withForm(deps, request, shownAgain, async ({ fields, upload }) => {
        const sent = { fields: withRoles(fields), upload };
        const { name } = await submitOnce(orders, request, {
          fields,
          ...(upload && { documentSha256: upload.sha256 }),
          make: () => createTemplate(deps.templates, principalOf(request), sent, async () => {}),
          nameOf: ({ templateId }) => templateId,
        });
        return done(`${path}/${name}`, "template-made");
      }),
    refused: ({ request, form }, error) => show(request, form["order"] ?? "", form, error),
  });

  async function show(request: FastifyRequest, code: string, values: FormValues, error?: string): Promise<string> {
    const from = code === "" ? null : await orderContent(orders, principalOf(request), code);
    const order = from && (await findOrder(orders.db, code));
    const typed = error === undefined ? undefined : values;
    const body = newTemplateBody({
      ...submissionFor(request, typed),
      pdfJs: deps.frame.assets.pdfJs.folder,
      rows: roleRows(from?.content ?? null, typed),
      textCodes: orders.offer.texts !== null,
      values,
      error,
      order: order ? { code, name: orderName({ order, title: titleOf(order) }) } : null,
    });
    return dashboardPage(deps.frame, request, { title: "Make a template", section, body, scripts });
  }
}

function detailPages(app: FastifyInstance, forms: FastifyInstance, deps: TemplatePagesDeps): void {
  const { orders } = deps;
  pageRoute(app, deps.frame, {
    url: `${path}/:id`,
    headers,
    handle: ({ request, params }) => show(request, params.id),
  });
  pageRoute(app, deps.frame, {
    url: `${path}/:id/versions/:version`,
    headers,
    handle: ({ request, params }) => show(request, params.id, { version: params.version }),
  });
  pageRoute(app, deps.frame, {
    url: `${path}/:id/versions/:version/document`,
    handle: async ({ request, params }) => {
      const template = await ownTemplate(deps, request, params.id, params.version);
      return { pdf: await openTemplateDocument(orders, template), name: `${template.name}.pdf` };
    },
  });
  pageRoute(app, deps.frame, {
    method: "POST",
    url: `${path}/:id`,
    policy: "partner-write",
    headers,
    handle: ({ request, params, form: shownAgain }) =>
      withForm(deps, request, shownAgain, async ({ fields, upload }) => {
        const { version } = await ownTemplate(deps, request, params.id);
        if (fields.get("from_version") !== String(version) && fields.get("from_version") !== String(version - 1))
          throw new ServiceError("conflict", "Another version was added since you opened this form. Open it again.");
        await submitOnce(orders, request, {
          fields: new Map([...fields, ["template", params.id]]),
          ...(upload && { documentSha256: upload.sha256 }),
          make: () => {
            if (fields.get("from_version") !== String(version))
              throw new ServiceError(
                "conflict",
                "Another version was added since you opened this form. Open it again.",
              );
            const wanted = { templateId: params.id, sent: { fields: withRoles(fields), upload } };
            return addVersion(deps.templates, principalOf(request), wanted, async () => {});
          },
          nameOf: ({ templateId }) => templateId,
        });
        return done(`${path}/${params.id}`, "template-saved");
      }),
    refused: ({ request, params, form }, error) => show(request, params.id, { problem: { error, typed: form } }),
  });
  for (const verb of ["archive", "restore"] as const)
    pageRoute(forms, deps.frame, {
      method: "POST",
      policy: "partner-write",
      url: `${path}/:id/${verb}` as `${typeof path}/:id/act`,
      handle: doOnce(orders, async ({ request, params }) => {
        await archiveTemplate(orders, principalOf(request), params.id, verb === "archive");
        return done(`${path}/${params.id}`, verb === "archive" ? "template-archived" : "template-restored");
      }),
      refused: ({ request, params }, error) => show(request, params.id, { problem: { error, typed: {} } }),
    });

  async function show(
    request: FastifyRequest,
    id: string,
    { version = null, problem }: { version?: string | null; problem?: TemplateDetailView["problem"] } = {},
  ): Promise<string> {
    const latest = await ownTemplate(deps, request, id);
    const template = version === null ? latest : await ownTemplate(deps, request, id, version);
    const body = templateBody({
      ...submissionFor(request, problem?.typed),
      pdfJs: deps.frame.assets.pdfJs.folder,
      template,
      problem,
      rows: roleRows(template.content, problem?.typed),
      textCodes: orders.offer.texts !== null,
      latest: latest.version,
    });
    return dashboardPage(deps.frame, request, { title: template.name, section, body, scripts });
  }
}
