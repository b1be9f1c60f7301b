import type { AcceptanceRequest, FinishedCheck, FinishedReport, Finishing } from "../../../delivery/paper/paper.ts";
import { may, type Operator } from "../../../firms/operators/operators.ts";
import { card, codeText, facts, notice, pageHead } from "../../ui/components.ts";
import { shortCode, time } from "../../ui/format.ts";
import { buttonForm, hiddenFields } from "../../ui/forms/button-form.ts";
import { checkbox, errorSummary, field, textArea } from "../../ui/forms/fields.ts";
import { type Html, html } from "../../ui/render.ts";
import { passkeyFirst } from "../frame/passkey-first.ts";
import { checksTable, fileField, warnedOf } from "../frame/upload-report.ts";

const words: Readonly<Record<Finishing, { title: string; label: string; note: string; hint: string }>> = {
  signed: {
    title: "Signed on paper or elsewhere",
    label: "The signed document",
    note: "The signers’ links then stop working.",
    hint: "For example: in ink, at the office, on 2026-01-31.",
  },
  notarized: {
    title: "Notarized on paper or elsewhere",
    label: "The notarized document",
    note: "For a notary without a desk here. No journal is kept of it. Unless you are a notary, another operator approves it.",
    hint: "For example: in ink, by Nora Ames, notary in Franklin County, Ohio.",
  },
};

const titles: Readonly<Record<FinishedCheck["name"], string>> = {
  can_be_sealed: "Can be sealed",
  our_document: "The order’s document",
  pages: "Pages",
  signatures: "Digital signatures",
  changes: "What was added",
  unseen: "What may not be seen",
  signed_here: "Signatures given here",
  online_bought: "Online notarization",
};

/** The operator who sees the page, and the time. */
type Reader = { operator: Operator; now: Date };

const orderPath = (code: string) => `/operator/orders/${code}`;

const pathOf = (code: string, on: Finishing, rest: string) => `${orderPath(code)}/finished/${on}${rest}`;

/** Step 1 of 2: uploads a document that was signed or notarized elsewhere, and shows the verifier's report. */
export const finishedForm = (code: string, on: Finishing, { operator, now }: Reader): Html =>
  html`<details class="ask"><summary>${words[on].title}</summary>${passkeyFirst(operator, now, orderPath(code))}<form class="form" method="post" action="${pathOf(code, on, "/check")}" enctype="multipart/form-data">
<p>${words[on].note}</p>
${fileField(on, words[on].label, "A PDF of at most 35 MB. It is checked first, and not stored yet.")}
<div class="form-actions"><button type="submit" class="quiet-button">Check the document</button></div></form></details>`;

/** The verifier's report on the document, and step 2 if the report is acceptable. */
export function finishedBody(
  code: string,
  on: Finishing,
  report: FinishedReport,
  { problem, reason = "" }: { problem?: string; reason?: string } = {},
): Html {
  const failed = report.checks.some(({ state }) => state === "fails");
  const back = orderPath(code);
  return html`${pageHead(`What you uploaded for order ${shortCode(code)}`, "Nothing of it is stored yet.", html`<a href="${back}">Back to the order</a>`)}
${errorSummary(problem)}
<div class="panels">
${card("checks", "What the verifier says", checksTable(titles, report))}
${failed ? card("refused", "It can’t be taken", notice("attention", "Refused", "Correct what fails, and upload the document again.")) : card("confirm", "Take it", confirmForm(code, on, report, reason))}
</div>`;
}

function confirmForm(code: string, on: Finishing, { checks, sha256 }: FinishedReport, reason: string): Html {
  const warned = warnedOf(checks);
  const { label, hint } = words[on];
  return html`<form class="form" method="post" action="${pathOf(code, on, "")}" enctype="multipart/form-data">
${hiddenFields({ sha256 })}
${fileField(on, label, "Choose the same file again: only the file in this report can be stored.")}
${field({ name: "reason", label: `How it was ${on}`, required: true, maxLength: 500, value: reason, hint })}
${warned.length > 0 && checkbox({ name: "warnings", value: warned.join(","), label: `I looked at it, and it is right: ${warned.map((name) => titles[name].toLowerCase()).join(", ")}`, required: true })}
<p>The seal says that it was ${on} elsewhere, and taken in by an operator. The order goes on then.</p>
<div class="form-actions"><button type="submit">Seal the document</button></div></form>`;
}

/** A document that a second person must still approve, and the actions that the operator may take on it. */
export function acceptancePart(code: string, request: AcceptanceRequest, { operator, now }: Reader): Html {
  const first = passkeyFirst(operator, now, orderPath(code));
  return html`${facts([
    ["Handed in by", html`<span class="breakable">${request.requestedByName}</span>, ${time(request.requestedAt)}`],
    ["How it was notarized", html`<span class="breakable">${request.reason}</span>`],
    ["SHA-256 of the file", codeText(request.sha256, "the hash")],
  ])}${may(operator, "documents.take_in") && html`${first}${decisionForms(`${orderPath(code)}/taking-in`, request.requestedBy === operator.id)}`}`;
}

const decisionForms = (path: string, isOwn: boolean): Html =>
  html`<form class="form" method="post" action="${path}/approve" enctype="multipart/form-data">
<p>${isOwn ? "Another operator approves it with the same file." : "Get the file from the person who handed it in, look at it, and choose it here. It is sealed then."}</p>
${fileField("taking-in", "The notarized document", "The same file: its hash is compared.")}
<div class="form-actions"><button type="submit">Approve, and seal the document</button></div></form>
${
  isOwn
    ? buttonForm(`${path}/withdrawn`, "Withdraw the request", { kind: "quiet-button" })
    : html`<form class="form" method="post" action="${path}/refused">
${textArea({ form: "taking-in", name: "note", label: "Why not", required: true, maxLength: 500, rows: 2 })}
<div class="form-actions"><button type="submit" class="quiet-button">Refuse</button></div></form>`
}`;
