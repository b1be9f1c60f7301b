import { EvidenceError } from "@signsealship/evidence/errors";
import { otsLimits, parseTimestamp, proofOfReplies } from "@signsealship/evidence/ots";
import { type Fetch, requestBounded } from "../../kernel/platform/bounds/bounded-request.ts";
import { type BreakerSettings, createBreaker, defaultBreaker } from "../../kernel/platform/bounds/breaker.ts";
import type { Clock } from "../../kernel/platform/clock.ts";
import { attestsAnything } from "./attestations.ts";

/** A calendar that didn't accept a digest, and a sentence with the reason. */
export type CalendarRefusal = { readonly calendar: string; readonly why: string };

export type CalendarsDeps = {
  /** The URLs of the calendars, without a slash at the end. */
  readonly calendars: readonly string[];
  readonly fetch: Fetch;
  readonly clock: Clock;
  readonly onRefusal: (refusal: CalendarRefusal) => void;
  readonly timeoutMs?: number;
  readonly breaker?: BreakerSettings;
};

/** A detached OpenTimestamps proof with a branch for each calendar (URL) whose reply was usable. */
export type Submitted = { readonly proof: Uint8Array; readonly calendars: readonly string[] };

export const calendarTimeoutMs = 5_000;
export const calendarHeaders = { accept: "application/vnd.opentimestamps.v1" };

/**
 * Submits SHA-256 digests, and nothing else, to all OpenTimestamps calendars at once. A calendar that failed several
 * times in a row is skipped for a while.
 * @returns a function of a digest (32 bytes), which never rejects. It returns null when no calendar accepted the
 * digest.
 */
export function createCalendarSubmission(deps: CalendarsDeps): (digest: Uint8Array) => Promise<Submitted | null> {
  const calendars = deps.calendars.map((url) => ({
    url,
    breaker: createBreaker(deps.breaker ?? defaultBreaker, deps.clock),
  }));
  return async (digest) => {
    const asked = calendars.filter(({ breaker }) => breaker.admits());
    const replies = await Promise.all(
      asked.map(async ({ url, breaker }) => {
        const reply = await submit(deps, url, digest);
        if (typeof reply === "string") breaker.failed();
        else breaker.succeeded();
        return { url, reply };
      }),
    );
    const accepted: Uint8Array[] = [];
    const names: string[] = [];
    let proof: Uint8Array | null = null;
    for (const { url, reply } of replies) {
      const merged = typeof reply === "string" ? reply : tryMerge(digest, [...accepted, reply]);
      if (typeof reply === "string" || typeof merged === "string") {
        deps.onRefusal({ calendar: url, why: String(merged) });
        continue;
      }
      proof = merged;
      accepted.push(reply);
      names.push(url);
    }
    return proof && { proof, calendars: names };
  };
}

/** The reply's bytes, or the reason why it is unusable. */
async function submit(deps: CalendarsDeps, url: string, digest: Uint8Array): Promise<Uint8Array | string> {
  const init = { method: "POST", headers: calendarHeaders, body: Uint8Array.from(digest) };
  const bounds = { timeoutMs: deps.timeoutMs ?? calendarTimeoutMs, maxBytes: otsLimits.replyBytes };
  const answer = await requestBounded(deps.fetch, `${url}/digest`, init, bounds);
  if (!answer.ok) return answer.why;
  if (answer.status !== 200) return `the answer has the HTTP status ${answer.status}`;
  try {
    if (attestsAnything(parseTimestamp(answer.body, digest.length))) return answer.body;
    return "the answer attests nothing that could ever be checked";
  } catch (error) {
    if (error instanceof EvidenceError) return `the answer can't be read: ${error.message}`;
    throw error;
  }
}

/**
 * Merges the calendars' replies into one proof. Valid replies can together exceed the limits of programs that read
 * proofs. Then nothing is merged.
 * @returns the proof, or a sentence with the reason why the replies can't be merged
 */
function tryMerge(digest: Uint8Array, replies: readonly Uint8Array[]): Uint8Array | string {
  try {
    return proofOfReplies(digest, replies);
  } catch (error) {
    if (error instanceof EvidenceError) return `the answer does not fit the others: ${error.message}`;
    throw error;
  }
}
