import type { Sql } from "../../platform/database/database.ts";
import { sql } from "../../platform/database/sql.ts";
import type { ProviderName } from "../names.ts";
import type { IntentState } from "./store.ts";

/** An act as people see it; nothing of its payload. */
export type ActOnRecord = {
  id: number;
  act: string;
  provider: ProviderName;
  attempt: number;
  state: IntentState;
  tries: number;
  intendedAt: Date;
  begunAt: Date | null;
  /** When it is looked up next; null before anybody knows that it has to be. */
  lookAt: Date | null;
  endedAt: Date | null;
  endedBy: string | null;
  /** What the provider said, or why nobody knows; null where nothing is to be said. */
  why: string | null;
};

/** What was asked of providers for an order, in the order in which it was intended. */
export const actsOfOrder = (db: Sql, orderId: number) =>
  db.query<ActOnRecord>(sql`
    SELECT id, act, provider, attempt, state, tries, intended_at AS "intendedAt", begun_at AS "begunAt",
      look_at AS "lookAt",
      ended_at AS "endedAt", ended_by AS "endedBy", why
    FROM provider_calls WHERE order_id = ${orderId} ORDER BY id`);
