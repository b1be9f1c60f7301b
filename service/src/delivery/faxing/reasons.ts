/** Telnyx's failure reasons (its OpenAPI document, `Fax.failure_reason`) in plain words. */
const words: Readonly<Record<string, string>> = {
  user_busy: "the line was busy",
  receiver_no_answer: "nobody answered",
  receiver_no_response: "the number did not respond",
  receiver_recovery_on_timer_expire: "the number did not respond in time",
  receiver_call_dropped: "the receiving machine hung up",
  sender_call_dropped: "the call broke off",
  carrier_lost: "the line broke off",
  fax_signaling_error: "the two machines did not understand each other",
  fax_initial_communication_timeout: "no fax machine answered on the line",
  receiver_communication_error: "the receiving machine lost the connection",
  sender_communication_error: "the connection was lost",
  invalid_ecm_response_from_receiver: "the receiving machine's error correction failed",
  service_unavailable: "the network was unavailable",
  user_channel_limit_exceeded: "too many faxes were sent at once",
  outbound_profile_channel_limit_exceeded: "too many faxes were sent at once",
  connection_channel_limit_exceeded: "too many faxes were sent at once",
  sender_canceled: "it was canceled",
  receiver_decline: "the receiver declined the call",
  receiver_invalid_number_format: "the number is not valid",
  receiver_incompatible_destination: "there is no fax machine at the number",
  receiver_unallocated_number: "the number is not in use",
  destination_unreachable: "the number cannot be reached",
  destination_not_in_service_plan: "the account may not call this number",
  destination_invalid: "the number is not valid",
  destination_not_in_countries_whitelist: "the account may not call this country",
  account_disabled: "the account at Telnyx is disabled",
  no_outbound_profile: "the account at Telnyx may not send faxes",
  outbound_profile_daily_spend_limit_exceeded: "the account's spending limit of the day is reached",
  unverified_origination_number: "the sending number is not verified",
  unverified_destination_not_allowed: "the account may call verified numbers only",
  file_format_invalid: "the file could not be read",
  file_download_failed: "the file could not be read",
  file_size_limit_exceeded: "the file is larger than a fax may be",
  page_count_limit_exceeded: "the document has more pages than a fax may have",
  media_processing_exception: "the file could not be turned into a fax",
};

const passing: ReadonlySet<string> = new Set([
  "user_busy",
  "receiver_no_answer",
  "receiver_no_response",
  "receiver_recovery_on_timer_expire",
  "receiver_call_dropped",
  "sender_call_dropped",
  "carrier_lost",
  "fax_signaling_error",
  "fax_initial_communication_timeout",
  "receiver_communication_error",
  "sender_communication_error",
  "invalid_ecm_response_from_receiver",
  "service_unavailable",
  "user_channel_limit_exceeded",
  "outbound_profile_channel_limit_exceeded",
  "connection_channel_limit_exceeded",
]);

/** True if a retry may succeed. An unknown reason is treated as permanent. */
export const isPassing = (reason: string | null): boolean => reason !== null && passing.has(reason);

/** The reason in plain words. A reason that is not in the table is returned as Telnyx's own code. */
export const reasonWords = (reason: string | null): string =>
  reason === null ? "Telnyx gave no reason" : Object.hasOwn(words, reason) ? (words[reason] ?? reason) : reason;
