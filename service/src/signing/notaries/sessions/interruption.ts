/** When somebody of a live session counts as absent, and where the act begins again: pure rules over the packets that came and the clock. */
import { hourMs, minuteMs } from "../../../kernel/platform/clock.ts";
import type { OnlineRules } from "../eligibility/rules.ts";

/** `frozen`: nothing is marked or signed; a hole that heals is a gap on record. `away`: the act is interrupted. */
export type Phase = "here" | "frozen" | "away";

const frozenMs = 3_000;
/** A line that loses all packets for 8 s is back within 10 s, without anybody's doing. */
const awayMs = 12_000;

export const phaseOf = (silentMs: number): Phase =>
  silentMs >= awayMs ? "away" : silentMs >= frozenMs ? "frozen" : "here";

export type Restart = "act" | "identity";

/**
 * Where the act begins again after somebody was silent for so long; null when it goes on. What is not known of the state is taken as
 * strictly as can be: nobody may be away at all, and the act begins again.
 */
export function restartAfter(silentMs: number, { restart, resumeSeconds }: OnlineRules): Restart | null {
  if (phaseOf(silentMs) !== "away") return null;
  if (silentMs <= (resumeSeconds?.value ?? 0) * 1000) return null;
  const rule = restart?.value ?? "act";
  return rule === "resume" ? null : rule;
}

const mostNotaryAwayMs = 15 * minuteMs;
const mostSignerAwayMs = 30 * minuteMs;
/** An act takes minutes; who forgot to end a session is not recorded through the night. */
const mostSessionMs = 8 * hourMs;

/** Whether a session ends for technical reasons. @param silentMs of each person, by the engine's name */
export const isBroken = (silentMs: ReadonlyMap<string, number>, lasts: number): boolean =>
  lasts >= mostSessionMs ||
  [...silentMs].some(([person, ms]) => ms >= (person === notaryName ? mostNotaryAwayMs : mostSignerAwayMs));

/** The notary's name in the engine and in records. */
export const notaryName = "notary";
export const signerName = (n: number): string => `signer-${n}`;
