import { dayMs, hourMs } from "../../../kernel/platform/clock.ts";
import type { Topic } from "../../../outgoing/webhooks/webhooks.ts";

/** The meaning of each topic's event. */
export const topicWords: Readonly<Record<Topic, string>> = {
  "passport.sealed": "A single document was sealed.",
  "room.order_attached": "An order was attached to one of your rooms.",
  "room.passport_sealed": "A version of a room’s closing certificate was sealed.",
  "order.created": "An order was placed.",
  "payment.cleared": "An order was paid.",
  "signature.completed": "The signed document is sealed.",
  "shipment.delivered": "A shipment was recorded as delivered.",
  "signature.requested": "A signer was given a link to sign by.",
  "signature.viewed": "A signer opened the document for the first time.",
  "signature.signed": "A signer signed; others may still have to.",
  "signature.declined": "A signer declined to sign, or asked to sign on paper.",
  "recording.started": "The recording of a session with a notary started.",
  "recording.completed": "The recording ended, and its manifest is made.",
  "recording.interrupted": "Somebody’s line was lost, or the recording process stopped.",
  "recording.deleted": "The recording was deleted when its time was over.",
};

/** The periods that a list of deliveries can cover. */
export const periods = {
  hour: { label: "The last hour", ms: hourMs },
  day: { label: "The last 24 hours", ms: dayMs },
  week: { label: "The last 7 days", ms: 7 * dayMs },
  month: { label: "The last 30 days", ms: 30 * dayMs },
} as const;

export type Period = keyof typeof periods;

export const isPeriod = (text: string): text is Period => Object.hasOwn(periods, text);

/** The note next to every list of deliveries. */
export const sentOnce =
  "Each event is sent once: a delivery that fails is not retried by itself. Replay it, or read what you missed from GET /api/partner/events.";
