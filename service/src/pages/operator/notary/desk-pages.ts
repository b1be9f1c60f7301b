import {
  certificateFacts,
  type EligibleOrder,
  expiriesOf,
  expiringWords,
  journalNotice,
  modeWords,
  type Notary,
  type NotaryQueue,
  refusalReasons,
  stageOf,
} from "../../../signing/notaries/notaries.ts";
import { card, emptyState, facts, notice, pageHead } from "../../ui/components.ts";
import { shortCode, shortTime } from "../../ui/format.ts";
import { buttonForm } from "../../ui/forms/button-form.ts";
import { errorSummary, field, textArea } from "../../ui/forms/fields.ts";
import type { FormValues } from "../../ui/forms/form-body.ts";
import { records } from "../../ui/records.ts";
import { type Html, html } from "../../ui/render.ts";
import { orderPath } from "./order-path.ts";
import { queueCard } from "./queue-routes.ts";

type Desk = {
  notary: Notary;
  open: readonly EligibleOrder[];
  mine: readonly EligibleOrder[];
  /** Null if the service has no audio and video. */
  queue: NotaryQueue | null;
  now: Date;
};

/** The orders that a notary may claim, and those that the notary has claimed. */
export function deskBody({ notary, open, mine, queue, now }: Desk, problem?: string): Html {
  return html`${pageHead("Notary’s desk", `${notary.commissionName}, ${notary.county}, ${notary.state}`, html`<a href="/operator/notary/hours">Your hours</a>`)}
${errorSummary(problem)}
${expiriesOf(notary).map((expiry) => {
  const stage = stageOf(expiry, now);
  const words = stage === "expired" ? "expired on" : "expires on";
  return (
    stage !== "later" &&
    notice(
      "attention",
      `Your ${expiringWords[expiry.what]} ${words} ${expiry.expiresOn}`,
      stage === "expired"
        ? "Acts that need it are not open to you. An administrator enters the new one."
        : "Have an administrator enter the new one in time.",
    )
  );
})}
<div class="panels">
${queue && queueCard(queue)}
${card(
  "mine",
  "In your hands",
  mine.length === 0
    ? emptyState("Nothing", "Orders that you claim are here.")
    : deskTable(
        "Orders in your hands",
        mine,
        (order) =>
          html`<a href="${orderPath(order.code)}">Open <span class="visually-hidden">order ${shortCode(order.code)}</span></a>`,
      ),
)}
${card("certificate", "Your certificate", certificatePart(notary))}
${card(
  "open",
  "Waiting for a notary",
  open.length === 0
    ? emptyState(
        "Nothing",
        "No order waits here that you may take. Test orders and live orders have lists of their own: the switch above the menu shows the other.",
      )
    : deskTable("Orders that wait for a notary", open, claimButton),
)}
</div>`;
}

/**
 * The notary's registered certificate, and a test that opens the notary's certificate file. The inputs have no names,
 * so nothing is sent.
 */
function certificatePart({ certificate }: Notary): Html {
  if (certificate === null)
    return html`<p>None is on record. An administrator enters it: without it you can sign no document electronically here.</p>`;
  const { subject, issuer, notAfter, fingerprintSha256 } = certificateFacts(certificate);
  return html`${facts([
    ["Of", subject],
    ["Issued by", issuer],
    ["To", shortTime(notAfter)],
  ])}
<details class="ask"><summary>Try your certificate file</summary>
<div id="certificate-trial" class="form" data-sha256="${fingerprintSha256}"><p>You sign with your own file of this certificate. Try it before your first act: this page alone opens it, and neither the file nor its password is sent.</p>
<div class="form-field"><label for="p12-file">Certificate file</label>
<p class="hint" id="p12-file-hint">A file ending in .p12 or .pfx.</p>
<input type="file" id="p12-file" accept=".p12,.pfx,application/x-pkcs12" aria-describedby="p12-file-hint"></div>
<div class="form-field"><label for="p12-password">Password of the file</label>
<input type="password" id="p12-password" autocomplete="off"></div>
<div class="form-actions"><button type="button" id="p12-open" class="secondary">Try the file</button></div>
<p id="notary-sign-said" role="status"></p></div></details>`;
}

export const claimButton = ({ taskId, code }: EligibleOrder["order"]): Html =>
  buttonForm(`/operator/notary/tasks/${taskId}/claim`, "Claim", { about: `order ${shortCode(code)}` });

/** A table of orders that wait for a notary, or that a notary has claimed. */
export const deskTable = <Shown extends EligibleOrder>(
  caption: string,
  orders: readonly Shown[],
  action: (order: EligibleOrder["order"]) => Html,
  /**
   * Returns an order's text for the column “Where it is”, such as “Waits for the appointment”. Without this function,
   * the table lacks the column.
   */
  place?: (order: Shown) => string,
): Html =>
  records(
    caption,
    ["Order", "Firm", "People", "How", ...(place ? ["Where it is"] : []), "Due", "Action"].map((label) => ({
      label,
      utc: label === "Due",
    })),
    orders.map((each) => [
      shortCode(each.order.code),
      each.order.firmName,
      String(each.order.signers.length),
      each.eligibility.modes.map((mode) => modeWords[mode]).join("; "),
      ...(place ? [place(each)] : []),
      shortTime(each.order.dueAt),
      action(each.order),
    ]),
  );

type Row = { position: number; record: string; sha256: string };

type Shown = {
  at: string;
  kind: "act" | "refusal" | "correction";
  orderCode: string;
  environment: string;
  act?: { act: string; mode: string; principals: { name: string }[] } | null;
  reason?: keyof typeof refusalReasons;
  corrects?: number;
  words?: string;
};

const what = ({ kind, act, reason, corrects, words }: Shown): string => {
  if (kind === "correction") return `Corrects entry ${corrects}: ${words}`;
  const people = act ? act.principals.map(({ name }) => name).join(", ") : "";
  if (kind === "refusal") return `Refused: ${reason ? refusalReasons[reason] : ""}${people && ` (${people})`}`;
  return `${act?.act}, ${act?.mode}: ${people}`;
};

/** The page of a notary's own journal, with the form that corrects an entry. */
export function journalBody(rows: readonly Row[], typed: FormValues = {}, problem?: string): Html {
  return html`${pageHead("Journal", journalNotice)}
${errorSummary(problem)}
<div class="form-actions"><a class="button quiet-button" href="/operator/notary/journal.json" download>Copy as JSON</a><a class="button quiet-button" href="/operator/notary/journal.pdf" download>Copy as a sealed PDF</a></div>
<div class="panels">
${card("entries", "Entries", rows.length === 0 ? emptyState("No entries", "Each act and each refusal becomes one.") : entryTable(rows))}
${rows.length > 0 && card("correct", "Correct an entry", correction(typed))}
</div>`;
}

const entryTable = (rows: readonly Row[]): Html =>
  records(
    "Entries of the journal",
    ["Entry", "When", "Order", "What", "SHA-256"].map((label) => ({ label, utc: label === "When" })),
    rows.map(({ position, record, sha256 }) => {
      const entry = JSON.parse(record) as Shown;
      return [
        String(position),
        shortTime(new Date(entry.at)),
        `${shortCode(entry.orderCode)}${entry.environment === "test" ? " (test)" : ""}`,
        html`<span class="breakable">${what(entry)}</span>`,
        html`<code>${sha256.slice(0, 12)}…</code>`,
      ];
    }),
  );

const correction = (typed: FormValues): Html =>
  html`${notice("info", "What was written stays", "A correction is a new entry that names the old one.")}
<form class="form" method="post" action="/operator/notary/journal/correct">
${field({ name: "entry", label: "Entry", required: true, maxLength: 9, value: typed["entry"] ?? "" })}
${textArea({ name: "words", label: "What is right", required: true, rows: 3, maxLength: 2000, value: typed["words"] ?? "" })}
<div class="form-actions"><button type="submit" class="secondary">Enter the correction</button></div></form>`;
