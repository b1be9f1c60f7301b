import { createHmac, timingSafeEqual } from "node:crypto";
import type { Environment } from "../../kernel/identity/identity.ts";
import { ServiceError } from "../../kernel/platform/errors.ts";
import { type Members, membersIn, textIn } from "../../kernel/platform/json.ts";
import { type Account, checkBy } from "../account.ts";
import type { Call, CallRequest } from "../calls/call.ts";
import type { InboundVerifier } from "../inbound/verifier.ts";
import type { CredentialResult, IdentityProofing } from "./port.ts";

export type StripeIdentitySettings = { apiKey: string; apiBase: string | null; webhookSecret: string | null };

const sessions = "/v1/identity/verification_sessions";

export function stripeIdentityAccount({ apiKey, apiBase, webhookSecret }: StripeIdentitySettings): Account {
  return {
    provider: "stripe_identity",
    baseUrl: apiBase ?? "https://api.stripe.com",
    authorization: `Bearer ${apiKey}`,
    verify: webhookSecret === null ? null : stripeVerifier(webhookSecret),
    check: (call) => checkBy(call({ method: "GET", path: `${sessions}?limit=1` }), () => "the key is accepted"),
  };
}

const toleranceSeconds = 300;

/**
 * Accepts events that Stripe signed at most five minutes ago. The header `stripe-signature` has a time `t` and one or
 * more signatures `v1`. One of them must be the HMAC-SHA256 of `t`, a dot and the body.
 */
export const stripeVerifier =
  (secret: string): InboundVerifier =>
  (raw, headers, now) => {
    const header = headers["stripe-signature"];
    const parts = typeof header === "string" ? header.split(",").map((part) => part.trim().split("=")) : [];
    const t = parts.find(([name]) => name === "t")?.[1] ?? "";
    if (!/^\d{1,12}$/.test(t)) return { ok: false, why: "no time stamp" };
    const wanted = createHmac("sha256", secret).update(`${t}.`).update(raw).digest();
    const isSigned = parts.some(([name, value = ""]) => {
      const signatureBytes = Buffer.from(name === "v1" ? value : "", "hex");
      return signatureBytes.length === wanted.length && timingSafeEqual(signatureBytes, wanted);
    });
    if (!isSigned) return { ok: false, why: "a signature that is not Stripe’s" };
    if (Math.abs(now.getTime() / 1000 - Number(t)) > toleranceSeconds)
      return { ok: false, why: "signed more than five minutes ago, or ahead" };
    return eventIn(raw);
  };

function eventIn(raw: Buffer): ReturnType<InboundVerifier> {
  const unreadable = { ok: false, why: "no event" } as const;
  let body: unknown;
  try {
    body = JSON.parse(raw.toString("utf8"));
  } catch {
    return unreadable;
  }
  const { id, type, created, data } = membersIn(body);
  const objectId = textOf(membersIn(membersIn(data)["object"])["id"]);
  const [eventId, kind] = [textOf(id), textOf(type)];
  if (eventId === null || kind === null || objectId === null || typeof created !== "number") return unreadable;
  return { ok: true, eventId, type: kind, objectId, occurredAt: new Date(created * 1000), body };
}

/**
 * Stripe Identity. People show their identity document on Stripe's own page, so no code of Stripe runs on the service's
 * pages.
 */
export const createStripeIdentity = (call: Call, environment: Environment): IdentityProofing => ({
  name: "Stripe Identity",
  environment,
  async begin({ id, comparesFaces, returnTo }) {
    const form = {
      type: "document",
      client_reference_id: id,
      "options[document][require_live_capture]": "true",
      "options[document][require_matching_selfie]": String(comparesFaces),
      return_url: returnTo,
    };
    const created = await ask(call, {
      method: "POST",
      path: sessions,
      body: new URLSearchParams(form).toString(),
      contentType: "application/x-www-form-urlencoded",
      // An identity check costs money. If a request is repeated with the same key, Stripe starts no second check.
      headers: { "idempotency-key": `proofing:${id}` },
    });
    const reference = textOf(created["id"]);
    if (reference === null) throw away("its answer has no id");
    return { reference };
  },
  async page(reference) {
    const session = await ask(call, { method: "GET", path: `${sessions}/${reference}` });
    const url = textOf(session["url"]);
    return session["status"] === "requires_input" && url !== null && isWebPage(url) ? url : null;
  },
  async look(reference, id) {
    const expand = "expand[]=verified_outputs&expand[]=last_verification_report";
    const session = await ask(call, { method: "GET", path: `${sessions}/${reference}?${expand}` });
    if (session["client_reference_id"] !== id) throw away("the check is another one");
    return resultOf(session);
  },
  async forget(reference) {
    await ask(call, {
      method: "POST",
      path: `${sessions}/${reference}/redact`,
      headers: { "idempotency-key": `redact:${reference}` },
    });
  },
});

/** True if a page may link to this URL of Stripe: it must be https, except for a test double on this machine. */
const isWebPage = (url: string): boolean => /^(?:https:\/\/|http:\/\/127\.0\.0\.1[:/])/.test(url) && URL.canParse(url);

const maxTextLength = 2000;
const textOf = (value: unknown): string | null => textIn(value, maxTextLength);

export const away = (why: string, cause?: unknown): ServiceError =>
  new ServiceError("unavailable", `The identity check can’t be reached now (${why}). Try again in a few minutes.`, {
    cause,
  });

async function ask(call: Call, request: CallRequest): Promise<Members> {
  const outcome = await call(request);
  if (outcome.kind !== "answered") throw away(outcome.why);
  return membersIn(outcome.body);
}

/**
 * Stripe's codes for a forgery, and for the face of a different person. After any other code, the person's identity is
 * neither confirmed nor refuted.
 */
const forgeries: ReadonlySet<string> = new Set(["selfie_manipulated", "document_manipulated"]);
const mismatches: ReadonlySet<string> = new Set(["selfie_face_mismatch"]);

function resultOf(session: Members): CredentialResult | null {
  const { status } = session;
  const report = membersIn(session["last_verification_report"]);
  const [document, selfie] = [membersIn(report["document"]), membersIn(report["selfie"])];
  const why = textOf(membersIn(session["last_error"])["code"]);
  const found = {
    credential: credentialIn(document),
    names: namesIn(membersIn(session["verified_outputs"])) ?? namesIn(document),
    faces: facesIn(selfie),
    why,
  };
  if (status === "verified") return { outcome: "passed", isFinal: false, ...found, why: null };
  if (status === "canceled") return { outcome: "inconclusive", isFinal: false, ...found, why: why ?? "canceled" };
  if (status !== "requires_input" || why === null) return null;
  const isFinal = forgeries.has(why);
  return { outcome: isFinal || mismatches.has(why) ? "failed" : "inconclusive", isFinal, ...found };
}

function credentialIn(document: Members): CredentialResult["credential"] {
  const [type, issuer] = [textOf(document["type"]), textOf(document["issuing_country"])];
  if (type === null) return null;
  const expiresOn = dayIn(document["expiration_date"]);
  return { type, issuer: issuer ?? "unknown", issuedOn: dayIn(document["issued_date"]), expiresOn };
}

function dayIn(value: unknown): string | null {
  const { year, month, day } = membersIn(value);
  if (![year, month, day].every((part) => Number.isInteger(part))) return null;
  return `${String(year).padStart(4, "0")}-${String(month).padStart(2, "0")}-${String(day).padStart(2, "0")}`;
}

const namesIn = (from: Members): string | null =>
  [textOf(from["first_name"]), textOf(from["last_name"])].filter((part) => part !== null).join(" ") || null;

function facesIn({ status }: Members): CredentialResult["faces"] {
  if (status === "verified") return "matched";
  return status === "unverified" ? "different" : "not compared";
}
