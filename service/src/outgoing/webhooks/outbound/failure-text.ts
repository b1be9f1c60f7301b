import type { FailureReason } from "./post.ts";

const texts: Readonly<Record<Exclude<FailureReason, "http_status" | "redirect">, string>> = {
  timeout: "No answer in 10 seconds",
  dns_failed: "The host name was not found",
  address_refused: "The address is private; we do not deliver there",
  connect_failed: "The host refused the connection",
  tls_failed: "TLS certificate not trusted, or no TLS",
  connection_lost: "The connection broke",
  bad_response: "The answer was not valid HTTP",
  webhook_deleted: "The webhook had been deleted",
  subject_missing: "The record it was about no longer exists",
  webhook_altered: "The webhook’s record was altered outside the service: delete it and create it again",
  event_altered: "The event was not written by the service, or was altered",
  host_limit: "Too many deliveries to this host in a minute",
};

/** The words for the reason of a failure. An unknown reason is returned unchanged. */
export function failureText(reason: string, statusCode: number | null): string {
  if (reason === "http_status") return `Answered ${statusCode}`;
  if (reason === "redirect") return `Answered ${statusCode}, a redirect, which we do not follow`;
  return Object.hasOwn(texts, reason) ? texts[reason as keyof typeof texts] : reason;
}

const unsent: ReadonlySet<string> = new Set<FailureReason>([
  "webhook_deleted",
  "subject_missing",
  "webhook_altered",
  "event_altered",
  "host_limit",
]);

/**
 * True if the service itself refused to send a delivery with this failure reason. Such a failure is not the endpoint's
 * fault, so it is not counted as one of the webhook's failures.
 */
export const isUnsent = (reason: string): boolean => unsent.has(reason);
