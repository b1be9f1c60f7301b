import { randomUUID } from "node:crypto";

export type Params = Record<string, unknown>;
export type Media = { type: string; bytes: Buffer; sha256: string };
export type Reply = { status: number; body: unknown };
type Asked = { method: string; path: string; query: URLSearchParams; params: Params; media: Media | null };

export type TelnyxFax = {
  id: string;
  record_type: "fax";
  connection_id: string;
  direction: "outbound";
  from: string;
  to: string;
  client_state: string | null;
  status: "queued" | "media.processed" | "originated" | "sending" | "delivered" | "failed";
  failure_reason: string | null;
  quality: string;
  media_url: string | null;
  created_at: string;
  updated_at: string;
};

export type TelnyxMessage = { id: string; from: string; to: string; text: string };

/** Telnyx's answer to an impossible request. */
export const refusal = (status: number, code: string, title: string, detail: string): Reply => ({
  status,
  body: {
    errors: [{ code, title, detail, meta: { url: `https://developers.telnyx.com/docs/overview/errors/${code}` } }],
  },
});

const isNumber = (value: unknown): value is string => typeof value === "string" && /^\+[1-9]\d{6,14}$/.test(value);
const isBase64 = (text: string): boolean => Buffer.from(text, "base64").toString("base64") === text;

/** The stored objects of a Telnyx account, and its answers to requests. */
export function createTelnyxObjects() {
  const faxes: TelnyxFax[] = [];
  const messages: TelnyxMessage[] = [];
  const contents = new Map<string, Media>();

  function answer(asked: Asked): Reply {
    const { method, path } = asked;
    if (path === "/v2/faxes") return method === "POST" ? createFax(asked) : listFaxes(asked.query);
    if (path === "/v2/messages" && method === "POST") return createMessage(asked.params);
    if (path === "/v2/balance")
      return { status: 200, body: { data: { record_type: "balance", balance: "25.00", currency: "USD" } } };
    const [, id, action] = /^\/v2\/faxes\/([^/]+)(?:\/actions\/(\w+))?$/.exec(path) ?? [];
    const fax = faxes.find((each) => each.id === id);
    if (!fax) return refusal(404, "10005", "Resource not found", "The requested resource or URL could not be found.");
    return action === "cancel" ? cancel(fax) : { status: 200, body: { data: fax } };
  }

  function createFax({ params, media }: Asked): Reply {
    const { connection_id, from, to, client_state = null, media_url = null, quality = "high" } = params;
    if (typeof connection_id !== "string" || connection_id === "")
      return refusal(422, "10004", "Missing required parameter", "The 'connection_id' parameter is required.");
    if (!isNumber(from)) return refusal(422, "10016", "Phone number must be in +E.164 format", "The 'from' parameter.");
    if (!isNumber(to)) return refusal(422, "10016", "Phone number must be in +E.164 format", "The 'to' parameter.");
    if ((media === null) === (media_url === null))
      return refusal(422, "10015", "Invalid parameters", "Give one of media_url, media_name and contents.");
    if (client_state !== null && !(typeof client_state === "string" && isBase64(client_state)))
      return refusal(422, "10015", "Invalid parameters", "client_state must be base64.");
    const at = new Date().toISOString();
    const fax: TelnyxFax = {
      id: randomUUID(),
      record_type: "fax",
      connection_id,
      direction: "outbound",
      from,
      to,
      client_state,
      status: "queued",
      failure_reason: null,
      quality: String(quality),
      media_url: media_url === null ? null : String(media_url),
      created_at: at,
      updated_at: at,
    };
    faxes.push(fax);
    if (media) contents.set(fax.id, media);
    return { status: 202, body: { data: fax } };
  }

  function listFaxes(query: URLSearchParams): Reply {
    const to = query.get("filter[to][eq]");
    const since = query.get("filter[created_at][gte]");
    const found = faxes.filter(
      (fax) => (to === null || fax.to === to) && (since === null || Date.parse(fax.created_at) >= Date.parse(since)),
    );
    const size = Number(query.get("page[size]") ?? 20);
    const page = Number(query.get("page[number]") ?? 1);
    const meta = {
      page_number: page,
      page_size: size,
      total_pages: Math.ceil(found.length / size),
      total_results: found.length,
    };
    const data = found.toReversed().slice((page - 1) * size, page * size);
    return { status: 200, body: { data, meta } };
  }

  function cancel(fax: TelnyxFax): Reply {
    if (fax.status === "delivered" || fax.status === "failed")
      return refusal(422, "10015", "Invalid parameters", "The fax has ended.");
    Object.assign(fax, { status: "failed", failure_reason: "sender_canceled" });
    return { status: 202, body: { data: { result: "ok" } } };
  }

  function createMessage({ from, to, text }: Params): Reply {
    if (!isNumber(from) || !isNumber(to))
      return refusal(
        400,
        "40310",
        "Invalid 'to' address",
        "The 'to' address should be a phone number in E.164 format.",
      );
    if (typeof text !== "string" || text === "")
      return refusal(422, "10004", "Missing required parameter", "The 'text' parameter is required.");
    const message = { id: randomUUID(), from, to, text };
    messages.push(message);
    const party = (number: string, status?: string) => ({ phone_number: number, carrier: "", line_type: "", status });
    const data = {
      ...message,
      record_type: "message",
      direction: "outbound",
      type: "SMS",
      from: party(from),
      to: [party(to, "queued")],
      received_at: new Date().toISOString(),
      errors: [],
    };
    return { status: 200, body: { data } };
  }

  return { faxes, messages, contents, answer };
}
