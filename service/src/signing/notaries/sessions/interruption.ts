/**
 * Decides when a person in a live session is absent, and which steps are repeated after that. All functions here are
 * pure.
 */
import { hourMs, minuteMs } from "../../../kernel/platform/clock.ts";
import { maxPrincipals } from "../acts/act.ts";
import type { OnlineRules } from "../eligibility/rules.ts";

/**
 * `frozen`: nothing can be marked or signed. If the person's media arrive again in this phase, only a gap is recorded.
 * `away`: the act is interrupted.
 */
export type Phase = "here" | "frozen" | "away";

const frozenMs = 3_000;
/**
 * The time without whole frames after which a person is away. It is longer than a brief outage: a connection that loses
 * all packets for 8 s recovers by itself within 10 s.
 */
const awayMs = 12_000;

export const phaseOf = (silentMs: number): Phase =>
  silentMs >= awayMs ? "away" : silentMs >= frozenMs ? "frozen" : "here";

/**
 * The name of the event that records a change of a person's presence.
 * @param isFirst true for the person's first arrival
 */
export const moveName = (from: Phase, to: Phase, isFirst: boolean): string => {
  if (to !== "here") return to;
  if (isFirst) return arrived;
  return from === "away" ? "back" : "gap";
};

/** The event of a person's first arrival after their admission. */
export const arrived = "joined";
/** The events that prove a person's presence. Only media from the person cause these events. */
export const arrivals: readonly string[] = [arrived, "back", "gap"];

/**
 * The presence of a person in a room, measured by the recorded media. A person who sends only sound is absent, as is a
 * person whose sound or picture doesn't arrive completely.
 */
export type Presence = {
  /**
   * The time when the last whole frames arrived, in milliseconds of the clock. Before the first frames, the time since
   * which frames are expected.
   */
  lastAt: number;
  hasJoined: boolean;
  phase: Phase;
  /** The time of the last whole frames before the current or latest gap. */
  goneAt: number;
  /** The number of packets lost in the last second. */
  lost: number;
  /** True if the person's current take in the recording includes video. */
  hasPicture: boolean;
  /** True if, since the person was last present, packets have arrived that don't form a whole frame. */
  isIncomplete: boolean;
  /** True until the person's first arrival after the admission is recorded as an event. */
  isAwaited: boolean;
};

/**
 * The presence of a person who is expected from now on.
 * @param isAwaited true to record the person's first arrival as an event
 */
export const newPresence = (now: number, isAwaited: boolean): Presence => ({
  lastAt: now,
  hasJoined: false,
  phase: "here",
  goneAt: 0,
  lost: 0,
  hasPicture: false,
  isIncomplete: false,
  isAwaited,
});

export type Restart = "act" | "identity";

/**
 * The step from which the act restarts after a gap of this length, by the rules of the notary's state. Null when the
 * act continues. If the state has no rule for gaps, the act restarts whenever somebody was `away`.
 */
export function restartAfter(silentMs: number, { restart, resumeSeconds }: OnlineRules): Restart | null {
  if (phaseOf(silentMs) !== "away") return null;
  if (silentMs <= (resumeSeconds?.value ?? 0) * 1000) return null;
  const rule = restart?.value ?? "act";
  return rule === "resume" ? null : rule;
}

const maxNotaryAwayMs = 15 * minuteMs;
const maxSignerAwayMs = 30 * minuteMs;
/** The longest session. An act takes minutes; the limit ends the recording of a session that somebody forgot to end. */
const maxSessionMs = 8 * hourMs;

/**
 * True if a session must end for technical reasons.
 * @param silentMs the time without whole frames for each person, by the person's name in the media engine
 */
export const isBroken = (silentMs: ReadonlyMap<string, number>, lasts: number): boolean =>
  lasts >= maxSessionMs ||
  [...silentMs].some(([person, ms]) => ms >= (person === notaryName ? maxNotaryAwayMs : maxSignerAwayMs));

/** The notary's name in the media engine and in records. */
export const notaryName = "notary";
/**
 * The name of a person in the media engine. `n` is the signer's number in the order; third persons have numbers above
 * those of all signers.
 */
export const personName = (n: number): string => (n > maxPrincipals ? `third-${n - maxPrincipals}` : `signer-${n}`);
