import { createHmac, randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { type HttpDouble, startHttpDouble } from "./http-double.ts";
import { createLobLetters, type LobLetters, type LobParams, type LobReply, lobError, lobId } from "./lob-letters.ts";
import { readParams } from "./stripe-objects.ts";

export type { LobLetter } from "./lob-letters.ts";

export type LobRequest = {
  method: string;
  path: string;
  query: URLSearchParams;
  params: LobParams;
  /** The uploaded file; null for a request without one. */
  file: Buffer | null;
  idempotencyKey: string | null;
};

/**
 * A prepared failure: an error; `cut`: the connection is cut once the work is done; `silent`: the work is done without
 * an answer; `hang`: neither work nor an answer.
 */
export type LobFailure =
  | { status: number; code?: string; message?: string; retryAfter?: number }
  | "cut"
  | "silent"
  | "hang";

export type LobEvent = {
  id: string;
  body: Record<string, unknown>;
  reference_id: string;
  event_type: { id: string; enabled_for_test: boolean; resource: "letters"; object: "event_type" };
  date_created: string;
  object: "event";
};

/**
 * The way in which an event arrives: more than once, signed long ago, altered after signing, or with a wrong secret.
 */
export type LobDelivery = { twice?: boolean; late?: boolean; forged?: boolean; otherSecret?: boolean };

export type LobDouble = Pick<LobLetters, "letters" | "files"> & {
  /** The value of LOB_API_BASE. */
  apiBase: string;
  /** The value of LOB_API_KEY, in live mode. */
  apiKey: string;
  /** The value of LOB_WEBHOOK_SECRET. */
  webhookSecret: string;
  /** All requests with a valid key, in order. */
  requests: LobRequest[];
  /** Prepares failures for the next requests, one each. */
  fail: (...failures: LobFailure[]) => void;
  /** Makes every request without a failure from `fail` fail in this way, until this function is called with null. */
  failAll: (failure: LobFailure | null) => void;
  /** Sets the time in which accepted letters can be cancelled; one hour by default. */
  cancellable: (ms: number) => void;
  /**
   * Creates an event of a letter. If it is about the transport, adds it to the letter's tracking events. Pass the event
   * to `deliver`.
   */
  happens: (letterId: string, type: string, at?: Date) => LobEvent;
  sign: (body: string, at?: Date, secret?: string) => Record<string, string>;
  /** Sends an event to a service's webhook. @returns the answers */
  deliver: (serviceUrl: string, event: LobEvent, how?: LobDelivery) => Promise<Response[]>;
  close: () => Promise<void>;
};

const keyDays = 24 * 3_600_000;

/**
 * A double of Lob: letters in its wire protocol (multipart, form and JSON; basic authentication; idempotency keys that
 * are stored for a day) and webhooks signed as Lob signs them. It records requests and fails on demand.
 * @param now Lob's clock
 */
export async function startLob(now: () => Date = () => new Date()): Promise<LobDouble> {
  const apiKey = `live_${randomBytes(18).toString("hex")}`;
  const testKey = apiKey.replace("live", "test");
  const webhookSecret = randomBytes(24).toString("hex");
  const requests: LobRequest[] = [];
  const failures: LobFailure[] = [];
  let always: LobFailure | null = null;
  let windowMs = 3_600_000;
  const kept = createLobLetters(() => windowMs, now);
  const replyOnce = createReplies(now);
  let server: HttpDouble;

  async function serve(message: IncomingMessage, body: Buffer, response: ServerResponse): Promise<void> {
    const key = userOf(message);
    if (key !== apiKey && key !== testKey) {
      send(
        response,
        lobError(401, "invalid_api_key", "Your API key is not valid. Please sign up to get a valid API key."),
      );
      return;
    }
    const request = await readRequest(message, body);
    requests.push(request);
    const failure = failures.shift() ?? always;
    if (failure === "hang") return;
    const reply =
      typeof failure === "object" && failure
        ? lobError(failure.status, failure.code ?? "internal_server_error", failure.message ?? "ordered")
        : await replyOnce(request.idempotencyKey, () => answer(request, key === apiKey));
    if (failure === "silent") return;
    if (failure === "cut") response.destroy();
    else send(response, reply, typeof failure === "object" ? failure?.retryAfter : undefined);
  }

  async function answer({ method, path, query, params, file }: LobRequest, isLive: boolean): Promise<LobReply> {
    const [, id] = /^\/v1\/letters(?:\/(\w+))?$/.exec(path) ?? [path, ""];
    if (id === "") return lobError(404, "unrecognized_endpoint", "unrecognized endpoint");
    if (id === undefined && method === "POST") return kept.create(params, file, isLive);
    if (id === undefined && method === "GET") return kept.list(query, server.url);
    if (id !== undefined && method === "GET") return kept.get(id);
    if (id !== undefined && method === "DELETE") return kept.cancel(id);
    return lobError(404, "unrecognized_endpoint", "unrecognized endpoint");
  }

  function happens(letterId: string, type: string, at: Date = now()): LobEvent {
    const letter = kept.letters.get(letterId);
    if (!letter) throw new Error(`no such letter: ${letterId}`);
    const tracked = trackingEvent(type, at);
    if (tracked) letter.tracking_events.push(tracked);
    return {
      id: lobId("evt"),
      body: structuredClone(letter),
      reference_id: letterId,
      event_type: { id: type, enabled_for_test: false, resource: "letters", object: "event_type" },
      date_created: at.toISOString(),
      object: "event",
    };
  }

  const sign: LobDouble["sign"] = (body, at = now(), secret = webhookSecret) => {
    const timestamp = String(at.getTime());
    const signature = createHmac("sha256", secret).update(`${timestamp}.${body}`).digest("hex");
    return { "Lob-Signature": signature, "Lob-Signature-Timestamp": timestamp };
  };

  server = await startHttpDouble(serve);
  return {
    ...kept,
    apiBase: server.url,
    apiKey,
    webhookSecret,
    requests,
    fail: (...next) => void failures.push(...next),
    failAll: (failure) => {
      always = failure;
    },
    cancellable: (ms) => {
      windowMs = ms;
    },
    happens,
    sign,
    async deliver(serviceUrl, event, { twice, late, forged, otherSecret } = {}) {
      const body = JSON.stringify(event);
      const at = late ? new Date(now().getTime() - 6 * 60_000) : now();
      const signature = sign(body, at, otherSecret ? randomBytes(24).toString("hex") : webhookSecret);
      const post = () =>
        fetch(`${serviceUrl}/api/providers/lob/webhook`, {
          method: "POST",
          headers: { "Content-Type": "application/json", ...signature },
          body: forged ? body.replace(event.reference_id, lobId("ltr")) : body,
        });
      return [await post(), ...(twice ? [await post()] : [])];
    },
    close: server.close,
  };
}

const names: Readonly<Record<string, string>> = {
  mailed: "Mailed",
  in_transit: "In Transit",
  in_local_area: "In Local Area",
  processed_for_delivery: "Processed for Delivery",
  pickup_available: "Pickup Available",
  delivered: "Delivered",
  "re-routed": "Re-Routed",
  returned_to_sender: "Returned to Sender",
  issue: "Issue",
};

/** The event in a letter's tracking list; null for events that are not about the letter's transport. */
function trackingEvent(type: string, at: Date) {
  const [, certified, what = ""] = /^letter\.(certified\.)?([\w-]+)$/.exec(type) ?? [];
  const name = names[what];
  if (name === undefined) return null;
  const time = at.toISOString();
  const details = certified
    ? {
        event: what === "issue" ? "notice_left" : what,
        description: name,
        notes: "",
        action_required: what === "issue",
      }
    : null;
  return {
    id: lobId("evnt"),
    type: certified ? ("certified" as const) : ("normal" as const),
    name,
    details,
    location: "10118",
    time,
    date_created: time,
    date_modified: time,
    object: "tracking_event" as const,
  };
}

/** The user name of basic authentication is the key; the password is empty. */
function userOf({ headers }: IncomingMessage): string {
  const [, encoded = ""] = /^Basic (.+)$/.exec(headers.authorization ?? "") ?? [];
  return Buffer.from(encoded, "base64").toString().split(":")[0] ?? "";
}

async function readRequest({ method = "", url = "", headers }: IncomingMessage, body: Buffer): Promise<LobRequest> {
  const { pathname: path, searchParams: query } = new URL(url, "http://double");
  const type = headers["content-type"] ?? "";
  const key = headers["idempotency-key"];
  const request = { method, path, query, file: null, idempotencyKey: typeof key === "string" ? key : null };
  if (type.startsWith("application/json")) return { ...request, params: JSON.parse(body.toString()) as LobParams };
  if (!type.startsWith("multipart/form-data")) return { ...request, params: readParams(body.toString()) };
  const form = await new Response(new Uint8Array(body), { headers: { "Content-Type": type } }).formData();
  const file = form.get("file");
  const fields = [...form].flatMap(([name, value]) => (typeof value === "string" ? [[name, value]] : []));
  return {
    ...request,
    params: readParams(new URLSearchParams(fields).toString()),
    file: file instanceof Blob ? Buffer.from(await file.arrayBuffer()) : null,
  };
}

/** Caches replies: for a day, requests with the same idempotency key get the same reply. */
function createReplies(now: () => Date) {
  const replies = new Map<string, { reply: Promise<LobReply>; at: number }>();
  return (key: string | null, make: () => Promise<LobReply>): Promise<LobReply> => {
    const before = key === null ? undefined : replies.get(key);
    if (before && now().getTime() - before.at < keyDays) return before.reply;
    const reply = make();
    // Removes the reply to a refused request, because only accepted requests are remembered.
    if (key !== null) void reply.then(({ status }) => (status === 200 ? undefined : replies.delete(key)));
    if (key !== null) replies.set(key, { reply, at: now().getTime() });
    return reply;
  };
}

function send(response: ServerResponse, { status, body }: LobReply, retryAfter?: number): void {
  const headers = { "Content-Type": "application/json", ...(retryAfter ? { "Retry-After": String(retryAfter) } : {}) };
  response.writeHead(status, headers);
  response.end(JSON.stringify(body));
}
