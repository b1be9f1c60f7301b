import type { KeyMetadata } from "../../../firms/partners/partners.ts";
import { mayUseLive, type Principal, scopes } from "../../../kernel/identity/identity.ts";
import { invalid } from "../../../kernel/platform/errors.ts";
import { card, emptyState, pageHead } from "../../ui/components.ts";
import { shortTime } from "../../ui/format.ts";
import { checkbox, errorSummary, field, select } from "../../ui/forms/fields.ts";
import type { FormValues } from "../../ui/forms/form-body.ts";
import { records } from "../../ui/records.ts";
import { type Html, html } from "../../ui/render.ts";
import { type FormSubmission, submissionFields } from "../submit-once.ts";
import { isEnded, keyState, keyText, keyTitle, scopeList, scopeWords } from "./words.ts";

export type KeysView = FormSubmission & {
  principal: Principal;
  keys: readonly KeyMetadata[];
  now: Date;
  error?: string;
  /** The values of the rejected form. */
  typed?: FormValues;
};

const path = "/dashboard/keys";

/** The firm's keys and, for owners, a form that creates one. */
export function keysBody(view: KeysView): Html {
  const { principal, keys, now } = view;
  const isOwner = principal.member?.role === "owner";
  const active = keys.filter((key) => !isEnded(key, now));
  const ended = keys.filter((key) => isEnded(key, now)).toReversed();
  const lead =
    "Your systems use a key to call the API. Give each system a key of its own, so you can replace one without the others.";
  return html`${pageHead("API keys", lead)}
<div class="panels">
${card("keys", "Active keys", active.length === 0 ? emptyState("No keys", isOwner ? "Create one below." : "An owner of the firm creates them.") : keyTable("Active keys", active, view))}
${isOwner ? card("new-key", "Create a key", newKey(view)) : card("new-key", "More keys", html`<p>Only owners of the firm create, rotate and revoke keys, and see what a key may do.</p>`)}
${ended.length > 0 && isOwner && card("ended", "Keys that no longer work", keyTable("Keys that no longer work", ended, view))}
</div>`;
}

/** A table of keys. Members who are not owners see only the name and the last characters of each key. */
function keyTable(caption: string, keys: readonly KeyMetadata[], { principal, now }: KeysView): Html {
  if (principal.member?.role !== "owner")
    return records(
      caption,
      [{ label: "Name" }, { label: "Key" }],
      keys.map((key) => [keyTitle(key), keyText(key)]),
    );
  return records(
    caption,
    [{ label: "Name" }, { label: "Key" }, { label: "May do" }, { label: "Last used", utc: true }, { label: "State" }],
    keys.map((key) => [
      html`<a href="${path}/${key.keyId}">${keyTitle(key)}</a>`,
      keyText(key),
      scopeList(key),
      key.lastUsedAt ? shortTime(key.lastUsedAt) : "Never",
      keyState(key, now),
    ]),
  );
}

const boxName = (scope: string): string => `scope-${scope}`;

const tickedScopes = (form: FormValues): string[] => scopes.filter((scope) => form[boxName(scope)] === "on");

/**
 * The scopes that a form requests; null for a key without restrictions.
 * @throws ServiceError for a form that ticks scopes and also requests a key without restrictions
 */
export function chosenScopes(form: FormValues): string[] | null {
  const ticked = tickedScopes(form);
  if (form["access"] !== "full") return ticked;
  if (ticked.length > 0) throw invalid("Untick the boxes, or choose that the key may do only what is ticked.");
  return null;
}

const ends = [
  { value: "never", label: "Never" },
  { value: "30", label: "In 30 days" },
  { value: "90", label: "In 90 days" },
  { value: "180", label: "In 180 days" },
  { value: "365", label: "In a year" },
];

function newKey(view: KeysView): Html {
  const { principal, error, typed = {}, environment } = view;
  const environments = [
    { value: "test", label: "Test" },
    ...(mayUseLive(principal) ? [{ value: "live", label: "Live" }] : []),
  ];
  const noLive = principal.liveEnabled
    ? "Live keys are for owners with live access."
    : "Live keys can be created once the operator of this service has turned on live for your firm.";
  return html`${errorSummary(error)}
<form class="form" method="post" action="${path}">
${submissionFields(view)}
${field({ name: "name", label: "Name", value: typed["name"] ?? "", required: true, maxLength: 100, autocomplete: "off", hint: "Which system uses it, for example “Intake”." })}
${select({ name: "keyEnvironment", label: "Environment", value: typed["keyEnvironment"] ?? environment, options: environments, required: true, hint: environments.length > 1 ? undefined : noLive })}
${select({ name: "expires", label: "Expires", value: typed["expires"] ?? "never", options: ends, required: true })}
${select({ name: "access", label: "What it may do", value: tickedScopes(typed).length > 0 ? "restricted" : (typed["access"] ?? "full"), options: accesses, required: true })}
<fieldset class="topic-choice if-restricted"><legend>If it is restricted</legend>
${scopes.map((scope) => checkbox({ name: boxName(scope), label: scope, hint: scopeWords[scope], checked: typed[boxName(scope)] === "on" }))}
</fieldset>
<div class="form-actions"><button type="submit">Create key</button></div>
</form>`;
}

const accesses = [
  { value: "full", label: "Everything" },
  { value: "restricted", label: "Only what is ticked below" },
];
