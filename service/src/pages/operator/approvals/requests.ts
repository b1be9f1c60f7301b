import type { ListedRequest, pendingRequests } from "../../../firms/access-requests/access-requests.ts";
import { emptyState, facts, notice } from "../../ui/components.ts";
import { time } from "../../ui/format.ts";
import { buttonForm } from "../../ui/forms/button-form.ts";
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

/** Requests that a person must look at, the longest waiting first. */
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

/** Both buttons ask for confirmation. */
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
