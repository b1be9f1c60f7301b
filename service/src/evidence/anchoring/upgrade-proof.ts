import { EvidenceError } from "@signsealship/evidence/errors";
import { otsLimits, parseDetached, parseTimestamp, upgrade } from "@signsealship/evidence/ots";
import { type Fetch, requestBounded } from "../../kernel/platform/bounds/bounded-request.ts";
import { bitcoinHeights, type PendingAttestation, pendingAttestations } from "./attestations.ts";
import { calendarHeaders, calendarTimeoutMs } from "./calendars.ts";

/**
 * The state of a calendar's pending attestation.
 * - `confirmed`: the calendar, or the proof itself, states that a Bitcoin block contains the commitment. Only a block
 *   header proves that.
 * - `pending`: the commitment waits for a block.
 * - `forgotten`: the calendar does not know the commitment, or does not know it any more.
 * - `unlisted`: the calendar is not asked, because it is neither configured nor a known public one.
 * - `failed`: no usable answer this time.
 */
type AttestationState = { readonly calendar: string; readonly commitmentHex: string } & (
  | { readonly state: "confirmed"; readonly height: number }
  | {
      readonly state: "pending" | "forgotten" | "unlisted" | "failed";
      /** A sentence about the state, for the log. */
      readonly why: string;
    }
);

export type Upgrade = {
  /** The proof with the calendars' additions; the same object as the input when nothing was added. */
  readonly proof: Uint8Array;
  readonly changed: boolean;
  /** The states of the pending attestations, 32 at most, in the order in which the proof lists them. */
  readonly attestations: readonly AttestationState[];
};

export type UpgradeDeps = {
  readonly calendars: readonly string[];
  readonly fetch: Fetch;
  readonly timeoutMs?: number;
};

/**
 * The domains of the calendars behind the public aggregators. Digests are sent to an aggregator, but the proof names
 * the calendar, which has another host name.
 */
const publicCalendars = [".calendar.opentimestamps.org", ".calendar.eternitywall.com", ".calendar.catallaxy.com"];

const maxAttestations = 32;

/**
 * Asks the calendars that a proof names for further attestations, and merges the answers into the proof. Only
 * configured calendars and known public ones are asked. Otherwise a forged proof could make the service send requests
 * to any host (SSRF).
 * @param proof bytes of a detached OpenTimestamps proof
 * @throws EvidenceError when the proof can't be read; a calendar's failure is a state, never an error
 */
export async function upgradeProof(deps: UpgradeDeps, proof: Uint8Array): Promise<Upgrade> {
  const pending = (await pendingAttestations(parseDetached(proof))).slice(0, maxAttestations);
  const answered = await Promise.all(pending.map(async (each) => ({ ...each, answer: await ask(deps, each) })));
  let upgraded = proof;
  const attestations: AttestationState[] = [];
  for (const { calendar, commitment, commitmentHex, answer } of answered) {
    const about = { calendar, commitmentHex };
    try {
      if (answer.reply !== undefined) upgraded = await upgrade({ proof: upgraded, commitment, reply: answer.reply });
      const [height] = answer.heights;
      if (height !== undefined) attestations.push({ ...about, state: "confirmed", height });
      else attestations.push({ ...about, state: answer.state, why: answer.why });
    } catch (error) {
      if (!(error instanceof EvidenceError)) throw error;
      attestations.push({ ...about, state: "failed", why: `the answer does not fit the proof: ${error.message}` });
    }
  }
  const changed = !Buffer.from(upgraded).equals(proof);
  return { proof: changed ? upgraded : proof, changed, attestations };
}

type Answer = {
  readonly reply?: Uint8Array;
  readonly heights: readonly number[];
  readonly state: "pending" | "forgotten" | "unlisted" | "failed";
  readonly why: string;
};

const withoutReply = (state: Answer["state"], why: string): Answer => ({ heights: [], state, why });

async function ask(deps: UpgradeDeps, attestation: PendingAttestation): Promise<Answer> {
  const { calendar, commitment, commitmentHex, heights } = attestation;
  if (heights.length > 0) return { heights, state: "pending", why: "" };
  if (!isListed(calendar, deps.calendars)) return withoutReply("unlisted", "the calendar is not among those to ask");
  const bounds = { timeoutMs: deps.timeoutMs ?? calendarTimeoutMs, maxBytes: otsLimits.replyBytes };
  const url = `${calendar.replace(/\/+$/, "")}/timestamp/${commitmentHex}`;
  const answer = await requestBounded(deps.fetch, url, { headers: calendarHeaders }, bounds);
  if (!answer.ok) return withoutReply("failed", answer.why);
  // A calendar answers 404 for an unknown digest, and also for one that still waits for a block. Only the text of the
  // answer differs.
  if (answer.status === 404) {
    const text = Buffer.from(answer.body).toString("latin1", 0, 100);
    const waits = /^(pending|timestamped)\b/i.test(text);
    return waits
      ? withoutReply("pending", text)
      : withoutReply("forgotten", "the calendar does not know the commitment");
  }
  if (answer.status !== 200) return withoutReply("failed", `the answer has the HTTP status ${answer.status}`);
  try {
    const found = bitcoinHeights(parseTimestamp(answer.body, commitment.length));
    return { reply: answer.body, heights: found, state: "pending", why: "the answer names no block yet" };
  } catch (error) {
    if (error instanceof EvidenceError) return withoutReply("failed", `the answer can't be read: ${error.message}`);
    throw error;
  }
}

function isListed(uri: string, configured: readonly string[]): boolean {
  const bare = (url: string) => url.replace(/\/+$/, "");
  if (configured.some((url) => bare(url) === bare(uri))) return true;
  const url = URL.parse(uri);
  return (
    url?.protocol === "https:" && url.port === "" && publicCalendars.some((suffix) => url.hostname.endsWith(suffix))
  );
}
