import type { ListedRequest, pendingRequests } from "../../../firms/access-requests/access-requests.ts";
import type { DecidedLiveRequest, OpenLiveRequest } from "../../../firms/live-requests/live-requests.ts";
import { emptyState, facts, notice } from "../../ui/components.ts";
import { time } from "../../ui/format.ts";
import { askFirst } from "../../ui/forms/ask-first.ts";
import { buttonForm } from "../../ui/forms/button-form.ts";
import { textArea } from "../../ui/forms/fields.ts";
import { type Html, html } from "../../ui/render.ts";

const reasonWords: Readonly<Record<ListedRequest["reasons"][number], string>> = {
  domain_has_trial: "another address of its domain has a trial",
  free_mail: "a free email address",
  disposable_mail: "a disposable email address",
  listed_mail: "a domain on the list of free and disposable email providers",
  odd_domain: "an email domain that cannot exist",
  no_use_case: "no use case",
  short: "a very short use case",
  unreadable: "gibberish",
  keywords: "stuffed with keywords",
  fillers: "mostly filler words",
  repetition: "repeated words",
  links: "links",
  off_topic: "nothing related to our services",
  unwelcome: "unwelcome words",
  bot_score: "a low bot score",
};

/** Requests that a person must review, the oldest first. */
export function requestsPart(
  { waiting, total }: Awaited<ReturnType<typeof pendingRequests>>,
  after: string,
  mayDecide: boolean,
): Html {
  if (total === 0) return emptyState("No requests are waiting", "Requests that need a person’s review appear here.");
  const rest = total - waiting.length;
  return html`<ul class="requests">${waiting.map((request) => requestItem(request, after, mayDecide))}</ul>
${rest > 0 && html`<p class="quiet">${rest.toLocaleString("en-US")} more are waiting; they move up as you decide these.</p>`}`;
}

function requestItem(request: ListedRequest, after: string, mayDecide: boolean): Html {
  const { firmName, contactName, workEmail, role, expectedVolume, useCase, reasons, createdAt } = request;
  return html`<li><h3>${firmName}</h3>
${facts([
  ["Contact", role ? `${contactName}, ${role}` : contactName],
  ["Email", workEmail],
  ["Expected volume", expectedVolume],
  ["Requested", time(createdAt)],
  ["Why it needs review", reasons.map((reason) => reasonWords[reason] ?? reason).join(", ")],
  ["Use case", useCase && html`<span class="as-typed">${useCase}</span>`],
])}
${mayDecide && decisionOn(request, after)}</li>`;
}

/**
 * The buttons that approve or reject a request for access, after a confirmation. If the address already has a key, a
 * notice replaces the button that approves.
 */
function decisionOn({ requestId, firmName, workEmail, addressHasKey }: ListedRequest, after: string): Html {
  const path = `/operator/requests/${requestId}`;
  const fields = after === "" ? {} : { after };
  const about = `for ${firmName}`;
  const ask = (label: string, text: Html | string, button: Html) =>
    html`<details class="ask"><summary>${label}<span class="visually-hidden"> the request of ${firmName}</span></summary><p>${text}</p>${button}</details>`;
  const approve = addressHasKey
    ? notice(
        "attention",
        "This address already has a key",
        "If the firm needs another, issue it from the command line.",
      )
    : ask(
        "Approve",
        html`The firm becomes a trial partner, and its test key is emailed to <span class="breakable">${workEmail}</span>.`,
        buttonForm(`${path}/approve`, "Approve and email the key", { fields, about }),
      );
  const decline = ask(
    "Decline",
    "The request is closed for good. The requester is not notified.",
    buttonForm(`${path}/decline`, "Decline the request", { fields, kind: "danger-button", about }),
  );
  return html`<div class="asks">${approve}${decline}</div>`;
}

/** The firms whose owners request live access, with the facts for the decision. */
export function livePart(requests: readonly OpenLiveRequest[], mayDecide: boolean): Html {
  if (requests.length === 0) return emptyState("No requests are waiting", "An owner asks for live in the settings.");
  return html`<ul class="requests">${requests.map((request) => {
    const { id, partnerId, firmName, contactEmail, askedBy, askedAt, isAltered, owners, testOrders } = request;
    if (isAltered)
      return html`<li><h3><a href="/operator/partners/${partnerId}">Altered outside the service</a></h3>
${notice("stopped", "Not what the service wrote", "This request or its firm was altered outside the service. Live can’t be given or refused.")}</li>`;
    const path = `/operator/live-requests/${id}`;
    return html`<li><h3><a href="/operator/partners/${partnerId}">${firmName}</a></h3>
${facts([
  ["Asked for by", askedBy ?? "A former owner"],
  ["On", time(askedAt)],
  ["Contact", contactEmail ?? "Not set"],
  [
    "Owners",
    html`${owners.map(({ email, linkedAt }, index) => html`${index > 0 && ", "}<span class="breakable">${email}</span> (since ${time(linkedAt)})`)}`,
  ],
  ["Test orders", `${testOrders.completed} of ${testOrders.all} complete`],
])}
${
  mayDecide &&
  html`<div class="asks">${askFirst({
    label: "Give live",
    text: `${firmName} and all of its owners get live. They, and all admins, are emailed.`,
    confirm: "Give live",
    action: `${path}/grant`,
  })}<details class="ask"><summary>Refuse<span class="visually-hidden"> the request of ${firmName}</span></summary>
<form class="form" method="post" action="${path}/refuse">
${textArea({ form: `live-${id}`, name: "note", label: "Why not", required: true, maxLength: 500, rows: 2, hint: "It is emailed to the owners." })}
<div class="form-actions"><button type="submit" class="quiet-button">Refuse</button></div></form></details></div>`
}</li>`;
  })}</ul>`;
}

const liveOutcome = { asked: "", granted: "live was given", refused: "live was refused" } as const;

/** Decided requests for access and for live, the latest first. */
export function decidedPart(requests: readonly ListedRequest[], live: readonly DecidedLiveRequest[]): Html {
  const lines = [
    ...requests.map(({ status, ...request }) => ({
      ...request,
      outcome: status === "issued" ? "access was given" : "declined",
    })),
    ...live.map(({ state, ...request }) => ({ ...request, outcome: liveOutcome[state] })),
  ].sort((a, b) => (b.decidedAt?.getTime() ?? 0) - (a.decidedAt?.getTime() ?? 0));
  return lines.length === 0
    ? emptyState("None yet", "Requests for access and for live are listed here once they are decided.")
    : html`<ul>${lines.map(({ firmName, outcome, decidedAt }) => html`<li><span class="breakable">${firmName}</span>: ${outcome}${decidedAt && html`, ${time(decidedAt)}`}</li>`)}</ul>`;
}
