import type { Tx } from "../platform/database/database.ts";
import { auditPartner, type ChangedBy } from "./audit.ts";
import { updatePartner } from "./store.ts";

/** Sets whether members of a firm must show a passkey before they change what is live, inside a transaction. */
export async function setPasskeyForLive(
  tx: Tx,
  partnerId: string,
  passkeyForLive: boolean,
  by: ChangedBy,
): Promise<void> {
  await updatePartner(tx, partnerId, { passkeyForLive });
  await auditPartner(tx, by, "partner.changed", partnerId, { passkeyForLive });
}
