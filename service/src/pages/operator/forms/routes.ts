import type { FastifyInstance, FastifyRequest } from "fastify";
import { may, type Operator } from "../../../firms/operators/operators.ts";
import { maxUploadBytes } from "../../../kernel/http/uploads/multipart.ts";
import { addCatalogForm, endCatalogForm, openCatalogForm } from "../../../orders/fills/fills.ts";
import { listCatalogForms, type TemplateDeps } from "../../../orders/templates/templates.ts";
import { done } from "../flash-messages.ts";
import { type ConsoleFrame, consolePage, consoleRoute } from "../frame/console.ts";
import { passkeyFirst } from "../frame/passkey-first.ts";
import { type UploadDeps, withUpload } from "../frame/uploads.ts";
import { formsBody, formsPath } from "./page.ts";

export type CatalogFormRouteDeps = { frame: ConsoleFrame; templates: TemplateDeps };

const permission = "catalog.manage" as const;
const reading = [permission, "records.read"] as const;

/** Adds the page of the online forms of catalog documents, the PDF file of each, and the button that retires a form. */
export function catalogFormRoutes(scope: FastifyInstance, deps: CatalogFormRouteDeps): void {
  const { frame, templates } = deps;
  consoleRoute(scope, frame, {
    url: formsPath,
    permission: reading,
    handle: ({ request, operator }) => show(deps, request, operator),
  });
  consoleRoute(scope, frame, {
    url: `${formsPath}/:slug/form.pdf`,
    permission: reading,
    handle: async ({ operator, params: { slug } }) => ({
      pdf: await openCatalogForm(templates, { slug, environment: operator.environment }),
      name: `${slug}.pdf`,
    }),
  });
  consoleRoute(scope, frame, {
    method: "POST",
    url: `${formsPath}/:slug/retire`,
    permission,
    async handle({ operator: { environment, actor }, params: { slug } }) {
      await endCatalogForm(templates, { slug, environment, actor });
      return done(formsPath, "catalog-form-retired");
    },
    refused: ({ request, operator }, problem) => show(deps, request, operator, { problem }),
  });
}

/** Adds the route that uploads the next version of a document's form. */
export function catalogFormUploads(scope: FastifyInstance, deps: CatalogFormRouteDeps, upload: UploadDeps): void {
  const { frame, templates } = deps;
  // The document that was chosen in a rejected form, which shows the choice again.
  const chosenBy = new WeakMap<FastifyRequest, string>();
  consoleRoute(scope, frame, {
    method: "POST",
    url: formsPath,
    permission,
    handle: ({ request, operator }) =>
      withUpload(upload, request, operator, async ({ bytes, fields }) => {
        const slug = fields.get("slug") ?? "";
        chosenBy.set(request, slug);
        const { environment, actor } = operator;
        await addCatalogForm(templates, { slug, environment, actor }, { bytes, maxBytes: maxUploadBytes });
        return done(formsPath, "catalog-form-added");
      }),
    refused: ({ request, operator }, problem) =>
      show(deps, request, operator, { problem: inOurWords(problem), chosen: chosenBy.get(request) }),
  });
}

/** Rewrites an error message of the command line for this page, with labels instead of argument names. */
const inOurWords = (message: string): string =>
  message
    .replace(/^(?:FILE|document) /, "The file ")
    .replace(/^SLUG must name a document in the catalog.*$/, "Choose a document of the catalog.");

async function show(
  { frame, templates }: CatalogFormRouteDeps,
  request: FastifyRequest,
  operator: Operator,
  { problem, chosen = "" }: { problem?: string; chosen?: string | undefined } = {},
): Promise<string> {
  const { environment } = operator;
  const body = formsBody({
    environment,
    catalog: templates.pricing.catalog,
    forms: await listCatalogForms(templates, environment),
    mayChange: may(operator, permission),
    passkeyFirst: passkeyFirst(operator, frame.clock(), formsPath),
    chosen,
    error: problem,
  });
  return consolePage(frame, request, { title: "Forms of the catalog", section: "forms", body });
}
