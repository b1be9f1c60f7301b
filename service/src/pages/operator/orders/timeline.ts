import { isTaskKind, taskWords } from "../../../kernel/tasks/tasks.ts";
import { statusLabel } from "../../../orders/order/order.ts";
import { type ActOnRecord, isProviderName, providerNames } from "../../../providers/providers.ts";
import type { OrderRecord } from "../../../upkeep/console/console.ts";
import { timeline } from "../../ui/components.ts";
import { type Html, html } from "../../ui/render.ts";

type Line = OrderRecord["history"]["history"][number];

type TimelineOf = Pick<OrderRecord, "history" | "acts" | "names" | "order">;

const maxShown = 200;

/** The activity of the order, newest first, with its actors, including requests to providers. */
export function timelinePart({ history, acts, names, order }: TimelineOf): Html {
  const lines = [...history.history, ...acts.flatMap(linesOfAct)].sort(
    (a, b) => Date.parse(a.occurredAt) - Date.parse(b.occurredAt),
  );
  const latest = lines.slice(-maxShown).reverse();
  const left = lines.length - latest.length;
  const earlier =
    left > 0 && html`<p class="quiet">${left} earlier lines are in the order’s record: <code>order show</code>.</p>`;
  const requests =
    acts.length > 0 && html`<p><a href="/operator/acts/${order.code}">What providers were asked to do</a></p>`;
  return html`${timeline(latest.map((line) => ({ at: new Date(line.occurredAt), text: textOf(line, names) })))}${earlier}${requests}`;
}

/** When a request to a provider was made, and its outcome. */
function linesOfAct({ act, provider, attempt, state, intendedAt, endedAt, endedBy, why }: ActOnRecord): Line[] {
  const line = (at: Date, action: string, actor: string, detail: object): Line => ({
    occurredAt: at.toISOString(),
    action,
    actor,
    fromStatus: null,
    toStatus: null,
    detail,
  });
  const wanted = line(intendedAt, `${act} wanted`, `provider:${provider}`, { attempt });
  if (endedAt === null) return [wanted];
  return [wanted, line(endedAt, `${act} ${state}`, endedBy ?? "system", { attempt, ...(why !== null && { why }) })];
}

/** Words for actions. For an action without words, its name is split into words. */
const actionWords: Readonly<Record<string, string>> = {
  "order.created": "Order placed",
  "order.transition": "Moved",
  "order.noted": "Note added",
  "order.firm_noted": "Noted by the firm for itself",
  "order.documents_asked_for": "Documents mailed again, as somebody with the order’s link asked",
  "order.mail_sent_again": "Mail sent again by the firm",
  "task.claimed": "Task claimed",
  "task.released": "Task given back",
  "task.asked_again": "Task due again: its answer was not known yet",
  "task.done": "Task done",
  "document.read": "Document read",
  "document.added": "Document added",
  "document.altered": "A stored document turned out to be altered",
  "documents.deleted": "Documents deleted",
  "signing_link.issued": "Signing link made",
  "signer.copy_link_issued": "Link to the copies made",
  "signer.copy_link_ended": "Link to the copies ended",
  "signer.reminded": "Signer reminded",
  "signer.replaced": "Signer replaced",
  "signer.unlocked": "Signer unlocked",
  "refund.requested": "Refund asked for",
  "payment.unapplied": "Payment fits no order",
  "payment.resolved": "Payment resolved",
  "label.ordered": "Label ordered",
  "label.bought": "Label bought",
  "label.refund": "Refund of a label",
  "fax.ahead": "Fax, ahead of its turn",
  "letter.accepted": "Letter accepted",
  "notary.appointment": "Notary’s appointment mailed",
  "notary.now_asked": "Asked for a notary now",
  "notary.now_taken": "A notary took the request",
  "notary.now_put_back": "The notary did not come; back in the queue",
  "notary.now_expired": "No notary was free in time",
  "notary.now_left": "Left the queue for a notary",
  "notary_journal.entry": "Entry in the notary’s journal",
};

const actorWords: Readonly<Record<string, string>> = {
  processor: "Payment processor",
  system: "The service",
  sandbox: "Sandbox",
  operator: "Command line",
  "operator:cli": "Command line",
};

const kindsOfActors: Readonly<Record<string, string>> = {
  key: "An API key of the firm",
  member: "A member of the firm",
  operator: "A former operator",
  client: "The client",
  notary: "A notary",
};

function nameOf(actor: string, names: ReadonlyMap<string, string>): string {
  const [kind = "", rest = ""] = actor.split(":");
  const signer = kind === "signer" ? (/^\d+$/.test(rest) ? `Signer ${rest}` : "A signer") : undefined;
  return names.get(actor) ?? actorWords[actor] ?? providerOf(actor) ?? kindsOfActors[kind] ?? signer ?? "The service";
}

function providerOf(actor: string): string | undefined {
  const name = actor.replace(/^provider:/, "");
  return isProviderName(name) ? providerNames[name] : undefined;
}

function textOf({ action, actor, fromStatus, toStatus, detail }: Line, names: ReadonlyMap<string, string>): Html {
  const moved =
    toStatus !== null && html`: ${fromStatus !== null && html`${statusLabel(fromStatus)} to `}${statusLabel(toStatus)}`;
  const facts = Object.entries((detail ?? {}) as Record<string, unknown>).flatMap(([name, value]) => {
    const text = valueText(name, value);
    return text === null ? [] : [`${inWords(name)}: ${text}`];
  });
  return html`<strong>${actionWords[action] ?? inWords(action)}</strong>${moved}<br><span class="quiet breakable">${nameOf(actor, names)}${facts.length > 0 && html`; ${facts.join("; ")}`}</span>`;
}

/** Writes the name of an action as words: `room.order_attached` becomes “Room order attached”. */
function inWords(name: string): string {
  const words = name
    .replace(/([a-z])([A-Z])/g, "$1 $2")
    .replaceAll(/[._]/g, " ")
    .toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

// Ids and hashes are useless on this page; the command `order show` prints them.
const isForMachines = (text: string): boolean => /[0-9a-f]{8}-[0-9a-f]{4}-|[0-9a-f]{32}/i.test(text);

function valueText(name: string, value: unknown): string | null {
  if (value === null || (typeof value === "number" && (name === "task" || name === "correction"))) return null;
  const text = typeof value === "string" ? value : JSON.stringify(value);
  if (name === "kind" && isTaskKind(text)) return taskWords[text];
  if (name === "document") return text.replace(/-[0-9a-f]{64}$/, "").replaceAll("_", " ");
  if (isForMachines(text)) return null;
  return /^[a-z]+(_[a-z]+)+$/.test(text) ? text.replaceAll("_", " ") : text;
}
