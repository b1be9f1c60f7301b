/** Messages between the service and the engine's process. */
import type { EmbeddedMedia, LivekitMedia } from "../../../kernel/config/media.ts";
import type { ErrorCode } from "../../../kernel/platform/errors.ts";
import type { Beat } from "../heartbeat.ts";
import type { MediaEvent } from "../media.ts";

export type EngineSettings = {
  readonly media: Omit<EmbeddedMedia, "turn"> | Omit<LivekitMedia, "turn">;
  readonly maxSessions: number;
  readonly spoolDir: string;
  /** By how many milliseconds a test has set the service's clock into the future; otherwise 0. */
  readonly aheadMs: number;
};

export type CallName = "open" | "admit" | "signal" | "mute" | "remove" | "close" | "stop";
export type Call = { readonly id: number; readonly call: CallName; readonly args: readonly unknown[] };
export type Answered =
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly error: { readonly code: ErrorCode | null; readonly message: string } };
export type FromEngine =
  | Answered
  | { readonly event: MediaEvent }
  | { readonly ready: true }
  | Beat
  /** A message for the service's log. */
  | { readonly warning: string };
