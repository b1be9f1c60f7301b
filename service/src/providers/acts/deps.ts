import type { Clock } from "../../platform/clock.ts";
import type { Database } from "../../platform/database/database.ts";
import type { Log } from "../../platform/logs.ts";
import type { Caller } from "../calls/call.ts";
import type { ProviderName } from "../names.ts";
import type { SealedJson } from "../sealed-json.ts";
import type { AnyAct } from "./act.ts";

/** What acts work with. */
export type ActDeps = {
  db: Database;
  clock: Clock;
  log: Log;
  sealed: SealedJson;
  acts: ReadonlyMap<string, AnyAct>;
  /** Null for a provider without an account. */
  callerOf: (provider: ProviderName) => Caller | null;
};
