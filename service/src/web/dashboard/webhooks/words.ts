import type { FailureReason, Topic } from "../../../webhooks/webhooks.ts";

/** When each topic fires. */
export const topicWords: Readonly<Record<Topic, string>> = {
  "passport.sealed": "A single document was sealed.",
  "room.order_attached": "An order was attached to one of your rooms.",
  "room.passport_sealed": "A version of a room’s passport was sealed.",
  "order.created": "An order was placed.",
  "payment.cleared": "An order was paid.",
  "signature.completed": "Everybody has signed.",
  "shipment.delivered": "A shipment has arrived.",
};

const reasonWords: Readonly<Record<FailureReason, string>> = {
  http_status: "The answer was no success",
  redirect: "The answer was a redirect; none is followed",
  timeout: "No answer in 10 seconds",
  dns_failed: "The host’s name was not found",
  address_refused: "The address is private; deliveries don’t go there",
  connect_failed: "The host took no connection",
  tls_failed: "The host’s certificate was not accepted",
  connection_lost: "The connection broke",
  bad_response: "The answer was no proper HTTP",
  webhook_deleted: "The webhook was deleted before",
  subject_missing: "What it was about is gone",
};

/** Why a delivery failed, in words; a reason that this page does not know, as it is. */
export const reasonText = (reason: string): string =>
  Object.hasOwn(reasonWords, reason) ? reasonWords[reason as FailureReason] : reason;
