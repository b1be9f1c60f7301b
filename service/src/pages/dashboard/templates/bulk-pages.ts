import type { FastifyInstance, FastifyRequest } from "fastify";
import { principalOf } from "../../../kernel/http/authentication.ts";
import { readForm } from "../../../kernel/http/uploads/multipart.ts";
import { actorOf, type Owner, type Principal } from "../../../kernel/identity/identity.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import {
  type Bulk,
  type BulkDeps,
  cancelBulk,
  createBulk,
  nextPrices,
  ownBulk,
  placeRows,
  retryBulk,
  rowPage,
  sumOfPrices,
} from "../../../orders/bulk/bulk.ts";
import { activeMethod, expectedRefusal } from "../../../orders/payments/payments.ts";
import type { TemplateContent } from "../../../orders/templates/templates.ts";
import { card, emptyState, facts, notice, pageHead } from "../../ui/components.ts";
import { plainTime } from "../../ui/format.ts";
import { buttonForm } from "../../ui/forms/button-form.ts";
import { checkbox, errorSummary } from "../../ui/forms/fields.ts";
import type { FormValues } from "../../ui/forms/form-body.ts";
import { pageRoute } from "../../ui/page/route.ts";
import { records } from "../../ui/records.ts";
import { type Html, html } from "../../ui/render.ts";
import { shownCharge } from "../orders/firm-pays.ts";
import { csv } from "../orders/list/page.ts";
import { afterPlacingList } from "../orders/new/after-placing.ts";
import { labels } from "../orders/words.ts";
import { dashboardPage } from "../page-shell.ts";
import { reauthenticate } from "../reauthenticate.ts";
import { type FormSubmission, requireSameEnvironment, submissionFields, submissionFor } from "../submit-once.ts";
import { path } from "./body.ts";
import { ownTemplate, type TemplatePagesDeps } from "./own-template.ts";

const bulkPath = "/dashboard/bulk";
const section = "templates";
const messages = {
  notMultipart: "The form could not be read. Please fill it out again.",
  tooLarge: "file must have at most 5 MB.",
  incomplete: "The upload was interrupted. Please send the form again.",
};

type Errors = readonly { row: number; message: string }[];

/** Adds the pages on which a member uploads a list of people for a template, and places the orders for them. */
export function bulkPages(app: FastifyInstance, forms: FastifyInstance, deps: TemplatePagesDeps): void {
  uploadPages(app, deps);
  progressPages(app, forms, deps);
  resultFile(app, deps);
}

function uploadPages(app: FastifyInstance, deps: TemplatePagesDeps): void {
  const url = `${path}/:id/bulk` as const;

  pageRoute(app, deps.frame, { url, handle: ({ request, params }) => form(request, params.id) });

  pageRoute(app, deps.frame, {
    method: "POST",
    url,
    policy: "partner-write",
    handle: async ({ request, params }) => {
      const authenticate = reauthenticate(deps.frame.callers);
      const sent = await readForm(request, {
        filePart: "file",
        places: deps.frame.uploadPlaces,
        messages,
        authenticate,
      });
      try {
        requireSameEnvironment(request, sent.fields.get("environment"));
        const own = [...sent.fields].filter(([name]) => name !== "submission" && name !== "environment");
        const fields = new Map([...own, ["template", params.id] as const]);
        const { bulkId, errors } = await createBulk(deps.bulk, principalOf(request), {
          fields,
          upload: sent.upload,
        });
        if (bulkId === null) return { page: await form(request, params.id, { errors }), status: 400 };
        return { redirect: `${bulkPath}/${bulkId}` };
      } finally {
        sent.release();
      }
    },
    refused: ({ request, params }, error) => form(request, params.id, { error }),
  });

  async function form(
    request: FastifyRequest,
    id: string,
    problem: { error?: string; errors?: Errors } = {},
  ): Promise<string> {
    const template = await ownTemplate(deps, request, id);
    const { roles, fields } = template.content;
    const people = roles.flatMap(({ name, auth }) => [
      `${name}.name`,
      `${name}.email`,
      ...(auth === "access_code" ? [`${name}.access_code`] : []),
      ...(auth === "text_code" ? [`${name}.phone`] : []),
    ]);
    const values = [...new Set(fields?.flatMap(({ label }) => (typeof label === "string" ? `values.${label}` : [])))];
    const view = { ...submissionFor(request), id, name: template.name, people, values, ...problem };
    return dashboardPage(deps.frame, request, {
      title: `Many orders from ${template.name}`,
      section,
      body: formBody(view),
    });
  }
}

function progressPages(app: FastifyInstance, forms: FastifyInstance, deps: TemplatePagesDeps): void {
  const { bulk } = deps;

  pageRoute(app, deps.frame, {
    url: `${bulkPath}/:id`,
    handle: ({ request, params, query }) => progress(request, params.id, query["cursor"]),
  });

  const acts = [
    ["place", placeShown],
    ["retry", retryBulk],
    ["cancel", cancelBulk],
  ] as const;
  for (const [verb, act] of acts)
    pageRoute(forms, deps.frame, {
      method: "POST",
      policy: "partner-write",
      url: `${bulkPath}/:id/${verb}` as `${typeof bulkPath}/:id/act`,
      // These forms need no submission key. If one is sent twice, no row gets a second order.
      handle: async ({ request, params, form }) => {
        await act(bulk, principalOf(request), params.id, form);
        return { redirect: `${bulkPath}/${params.id}` };
      },
      refused: ({ request, params }, error) => progress(request, params.id, undefined, error),
    });

  async function progress(request: FastifyRequest, id: string, cursor = "", error?: string): Promise<string> {
    const principal = principalOf(request);
    const found = await ownBulk(bulk, principal, id);
    const { name, content } = await ownTemplate(deps, request, found.templateId, String(found.version));
    const rows = await rowPage(bulk, principal, id, { limit: "100", cursor });
    const after = await afterPlacingRows(deps, principal, found, content);
    const body = progressBody({ bulk: found, name, ...rows, error, ...after });
    return dashboardPage(deps.frame, request, { title: `Many orders from ${name}`, section, body });
  }
}

/**
 * Places the next orders of the list. Charges the firm only if the amount and the payment method are those that the
 * page showed.
 */
async function placeShown(bulk: BulkDeps, principal: Principal, id: string, form: FormValues): Promise<void> {
  const shown = form["charged_method"] ? shownCharge(form) : null;
  if (shown && shown.methodId !== (await activeMethod(bulk.orders.db, principal))?.id)
    throw new ServiceError(
      "conflict",
      "Your firm pays by another card or bank account now. Nothing was placed, and nobody was charged.",
    );
  await placeRows(bulk, principal, id, shown);
}

/**
 * Describes what happens after the waiting rows are placed as orders. `sent` has the hidden fields with the displayed
 * charge.
 */
async function afterPlacingRows(
  { orders, bulk }: TemplatePagesDeps,
  principal: Principal,
  found: Bulk,
  { services }: TemplateContent,
): Promise<{ after: Html; sent: Record<string, string> }> {
  const method = await activeMethod(orders.db, principal);
  const spending = { spender: actorOf(principal), amounts: [] };
  const ofCatalog = services.doc_slug === undefined ? null : orders.offer.pricing.catalogRow(services.doc_slug);
  const refusal = method ? await expectedRefusal(orders.db, orders, principal, spending) : null;
  const isCharged = method !== undefined && refusal === null && found.waiting > 0;
  const cents = isCharged ? sumOfPrices(await nextPrices(bulk, principal, found)) : 0;
  const after = afterPlacingList({
    method,
    refusal,
    cents,
    signs: ofCatalog?.sign ?? services.svc_sign !== undefined,
    hasCheckout: orders.offer.acceptsPayment(principal.environment),
  });
  return { after, sent: isCharged ? { total_cents: String(cents), charged_method: method.id } : {} };
}

/** Adds the CSV file with the result of each row, for every member of the firm. */
function resultFile(app: FastifyInstance, deps: TemplatePagesDeps): void {
  pageRoute(app, deps.frame, {
    url: `${bulkPath}/:id/rows.csv`,
    handle: async ({ request, params }) => {
      const file = csv([
        ["Row", "Order", "State", "Error"],
        ...(await resultRows(deps.bulk, principalOf(request), params.id)),
      ]);
      return { file, type: "text/csv; charset=utf-8", name: `bulk-${params.id}.csv` };
    },
  });
}

/** All rows of the list in their current state, in the order of the file. */
async function resultRows(bulk: BulkDeps, owner: Owner, id: string): Promise<string[][]> {
  const found: string[][] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const page: Awaited<ReturnType<typeof rowPage>> = await rowPage(bulk, owner, id, {
      limit: "500",
      cursor,
    });
    for (const { row, state, orderCode, reason } of page.rows)
      found.push([String(row), orderCode ?? "", stateWords[state], reason ?? ""]);
    cursor = page.nextCursor;
  }
  return found;
}

type FormView = FormSubmission & {
  id: string;
  name: string;
  people: readonly string[];
  values: readonly string[];
  error?: string;
  errors?: Errors;
};

const codes = (names: readonly string[]): Html => html`${names.map((name) => html`<code>${name}</code> `)}`;

function formBody(view: FormView): Html {
  const { id, name, people, values, errors = [] } = view;
  const optional = values.length > 0 && html`. Values, where you have them: ${codes(values)}`;
  return html`${pageHead(`Many orders from ${name}`, html`A list of people makes an order for each row. All rows are checked before any is placed. <a href="${path}/${id}">The template</a>`)}
${errorSummary(view.error ?? errors.map(({ row, message }) => `Row ${row}: ${message}`))}
<form class="form card" method="post" action="${path}/${id}/bulk" enctype="multipart/form-data">
${submissionFields(view)}
<p>A CSV file in UTF-8 of at most 5,000 rows, whose first line names the columns. Required: ${codes(people)}${optional}. Any field of an order may follow, as ${codes(["external_reference"])}.</p>
<div class="form-field"><label for="field-file">CSV file</label>
<input type="file" id="field-file" name="file" accept=".csv,text/csv" required></div>
${checkbox({ name: "byod_confirmed", label: labels.byod_confirmed, required: true })}
<div class="form-actions"><button type="submit">Check the list</button></div>
</form>`;
}

type ProgressView = Awaited<ReturnType<typeof rowPage>> & {
  bulk: Bulk;
  name: string;
  error: string | undefined;
  /** A description of what happens after the waiting rows are placed as orders. */
  after: Html;
  sent: Record<string, string>;
};

function progressBody({ bulk, name, rows, nextCursor, error, after, sent }: ProgressView): Html {
  const { bulkId, waiting, placed, failed, canceled, createdAt } = bulk;
  const at = `${bulkPath}/${bulkId}`;
  return html`${pageHead(`Many orders from ${name}`, html`Version ${bulk.version} of <a href="${path}/${bulk.templateId}">the template</a>.`)}
${errorSummary(error)}
<div class="panels">
${card(
  "progress",
  "Progress",
  html`${facts([
    ["Rows", String(bulk.rows)],
    ["Waiting", String(waiting)],
    ["Placed", String(placed)],
    ["Failed", String(failed)],
    ["Canceled", String(canceled)],
    ["Sent", plainTime(createdAt)],
  ])}
${waiting > 0 && html`<p>Placing takes up to 100 rows at a time.</p>${after}${buttonForm(`${at}/place`, placed === 0 ? "Place the orders" : "Place the next orders", { fields: sent })}`}
${waiting === 0 && failed === 0 && placed > 0 && notice("info", "All done", "Every row that was not canceled has its order.")}
${failed > 0 && buttonForm(`${at}/retry`, "Try the failed rows again", { kind: "quiet-button" })}
${waiting + failed > 0 && buttonForm(`${at}/cancel`, "Give up the rest", { kind: "quiet-button" })}`,
)}
${card("rows", "Rows", rows.length === 0 ? emptyState("No more rows", "") : html`<p><a href="${at}/rows.csv" download>Download all rows as CSV</a>: the row, its order, its state, and why it failed.</p>${rowTable(rows)}`)}
${nextCursor !== null && html`<nav class="pager" aria-label="More rows"><a href="${at}?cursor=${nextCursor}" rel="next">Next rows</a></nav>`}
</div>`;
}

const stateWords = { waiting: "Waiting", placed: "Placed", failed: "Failed", canceled: "Canceled" };

const rowTable = (rows: ProgressView["rows"]): Html =>
  records(
    "The rows of the list",
    [{ label: "Row" }, { label: "State" }, { label: "Order" }],
    rows.map(({ row, state, orderCode, reason }) => [
      String(row),
      stateWords[state],
      orderCode
        ? html`<a href="/dashboard/orders/${orderCode}">Order ${orderCode.slice(0, 6)}…</a>`
        : (reason ?? html`<span class="quiet-text">None</span>`),
    ]),
  );
