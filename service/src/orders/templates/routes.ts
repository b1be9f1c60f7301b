import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Type } from "typebox";
import { principalOf, requireKey } from "../../kernel/http/authentication.ts";
import { idempotencyHeader, idempotencyKeyOf, reusedKey, sendAnswer } from "../../kernel/http/idempotency-key.ts";
import { jsonRoute, optionalText, type RouteDeps, type Sent } from "../../kernel/http/route.ts";
import { type Form, readForm } from "../../kernel/http/uploads/multipart.ts";
import type { UploadPlaces } from "../../kernel/http/uploads/upload-places.ts";
import type { Principal } from "../../kernel/identity/identity.ts";
import { invalid } from "../../kernel/platform/errors.ts";
import { onceRecorded, type RecordResult } from "../../kernel/platform/idempotency.ts";
import { fingerprintOf, requestKey } from "../../kernel/platform/idempotency-keys.ts";
import { isUuid } from "../../kernel/platform/text.ts";
import { looksLikePdf } from "../order/order.ts";
import { addVersion, archiveTemplate, createTemplate, noSuchTemplate, type TemplateDeps } from "./save.ts";
import {
  matchFormSchema,
  Template,
  TemplateList,
  TemplateMatches,
  TemplateRoleView,
  TemplateSaved,
  TemplateSummary,
  templateFormSchema,
  templateParams,
  versionFormSchema,
  versionParams,
} from "./schemas.ts";
import { findVersion } from "./store.ts";
import { matchesOf, summaryOf, templatePage, templateView } from "./view.ts";

export type TemplateRouteDeps = { frame: RouteDeps; templates: TemplateDeps; uploadPlaces: UploadPlaces };

const path = "/api/partner/templates";
const common = { tag: "Templates", caller: "key", policy: "partner-write" } as const;
const unknown = { 404: "Template not found." };
const messages = {
  notMultipart: "document is required: send the template as multipart/form-data.",
  tooLarge: "document must be a PDF of at most 35 MB.",
  incomplete: "The form is cut off or malformed.",
};

/** Routes for templates. The contract doesn't have them. */
export function templateRoutes(app: FastifyInstance, deps: TemplateRouteDeps): void {
  for (const schema of [TemplateRoleView, TemplateSummary]) app.addSchema(schema);
  saveRoutes(app, deps);
  readRoutes(app, deps);
  archiveRoutes(app, deps);
  matchRoute(app, deps);
}

function saveRoutes(app: FastifyInstance, deps: TemplateRouteDeps): void {
  jsonRoute(app, deps.frame, {
    ...common,
    method: "POST",
    scope: "orders",
    url: path,
    operationId: "createTemplate",
    summary: "Create a template",
    description:
      "A template is a type of document: a form with its fields, the roles of those who sign it, and the services that it gets. An order names it in `template`, and gives each role to a person. Made from a PDF, or from one of your orders.",
    form: { schema: templateFormSchema, notForm: messages.notMultipart },
    headers: idempotencyHeader,
    status: 201,
    answer: TemplateSaved,
    refusals: { 400: "name is required.", ...reusedKey },
    handle: (request, reply) =>
      save(deps, request, reply, {
        route: `POST ${path}`,
        work: (principal, form, record) => createTemplate(deps.templates, principal, form, record),
      }),
  });
  jsonRoute(app, deps.frame, {
    ...common,
    method: "POST",
    scope: "orders",
    url: `${path}/:templateId/versions`,
    operationId: "createTemplateVersion",
    summary: "Add a version of a template",
    description:
      "The new version is the latest one with what you send; a field that you leave out stays. Orders that are placed from now on get it, and earlier ones keep theirs: a version never changes.",
    params: templateParams,
    form: { schema: versionFormSchema, notForm: "Send the version as multipart/form-data." },
    headers: idempotencyHeader,
    status: 201,
    answer: TemplateSaved,
    refusals: {
      400: "name must have at most 120 characters.",
      ...unknown,
      409: "This template is archived. Restore it first.",
    },
    handle: (request, reply) => {
      const { templateId } = request.params;
      return save(deps, request, reply, {
        route: `POST ${path}/${templateId}/versions`,
        work: (principal, form, record) => addVersion(deps.templates, principal, { templateId, sent: form }, record),
      });
    },
  });
}

type Saving = {
  route: string;
  work: (principal: Principal, form: Form, record: RecordResult) => Promise<{ templateId: string; version: number }>;
};

async function save(
  { frame, templates, uploadPlaces }: TemplateRouteDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  { route, work }: Saving,
): Promise<Sent> {
  const idempotencyKey = idempotencyKeyOf(request);
  const authenticate = requireKey(frame.resolveKey);
  const form = await readForm(request, { filePart: "document", places: uploadPlaces, messages, authenticate });
  try {
    const principal = principalOf(request);
    const key = requestKey(principal, route, idempotencyKey, fingerprintOf(form.fields, form.upload?.sha256 ?? null));
    const recorded = (record: RecordResult) =>
      work(principal, form, (tx, saved) => record(tx, { ...saved, requestId: request.id }));
    const answer = await onceRecorded(templates, key, {
      status: 201,
      work: async (record) => ({ ...(await recorded(record)), requestId: request.id }),
    });
    return sendAnswer(reply, answer);
  } finally {
    form.release();
  }
}

function readRoutes(app: FastifyInstance, { frame, templates }: TemplateRouteDeps): void {
  jsonRoute(app, frame, {
    ...common,
    method: "GET",
    scope: "read",
    url: path,
    operationId: "listTemplates",
    summary: "List templates",
    description:
      "The latest versions of your firm's templates in the key's environment, newest template first, a page at a time.",
    query: Type.Object({
      archived: optionalText("`true`: the archived ones. Default: those that place orders.", "true"),
      limit: optionalText("How many to answer: 1 to 100, default 50. Values outside are clamped.", "50"),
      cursor: optionalText("`nextCursor` of the previous page."),
    }),
    answer: TemplateList,
    refusals: { 400: "archived must be true or false." },
    handle: async (request) => {
      const { items, nextCursor } = await templatePage(templates, principalOf(request), request.query);
      return { templates: items.map(summaryOf), nextCursor, requestId: request.id };
    },
  });
  const get = { ...common, method: "GET", scope: "read", answer: Template, refusals: unknown } as const;
  jsonRoute(app, frame, {
    ...get,
    url: `${path}/:templateId`,
    operationId: "getTemplate",
    summary: "Get a template",
    description:
      "Its latest version. Send `name`, `roles`, `fields`, `message` and the services again with a live key, and the document, to have the same template in live.",
    params: templateParams,
    handle: async (request) =>
      templateView(await versionOf(request.params.templateId, principalOf(request)), request.id),
  });
  jsonRoute(app, frame, {
    ...get,
    url: `${path}/:templateId/versions/:version`,
    operationId: "getTemplateVersion",
    summary: "Get a version of a template",
    description: "A version as orders used it. It never changes.",
    params: versionParams,
    handle: async (request) => {
      const { templateId, version } = request.params;
      if (!/^[1-9]\d{0,3}$/.test(version)) throw noSuchTemplate();
      return templateView(await versionOf(templateId, principalOf(request), Number(version)), request.id);
    },
  });

  async function versionOf(templateId: string, principal: Principal, version: number | null = null) {
    const found = isUuid(templateId) ? await findVersion(templates, principal, templateId, version) : undefined;
    if (!found) throw noSuchTemplate();
    return found;
  }
}

function archiveRoutes(app: FastifyInstance, { frame, templates }: TemplateRouteDeps): void {
  const verbs = [
    {
      verb: "archive",
      isArchived: true,
      summary: "Archive a template",
      description: "It places no more orders. Orders that were placed from it go on.",
    },
    {
      verb: "restore",
      isArchived: false,
      summary: "Restore an archived template",
      description:
        "It places orders again, while its document is there: the retention plan deletes that of an archived template.",
    },
  ] as const;
  for (const { verb, isArchived, summary, description } of verbs)
    jsonRoute(app, frame, {
      ...common,
      method: "POST",
      scope: "orders",
      url: `${path}/:templateId/${verb}`,
      operationId: `${verb}Template`,
      summary,
      description,
      params: templateParams,
      bodyIs: "none",
      answer: Template,
      refusals: isArchived ? unknown : { ...unknown, 409: "The document of this template was deleted." },
      handle: async (request) => {
        const { templateId } = request.params;
        const principal = principalOf(request);
        await archiveTemplate(templates, principal, templateId, isArchived);
        const found = await findVersion(templates, principal, templateId);
        if (!found) throw noSuchTemplate();
        return templateView(found, request.id);
      },
    });
}

function matchRoute(app: FastifyInstance, { frame, templates, uploadPlaces }: TemplateRouteDeps): void {
  jsonRoute(app, frame, {
    ...common,
    method: "POST",
    scope: "read",
    url: `${path}/match`,
    operationId: "matchTemplate",
    summary: "Recognize the template of a document",
    description:
      "Finds your templates that a PDF is the form of: byte for byte, or with the same words and other entries. Pages that are pictures have no words to compare. Nothing is stored.",
    form: { schema: matchFormSchema, notForm: "document is required: send it as multipart/form-data." },
    answer: TemplateMatches,
    refusals: { 400: "document must be a PDF." },
    handle: async (request) => {
      const authenticate = requireKey(frame.resolveKey);
      const form = await readForm(request, { filePart: "document", places: uploadPlaces, messages, authenticate });
      try {
        if (!form.upload || !looksLikePdf(form.upload.bytes)) throw invalid("document must be a PDF.");
        return { matches: await matchesOf(templates, principalOf(request), form.upload), requestId: request.id };
      } finally {
        form.release();
      }
    },
  });
}
