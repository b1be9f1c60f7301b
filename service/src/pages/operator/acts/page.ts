import { type ActOnRecord, actWordsOf, isStranded, providerNames } from "../../../providers/providers.ts";
import { card, emptyState, facts, pageHead, statusBadge } from "../../ui/components.ts";
import { shortCode, time } from "../../ui/format.ts";
import { buttonForm } from "../../ui/forms/button-form.ts";
import { errorSummary, field } from "../../ui/forms/fields.ts";
import { type Html, html } from "../../ui/render.ts";

export type ActsView = {
  code: string;
  status: string;
  acts: readonly ActOnRecord[];
  /** True if the operator may record the outcome of a request to a provider. */
  mayResolve: boolean;
  now: Date;
  error?: string | undefined;
};

/**
 * Shows the requests to providers for an order. If the outcome of a request is unknown, an operator looks it up at the
 * provider, and records the answer here.
 */
export function actsBody({ code, status, acts, mayResolve, now, error }: ActsView): Html {
  const lead =
    "These are the service’s requests to carriers, the mail house and the fax service. If the outcome of a request is unknown, look it up in the account at the provider, and record it here. Until then, the service does not send the request again.";
  return html`${pageHead(`Providers, order ${shortCode(code)}`, lead)}
${errorSummary(error)}
<div class="panels">
${acts.length === 0 ? emptyState("Nothing was asked for", "What a provider does for this order appears here.") : acts.map((act) => actCard(act, { code, status, mayResolve, now }))}
</div>`;
}

const badges: Readonly<Record<ActOnRecord["state"], Html>> = {
  intended: statusBadge("waiting", "Waits"),
  begun: statusBadge("waiting", "Under way"),
  unknown: statusBadge("attention", "Nobody knows"),
  done: statusBadge("done", "Done"),
  failed: statusBadge("attention", "Failed"),
  withdrawn: statusBadge("stopped", "Withdrawn"),
};

type About = Pick<ActsView, "code" | "status" | "mayResolve" | "now">;

function actCard(act: ActOnRecord, { code, status, mayResolve, now }: About): Html {
  const { id, provider, attempt, state, tries, intendedAt, begunAt, endedAt, endedBy, why } = act;
  const about = facts([
    ["State", badges[state]],
    ["Order", html`${shortCode(code)}, now in ${status}`],
    ["Reference", html`<code class="breakable">${act.act}</code>, attempt ${attempt}`],
    ["Wanted", time(intendedAt)],
    ["Begun", begunAt && html`${time(begunAt)}${tries > 1 && html`, ${tries} times`}`],
    ["Ended", endedAt && html`${time(endedAt)} by ${endedBy}`],
    ["Why", why && html`<span class="breakable">${why}</span>`],
  ]);
  const form = mayResolve && (state === "unknown" || isStranded(act, now)) && resolveForms(code, id);
  return card(`act-${id}`, `${providerNames[provider]}: ${actWordsOf(act.act)}`, html`${about}${form}`);
}

function resolveForms(code: string, id: number): Html {
  const path = `/operator/acts/${code}/${id}`;
  const form = `act-${id}`;
  return html`<h3>It was done</h3>
<form class="form" method="post" action="${path}/done">
${field({ form, name: "id", label: "Its id at the provider", required: true, maxLength: 200 })}
${field({ form, name: "tracking", label: "Tracking number", maxLength: 200, hint: "Where the provider gave one." })}
<div class="form-actions"><button type="submit">It was done</button></div>
</form>
<h3>It was not done</h3>
<p class="quiet">The service then opens a task, so that people do the work.</p>
${buttonForm(`${path}/not-done`, "It was not done", { kind: "quiet-button", about: `act ${id}` })}`;
}
