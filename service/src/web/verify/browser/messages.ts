import type { ReadersTrust, VerifyConfig } from "./config.ts";
import type { Outcome } from "./outcome.ts";

/** What the page asks of its worker. */
export type CheckRequest = {
  readonly files: readonly File[];
  readonly config: VerifyConfig;
  readonly trust: ReadersTrust;
  /** The instant of the verification, epoch ms. */
  readonly at: number;
};

/** What comes back: how far the reading is, in bytes, and at last the outcomes or what went wrong. */
export type CheckReport =
  | { readonly kind: "reading"; readonly read: number; readonly total: number }
  | { readonly kind: "checking" }
  | { readonly kind: "done"; readonly outcomes: readonly Outcome[] }
  | { readonly kind: "broken"; readonly why: string };
