import { createHash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { startHttpDouble } from "./http-double.ts";
import { createTelnyxEvents, type TelnyxEvent, type TelnyxEvents } from "./telnyx-events.ts";
import {
  createTelnyxObjects,
  type Media,
  type Params,
  type Reply,
  refusal,
  type TelnyxFax,
  type TelnyxMessage,
} from "./telnyx-objects.ts";

export type { TelnyxEvent } from "./telnyx-events.ts";
export type { TelnyxFax } from "./telnyx-objects.ts";

/** A prepared failure: an error, a connection that is cut once the work is done, or neither an answer nor work. */
export type TelnyxFailure = { status: number; code?: string; detail?: string } | "cut" | "hang";

export type TelnyxRequest = { method: string; path: string; query: URLSearchParams; params: Params };

export type TelnyxDouble = TelnyxEvents & {
  /** The value of TELNYX_API_BASE. */
  url: string;
  /** The value of TELNYX_API_KEY. */
  apiKey: string;
  requests: TelnyxRequest[];
  faxes: TelnyxFax[];
  messages: TelnyxMessage[];
  /** The faxed PDFs, by fax id. */
  contents: Map<string, Media>;
  /** Prepares a failure for the next request with this method and path. */
  fail: (failure: TelnyxFailure, on?: RegExp) => void;
  /** Removes the prepared failures that are left. */
  mend: () => void;
  /** Moves a fax to a state, and creates its event. */
  move: (fax: TelnyxFax, status: TelnyxFax["status"], more?: Record<string, unknown>) => TelnyxEvent;
  close: () => Promise<void>;
};

/**
 * A double of Telnyx: faxes and text messages in its HTTP protocol, and events signed as Telnyx signs them. It records
 * requests and fails on demand. A test runs Telnyx's own client against it, to prove that it speaks the protocol.
 */
export async function startTelnyx(): Promise<TelnyxDouble> {
  const apiKey = "KEY0199DOUBLE_telnyx";
  const requests: TelnyxRequest[] = [];
  let failures: { failure: TelnyxFailure; on: RegExp }[] = [];
  const objects = createTelnyxObjects();
  const events = createTelnyxEvents();

  async function serve(request: IncomingMessage, bytes: Buffer, response: ServerResponse): Promise<void> {
    const { method = "", headers } = request;
    const { pathname: path, searchParams: query } = new URL(request.url ?? "", "http://double");
    const { params, media } = await readBody(headers["content-type"] ?? "", bytes);
    requests.push({ method, path, query, params });
    const met = failures.findIndex(({ on }) => on.test(`${method} ${path}`));
    const [{ failure } = { failure: null }] = met === -1 ? [] : failures.splice(met, 1);
    if (failure === "hang") return;
    const reply =
      headers.authorization !== `Bearer ${apiKey}`
        ? refusal(401, "10009", "Authentication failed", "Could not find any usable credentials in the request.")
        : failure !== null && failure !== "cut"
          ? refusal(failure.status, failure.code ?? "10007", "Ordered", failure.detail ?? "Ordered by a test.")
          : objects.answer({ method, path, query, params, media });
    if (failure === "cut") response.destroy();
    else send(response, reply);
  }

  const server = await startHttpDouble(serve);
  return {
    ...events,
    url: server.url,
    apiKey,
    requests,
    faxes: objects.faxes,
    messages: objects.messages,
    contents: objects.contents,
    fail: (failure, on = /./) => void failures.push({ failure, on }),
    mend: () => {
      failures = [];
    },
    move(fax, status, more = {}) {
      Object.assign(fax, { status, updated_at: new Date().toISOString() });
      if (typeof more["failure_reason"] === "string") fax.failure_reason = more["failure_reason"];
      return events.event(fax, more);
    },
    close: server.close,
  };
}

/** The members of a JSON body or of a form, and its file. */
async function readBody(contentType: string, bytes: Buffer): Promise<{ params: Params; media: Media | null }> {
  if (bytes.length === 0) return { params: {}, media: null };
  if (!contentType.startsWith("multipart/form-data"))
    return { params: JSON.parse(bytes.toString()) as Params, media: null };
  const form = await new Response(Uint8Array.from(bytes), { headers: { "content-type": contentType } }).formData();
  const file = form.get("contents");
  const params = Object.fromEntries([...form].filter(([, value]) => typeof value === "string"));
  if (!(file instanceof File)) return { params, media: null };
  const content = Buffer.from(await file.arrayBuffer());
  const sha256 = createHash("sha256").update(content).digest("hex");
  return { params, media: { type: file.type, bytes: content, sha256 } };
}

function send(response: ServerResponse, { status, body }: Reply): void {
  response.writeHead(status, { "Content-Type": "application/json; charset=utf-8" });
  response.end(JSON.stringify(body));
}
