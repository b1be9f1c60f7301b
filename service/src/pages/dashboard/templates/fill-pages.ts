import type { FastifyInstance, FastifyRequest } from "fastify";
import { principalOf } from "../../../kernel/http/authentication.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import {
  cancelFill,
  createFill,
  type FillView,
  fillPage,
  formOfDocument,
  ownFill,
  type Question,
  questionsOfTemplate,
  readNewFill,
  sendFill,
} from "../../../orders/fills/fills.ts";
import { listCatalogForms } from "../../../orders/templates/templates.ts";
import type { FormValues } from "../../ui/forms/form-body.ts";
import { pageRoute } from "../../ui/page/route.ts";
import { type Html, html } from "../../ui/render.ts";
import { done } from "../flash-messages.ts";
import { dashboardPage } from "../page-shell.ts";
import { doOnce, requireSameEnvironment, submissionFor, submitOnce } from "../submit-once.ts";
import { path } from "./body.ts";
import { catalogFillPath, fillBody, fillsBody, fillsPath, labelField, newFillBody } from "./fill-body.ts";
import { ownTemplate, type TemplatePagesDeps } from "./own-template.ts";

const section = "templates";
const pageSize = "20";

/** Adds the pages with which a member requests that somebody fills in a template or a catalog document online. */
export function fillPages(forms: FastifyInstance, deps: TemplatePagesDeps): void {
  newPage(forms, deps, templateForms(deps));
  newPage(forms, deps, documentForms(deps));
  listPage(forms, deps);
  detailPage(forms, deps);
}

/** The properties in which the pages for templates differ from the pages for catalog documents. */
type Forms = {
  url: `/dashboard/${string}/:id/fill`;
  /** The member of the API's request body that names the template or the catalog document. */
  member: "template" | "docSlug";
  /** Finds the template or document, even one whose form can't be filled in online. */
  find: (request: FastifyRequest, id: string) => Promise<{ name: string; back: Html }>;
  questionsOf: (request: FastifyRequest, id: string) => Promise<Question[]>;
};

const templateForms = (deps: TemplatePagesDeps): Forms => ({
  url: `${path}/:id/fill`,
  member: "template",
  async find(request, id) {
    const { name } = await ownTemplate(deps, request, id);
    return { name, back: html`<a href="${path}/${id}">The template</a>` };
  },
  questionsOf: async (request, id) =>
    questionsOfTemplate(deps.fills, principalOf(request), await ownTemplate(deps, request, id)),
});

const documentForms = ({ fills }: TemplatePagesDeps): Forms => ({
  url: catalogFillPath(":id"),
  member: "docSlug",
  async find(_request, slug) {
    const row = fills.templates.pricing.catalogRow(slug);
    if (!row) throw new ServiceError("not_found", "The catalog has no such document.");
    return { name: row.title, back: html`<a href="${fillsPath}">All forms</a>` };
  },
  questionsOf: async (request, slug) => (await formOfDocument(fills, principalOf(request), slug)).questions,
});

function newPage(forms: FastifyInstance, deps: TemplatePagesDeps, { url, member, find, questionsOf }: Forms): void {
  const { fills, orders } = deps;
  pageRoute(forms, deps.frame, { url, handle: ({ request, params }) => show(request, params.id, {}) });
  pageRoute(forms, deps.frame, {
    method: "POST",
    url,
    policy: "partner-write",
    handle: async ({ request, params, form }) => {
      requireSameEnvironment(request, form["environment"]);
      const fields = readNewFill({ ...bodyOf(form, await questionsOf(request, params.id)), [member]: params.id });
      const { name } = await submitOnce(orders, request, {
        fields: new Map([...Object.entries(form), [member, params.id]]),
        make: () => createFill(fills, principalOf(request), fields, async () => {}),
        nameOf: ({ id }) => id,
      });
      return done(`${fillsPath}/${name}`, fields.send ? "fill-sent" : "fill-made");
    },
    refused: ({ request, params, form }, error) => show(request, params.id, form, fillWords(error)),
  });

  async function show(request: FastifyRequest, id: string, values: FormValues, error?: string): Promise<string> {
    const { name, back } = await find(request, id);
    // If the document has no fields to fill in, the page itself shows that error.
    const found = await questionsOf(request, id).then(
      (questions) => ({ questions, refusal: undefined }),
      (refusal: Error) => {
        const words = refusal.message.replace(/^template/, "This template").replace(/^docSlug/, "This document");
        if (words === refusal.message) throw refusal;
        return { questions: [], refusal: words };
      },
    );
    const body = newFillBody({
      ...submissionFor(request, values),
      name,
      action: url.replace(":id", id),
      back,
      questions: found.questions,
      values,
      error: error ?? found.refusal,
    });
    return dashboardPage(deps.frame, request, { title: `Have ${name} filled in`, section, body });
  }
}

/** Rewrites an error message of the API for this page, with the labels of inputs instead of the names of API fields. */
const fillWords = (message: string): string =>
  message
    .replace(/^days /, "“Days that the link works” ")
    .replace(/^name /, "“Name” ")
    .replace(/^email /, "“Email” ")
    .replace(/^labels\.(.+) must be text/, "The words for $1 must be text");

/** The form's content in the API's format. */
function bodyOf(form: FormValues, questions: readonly Question[]): object {
  const labels = questions.flatMap(({ name }, index): [string, string][] => {
    const typed = form[labelField(index)]?.trim() ?? "";
    return typed === "" ? [] : [[name, typed]];
  });
  const days = form["days"] ?? "";
  return {
    name: form["name"] ?? "",
    email: form["email"] ?? "",
    language: form["language"] ?? "",
    ...(days !== "" && { days: Number(days) }),
    send: form["send"] === "on",
    labels: Object.fromEntries(labels),
  };
}

function listPage(forms: FastifyInstance, deps: TemplatePagesDeps): void {
  pageRoute(forms, deps.frame, {
    url: fillsPath,
    handle: async ({ request, query: { cursor = "" } }) => {
      const { fills } = deps;
      const reader = principalOf(request);
      const page = await fillPage(fills, reader, { limit: pageSize, cursor });
      const withForm = await listCatalogForms(fills.templates, reader.environment);
      const documents = withForm.filter(({ slug }) => fills.templates.pricing.catalogRow(slug) !== null);
      const body = fillsBody({ ...page, isFirstPage: cursor === "", documents });
      return dashboardPage(deps.frame, request, { title: "Forms filled in online", section, body });
    },
  });
}

function detailPage(forms: FastifyInstance, deps: TemplatePagesDeps): void {
  const { fills, orders } = deps;
  pageRoute(forms, deps.frame, { url: `${fillsPath}/:id`, handle: ({ request, params }) => show(request, params.id) });
  for (const [verb, act, message] of [
    ["send", sendFill, "fill-sent"],
    ["cancel", cancelFill, "fill-canceled"],
  ] as const)
    pageRoute(forms, deps.frame, {
      method: "POST",
      policy: "partner-write",
      url: `${fillsPath}/:id/${verb}` as `${typeof fillsPath}/:id/act`,
      handle: doOnce(orders, async ({ request, params }) => {
        await act(fills, principalOf(request), params.id);
        return done(`${fillsPath}/${params.id}`, message);
      }),
      refused: ({ request, params }, error) => show(request, params.id, error),
    });

  async function show(request: FastifyRequest, id: string, error?: string): Promise<string> {
    const fill: FillView = await ownFill(fills, principalOf(request), id);
    const body = fillBody({ ...submissionFor(request), fill, error });
    return dashboardPage(deps.frame, request, { title: fill.title, section, body, scripts: ["copy.js"] });
  }
}
