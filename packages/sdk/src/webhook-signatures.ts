import { type WebhookReason, WebhookRefusal } from "./errors.ts";
import type { WebhookEvent } from "./webhook-events.ts";

/** The largest accepted difference between a signature's time and now, in either direction. */
const toleranceMs = 5 * 60 * 1000;
const maxCandidates = 10;

type Body = Uint8Array | ArrayBuffer | string;
type Instant = { now?: Date | number | undefined };

/** The name of the signature header; header names are case-insensitive. */
export const signatureHeader = "Service-Signature";

const encoder = new TextEncoder();
const bytesOf = (body: Body): Uint8Array =>
  typeof body === "string" ? encoder.encode(body) : body instanceof Uint8Array ? body : new Uint8Array(body);

const hexOf = (bytes: ArrayBuffer): string =>
  Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("");

/** The HMAC-SHA256 key for signatures over `<unix seconds>.<body>`: the SHA-256 of the secret, in hex. */
async function keyOf(secret: string, use: "sign" | "verify"): Promise<CryptoKey> {
  // An empty secret is refused, because anyone could sign with it.
  if (secret === "") throw new TypeError("The webhook's secret is empty.");
  const digest = hexOf(await crypto.subtle.digest("SHA-256", encoder.encode(secret)));
  return crypto.subtle.importKey("raw", encoder.encode(digest), { name: "HMAC", hash: "SHA-256" }, false, [use]);
}

function signedBytes(t: string, body: Body): Uint8Array<ArrayBuffer> {
  const [head, tail] = [encoder.encode(`${t}.`), bytesOf(body)];
  const bytes = new Uint8Array(head.length + tail.length);
  bytes.set(head);
  bytes.set(tail, head.length);
  return bytes;
}

type Signature = { t: string; candidates: string[] };

/**
 * Parses `t=<unix seconds>,v1=<hex>[,v1=<hex>...]`; null for a malformed header. Ignores unknown entries, because later
 * schemes may add some.
 */
function parseHeader(header: string): Signature | null {
  const candidates: string[] = [];
  let t: string | null = null;
  for (const entry of header.split(",")) {
    const at = entry.indexOf("=");
    const name = entry.slice(0, at).trim();
    const value = entry.slice(at + 1).trim();
    if (name === "t") {
      if (t !== null || !/^\d{1,12}$/.test(value)) return null;
      t = value;
    } else if (name === "v1" && /^[0-9a-f]{64}$/.test(value)) candidates.push(value);
  }
  // During a rotation of secrets, a header has a few signatures. Checking one costs an HMAC, and anyone can send a
  // header. So a header with too many is refused.
  if (t === null || candidates.length === 0 || candidates.length > maxCandidates) return null;
  return { t, candidates };
}

const unhex = (hex: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));

/** Finds the reason why a delivery's signature is refused; null when it is accepted. */
async function faultOf(
  body: Body,
  header: string | null | undefined,
  secret: string,
  { now = Date.now() }: Instant,
): Promise<WebhookReason | null> {
  if (typeof header !== "string" || header === "") return "missing_signature";
  const signature = parseHeader(header);
  if (!signature) return "malformed_signature";
  if (!(Math.abs(Number(now) - Number(signature.t) * 1000) <= toleranceMs)) return "outside_tolerance";
  const key = await keyOf(secret, "verify");
  const signed = signedBytes(signature.t, body);
  // Compares every signature in constant time, and does not stop at a match, so that timing reveals nothing.
  const matches = await Promise.all(
    signature.candidates.map((candidate) => crypto.subtle.verify("HMAC", key, unhex(candidate), signed)),
  );
  return matches.includes(true) ? null : "wrong_signature";
}

/**
 * True if a delivery was signed with your secret, within five minutes of now in either direction.
 * @param rawBody the body exactly as received, before any parser; text is encoded as UTF-8.
 * @param header the value of `Service-Signature`; a missing one is not valid.
 * @param secret the signing secret, `svc_whsec_...`; during a rotation, the old or the new secret.
 * @param options.now the present instant: a Date, or milliseconds since 1970. Default: the system's clock.
 * @throws TypeError for an empty secret
 */
export const verifyWebhook = async (
  rawBody: Body,
  header: string | null | undefined,
  secret: string,
  options: Instant = {},
): Promise<boolean> => (await faultOf(rawBody, header, secret, options)) === null;

const words: Readonly<Record<Exclude<WebhookReason, "not_json">, string>> = {
  missing_signature: `The delivery has no ${signatureHeader} header.`,
  malformed_signature: `The ${signatureHeader} header is not t=<unix seconds>,v1=<hex>.`,
  outside_tolerance: "The signature was made more than five minutes from now: check this machine's clock.",
  wrong_signature:
    "No signature matches the body and the secret: pass the body as it came, and the secret of this webhook.",
};

/**
 * Verifies a delivery's signature and returns its event. Takes the arguments of `verifyWebhook`.
 * @throws WebhookRefusal with a `reason`; TypeError for an empty secret
 */
export async function parseWebhook(
  rawBody: Body,
  header: string | null | undefined,
  secret: string,
  options: Instant = {},
): Promise<WebhookEvent> {
  const fault = await faultOf(rawBody, header, secret, options);
  if (fault !== null && fault !== "not_json") throw new WebhookRefusal(fault, words[fault]);
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytesOf(rawBody))) as WebhookEvent;
  } catch {
    throw new WebhookRefusal("not_json", "The body is signed, but is not JSON.");
  }
}

/**
 * Returns the headers of a delivery as the service would send it, for tests of your receiver.
 * @param body the JSON text that the request will have, byte for byte
 * @param options.now the time of signing. Default: the system's clock.
 */
export async function signWebhook(
  body: Body,
  secret: string,
  { now = Date.now() }: Instant = {},
): Promise<{ "Content-Type": string; "Service-Signature": string }> {
  const t = String(Math.floor(Number(now) / 1000));
  const mac = await crypto.subtle.sign("HMAC", await keyOf(secret, "sign"), signedBytes(t, body));
  return { "Content-Type": "application/json", [signatureHeader]: `t=${t},v1=${hexOf(mac)}` } as const;
}

/**
 * Converts a secret for Standard Webhooks libraries, which verify `webhook-signature`. The result is `whsec_` and the
 * base64 of the secret's SHA-256.
 * @throws TypeError for an empty secret
 */
export async function standardSecret(secret: string): Promise<string> {
  if (secret === "") throw new TypeError("The webhook's secret is empty.");
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", encoder.encode(secret)));
  return `whsec_${btoa(String.fromCharCode(...hash))}`;
}
