import type { FastifyRequest } from "fastify";
import type { Assets } from "../../ui/assets/assets.ts";
import { card, codeText, notice, pageHead } from "../../ui/components.ts";
import { time } from "../../ui/format.ts";
import { html } from "../../ui/render.ts";
import { dashboardPage } from "../page-shell.ts";

export type NewKey = {
  now: Date;
  keyId: string;
  key: string;
  title: string;
  /** Until when the key before works, too; null where there was none. */
  previousExpiresAt: Date | null;
};

/** Once, in the answer of what made it: no page leads to it, and no cache keeps it. */
export function keyPage(deps: { assets: Assets }, request: FastifyRequest, made: NewKey): string {
  const { keyId, key, title, now, previousExpiresAt } = made;
  const isOver = previousExpiresAt !== null && previousExpiresAt <= now;
  const before = isOver
    ? "The previous key no longer works."
    : previousExpiresAt && html`The previous key works until ${time(previousExpiresAt)}.`;
  const body = html`${pageHead(previousExpiresAt ? "Your new key" : "Your key was created", title)}
<div class="panels">
${notice("attention", "Copy the key now", "This is the only time it is shown. We cannot show it again.")}
${card("secret", "API key", html`${codeText(key, "API key")}${before && html`<p class="after-notice">${before}</p>`}`)}
<div class="form-actions"><a class="button" href="/dashboard/keys/${keyId}">I saved it. Go to the key</a></div>
</div>`;
  return dashboardPage(deps, request, { title: "API key", section: "keys", body, scripts: ["copy.js"] });
}
