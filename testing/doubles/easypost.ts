import { createHmac, randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { makePdf } from "../inputs/pdf-maker.ts";
import { createEasyPostObjects, type EasyPostObjects } from "./easypost-objects.ts";
import { type EasyPostObject, easyPostId, objectOf, type Reply, refusal, textOf } from "./easypost-values.ts";
import { startHttpDouble } from "./http-double.ts";

export { usualOffers } from "./easypost-objects.ts";

export type EasyPostRequest = { method: string; path: string; body: EasyPostObject };

/** A prepared failure: an error, a connection that is cut once the work is done, or work without an answer. */
export type Failure = { status: number; code?: string; message?: string } | "cut" | "hang";

/**
 * The way in which an event is delivered: more than once, signed with a wrong secret, or with a body that was altered
 * after signing.
 */
export type Delivery = { twice?: boolean; otherSecret?: boolean; forged?: boolean };

export type EasyPostDouble = Pick<EasyPostObjects, "shipments" | "trackers" | "offers" | "track"> & {
  /** The value of EASYPOST_API_BASE. */
  url: string;
  /** The value of EASYPOST_API_KEY. */
  apiKey: string;
  /** The value of EASYPOST_WEBHOOK_SECRET. It contains characters that the provider normalizes. */
  webhookSecret: string;
  /** All requests in order, except downloads of labels. */
  requests: EasyPostRequest[];
  /** The number of labels that were bought. */
  labels: () => number;
  /** The number of prepared failures that are left. */
  failing: () => number;
  /** Prepares failures for the next requests to a path, one each. */
  failOn: (path: RegExp, ...failures: Failure[]) => void;
  /** Prepares failures for the next requests to any path, one each. */
  fail: (...failures: Failure[]) => void;
  /** The event for a tracker that changed. */
  event: (tracker: EasyPostObject, more?: EasyPostObject) => EasyPostObject;
  /** The value of the header `X-Hmac-Signature` for a body. */
  sign: (body: string, secret?: string) => string;
  /** Sends a signed event to a service's webhook. @returns the last answer */
  deliver: (serviceUrl: string, event: EasyPostObject, how?: Delivery) => Promise<Response>;
  close: () => Promise<void>;
};

/**
 * A double of EasyPost in its wire protocol: addresses, shipments with rates, labels, refunds and trackers. Its
 * webhooks are signed as EasyPost signs them. It records requests and fails on demand.
 */
export async function startEasyPost(): Promise<EasyPostDouble> {
  const apiKey = `EZAK${randomBytes(16).toString("hex")}`;
  const webhookSecret = `ﬁne-sécret-${randomBytes(8).toString("hex")}`;
  const requests: EasyPostRequest[] = [];
  const failures: { path: RegExp; failure: Failure }[] = [];
  let url = "";
  const { shipments, trackers, offers, answer, track } = createEasyPostObjects(() => url);
  const file = makePdf({ text: "Label" });

  function serve(request: IncomingMessage, bytes: Buffer, response: ServerResponse): void {
    const { method = "", headers } = request;
    const [path = ""] = (request.url ?? "").split("?");
    const isFile = method === "GET" && path.startsWith("/files/");
    const body = bytes.length === 0 ? {} : objectOf(JSON.parse(bytes.toString()));
    if (!isFile) requests.push({ method, path, body });
    const at = failures.findIndex(({ path: wanted }) => wanted.test(`${method} ${path}`));
    const failure = at < 0 ? undefined : failures.splice(at, 1)[0]?.failure;
    if (typeof failure === "object") {
      send(response, refusal(failure.status, failure.code ?? "INTERNAL_SERVER_ERROR", failure.message ?? "ordered"));
      return;
    }
    if (isFile && failure === undefined) {
      response.writeHead(200, { "Content-Type": "application/pdf" }).end(file);
      return;
    }
    const isKnown = headers.authorization === `Basic ${Buffer.from(`${apiKey}:`).toString("base64")}`;
    const reply = isKnown ? answer(method, path, body) : refusal(401, "APIKEY.INACTIVE", "This api key is not active.");
    if (failure === "cut") response.destroy();
    else if (failure === undefined) send(response, reply);
  }

  const sign = (body: string, secret = webhookSecret) =>
    `hmac-sha256-hex=${createHmac("sha256", secret.normalize("NFKD")).update(body).digest("hex")}`;

  const { url: served, close } = await startHttpDouble(serve);
  url = served;
  return {
    url,
    apiKey,
    webhookSecret,
    requests,
    shipments,
    trackers,
    offers,
    track,
    sign,
    close,
    labels: () => [...shipments.values()].filter((shipment) => shipment["postage_label"] !== null).length,
    failing: () => failures.length,
    failOn: (path, ...next) => void failures.push(...next.map((failure) => ({ path, failure }))),
    fail: (...next) => void failures.push(...next.map((failure) => ({ path: /^/, failure }))),
    event: (tracker, more = {}) => ({
      id: easyPostId("evt"),
      object: "Event",
      description: "tracker.updated",
      mode: "test",
      status: "pending",
      created_at: textOf(tracker["updated_at"]),
      updated_at: textOf(tracker["updated_at"]),
      previous_attributes: {},
      pending_urls: [],
      completed_urls: [],
      result: structuredClone(tracker),
      ...more,
    }),
    async deliver(serviceUrl, event, { twice = false, otherSecret = false, forged = false } = {}) {
      const signed = written(event);
      const headers = {
        "Content-Type": "application/json",
        "X-Hmac-Signature": sign(signed, otherSecret ? "other" : undefined),
      };
      const body = forged ? signed.replace(/"mode":/, '"mode" :') : signed;
      const post = () => fetch(`${serviceUrl}/api/providers/easypost/webhook`, { method: "POST", headers, body });
      if (twice) await post();
      return post();
    },
  };
}

/**
 * Writes JSON as the provider does: the weights of trackers always have a decimal, even if they are whole numbers. The
 * signature covers the text in this form.
 */
const written = (event: EasyPostObject): string => JSON.stringify(event).replace(/("weight":\d+)(?=[,}])/g, "$1.0");

function send(response: ServerResponse, { status, body }: Reply): void {
  response.writeHead(status, {
    "Content-Type": "application/json; charset=utf-8",
    "x-ep-request-uuid": easyPostId("req"),
  });
  response.end(JSON.stringify(body));
}
