import type { Clock } from "../../../kernel/platform/clock.ts";
import type { Sql } from "../../../kernel/platform/database/database.ts";
import type { NotarizationSale, NotarySupply } from "../../../orders/order/order.ts";
import type { Commission } from "../commissions/commission.ts";
import type { ActMode } from "../commissions/expiry.ts";
import { listWorkingNotaries } from "../commissions/store.ts";
import type { ReadEligibility } from "./changes/in-force.ts";
import { type EligibilityDeps, eligibilityFor } from "./eligible.ts";

export type SupplyDeps = {
  readEligibility: ReadEligibility;
  clock: Clock;
  /** True if the setting NOTARY_REQUIRED is on. */
  refuses: boolean;
};

// The modes of online notarization, the service that is sold. A notary who may act only in person can't perform such
// acts.
const online: readonly ActMode[] = ["ron", "rin"];

/** Opens the check that tells if any notary on record may notarize an order today. */
export const openNotarySupply = (deps: SupplyDeps): NotarySupply => ({
  refuses: deps.refuses,
  async gapOf(db, sale) {
    if (sale.environment === "test") return null;
    const { isEmpty, commissions } = await onRecord(db);
    // Without any notary on record, quotes are refused only if NOTARY_REQUIRED is on. Otherwise they are issued, and
    // the operator is warned.
    if (isEmpty) return deps.refuses ? "No notary is on record." : null;
    return gapIn(await deps.readEligibility(db), commissions, sale, deps.clock());
  },
});

async function onRecord(db: Sql): Promise<{ isEmpty: boolean; commissions: Commission[] }> {
  const notaries = await listWorkingNotaries(db);
  return { isEmpty: notaries.length === 0, commissions: notaries.filter(({ mayWork }) => mayWork) };
}

function gapIn(
  eligibility: EligibilityDeps,
  commissions: readonly Commission[],
  { docSlug, signerState, acceptsSignature }: NotarizationSale,
  now: Date,
): string | null {
  const modes = acceptsSignature ? online : (["rin"] as const);
  const some = (order: Pick<NotarizationSale, "docSlug" | "signerState">, among: readonly ActMode[]) =>
    commissions.some((commission) =>
      eligibilityFor(eligibility, commission, order, now).modes.some((mode) => among.includes(mode)),
    );
  if (some({ docSlug, signerState }, modes)) return null;
  if (!some({ docSlug: null, signerState: null }, online)) return "No notary on record may notarize online today.";
  if (!some({ docSlug: null, signerState }, online))
    return `No notary on record may notarize online for a signer in ${signerState}.`;
  if (!some({ docSlug, signerState }, online))
    return `No notary on record may notarize a document of the kind ${docSlug} online.`;
  return "The document takes no electronic signature, so that no notary on record may notarize it online.";
}

/**
 * The result of `supplyState`, for the operator. `urgent`: live notarizations are sold although no notary is on record.
 * `warning`: no notary can act, and live orders with notarization are refused or wait for a quote by a person.
 */
export type SupplyState = { result: "ok" | "warning" | "urgent"; detail: string };

/** Checks if any notary on record may perform a live online notarization today. */
export async function supplyState(deps: SupplyDeps, db: Sql): Promise<SupplyState> {
  const { isEmpty, commissions } = await onRecord(db);
  if (isEmpty && deps.refuses)
    return {
      result: "warning",
      detail: "no notary is on record: live orders with notarization are refused (NOTARY_REQUIRED)",
    };
  if (isEmpty)
    return {
      result: "urgent",
      detail:
        "online notarization is sold and cannot be performed: no notary is on record. Add one, or set NOTARY_REQUIRED=on",
    };
  const anything = { docSlug: null, signerState: null, acceptsSignature: true, environment: "live" } as const;
  if (gapIn(await deps.readEligibility(db), commissions, anything, deps.clock()) === null)
    return { result: "ok", detail: "a notary on record may act online today" };
  const outcome = deps.refuses ? "are refused (NOTARY_REQUIRED)" : "wait for a quote by a person";
  return {
    result: "warning",
    detail: `no notary on record may act online today (commission, registration, certificate, or the state's rules): live orders with notarization ${outcome}`,
  };
}
