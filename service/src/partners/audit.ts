import { auditLine } from "../audit/audit.ts";
import type { Clock } from "../platform/clock.ts";
import type { Database, Tx } from "../platform/database/database.ts";
import type { RowMac } from "../platform/row-mac.ts";

export type PartnerDeps = { db: Database; clock: Clock };

/** What issuing a key needs. */
export type KeyDeps = PartnerDeps & { rowMac: RowMac };

/** Who changes a firm and when, for the audit log; `detail` is added to that of each line. */
export type ChangedBy = { at: Date; actor: string; detail?: object };

/** Writes the line of a change to a firm or its keys, in the transaction of the change. */
export const auditPartner = (
  tx: Tx,
  { at, actor, detail: more }: ChangedBy,
  action: string,
  partnerId: string,
  detail: object,
) => tx.query(auditLine({ at, action, actor, partnerId, detail: { ...detail, ...more } }));

/** Which operator changes a firm, for the audit log, and what else belongs to the change's transaction. */
export type ByOperator = { actor: string; also?: (tx: Tx) => Promise<void> };
