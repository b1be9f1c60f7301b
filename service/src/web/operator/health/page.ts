import type { QueueState } from "../../../platform/jobs/jobs.ts";
import { card, emptyState, pageHead, statusBadge } from "../../ui/components.ts";
import { buttonForm } from "../../ui/forms/button-form.ts";
import { records } from "../../ui/records.ts";
import { type Html, html } from "../../ui/render.ts";

export type HealthView = {
  /** What the service depends on, and how it answered just now. */
  checks: Readonly<Record<string, string>>;
  queues: readonly QueueState[];
  mayRetry: boolean;
};

/** How the service is. */
export const healthBody = ({
  checks,
  queues,
  mayRetry,
}: HealthView): Html => html`${pageHead("Health", html`<code>bin/signsealship doctor</code> checks more, at the command line.`)}
<div class="panels">
${card(
  "dependencies",
  "What the service depends on",
  records(
    "What the service depends on",
    [{ label: "Part" }, { label: "Answer" }],
    Object.entries(checks).map(([name, answer]) => [
      name,
      answer === "ok" ? statusBadge("done", "Works") : statusBadge("attention", answer),
    ]),
  ),
)}
${card("queues", "Work in the background", queues.length === 0 ? emptyState("Nothing waits", "Mails, refunds and other work that leaves the service is listed here while it waits.") : queueTable(queues, mayRetry))}
</div>`;

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
