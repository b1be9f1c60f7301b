import type { Clock } from "../../kernel/platform/clock.ts";
import type { Database } from "../../kernel/platform/database/database.ts";
import type { Log } from "../../kernel/platform/logs.ts";
import type { Caller } from "../calls/call.ts";
import type { ProviderName } from "../names.ts";
import type { SealedJson } from "../sealed-json.ts";
import type { AnyAct } from "./act.ts";

export type ActDeps = {
  db: Database;
  clock: Clock;
  log: Log;
  sealed: SealedJson;
  acts: ReadonlyMap<string, AnyAct>;
  /** Returns the function that sends requests to a provider; null for a provider without an account. */
  callerOf: (provider: ProviderName) => Caller | null;
};
