import { type deliveryFeed, failureText } from "../../../outgoing/webhooks/webhooks.ts";
import { statusBadge, type Tone } from "../../ui/components.ts";
import { type Html, html } from "../../ui/render.ts";
import { periods } from "./words.ts";

export type Delivery = Awaited<ReturnType<typeof deliveryFeed>>["deliveries"][number];

const tones: Readonly<Record<Delivery["state"], { tone: Tone; label: string }>> = {
  pending: { tone: "waiting", label: "Pending" },
  delivered: { tone: "done", label: "Delivered" },
  failed: { tone: "attention", label: "Failed" },
};

/** The outcome of a delivery, with the reason when it failed. */
export function outcome({ state, reason, lastStatusCode }: Delivery): Html {
  const { tone, label } = tones[state];
  return html`${statusBadge(tone, label)}${reason !== null && html`<span class="reason">${failureText(reason, lastStatusCode)}</span>`}`;
}

/** A topic's name, which may wrap after its periods. */
export const breakable = (topic: string): Html =>
  html`${topic.split(".").map((part, index) => (index === 0 ? part : html`.<wbr>${part}`))}`;

export const stateChoices = Object.entries(tones).map(([value, { label }]) => ({ value, label }));
export const periodChoices = Object.entries(periods).map(([value, { label }]) => ({ value, label }));
