import type { QueueState } from "../../../kernel/platform/jobs/jobs.ts";
import type { OpenDifferences, Reconciliation } from "../../../orders/payments/payments.ts";
import type { SupplyState } from "../../../signing/notaries/notaries.ts";
import type { Finding } from "../../../upkeep/doctor/doctor.ts";
import { card, emptyState, facts, pageHead, statusBadge, type Tone } from "../../ui/components.ts";
import { shortTime } from "../../ui/format.ts";
import { buttonForm } from "../../ui/forms/button-form.ts";
import { records } from "../../ui/records.ts";
import { type Html, html } from "../../ui/render.ts";
import { notaryWarning } from "../frame/notary-warning.ts";
import { type ProviderHealth, providerTable } from "./providers.ts";

export type HealthView = {
  notaries: SupplyState;
  /** For each dependency of the service, by its name in `/readyz`: "ok" or "failed". */
  checks: Readonly<Record<string, string>>;
  queues: readonly QueueState[];
  /**
   * The providers with a configured account, and the providers without an account that still have unfinished earlier
   * work.
   */
  providers: readonly ProviderHealth[];
  mayRetry: boolean;
  /** Null without a payment processor. */
  money: Money | null;
};

/**
 * `last`: the latest completed comparison of our books with the processor's; undefined when there is none.
 * `differences`: the tasks about differences that are open now.
 */
export type Money = { last: Reconciliation | undefined; differences: OpenDifferences };

/** The words for the names of checks that `/readyz` shows to programs. */
const partNames: Readonly<Record<string, string>> = {
  database: "Database",
  blobs: "Store of documents",
  "seal key": "Key of the seal",
  "signer authority": "Authority of signers",
  log: "Transparency log",
  notifications: "Notifications from the database",
};

/** The page with the service's dependencies, providers, open work and books. */
export const healthBody = ({
  notaries,
  checks,
  queues,
  providers,
  mayRetry,
  money,
}: HealthView): Html => html`${pageHead("Health", "", html`<a href="/operator/health/checks">Check everything now</a>`)}
${notaryWarning(notaries)}
<div class="panels">
${card(
  "dependencies",
  "What the service depends on",
  records(
    "What the service depends on",
    [{ label: "Part" }, { label: "Answer" }],
    Object.entries(checks).map(([name, answer]) => [
      partNames[name] ?? name,
      answer === "ok" ? statusBadge("done", "Works") : statusBadge("attention", "Failed"),
    ]),
  ),
)}
${providers.length > 0 && card("providers", "Providers", providerTable(providers))}
${money && card("money", "Our books and the payment processor’s", moneyPart(money))}
${card("queues", "Work in the background", queues.length === 0 ? emptyState("Nothing waits", "Mails, refunds and other work that leaves the service is listed here while it waits.") : queueTable(queues, mayRetry))}
</div>`;

const moneyPart = ({ last, differences }: Money): Html =>
  last
    ? html`${facts([
        ["Last compared", shortTime(last.endedAt)],
        ["From", shortTime(last.startsAt)],
        ["To", shortTime(last.endsAt)],
        ["Movements of ours", last.compared.toLocaleString("en-US")],
        ["Differences then", last.differences.toLocaleString("en-US")],
      ])}${
        differences.count === 0
          ? html`<p>${statusBadge("done", "No task about a difference is open")}</p>`
          : html`<p>${statusBadge("attention", `${differences.count.toLocaleString("en-US")} open`)} <a href="/operator/tasks/money_difference">Tasks</a></p>
<ul>${differences.reasons.map((each) => html`<li class="breakable">${each}</li>`)}</ul>`
      }`
    : emptyState("Not compared yet", "Once a day, every charge, refund and dispute is compared, to the cent.");

const outcomes: Readonly<Record<Finding["result"], readonly [Tone, string]>> = {
  ok: ["done", "OK"],
  warning: ["attention", "Warning"],
  failed: ["stopped", "Failed"],
};

/** All findings, the worst first. `doctor` prints the same kinds; these may be a minute old. */
export function checksBody(findings: readonly Finding[]): Html {
  const worst = (["failed", "warning", "ok"] as const).flatMap((each) =>
    findings.filter(({ result }) => result === each),
  );
  const count = (each: Finding["result"]) => findings.filter(({ result }) => result === each).length;
  return html`${pageHead("Checks", `${count("failed")} failed, ${count("warning")} with a warning, ${count("ok")} in order.`, html`<a href="/operator/health">Health</a>`)}
${records(
  "Checks",
  [{ label: "Check" }, { label: "Result" }, { label: "Detail" }],
  worst.map(({ name, result, detail, urgent }) => [
    name,
    urgent ? statusBadge("stopped", "Warning") : statusBadge(...outcomes[result]),
    html`<span class="breakable">${detail}</span>`,
  ]),
)}`;
}

const queueTable = (queues: readonly QueueState[], mayRetry: boolean): Html =>
  records(
    "Queues",
    [
      { label: "Queue" },
      { label: "Waiting", number: true },
      { label: "Overdue by", number: true },
      { label: "Failed for good", number: true },
      { label: "Last error" },
    ],
    queues.map(({ queue, waiting, overdueSeconds, failed, lastError }) => [
      queue,
      waiting.toLocaleString("en-US"),
      overdueSeconds === 0 ? "–" : `${overdueSeconds.toLocaleString("en-US")} s`,
      failed === 0 ? "0" : statusBadge("attention", failed.toLocaleString("en-US")),
      html`<span class="breakable">${lastError ?? "–"}</span>${failed > 0 && mayRetry && buttonForm(`/operator/health/queues/${encodeURIComponent(queue)}/retry`, "Try again", { kind: "quiet-button", about: `jobs of ${queue}` })}`,
    ]),
  );
