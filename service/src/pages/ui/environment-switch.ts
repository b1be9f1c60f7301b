import type { Environment } from "../../kernel/identity/identity.ts";
import { type Html, html } from "./render.ts";

export type EnvironmentSwitch = {
  environment: Environment;
  /** True if the person may choose the live environment. Default true. */
  hasLive?: boolean;
  /** The URL to which the form is sent. */
  action: string;
  /** The URL of the page that contains the form. */
  url: string;
  note: string;
};

/** The two environments (live and test) as buttons; the current one is pressed. */
export function environmentSwitch({ environment, hasLive = true, action, url, note }: EnvironmentSwitch): Html {
  const choice = (value: Environment, label: string) =>
    html`<button type="submit" name="environment" value="${value}" aria-pressed="${String(value === environment)}"${value === "live" && !hasLive && html` disabled`}>${label}</button>`;
  return html`<form class="environment ${environment}" method="post" action="${action}" aria-label="Environment">
<input type="hidden" name="return_to" value="${url}">
${choice("test", "Test")}${choice("live", "Live")}
<p class="environment-note visually-hidden-on-phone">${note}</p>
</form>`;
}
