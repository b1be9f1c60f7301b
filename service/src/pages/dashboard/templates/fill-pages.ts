import type { FastifyInstance, FastifyRequest } from "fastify";
import { principalOf } from "../../../kernel/http/authentication.ts";
import {
  cancelFill,
  createFill,
  type FillView,
  fillPage,
  ownFill,
  type Question,
  questionsOfTemplate,
  readNewFill,
  sendFill,
} from "../../../orders/fills/fills.ts";
import { done } from "../../ui/flash-messages.ts";
import type { FormValues } from "../../ui/forms/form-body.ts";
import { pageRoute } from "../../ui/page/route.ts";
import { dashboardPage } from "../page-shell.ts";
import { doOnce, requireSameEnvironment, submissionFor, submitOnce } from "../submit-once.ts";
import { path } from "./body.ts";
import { fillBody, fillsBody, fillsPath, labelField, newFillBody } from "./fill-body.ts";
import { ownTemplate, type TemplatePagesDeps } from "./own-template.ts";

const section = "templates";
const pageSize = "20";

/** Adds the pages with which a member has a template's form filled in online. */
export function fillPages(forms: FastifyInstance, deps: TemplatePagesDeps): void {
  newPage(forms, deps);
  listPage(forms, deps);
  detailPage(forms, deps);
}

function newPage(forms: FastifyInstance, deps: TemplatePagesDeps): void {
  const { fills, orders } = deps.desk;
  const url = `${path}/:id/fill` as const;
  pageRoute(forms, deps.frame, { url, handle: ({ request, params }) => show(request, params.id, {}) });
  pageRoute(forms, deps.frame, {
    method: "POST",
    url,
    policy: "partner-write",
    handle: async ({ request, params, form }) => {
      requireSameEnvironment(request, form["environment"]);
      const template = await ownTemplate(deps, request, params.id);
      const questions = await questionsOfTemplate(fills, principalOf(request), template);
      const fields = readNewFill(bodyOf(form, params.id, questions));
      const { name } = await submitOnce(orders, request, {
        fields: new Map([...Object.entries(form), ["template", params.id]]),
        make: () => createFill(fills, principalOf(request), fields, async () => {}),
        nameOf: ({ id }) => id,
      });
      return done(`${fillsPath}/${name}`, fields.send ? "fill-sent" : "fill-made");
    },
    refused: ({ request, params, form }, error) => show(request, params.id, form, error),
  });

  async function show(request: FastifyRequest, id: string, values: FormValues, error?: string): Promise<string> {
    const template = await ownTemplate(deps, request, id);
    // For a template without fields, the page itself says why the form is refused.
    const found = await questionsOfTemplate(fills, principalOf(request), template).then(
      (questions) => ({ questions, refusal: undefined }),
      (refusal: Error) => {
        if (!/^template can't be filled in/.test(refusal.message)) throw refusal;
        return { questions: [], refusal: refusal.message.replace(/^template/, "This template") };
      },
    );
    const body = newFillBody({
      ...submissionFor(request, values),
      template,
      questions: found.questions,
      values,
      error: error ?? found.refusal,
    });
    return dashboardPage(deps.frame, request, { title: `Have ${template.name} filled in`, section, body });
  }
}

/** The form's content as the API takes it. */
function bodyOf(form: FormValues, template: string, questions: readonly Question[]): object {
  const labels = questions.flatMap(({ name }, index): [string, string][] => {
    const typed = form[labelField(index)]?.trim() ?? "";
    return typed === "" ? [] : [[name, typed]];
  });
  const days = form["days"] ?? "";
  return {
    template,
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
      const page = await fillPage(deps.desk.fills, principalOf(request), { limit: pageSize, cursor });
      const body = fillsBody({ ...page, isFirstPage: cursor === "" });
      return dashboardPage(deps.frame, request, { title: "Forms filled in online", section, body });
    },
  });
}

function detailPage(forms: FastifyInstance, deps: TemplatePagesDeps): void {
  const { fills, orders } = deps.desk;
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
