import { createHash, createHmac, timingSafeEqual } from "node:crypto";

const toleranceMs = 5 * 60 * 1000;

type Signature = { t: string; candidates: string[] };

/** `t=<unix seconds>,v1=<hex>[,v1=<hex>...]`; entries of other names are of a later scheme and ignored. */
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
  return t === null ? null : { t, candidates };
}

/**
 * Tells whether a delivery was signed with your secret, within five minutes of now in either direction.
 * @param rawBody the body exactly as it came, before any parser; text is taken as UTF-8.
 * @param header the value of `Service-Signature`; a missing one is simply not valid.
 * @param secret the signing secret, `svc_whsec_...`; during a rotation either the old or the new one.
 * @param options.now the present instant: a Date, or milliseconds since 1970. Default: the system's clock.
 * @returns true only if one of the header's `v1` entries matches; compared in constant time.
 */
export function verifyWebhook(
  rawBody: Uint8Array | string,
  header: string | null | undefined,
  secret: string,
  options: { now?: Date | number } = {},
): boolean {
  const signature = typeof header === "string" ? parseHeader(header) : null;
  if (!signature) return false;
  const now = Number(options.now ?? Date.now());
  if (!(Math.abs(now - Number(signature.t) * 1000) <= toleranceMs)) return false;
  const key = createHash("sha256").update(secret).digest("hex");
  const expected = createHmac("sha256", key).update(`${signature.t}.`).update(rawBody).digest();
  let valid = false;
  for (const candidate of signature.candidates)
    if (timingSafeEqual(Buffer.from(candidate, "hex"), expected)) valid = true;
  return valid;
}
