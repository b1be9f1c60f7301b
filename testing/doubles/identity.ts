import { createHmac, randomBytes } from "node:crypto";
import { startHttpDouble } from "./http-double.ts";
import { readParams } from "./stripe-objects.ts";
import { newId, type Params, type Reply, refusal } from "./stripe-values.ts";

type Session = Record<string, unknown> & { id: string };

export type IdentityDouble = {
  /** The value of IDENTITY_API_BASE. */
  url: string;
  /** The value of IDENTITY_WEBHOOK_SECRET. */
  webhookSecret: string;
  sessions: Map<string, Session>;
  requests: { method: string; path: string; params: Params; idempotencyKey: string | null }[];
  /** While true, the double answers every request with 503. */
  isDown: boolean;
  /** Simulates a person who shows a credential that the provider accepts. */
  verify: (id: string, names?: { first_name: string; last_name: string }) => void;
  /** Simulates a person whose credential the provider refuses with `code`. */
  refuse: (id: string, code: string) => void;
  event: (type: string, id: string) => { id: string; type: string; [member: string]: unknown };
  /** Sends a signed event to a service's webhook. */
  deliver: (serviceUrl: string, event: object, secret?: string) => Promise<Response>;
  close: () => Promise<void>;
};

const path = "/v1/identity/verification_sessions";

/** A double of Stripe Identity: sessions that verify identity documents, their reports, redaction, signed events. */
export async function startIdentity(): Promise<IdentityDouble> {
  const webhookSecret = `whsec_${randomBytes(16).toString("hex")}`;
  const sessions = new Map<string, Session>();
  const requests: IdentityDouble["requests"] = [];
  const repeated = new Map<string, Session>();
  let url = "";

  function answer(method: string, at: string, params: Params, key: string | null): Reply {
    if (method === "POST" && at === path) return create(params, key);
    if (method === "GET" && at === path) return { status: 200, body: { object: "list", data: [], has_more: false } };
    const [, id = "", verb] = /^\/v1\/identity\/verification_sessions\/(\w+)(?:\/(\w+))?$/.exec(at) ?? [];
    const session = sessions.get(id);
    if (!session) return refusal(404, `No such verification session: ${id}`);
    if (method === "GET" && !verb) return { status: 200, body: shown(session, params) };
    if (method !== "POST" || verb !== "redact") return refusal(404, "Unrecognized request URL");
    Object.assign(session, { redaction: { status: "redacted" }, url: null });
    Object.assign(session, { verified_outputs: null, last_verification_report: null });
    return { status: 200, body: shown(session, {}) };
  }

  function create(params: Params, key: string | null): Reply {
    const before = key === null ? undefined : repeated.get(key);
    if (before) return { status: 200, body: shown(before, {}) };
    if (params["type"] !== "document") return refusal(400, "Missing required param: type.");
    const id = newId("vs").replaceAll("_test_", "_");
    const session: Session = {
      id,
      object: "identity.verification_session",
      status: "requires_input",
      type: "document",
      client_reference_id: params["client_reference_id"] ?? null,
      options: params["options"] ?? {},
      url: `${url}/start/${id}`,
      last_error: null,
      verified_outputs: null,
      last_verification_report: null,
      redaction: null,
      created: Math.floor(Date.now() / 1000),
      livemode: true,
      metadata: {},
    };
    sessions.set(id, session);
    if (key !== null) repeated.set(key, session);
    return { status: 200, body: shown(session, {}) };
  }

  /** A session as the provider returns it: with the report and the outputs only if the request expands them. */
  function shown(session: Session, { expand }: Params): object {
    const wanted = new Set(typeof expand === "object" ? Object.values(expand) : []);
    const { verified_outputs, last_verification_report: report, ...rest } = session;
    const reportId = (report as { id?: string } | null)?.id ?? null;
    return {
      ...rest,
      last_verification_report: wanted.has("last_verification_report") ? report : reportId,
      ...(wanted.has("verified_outputs") && { verified_outputs }),
    };
  }

  const sessionOf = (id: string): Session => {
    const session = sessions.get(id);
    if (!session) throw new Error(`no such session: ${id}`);
    return session;
  };
  const document = {
    type: "driving_license",
    issuing_country: "US",
    issued_date: { year: 2022, month: 3, day: 4 },
    expiration_date: { year: 2030, month: 3, day: 4 },
  };

  const server = await startHttpDouble((request, bytes, response) => {
    const { method = "", headers } = request;
    const [at = "", query = ""] = (request.url ?? "").split("?");
    const key = headers["idempotency-key"];
    const idempotencyKey = typeof key === "string" ? key : null;
    const params = readParams(method === "GET" ? query : bytes.toString());
    requests.push({ method, path: at, params, idempotencyKey });
    const { status, body } = double.isDown
      ? refusal(503, "ordered", "api_error")
      : answer(method, at, params, idempotencyKey);
    response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(body));
  });
  url = server.url;

  const double: IdentityDouble = {
    url,
    webhookSecret,
    sessions,
    requests,
    isDown: false,
    verify(id, names = { first_name: "Jane", last_name: "Doe" }) {
      const session = sessionOf(id);
      const options = session["options"] as { document?: Record<string, string> };
      const comparesFaces = options.document?.["require_matching_selfie"] === "true";
      const report = {
        id: newId("vr"),
        object: "identity.verification_report",
        document: { ...document, ...names, status: "verified", error: null },
        ...(comparesFaces && { selfie: { status: "verified", error: null } }),
      };
      Object.assign(session, { status: "verified", url: null, last_error: null, last_verification_report: report });
      Object.assign(session, { verified_outputs: { ...names, dob: { year: 1980, month: 1, day: 2 } } });
    },
    refuse(id, code) {
      const error = { code, reason: "It was refused." };
      const isOfFace = code.startsWith("selfie_");
      const report = {
        id: newId("vr"),
        object: "identity.verification_report",
        document: { ...document, status: isOfFace ? "verified" : "unverified", error: isOfFace ? null : error },
        ...(isOfFace && { selfie: { status: "unverified", error } }),
      };
      Object.assign(sessionOf(id), { last_error: error, last_verification_report: report });
    },
    event: (type, id) => ({
      id: newId("evt"),
      object: "event",
      type: `identity.verification_session.${type}`,
      created: Math.floor(Date.now() / 1000),
      livemode: true,
      data: { object: shown(sessionOf(id), {}) },
    }),
    deliver(serviceUrl, event, secret = webhookSecret) {
      const body = JSON.stringify(event);
      const t = Math.floor(Date.now() / 1000);
      const v1 = createHmac("sha256", secret).update(`${t}.${body}`).digest("hex");
      return fetch(`${serviceUrl}/api/providers/stripe_identity/webhook`, {
        method: "POST",
        headers: { "Content-Type": "application/json", "Stripe-Signature": `t=${t},v1=${v1}` },
        body,
      });
    },
    close: server.close,
  };
  return double;
}
