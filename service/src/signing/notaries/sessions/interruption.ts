/**
 * When a person in a live session counts as absent, and from where the act begins again. Pure functions of the packets
 * and the clock.
 */
import { hourMs, minuteMs } from "../../../kernel/platform/clock.ts";
import { mostPrincipals } from "../acts/act.ts";
import type { OnlineRules } from "../eligibility/rules.ts";

/**
 * `frozen`: nothing is marked or signed; if the interruption is short, it becomes a recorded gap. `away`: the act is
 * interrupted.
 */
export type Phase = "here" | "frozen" | "away";

const frozenMs = 3_000;
/** A connection that loses all packets for 8 s recovers by itself within 10 s. */
const awayMs = 12_000;

export const phaseOf = (silentMs: number): Phase =>
  silentMs >= awayMs ? "away" : silentMs >= frozenMs ? "frozen" : "here";

export type Restart = "act" | "identity";

/**
 * From where the act begins again after a person was silent for this long; null when it continues. If the state's rules
 * are unknown, the strictest rules apply: any absence makes the act begin again.
 */
export function restartAfter(silentMs: number, { restart, resumeSeconds }: OnlineRules): Restart | null {
  if (phaseOf(silentMs) !== "away") return null;
  if (silentMs <= (resumeSeconds?.value ?? 0) * 1000) return null;
  const rule = restart?.value ?? "act";
  return rule === "resume" ? null : rule;
}

const mostNotaryAwayMs = 15 * minuteMs;
const mostSignerAwayMs = 30 * minuteMs;
/** An act takes minutes. This limits the recording of a session that a person forgot to end. */
const mostSessionMs = 8 * hourMs;

/** Whether a session ends for technical reasons. @param silentMs for each person, by the engine's name */
export const isBroken = (silentMs: ReadonlyMap<string, number>, lasts: number): boolean =>
  lasts >= mostSessionMs ||
  [...silentMs].some(([person, ms]) => ms >= (person === notaryName ? mostNotaryAwayMs : mostSignerAwayMs));

/** The notary's name in the engine and in records. */
export const notaryName = "notary";
/** Signers have their numbers in the order; third persons have higher numbers. */
export const personName = (n: number): string => (n > mostPrincipals ? `third-${n - mostPrincipals}` : `signer-${n}`);
