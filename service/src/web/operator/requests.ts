import type { ListedRequest, pendingRequests } from "../../access-requests/access-requests.ts";
import { emptyState, facts, notice } from "../ui/components.ts";
import { time } from "../ui/format.ts";
import { buttonForm } from "../ui/forms/button-form.ts";
import { type Html, html } from "../ui/render.ts";

const reasonWords: Readonly<Record<ListedRequest["reasons"][number], string>> = {
  free_mail: "a free mailbox",
  disposable_mail: "a disposable mailbox",
  listed_mail: "a domain on the list of free and disposable mailboxes",
  odd_domain: "a mail domain that cannot be one",
  no_use_case: "no use case",
  short: "a use case of few words",
  unreadable: "words that are none",
  keywords: "a heap of keywords",
  fillers: "hardly a word that says anything",
  repetition: "the same words again and again",
  links: "links",
  off_topic: "nothing about what we do",
  unwelcome: "words that are not welcome",
  bot_score: "a low bot score",
};

/** Requests that a person must look at, the longest waiting first. */
export function requestsPart({ waiting, total }: Awaited<ReturnType<typeof pendingRequests>>, after: string): Html {
  if (total === 0) return emptyState("Nobody waits", "Requests that screening leaves to a person appear here.");
  const rest = total - waiting.length;
  return html`<ul class="requests">${waiting.map((request) => requestItem(request, after))}</ul>
${rest > 0 && html`<p class="quiet">${rest.toLocaleString("en-US")} more wait; they move up as these are decided.</p>`}`;
}

function requestItem(request: ListedRequest, after: string): Html {
  const { firmName, contactName, workEmail, role, expectedVolume, useCase, reasons, createdAt } = request;
  return html`<li><h3>${firmName}</h3>
${facts([
  ["Contact", role ? `${contactName}, ${role}` : contactName],
  ["Email", workEmail],
  ["Expected volume", expectedVolume],
  ["Asked", time(createdAt)],
  ["Why it waits", reasons.map((reason) => reasonWords[reason] ?? reason).join(", ")],
  ["Use case", useCase && html`<span class="as-typed">${useCase}</span>`],
])}
${decisionOn(request, after)}</li>`;
}

/** Both ask first. */
function decisionOn({ requestId, firmName, workEmail, addressHasKey }: ListedRequest, after: string): Html {
  const path = `/operator/requests/${requestId}`;
  const fields = after === "" ? {} : { after };
  const about = `for ${firmName}`;
  const ask = (label: string, text: Html | string, button: Html) =>
    html`<details class="ask"><summary>${label}<span class="visually-hidden"> the request of ${firmName}</span></summary><p>${text}</p>${button}</details>`;
  const approve = addressHasKey
    ? notice("attention", "This address has a key already", "If the firm needs another, issue it at the command line.")
    : ask(
        "Approve",
        html`The firm becomes a trial partner, and its test key is mailed to <span class="breakable">${workEmail}</span> once.`,
        buttonForm(`${path}/approve`, "Approve and mail the key", { fields, about }),
      );
  const decline = ask(
    "Decline",
    "The request is closed for good. Nobody is told.",
    buttonForm(`${path}/decline`, "Decline the request", { fields, kind: "danger-button", about }),
  );
  return html`<div class="asks">${approve}${decline}</div>`;
}
