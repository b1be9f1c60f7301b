import { type Members, membersIn, textIn } from "../../kernel/platform/json.ts";

/** The states of a fax, `Fax.status` in Telnyx's OpenAPI. */
const telnyxFaxStatuses = ["queued", "media.processed", "originated", "sending", "delivered", "failed"] as const;
export type TelnyxFaxStatus = (typeof telnyxFaxStatuses)[number];

/** A fax in Telnyx's answers and events. */
export type TelnyxFax = {
  id: string;
  /** The state of the fax; null for a state that this service doesn't recognize. */
  status: TelnyxFaxStatus | null;
  clientState: string | null;
  failureReason: string | null;
  /** The number of pages that the receiving machine got, and the duration of the call. Only events contain them. */
  pages: number | null;
  seconds: number | null;
};

const countOf = (value: unknown): number | null =>
  typeof value === "number" && Number.isInteger(value) && value >= 0 && value < 1_000_000 ? value : null;

export const dataOf = (body: unknown): Members => membersIn(membersIn(body)["data"]);

export const idOf = (data: Members): string | null => textIn(data["id"]);

// Telnyx's answers and events use different names for the same state.
const sameAs: Readonly<Record<string, TelnyxFaxStatus>> = { initiated: "queued", "media.processing": "queued" };

/**
 * Reads a fax from an object of Telnyx.
 * @returns null for an object without an id
 */
export function faxOf(data: Members): TelnyxFax | null {
  const id = textIn(data["fax_id"]) ?? idOf(data);
  if (id === null) return null;
  const status = textIn(data["status"]) ?? "";
  return {
    id,
    status: telnyxFaxStatuses.find((each) => each === status) ?? sameAs[status] ?? null,
    clientState: textIn(data["client_state"]),
    failureReason: textIn(data["failure_reason"]),
    pages: countOf(data["page_count"]),
    seconds: countOf(data["call_duration_secs"]),
  };
}

/** The fax of an event; null for an event about anything else, or about an incoming fax. */
export function faxInEvent(body: unknown): TelnyxFax | null {
  const data = dataOf(body);
  const payload = membersIn(data["payload"]);
  if (!textIn(data["event_type"])?.startsWith("fax.") || payload["direction"] === "inbound") return null;
  return faxOf(payload);
}

/**
 * Reads one page of a list of faxes. An item that can't be parsed becomes null. `pages` is the number of pages that the
 * list has; null if Telnyx doesn't state it.
 * @returns null when the body is not a list
 */
export function faxesOf(body: unknown): { faxes: (TelnyxFax | null)[]; pages: number | null } | null {
  const { data, meta } = membersIn(body);
  if (!Array.isArray(data)) return null;
  return { faxes: data.map((each) => faxOf(membersIn(each))), pages: countOf(membersIn(meta)["total_pages"]) };
}
