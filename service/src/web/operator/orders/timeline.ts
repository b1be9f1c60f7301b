import type { OrderRecord } from "../../../console/console.ts";
import { timeline } from "../../ui/components.ts";
import { type Html, html } from "../../ui/render.ts";

type Line = OrderRecord["history"]["history"][number];

const shownMost = 200;

/** What happened to the order, the latest first, with who did it. */
export function timelinePart(lines: readonly Line[], names: ReadonlyMap<string, string>): Html {
  const latest = lines.slice(-shownMost).reverse();
  const left = lines.length - latest.length;
  return html`${timeline(latest.map((line) => ({ at: new Date(line.occurredAt), text: textOf(line, names) })))}${left > 0 && html`<p class="quiet">${left} earlier lines are in the order’s record: <code>order show</code>.</p>`}`;
}

function textOf({ action, actor, fromStatus, toStatus, detail }: Line, names: ReadonlyMap<string, string>): Html {
  const moved = toStatus !== null && html`: ${fromStatus !== null && html`${fromStatus} to `}${toStatus}`;
  const said = Object.entries((detail ?? {}) as Record<string, unknown>).map(
    ([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
  return html`<strong>${action}</strong>${moved}<br><span class="quiet breakable">${names.get(actor) ?? actor}${said.length > 0 && html`; ${said.join("; ")}`}</span>`;
}
