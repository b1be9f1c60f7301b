/** Tells an operator, on pages about one environment (live or test), how many tasks are open in the other one. */
import type { Operator } from "../../../firms/operators/operators.ts";
import type { Environment } from "../../../kernel/identity/identity.ts";
import type { QueueCount } from "../../../upkeep/console/console.ts";
import { type Html, html } from "../../ui/render.ts";

export const otherEnvironment = (environment: Environment): Environment => (environment === "live" ? "test" : "live");

/** The number of open tasks. */
export const openIn = (counts: readonly QueueCount[]): number => counts.reduce((sum, { open }) => sum + open, 0);

/** A sentence with the number of open tasks in the other environment; empty for none. */
export function waitsElsewhere({ environment }: Pick<Operator, "environment">, open: number): Html {
  const name = environment === "live" ? "Test" : "Live";
  return html`${open > 0 && html`<p class="quiet-text">${open === 1 ? "1 more waits" : `${open.toLocaleString("en-US")} more wait`} in ${name.toLowerCase()}: press “${name}” above the menu.</p>`}`;
}
