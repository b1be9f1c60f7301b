import type { FastifyInstance } from "fastify";
import { principalOf } from "../../../kernel/http/authentication.ts";
import type { RateLimits } from "../../../kernel/http/rate-limits.ts";
import { readForm } from "../../../kernel/http/uploads/multipart.ts";
import { actorOf } from "../../../kernel/identity/identity.ts";
import { invalid } from "../../../kernel/platform/errors.ts";
import type { OnceDeps } from "../../../kernel/platform/idempotency.ts";
import {
  askRefund,
  beginAgain,
  type Corrected,
  correctableFields,
  correctOrder,
  type ReplaceDeps,
  replaceDocument,
  reportNotArrived,
} from "../../../orders/corrections/corrections.ts";
import type { PublicOrderRow } from "../../../orders/order/order.ts";
import type { SignerState } from "../../../signing/envelopes/envelopes.ts";
import { money, plainTime } from "../../ui/format.ts";
import { buttonForm, hiddenFields } from "../../ui/forms/button-form.ts";
import { centsOf } from "../../ui/forms/cents.ts";
import { checkbox, field, select } from "../../ui/forms/fields.ts";
import type { FormValues } from "../../ui/forms/form-body.ts";
import { type PageCall, type PageRoute, pageRoute } from "../../ui/page/route.ts";
import { type Html, html } from "../../ui/render.ts";
import { done, type FlashMessage } from "../flash-messages.ts";
import type { DashboardFrame } from "../page-shell.ts";
import { reauthenticate } from "../reauthenticate.ts";
import { doOnce } from "../submit-once.ts";
import { states } from "./new/form-parts.ts";
import { ownOrder } from "./own-order.ts";
import { zipFaults } from "./zip-faults.ts";

export type PutRightView = {
  /** The title of the order's document; null when unknown. */
  title: string | null;
  submission: string;
  order: Pick<PublicOrderRow, "code" | "customerEmail" | "faxTo" | "sign">;
  corrected: Corrected;
  typed?: FormValues;
};

const againWords: Readonly<Record<string, string>> = {
  EsignDeclined: "Send it to the signers again",
  EsignExpired: "Send it to the signers again",
  NotarizationFailed: "Have it notarized again",
  ShippingFailed: "Ship it again",
  FaxFailed: "Fax it again",
};

// The label for a retry. In a status that `againWords` does not list, only a fax can have failed. That fax was sent
// early, while the order was still being shipped.
const againWordsOf = ({ status }: Pick<Corrected, "status">): string => againWords[status] ?? "Fax it again";

/** True if the firm can correct anything now, apart from requesting a refund, which has its own part of the page. */
export const canBePutRight = ({ refusals }: Corrected): boolean =>
  Object.entries(refusals).some(([act, refusal]) => act !== "refund" && refusal === null);

/** The button that retries the failed service; empty when the firm has nothing to retry now. */
export const againButton = ({ submission, order, corrected }: PutRightView): Html =>
  html`${corrected.refusals.again === null && buttonForm(`/dashboard/orders/${order.code}/send-again`, againWordsOf(corrected), { fields: { submission } })}`;

/** Says who can move an order that the sandbox cannot move. */
export const moversOf = ({ corrected }: Pick<PutRightView, "corrected">): string =>
  corrected.refusals.again === null
    ? `“${againWordsOf(corrected)}” on this page does, and the operator of this service can, too.`
    : "The operator of this service can.";

/** The button with which the firm reports a parcel as missing, or a note that the firm has already reported it. */
export const missingPart = ({ submission, order, corrected: { missing } }: PutRightView): Html =>
  missing === "asked"
    ? html`<p>You said that it has not arrived. The operator of this service looks after it.</p>`
    : html`${missing === "may_ask" && buttonForm(`/dashboard/orders/${order.code}/not-arrived`, "It has not arrived", { kind: "quiet-button", fields: { submission } })}`;

/**
 * The firm's options after a signer ended the signing in order to sign on paper. Empty for any other order, and once
 * the firm has named somebody else to sign in this signer's place.
 */
export function paperPart(
  { corrected: { refusals, status } }: PutRightView,
  signers: readonly SignerState[],
): Html | "" {
  const asker = signers.find(({ wantsPaper }) => wantsPaper);
  if (status !== "EsignDeclined" || !asker) return "";
  const { name, email } = asker;
  return html`<h3>${name} wants to sign on paper</h3>
<p>${name} (<a class="breakable" href="mailto:${email}">${email}</a>) was told that your firm arranges it. A paper copy must cost nothing. Choose one:</p>
<ul>
<li>Sign in ink: send the PDF under <a href="#documents">Documents</a> on paper, and collect the signatures.
An operator of this service, who has a task about this order, can take in a scan of it, so that the order goes on.${refusals.refund === null && " Otherwise ask for a refund on this page."}</li>
${refusals.again === null && html`<li>Sign electronically after all: agree on it with ${name}, then press “${againWordsOf({ status: "EsignDeclined" })}”.</li>`}
</ul>`;
}

/** Says when a person gets new links after their email address was corrected. */
export const newLinks =
  "Somebody who is asked to sign now, or whose document is finished, is emailed a new link at once. Somebody who has signed before others gets one once everybody has signed. If the signing has stopped, the next request to sign has the new link.";

const emailHint = `Links that were emailed to the earlier address stop working, in every document of the order’s closing: to sign, and to finished documents. ${newLinks} Other people who share the earlier address keep it. This page’s public link to the order’s state and price stays the same.`;

/** The forms that correct an order, and the earlier corrections. */
export function putRightPart(view: PutRightView): Html {
  const { order, corrected } = view;
  const { refusals, corrections } = corrected;
  const withoutRefunds = corrections.filter(({ kind }) => kind !== "refund");
  const after = refusals.again === null ? ` Then press “${againWordsOf(corrected)}”.` : "";
  return html`<p>The order keeps its code and its price.${after}</p>
${refusals.document === null && documentForm(view)}
${
  refusals.email === null &&
  part(
    view,
    "email",
    "Correct the client’s email",
    field({
      form: "email",
      name: "email",
      type: "email",
      label: "Email",
      required: true,
      maxLength: 254,
      value: view.typed?.["email"] ?? order.customerEmail,
      hint: emailHint,
    }),
  )
}
${refusals.address === null && part(view, "address", "Correct the parcel’s address", addressFields(corrected.shipTo, view.typed))}
${refusals.fax === null && part(view, "fax", "Correct the fax number", field({ form: "fax", name: "fax_to", type: "tel", label: "Fax number", required: true, maxLength: 40, value: view.typed?.["fax_to"] ?? order.faxTo ?? "" }))}
${withoutRefunds.length > 0 && html`<h3>Corrected so far</h3><ul>${withoutRefunds.map((each) => html`<li>${correctionLine(each)}, ${plainTime(each.at, "en")}</li>`)}</ul>`}`;
}

const part = ({ order, submission, typed }: PutRightView, name: string, title: string, fields: Html): Html =>
  html`<details class="question"${typed && !isRefundForm(typed) && html` open`}><summary>${title}</summary>
<form class="form" method="post" action="/dashboard/orders/${order.code}/correct">
${hiddenFields({ submission })}${fields}
<div class="form-actions"><button type="submit" class="quiet-button" name="part" value="${name}">Save</button></div>
</form></details>`;

/** True if the rejected form is the request for a refund. No other form of the page has an amount. */
const isRefundForm = (typed: FormValues): boolean => typed["amount"] !== undefined;

function addressFields(shipTo: Corrected["shipTo"], typed?: FormValues): Html {
  const part = (name: keyof NonNullable<Corrected["shipTo"]>, label: string) => ({
    form: "address",
    name: `ship_${name}`,
    label,
    value: typed?.[`ship_${name}`] ?? shipTo?.[name] ?? "",
  });
  const line = (name: keyof NonNullable<Corrected["shipTo"]>, label: string, maxLength: number, required = true) =>
    field({ ...part(name, label), required, maxLength });
  return html`${line("name", "Recipient", 200)}
${line("line1", "Address", 200)}
${line("line2", "Suite, floor", 200, false)}
${line("city", "City", 100)}
${select({ ...part("state", "State"), required: true, options: states })}
${line("postal", "ZIP code", 10)}
<p class="hint">A label for the earlier address is given back. If postage to the new address costs more than was quoted, the difference is requested separately, and the parcel waits for it.</p>`;
}

function documentForm({ order, submission, corrected, title }: PutRightView): Html {
  const isAgain = corrected.refusals.again === null;
  return html`<details class="question"><summary>Replace the document</summary>
<form class="form" method="post" action="/dashboard/orders/${order.code}/document" enctype="multipart/form-data">
${hiddenFields({ submission })}<p>${order.sign && "Everybody signs again, also people who have signed: their links and signatures are of the earlier document. "}The earlier document stays on record. Only your firm can see it.</p>
<div class="form-field"><label for="replacement">The PDF that replaces it</label>
<input type="file" id="replacement" name="document" accept="application/pdf" required></div>
${field({ form: "document", name: "name", label: "Name of the document", maxLength: 200, value: title ?? "", hint: "Mails and pages name the document by it. The name of the file is not used." })}
${order.sign && checkbox({ form: "document", name: "find_places", label: "Search the new document for the places to sign", hint: "Without it people sign where they would have signed before." })}
${isAgain && checkbox({ form: "document", name: "again", label: againWordsOf(corrected), checked: true })}
<div class="form-actions"><button type="submit" class="quiet-button">Replace the document</button></div>
</form></details>`;
}

/** The shipping address on one line; null if there is no parcel. */
export const addressLine = (shipTo: Corrected["shipTo"] | undefined): string | null =>
  shipTo
    ? [shipTo.name, shipTo.line1, shipTo.line2, shipTo.city, `${shipTo.state} ${shipTo.postal}`]
        .filter(Boolean)
        .join(", ")
    : null;

const lineWords: Readonly<Record<string, string>> = {
  document: "Document replaced",
  email: "Client’s email",
  address: "Parcel’s address",
  fax: "Fax number",
  signer: "Signer",
  again: "Sent again",
};

/**
 * The line about an earlier correction. It contains the value from before the correction, which the page shows nowhere
 * else.
 */
export function correctionLine({ kind, before, after }: Corrected["corrections"][number]): string {
  const words = lineWords[kind] ?? kind;
  const { email, faxTo, shipTo, name } = before as Readonly<Record<string, unknown>>;
  const was = email ?? faxTo ?? name ?? addressLine(shipTo as Corrected["shipTo"] | undefined);
  const signed = Array.isArray(after["signed"]) ? ` (${after["signed"].join(", ")} had signed with it already)` : "";
  return was === undefined || was === null || was === "" ? words : `${words}, before: ${String(was)}${signed}`;
}

/** The refunds that the firm has requested, and the form that requests one from the operator. */
export function refundPart({
  submission,
  order,
  corrected: { refusals, corrections },
  typed: all,
}: PutRightView): Html {
  const asked = corrections.filter(({ kind }) => kind === "refund");
  const lines = html`${asked.map(({ after, at }) => {
    const cents = askedCents(after);
    const amount = cents === null ? "the whole payment" : money(cents);
    return html`<p>Your firm asked for a refund of ${amount}, ${plainTime(at, "en")}: ${String(after["reason"] ?? "")}</p>`;
  })}`;
  if (refusals.refund !== null) return lines;
  const typed = all && isRefundForm(all) ? all : undefined;
  return html`${lines}<details class="question"${typed && html` open`}><summary>Ask for a refund</summary>
<form class="form" method="post" action="/dashboard/orders/${order.code}/refund-request">
${hiddenFields({ submission })}<p>Two people of the service decide on it. Until then the order goes on.</p>
${field({ form: "refund", name: "reason", label: "Reason", required: true, maxLength: 500, value: typed?.["reason"] })}
${field({ form: "refund", name: "amount", label: "Amount in dollars", maxLength: 12, inputMode: "decimal", value: typed?.["amount"], hint: "Leave it empty for the whole payment." })}
<div class="form-actions"><button type="submit" class="quiet-button">Ask for the refund</button></div>
</form></details>`;
}

/** The requested amount in cents; null for the whole payment. */
const askedCents = ({ amountCents }: Readonly<Record<string, unknown>>): number | null =>
  typeof amountCents === "number" ? amountCents : null;

type OrderCall = PageCall<{ code: string }>;
type Form = Pick<PageRoute<string>, "method" | "policy"> & {
  refused: (call: OrderCall, error: string) => Promise<string>;
};
type Deps = OnceDeps & { limits: RateLimits; corrections: ReplaceDeps; frame: DashboardFrame };

const messages = {
  notMultipart: "Choose the PDF that replaces the document.",
  tooLarge: "The document must be a PDF of at most 35 MB.",
  incomplete: "The form is cut off or malformed.",
};

/**
 * Adds the forms that correct an order.
 * @param app the scope that accepts forms with files
 */
export function putRightForms(app: FastifyInstance, forms: FastifyInstance, deps: Deps, form: Form): void {
  const { corrections, frame } = deps;
  const wanted = async ({ params, request }: OrderCall) => {
    const { code: orderCode } = await ownOrder(deps.db, request, params.code);
    const owner = principalOf(request);
    return { owner, orderCode, actor: actorOf(owner) };
  };
  const post = (
    name: "correct" | "send-again" | "not-arrived" | "refund-request",
    act: (of: Awaited<ReturnType<typeof wanted>>, typed: FormValues) => Promise<FlashMessage>,
  ) =>
    pageRoute(forms, deps, {
      ...form,
      url: `/dashboard/orders/:code/${name}` as "/dashboard/orders/:code/correct",
      handle: doOnce(deps, async (call) => {
        const of = await wanted(call);
        return done(`/dashboard/orders/${of.orderCode}`, await act(of, call.form));
      }),
    });
  post("correct", async (of, typed) => {
    const values = new Map(correctableFields.map((name) => [name, typed[name] ?? ""]));
    const [fault] = zipFaults(corrections.orders.offer.pricing, values);
    if (fault !== undefined) throw invalid(fault);
    const { altered, isUnmailed } = await correctOrder(corrections, of, values);
    if (altered.length > 0) return "order-corrected-in-part";
    return isUnmailed ? "order-corrected-unmailed" : "order-corrected";
  });
  post("send-again", async (of) => {
    await beginAgain(corrections, of);
    return "order-sent-again";
  });
  post("not-arrived", async (of) => {
    await reportNotArrived(corrections, of);
    return "parcel-missing";
  });
  post("refund-request", async (of, { reason, amount }) => {
    await askRefund(corrections, of, { reason, amountCents: centsOf(amount ?? ""), name: "Amount" });
    return "refund-asked";
  });
  const authenticate = reauthenticate(frame.callers);
  pageRoute(app, deps, {
    ...form,
    url: "/dashboard/orders/:code/document",
    async handle(call) {
      const of = await wanted(call);
      const { uploadPlaces: places } = frame;
      const sent = await readForm(call.request, { filePart: "document", places, messages, authenticate });
      try {
        const { upload } = sent;
        await replaceDocument(corrections, of, {
          fields: new Map(sent.fields.get("find_places") === "on" ? [["find_places", "on"]] : []),
          upload: upload?.bytes.length === 0 ? null : upload,
          name: sent.fields.get("name"),
        });
        if (sent.fields.get("again") === "on") await beginAgain(corrections, of);
      } finally {
        sent.release();
      }
      return done(`/dashboard/orders/${of.orderCode}`, "document-replaced");
    },
  });
}
