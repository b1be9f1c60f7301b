import { auditLine } from "../../../kernel/audit/audit.ts";
import type { Clock } from "../../../kernel/platform/clock.ts";
import type { Database, Sql } from "../../../kernel/platform/database/database.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import { newUuid } from "../../../kernel/platform/ids.ts";
import { isUuid } from "../../../kernel/platform/text.ts";
import { releaseClaims, type TaskKind, taskKinds } from "../../../kernel/tasks/tasks.ts";
import { accepted, type Typed } from "../form-reader.ts";
import { certificateFacts } from "./certificate.ts";
import { type Commission, commissionFields, readCommission, typedCommission } from "./commission.ts";
import { findNotary, insertNotary, lockNotary, operatorsToAdd, updateNotary } from "./store.ts";

export type KeepDeps = { db: Database; clock: Clock };

const otherKinds = (Object.keys(taskKinds) as TaskKind[]).filter((kind) => kind !== "notarize");

const noNotary = () => new ServiceError("not_found", "Notary not found.");

/** The details of a change for the audit log. A certificate is named by its fingerprint. */
function changed(before: Commission | null, after: Commission): object {
  const shown = (commission: Commission | null, name: keyof Commission) => {
    const value = commission?.[name] ?? null;
    if (name === "certificateChain") return value === null ? null : "given";
    return name === "certificate" && value !== null ? certificateFacts(value).fingerprintSha256 : value;
  };
  return Object.fromEntries(
    commissionFields
      .map((name) => [name, { from: shown(before, name), to: shown(after, name) }] as const)
      .filter(([name, { from, to }]) => from !== to || before?.[name] !== after[name]),
  );
}

/**
 * Adds an operator as a notary.
 * @param operatorId an operator with the role `notary`
 * @throws ServiceError naming every wrong field, or `conflict` for an operator without the role or with a record
 */
export async function addNotary(deps: KeepDeps, operatorId: string, typed: Typed, actor: string): Promise<string> {
  const commission = accepted(readCommission(typed));
  const [id, at] = [newUuid(), deps.clock()];
  return deps.db.transaction(async (tx) => {
    if (!(await operatorsToAdd(tx)).some((each) => each.id === operatorId))
      throw new ServiceError(
        "conflict",
        "This person is not an operator with the role notary, or is on record already.",
      );
    if (!(await insertNotary(tx, id, operatorId, commission, at)))
      throw new ServiceError("conflict", "That operator is on record already.");
    await tx.query(
      auditLine({
        at,
        action: "notary.added",
        actor,
        detail: { notary: id, operator: operatorId, ...changed(null, commission) },
      }),
    );
    return id;
  });
}

/**
 * Changes a notary's record. Fields that the form did not send keep their values. A notary who is suspended loses all
 * claimed orders.
 * @throws ServiceError naming each wrong field
 */
export async function setNotary(deps: KeepDeps, id: string, typed: Typed, actor: string): Promise<void> {
  const at = deps.clock();
  await deps.db.transaction(async (tx) => {
    const { operatorId } = await requireNotary(tx, id);
    // Locks the orders and their tasks before the notary. The completion of an act locks them in the same sequence.
    if (typed["status"] === "suspended")
      await releaseClaims(tx, { claimedBy: `operator:${operatorId}`, keep: otherKinds, by: actor, at });
    const before = await lockNotary(tx, id);
    if (!before) throw noNotary();
    const commission = accepted(readCommission({ ...typedCommission(before), ...typed }));
    await updateNotary(tx, id, commission, at);
    await tx.query(
      auditLine({ at, action: "notary.changed", actor, detail: { notary: id, ...changed(before, commission) } }),
    );
  });
}

/**
 * Finds a notary's record.
 * @throws ServiceError `not_found` when there is none
 */
export async function requireNotary(db: Sql, id: string) {
  const notary = isUuid(id) ? await findNotary(db, id) : undefined;
  if (!notary) throw noNotary();
  return notary;
}
