import type { FastifyInstance } from "fastify";
import { type Static, Type } from "typebox";
import { principalOf } from "../../kernel/http/authentication.ts";
import { idempotencyHeader, idempotencyKeyOf, reusedKey, sendAnswer } from "../../kernel/http/idempotency-key.ts";
import { jsonRoute, optionalText, type RouteDeps } from "../../kernel/http/route.ts";
import type { Principal } from "../../kernel/identity/identity.ts";
import { onceRecorded, type RecordResult } from "../../kernel/platform/idempotency.ts";
import { fingerprintOf, requestKey } from "../../kernel/platform/idempotency-keys.ts";
import { templateOf } from "../templates/templates.ts";
import { cancelFill, createFill, type FillDeps, type FillView, fillPage, ownFill, sendFill } from "./fill.ts";
import { formOfDocument, questionsOfTemplate } from "./find-form.ts";
import { readNewFill } from "./new-fill.ts";
import type { Question } from "./questions.ts";
import { documentParams, FillAnswer, FillList, FillQuestions, FillSummary, fillParams, NewFill } from "./schemas.ts";

type Deps = { frame: RouteDeps; fills: FillDeps };

const path = "/api/partner/fills";
const common = { tag: "Fills", caller: "key", policy: "partner-write" } as const;
const unknown = { 404: "Fill not found." };

const summaryOf = ({
  id,
  use,
  person,
  questions: _q,
  returnUrl: _r,
  slug: docSlug,
  isCatalogForm = false,
  ...view
}: FillView): Static<typeof FillSummary> => ({
  fillId: id,
  template: { templateId: isCatalogForm ? null : use.templateId, version: use.version },
  docSlug,
  title: view.title,
  state: view.state,
  ...person,
  url: view.url,
  createdAt: view.createdAt.toISOString(),
  expiresAt: view.expiresAt.toISOString(),
  endedAt: view.endedAt?.toISOString() ?? null,
  fillToken: view.fillToken,
  usableUntil: view.usableUntil?.toISOString() ?? null,
  orderCode: view.orderCode,
});

const answerOf = (view: FillView, requestId: string): Static<typeof FillAnswer> => ({ ...summaryOf(view), requestId });

/** Routes for fills: forms that people fill in online. The contract doesn't have them. */
export function fillRoutes(app: FastifyInstance, deps: Deps): void {
  app.addSchema(FillSummary);
  createRoute(app, deps);
  readRoutes(app, deps);
  actRoutes(app, deps);
}

function createRoute(app: FastifyInstance, { frame, fills }: Deps): void {
  jsonRoute(app, frame, {
    ...common,
    method: "POST",
    scope: "orders",
    url: path,
    operationId: "createFill",
    summary: "Have a form filled in online",
    description:
      "Makes a web form from the form fields of a template, or of a catalog document's form. The link is for one person. When the form is completed, the answers are in the PDF's fields, and `fillToken` orders it once. With `complete` your own answers fill it in at once.",
    headers: idempotencyHeader,
    body: NewFill,
    status: 201,
    answer: FillAnswer,
    refusals: {
      400: "docSlug has no form to fill in online in this environment.",
      ...reusedKey,
    },
    async handle(request, reply) {
      const principal = principalOf(request);
      const fields = readNewFill(request.body);
      const fingerprint = fingerprintOf(new Map([["fill", JSON.stringify(fields)]]), null);
      const key = requestKey(principal, `POST ${path}`, idempotencyKeyOf(request), fingerprint);
      const work = async (record: RecordResult) => {
        const created = await createFill(fills, principal, fields, (tx, result) => record(tx, result));
        return { fillId: created.id };
      };
      const { result, ...rest } = await onceRecorded<{ fillId: string }>(fills.templates, key, { status: 201, work });
      // The fill is read again, because the token in a replayed response may have been used in the meantime.
      const view = await ownFill(fills, principal, result.fillId);
      return sendAnswer(reply, { ...rest, result: answerOf(view, request.id) });
    },
  });
}

function readRoutes(app: FastifyInstance, { frame, fills }: Deps): void {
  const get = { ...common, method: "GET", scope: "read" } as const;
  jsonRoute(app, frame, {
    ...get,
    url: path,
    operationId: "listFills",
    summary: "List fills",
    description: "The forms that your firm has had filled in, newest first, a page at a time.",
    query: Type.Object({
      limit: optionalText("How many to answer: 1 to 100, default 50. Values outside are clamped.", "50"),
      cursor: optionalText("`nextCursor` of the previous page."),
    }),
    answer: FillList,
    refusals: { 400: "limit must be a whole number from 1 to 100." },
    async handle(request) {
      const { items, nextCursor } = await fillPage(fills, principalOf(request), request.query);
      return { fills: items.map(summaryOf), nextCursor, requestId: request.id };
    },
  });
  jsonRoute(app, frame, {
    ...get,
    url: `${path}/:fillId`,
    operationId: "getFill",
    summary: "Get a fill",
    description: "Its state, and its `fillToken` once it is completed.",
    params: fillParams,
    answer: FillAnswer,
    refusals: unknown,
    handle: async (request) => answerOf(await ownFill(fills, principalOf(request), request.params.fillId), request.id),
  });
  jsonRoute(app, frame, {
    ...get,
    url: "/api/partner/templates/:templateId/questions",
    operationId: "getTemplateQuestions",
    summary: "Get the questions of a template",
    description: "The fields of the form of its latest version, as a web form asks for them.",
    params: Type.Object({ templateId: Type.String({ description: "The template's id." }) }),
    answer: FillQuestions,
    refusals: { 400: "template can't be filled in online: its document has no form fields that are open." },
    async handle(request) {
      const principal = principalOf(request);
      const template = await templateOf(fills.templates, principal, request.params.templateId, null);
      const questions = await questionsOfTemplate(fills, principal, template);
      return questionsAnswer(questions, request.id);
    },
  });
  jsonRoute(app, frame, {
    ...get,
    url: "/api/partner/catalog/:docSlug/questions",
    operationId: "getDocumentQuestions",
    summary: "Get the questions of a catalog document",
    description:
      "The fields of the document's form, as a web form asks for them. The form is that of your newest template for the document, or else the one that the service has for every firm.",
    params: documentParams,
    answer: FillQuestions,
    refusals: { 400: "docSlug has no form to fill in online in this environment." },
    async handle(request) {
      const { questions } = await formOfDocument(fills, principalOf(request), request.params.docSlug);
      return questionsAnswer(questions, request.id);
    },
  });
}

const questionsAnswer = (questions: readonly Question[], requestId: string): Static<typeof FillQuestions> => ({
  questions: questions.map(({ lines: _lines, value: _value, ...question }) => ({
    ...question,
    options: question.options.map((each) => ({ ...each })),
  })),
  requestId,
});

function actRoutes(app: FastifyInstance, { frame, fills }: Deps): void {
  const acts = [
    {
      name: "cancel",
      act: cancelFill,
      summary: "Cancel a fill",
      description: "Its link no longer works, and what was typed is deleted. A completed fill is not changed.",
      conflict: "This form was completed at the same time.",
    },
    {
      name: "send",
      act: sendFill,
      summary: "Mail the link of a fill",
      description: "Mails the link to its `email`, at most five times.",
      conflict: "This form is no longer open, or its link was mailed 5 times.",
    },
  ] as const;
  for (const { name, act, summary, description, conflict } of acts)
    jsonRoute(app, frame, {
      ...common,
      method: "POST",
      scope: "orders",
      url: `${path}/:fillId/${name}`,
      operationId: `${name}Fill`,
      summary,
      description,
      params: fillParams,
      bodyIs: "none",
      answer: FillAnswer,
      refusals: { ...unknown, 409: conflict },
      async handle(request) {
        const principal: Principal = principalOf(request);
        return answerOf(await act(fills, principal, request.params.fillId), request.id);
      },
    });
}
