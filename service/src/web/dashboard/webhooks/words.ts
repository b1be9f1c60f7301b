import type { FailureReason, Topic } from "../../../webhooks/webhooks.ts";

/** When each topic fires. */
export const topicWords: Readonly<Record<Topic, string>> = {
  "passport.sealed": "A single document was sealed.",
  "room.order_attached": "An order was attached to one of your rooms.",
  "room.passport_sealed": "A version of a room’s passport was sealed.",
  "order.created": "An order was placed.",
  "payment.cleared": "An order was paid.",
  "signature.completed": "Everyone has signed.",
  "shipment.delivered": "A shipment was delivered.",
};

const reasonWords: Readonly<Record<FailureReason, string>> = {
  http_status: "The response was not a success",
  redirect: "The response was a redirect, which we do not follow",
  timeout: "No response within 10 seconds",
  dns_failed: "The host name was not found",
  address_refused: "The address is private; we do not deliver there",
  connect_failed: "The host refused the connection",
  tls_failed: "The host’s certificate was not accepted",
  connection_lost: "The connection broke",
  bad_response: "The response was not valid HTTP",
  webhook_deleted: "The webhook had been deleted",
  subject_missing: "The record it was about no longer exists",
  host_limit: "Too many deliveries to this host in a minute",
};

/** Why a delivery failed, in words; a reason that this page does not know, as it is. */
export const reasonText = (reason: string): string =>
  Object.hasOwn(reasonWords, reason) ? reasonWords[reason as FailureReason] : reason;
