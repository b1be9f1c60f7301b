import { hash } from "node:crypto";
import { equalBytes } from "@signsealship/evidence/bytes";
import type { EvidenceCrypto } from "@signsealship/evidence/crypto-port";
import { EvidenceError } from "@signsealship/evidence/errors";
import {
  buildTimeStampReq,
  parseTimeStampResp,
  parseTimeStampToken,
  type TimeStampClaimName,
  type TimeStampResp,
  type TimeStampToken,
  verifyTimeStampToken,
} from "@signsealship/evidence/rfc3161";
import { type Certificate, commonNameOf } from "@signsealship/evidence/x509";
import { createNodeCrypto } from "@signsealship/verifier/node-crypto";
import { type Fetch, requestBounded } from "../../kernel/platform/bounds/bounded-request.ts";
import { createBreaker, defaultBreaker } from "../../kernel/platform/bounds/breaker.ts";
import { type Clock, minuteMs } from "../../kernel/platform/clock.ts";
import type { Random } from "../../kernel/platform/random.ts";
import type { Stamp, TimeStamp } from "./sealer.ts";
import type { AnchorsOf } from "./tsa-trust.ts";

/**
 * The reason why an authority's answer was refused. `failed` names the failed check of RFC 3161 or another step: the
 * request (`transport`), parsing (`format`), or comparing the token's time with our clock (`clock`).
 */
export type TimeStampRefusal = {
  readonly authority: string;
  readonly failed: "transport" | "format" | "clock" | TimeStampClaimName;
  /** The reason as a sentence for the log. */
  readonly why: string;
};

export type TimeStampingDeps = {
  /** The URLs of the authorities, in the order in which they are asked. */
  readonly authorities: readonly string[];
  /**
   * The trust anchors for an authority's tokens. Without any, the chain is validated only up to the topmost
   * certificates in the token itself: the token is then valid at its time, but not trusted.
   */
  readonly anchorsOf: AnchorsOf;
  readonly fetch: Fetch;
  readonly clock: Clock;
  readonly randomBytes: (length: number) => Uint8Array;
  readonly crypto: EvidenceCrypto;
  /** Called for each authority that was asked and gave no usable token. An authority that is skipped doesn't count. */
  readonly onRefusal: (refusal: TimeStampRefusal) => void;
  readonly timeoutMs?: number;
};

const TIMEOUT_MS = 5_000;
const MAX_RESPONSE = 64 * 1024;
const NONCE_LENGTH = 16;
/**
 * The largest accepted difference between a token's time and our clock. A fresh token is neither old nor from the
 * future.
 */
const MAX_CLOCK_DIFFERENCE_MS = 5 * minuteMs;

/**
 * The client of time-stamping authorities (RFC 3161 over HTTP). Returns the first token that passes all checks: status,
 * nonce, imprint, content type, message digest, signature, signing certificate with its usage, chain at genTime, and a
 * time close to our clock. Skips an authority for a while after several failures in a row. Never rejects: null without
 * a valid token.
 */
export function createTimeStamping(deps: TimeStampingDeps): Stamp {
  const authorities = deps.authorities.map((url) => ({
    url,
    breaker: createBreaker(defaultBreaker, deps.clock),
  }));
  return async (message) => {
    const imprint = hash("sha256", message, "buffer");
    for (const { url, breaker } of authorities) {
      if (!breaker.admits()) continue;
      const outcome = await ask(deps, url, imprint).catch((error): TimeStampRefusal => {
        // The verification of the token failed unexpectedly. The token is treated as refused, so that the document is
        // still sealed, without this time stamp.
        return { authority: url, failed: "format", why: String(error) };
      });
      if ("token" in outcome) {
        breaker.succeeded();
        return outcome;
      }
      breaker.failed();
      deps.onRefusal(outcome);
    }
    return null;
  };
}

async function ask(
  deps: TimeStampingDeps,
  authority: string,
  imprint: Uint8Array,
): Promise<TimeStamp | TimeStampRefusal> {
  const refused = (failed: TimeStampRefusal["failed"], why: string) => ({ authority, failed, why });
  const nonce = deps.randomBytes(NONCE_LENGTH);
  const answer = await requestBounded(
    deps.fetch,
    authority,
    {
      method: "POST",
      headers: { "content-type": "application/timestamp-query", accept: "application/timestamp-reply" },
      body: buildTimeStampReq({ imprint, nonce }),
    },
    { timeoutMs: deps.timeoutMs ?? TIMEOUT_MS, maxBytes: MAX_RESPONSE },
  );
  if (!answer.ok) return refused("transport", answer.why);
  if (answer.status !== 200) return refused("transport", `the answer has the HTTP status ${answer.status}`);
  const read = readResponse(answer.body);
  if (typeof read === "string") return refused("format", read);
  const { response, token } = read;
  if (token === null) {
    const words = [...response.statusString, ...(response.failInfo ?? [])].join(", ");
    return refused("status", `the response has status ${response.status} and no token${words && `: ${words}`}`);
  }
  const at = deps.clock().getTime();
  const anchors = deps.anchorsOf(authority);
  const { claims, genTime } = await verifyTimeStampToken({
    token,
    stamped: { sha256: imprint },
    status: response.status,
    nonce,
    anchors: anchors.length > 0 ? anchors : topmost(token.signedData.certificates),
    at,
    crypto: deps.crypto,
  });
  const missing = claims.filter((claim) => claim.state !== "holds");
  // A token without a TSTInfo fails the checks of the nonce and the imprint too. The content type is reported as the
  // failed check, because it is the cause.
  const missed = (token.tstInfo === null && missing.find(({ name }) => name === "contentType")) || missing[0];
  if (missed !== undefined) return refused(missed.name, missed.why);
  if (genTime === null || Math.abs(genTime - at) > MAX_CLOCK_DIFFERENCE_MS) {
    return refused("clock", "the token's time is more than five minutes from now");
  }
  return { token: token.der, authority, genTime: new Date(genTime) };
}

function readResponse(body: Uint8Array): { response: TimeStampResp; token: TimeStampToken | null } | string {
  try {
    const response = parseTimeStampResp(body);
    return { response, token: response.token === null ? null : parseTimeStampToken(response.token.slice()) };
  } catch (error) {
    if (error instanceof EvidenceError) return `the answer can't be read: ${error.message}`;
    throw error;
  }
}

/** The common name in the certificate of the token's authority, or else the host of its URL. */
export function authorityName({ token, authority }: TimeStamp): string {
  const { certificates } = parseTimeStampToken(token).signedData;
  const own = certificates.find(
    (each) => !certificates.some((other) => other !== each && equalBytes(other.issuer, each.subject)),
  );
  return (own && commonNameOf(own.subject)) ?? new URL(authority).host;
}

/** The topmost certificates: those that are self-issued, or whose issuer is not in the list. */
function topmost(certificates: readonly Certificate[]): Certificate[] {
  return certificates.filter(
    ({ issuer, subject }) =>
      equalBytes(issuer, subject) || !certificates.some((other) => equalBytes(other.subject, issuer)),
  );
}

export type ProbeDeps = {
  readonly fetch: Fetch;
  readonly clock: Clock;
  readonly random: Random;
  readonly timeoutMs: number;
  readonly anchorsOf: AnchorsOf;
};

/**
 * Requests a time stamp over random bytes, and verifies the token as if it were for a seal.
 * @returns the token's time
 * @throws Error with the reason why a seal would get no token from this authority
 */
export async function probeAuthority(url: string, deps: ProbeDeps): Promise<Date> {
  let refusal: TimeStampRefusal | undefined;
  const stamp = createTimeStamping({
    ...deps,
    authorities: [url],
    randomBytes: deps.random.bytes,
    crypto: createNodeCrypto(),
    onRefusal: (refused) => {
      refusal = refused;
    },
  });
  const stamped = await stamp(deps.random.bytes(32));
  if (stamped === null) throw new Error(refusal ? `${refusal.failed}: ${refusal.why}` : "no answer");
  return stamped.genTime;
}
