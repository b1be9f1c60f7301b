import {
  type Approval,
  type Operator,
  requirePasskeyOf,
  requirePermission,
  requirePerson,
  requireRefusedByAnother,
  requireSecondPerson,
  requireText,
} from "../../../../firms/operators/operators.ts";
import { auditLine } from "../../../../kernel/audit/audit.ts";
import type { Clock } from "../../../../kernel/platform/clock.ts";
import type { Database, Tx } from "../../../../kernel/platform/database/database.ts";
import { ServiceError } from "../../../../kernel/platform/errors.ts";
import { newUuid } from "../../../../kernel/platform/ids.ts";
import { isUuid } from "../../../../kernel/platform/text.ts";
import { closeTasks, openTask } from "../../../../kernel/tasks/tasks.ts";
import { isUsState } from "../../../../orders/pricing/pricing.ts";
import { accepted, type Typed } from "../../form-reader.ts";
import type { ProofMeans } from "../online-rules.ts";
import { type NotaryRules, rulesText, type StateRules } from "../rules.ts";
import { readChange, rulesInForce } from "./in-force.ts";
import {
  type ChangeDecision,
  insertChange,
  lockChange,
  type RuleChange,
  selectOfState,
  selectWaiting,
  updateDecision,
} from "./store.ts";
import { readTypedChange } from "./typed.ts";

export type RuleChangeDeps = {
  db: Database;
  clock: Clock;
  shipped: NotaryRules;
  refundApproval: Approval;
  /** The ways to prove identity that the service's providers offer for live orders. */
  proofMeans: ProofMeans;
};

/** Identifies a change of a U.S. state's rules by that state and the change's id. */
export type WhichChange = { state: string; id: string };

const noPerson = "Two people with names are needed. Sign in by email.";
const noState = () => new ServiceError("not_found", "State not found.");

/** The rules in force, and the U.S. states whose rules have a change that waits for confirmation. */
export async function rulesOfStates({ db, clock, shipped }: Pick<RuleChangeDeps, "db" | "clock" | "shipped">) {
  const [rules, waiting] = await Promise.all([rulesInForce(db, shipped, clock()), selectWaiting(db)]);
  return { rules, waiting };
}

/**
 * A change of a state's rules, as a page shows it. `content` has the parsed rules; null when the row was altered
 * outside the service, or the rules can't be parsed.
 */
export type ShownChange = RuleChange & { content: StateRules | null };

/**
 * The present rules of a state, and the latest 100 changes of its rules as `versions`, the latest first.
 * @throws ServiceError `not_found` for an unknown state
 */
export async function rulesOfState(deps: RuleChangeDeps, state: string) {
  if (!isUsState(state)) throw noState();
  const [{ rules }, versions] = await Promise.all([rulesOfStates(deps), selectOfState(deps.db, state)]);
  return { rules, inForce: rules.of(state), versions: versions.map((each) => shownChange(each, deps.shipped)) };
}

function shownChange(
  { isAuthentic, ...change }: RuleChange & { isAuthentic: boolean },
  shipped: NotaryRules,
): ShownChange {
  if (!isAuthentic) return { ...change, content: null };
  try {
    return { ...change, content: readChange(change, shipped) };
  } catch {
    return { ...change, content: null };
  }
}

/**
 * Requires that the operator may change the rules of U.S. states.
 * @returns the operator's id
 * @throws ServiceError for an operator without the permission, without a name, or without a recent sign-in by passkey
 */
function requireKeeper({ clock }: Pick<RuleChangeDeps, "clock">, operator: Operator): string {
  requirePermission(operator, ["notaries.manage"]);
  const by = requirePerson(operator, noPerson);
  requirePasskeyOf(operator, clock());
  return by;
}

/**
 * Writes a change of a state's rules. It takes effect on its start date, if it was confirmed (`confirmChange`).
 * @throws ServiceError naming every wrong field, or `conflict` while another change of the state's rules is pending
 */
export async function requestChange(
  deps: RuleChangeDeps,
  operator: Operator,
  state: string,
  typed: Typed,
): Promise<void> {
  const requestedBy = requireKeeper(deps, operator);
  if (!isUsState(state)) throw noState();
  await deps.db.transaction(async (tx) => {
    const at = deps.clock();
    const { shipped } = deps;
    const rules = (await rulesInForce(tx, shipped, at)).of(state);
    const today = at.toISOString().slice(0, 10);
    const change = accepted(readTypedChange(typed, { rules, classes: shipped.classes, today }));
    const { sourceUrl, effectiveOn } = change;
    const id = newUuid();
    const text = rulesText(change.rules);
    const version = await insertChange(tx, { id, state, rules: text, sourceUrl, effectiveOn, requestedBy, at });
    if (version === undefined)
      throw new ServiceError(
        "conflict",
        `A change of the rules of ${state} waits already. It is confirmed or refused first.`,
      );
    const reason = `The rules of ${state}, version ${version}, wait to be confirmed`;
    await openTask(tx, { kind: "notary_rules", at, environment: "live", subject: id, reason });
    const detail = { state, version, sourceUrl, effectiveOn, rules: JSON.parse(text) as object };
    await tx.query(auditLine({ at, action: "notary_rules.requested", actor: operator.actor, detail }));
  });
}

/**
 * Confirms a change of a state's rules that another operator wrote. The change takes effect on its start date. Of two
 * concurrent decisions only one succeeds.
 * @throws ServiceError for a change that was already decided, and for the operator's own change. With
 * REFUND_APPROVAL=solo, the operator may confirm it after a new sign-in, an hour after writing it
 */
export async function confirmChange(deps: RuleChangeDeps, operator: Operator, which: WhichChange): Promise<void> {
  const by = requireKeeper(deps, operator);
  await deps.db.transaction(async (tx) => {
    const at = deps.clock();
    const change = await lockOpen(tx, which);
    const solo = requireSecondPerson(deps.refundApproval, operator, change, "change of rules", at);
    await end(tx, operator, change, { outcome: "confirmed", by, at, solo, note: null });
  });
}

/**
 * Rejects a change of a state's rules that another operator wrote, with a reason.
 * @throws ServiceError for the operator's own change, and for a change that was already decided
 */
export async function refuseChange(
  deps: RuleChangeDeps,
  operator: Operator,
  which: WhichChange,
  typed: string,
): Promise<void> {
  const by = requireKeeper(deps, operator);
  const note = requireText("note", typed);
  await deps.db.transaction(async (tx) => {
    const at = deps.clock();
    const change = await lockOpen(tx, which);
    requireRefusedByAnother(operator, change, "change of rules", at);
    await end(tx, operator, change, { outcome: "refused", by, at, solo: false, note });
  });
}

/**
 * Withdraws the operator's own change of a state's rules.
 * @throws ServiceError for another operator's change, and for a change that was already decided
 */
export async function withdrawChange(deps: RuleChangeDeps, operator: Operator, which: WhichChange): Promise<void> {
  const by = requireKeeper(deps, operator);
  await deps.db.transaction(async (tx) => {
    const change = await lockOpen(tx, which);
    if (change.requestedBy !== by)
      throw new ServiceError("conflict", "Only the person who wrote a change can withdraw it.");
    await end(tx, operator, change, { outcome: "withdrawn", by, at: deps.clock(), solo: false, note: null });
  });
}

async function lockOpen(tx: Tx, { state, id }: WhichChange): Promise<RuleChange> {
  const change = isUuid(id) ? await lockChange(tx, id) : undefined;
  if (change?.state !== state) throw new ServiceError("not_found", "No such change of rules.");
  const { outcome, decidedByName } = change;
  if (outcome !== "requested")
    throw new ServiceError(
      "conflict",
      `This change was ${outcome} before${decidedByName ? ` by ${decidedByName}` : ""}.`,
    );
  return change;
}

async function end(
  tx: Tx,
  { actor }: Operator,
  { id, state, version }: RuleChange,
  decision: ChangeDecision,
): Promise<void> {
  const { outcome, at, solo, note } = decision;
  await updateDecision(tx, id, decision);
  const task = { state: outcome === "withdrawn" ? "dropped" : "done", at, by: actor, outcome } as const;
  await closeTasks(tx, { kinds: ["notary_rules"], subject: id }, task);
  const detail = { state, version, ...(solo && { solo }), ...(note !== null && { note }) };
  await tx.query(auditLine({ at, action: `notary_rules.${outcome}`, actor, detail }));
}
