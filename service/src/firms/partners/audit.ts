import { auditLine } from "../../kernel/audit/audit.ts";
import type { Clock } from "../../kernel/platform/clock.ts";
import type { Database, Tx } from "../../kernel/platform/database/database.ts";
import type { RowMac } from "../../kernel/platform/row-mac.ts";

export type PartnerDeps = { db: Database; clock: Clock };

export type KeyDeps = PartnerDeps & { rowMac: RowMac };

/** The actor and time of a change to a firm, for the audit log; `detail` is added to each line. */
export type ChangedBy = { at: Date; actor: string; detail?: object };

/** Writes the audit line of a change to a firm or its keys, in the change's transaction. */
export const auditPartner = (
  tx: Tx,
  { at, actor, detail: more }: ChangedBy,
  action: string,
  partnerId: string,
  detail: object,
) => tx.query(auditLine({ at, action, actor, partnerId, detail: { ...detail, ...more } }));

/** The operator who changes a firm, for the audit log, and further work for the same transaction. */
export type ByOperator = { actor: string; also?: (tx: Tx) => Promise<void> };
