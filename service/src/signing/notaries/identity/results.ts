import { hourMs } from "../../../kernel/platform/clock.ts";
import type { Sql } from "../../../kernel/platform/database/database.ts";
import type { CredentialResult } from "../../../providers/providers.ts";
import type { WaitingOrder } from "../claims/orders.ts";
import { type Sheet, sheetsOfOrder } from "../sheets/store.ts";
import { type IdentityDeps, isOpen, proofHours } from "./checks.ts";
import { resultOf } from "./proofs.ts";
import { checksOf, type IdentityCheck, type Proof, proofsOf } from "./store.ts";

/** The state of the identity checks of a person who is to appear. */
export type IdentityState = {
  /** The number of the person, counted from 1. */
  person: number;
  name: string;
  /** The person's latest check; null when none was requested. */
  check: IdentityCheck | null;
  proofs: (Proof & { result: CredentialResult | null })[];
  /** The name on the credential, if it differs from the name in the order; otherwise null. */
  otherName: string | null;
  /** True if the person can still use the mailed link for the check. */
  isOpen: boolean;
  /** The reason why the notary can't rely on the check; null when the notary can. */
  problem: string | null;
};

/** The event of a run sheet (the record of an act's steps) that voids a signer's earlier identity checks. */
export const proofVoid = "proof_void";

/**
 * The detail of a `proof_void` event: the ids of the identity checks that were passed before it. Ids are used because
 * the clocks of two nodes may differ, so times can't be compared.
 */
export type VoidedChecks = { checks: string[] };

/**
 * True if a run sheet's event has voided this identity check. Events of a session that has ended still count in the
 * next session.
 */
export const isProofVoid = (
  sheets: readonly Pick<Sheet, "marks">[],
  { id, person, endedAt }: Pick<IdentityCheck, "id" | "person" | "endedAt">,
): boolean =>
  sheets
    .flatMap(({ marks }) => marks)
    .filter(({ kind, name }) => kind === "event" && name === proofVoid)
    .some(({ signer, at, detail }) => {
      if (detail !== null) return (detail as VoidedChecks).checks.includes(id);
      // Events of earlier releases name no checks, so their time decides.
      return (signer === null || signer === person) && Date.parse(at) >= (endedAt?.getTime() ?? 0);
    });

/**
 * The latest identity check of each person of an order, with its tries.
 * @param db the database, or a transaction. If the transaction has locked the order, the checks can't change until it
 * ends
 */
export async function identitiesOf(
  deps: IdentityDeps,
  order: WaitingOrder,
  db: Sql = deps.desk.db,
): Promise<IdentityState[]> {
  const { clock, rowMac } = deps.desk;
  const checks = await checksOf(db, order.orderId);
  const proofs = await proofsOf(
    db,
    checks.map(({ id }) => id),
  );
  const now = clock();
  const sheets = checks.length > 0 ? await sheetsOfOrder({ db, rowMac }, order.orderId) : [];
  return order.signers.map(({ name }, index) => {
    const person = index + 1;
    const check = checks.findLast((each) => each.person === person) ?? null;
    const tries = proofs
      .filter(({ checkId }) => checkId === check?.id)
      .map((proof) => ({ ...proof, result: resultOf(deps.secrets, proof) }));
    const found = tries.findLast(({ result }) => result?.names)?.result?.names ?? null;
    const otherName = found !== null && !isSameName(found, name) ? found : null;
    const state = { person, name, check, isOpen: check !== null && isOpen(check, now), proofs: tries, otherName };
    return { ...state, problem: problemOf(state, sheets, now) };
  });
}

function problemOf(
  { name, check, isOpen, proofs }: Omit<IdentityState, "problem">,
  sheets: readonly Sheet[],
  now: Date,
): string | null {
  if (check === null) return `${name} was not asked for an identity check.`;
  if (check.state === "failed") return `The identity check of ${name} failed for good.`;
  if (isOpen) {
    const last = proofs.findLast(({ state }) => state === "failed" || state === "inconclusive");
    const why = last?.result?.why?.replaceAll("_", " ");
    const tried =
      last && ` The last try ${last.state === "failed" ? "failed" : "was inconclusive"}${why ? `: ${why}` : ""}.`;
    return `${name} has not passed the identity check yet.${tried ?? ""}`;
  }
  if (check.state !== "passed") return `The identity check of ${name} expired before it was passed. Ask again.`;
  const passedAt = check.endedAt ?? new Date(0);
  if (isProofVoid(sheets, check))
    return `The identity check of ${name} is void: it was passed before an interruption, or with another browser. Ask again.`;
  if (passedAt.getTime() < now.getTime() - proofHours * hourMs)
    return `The identity check of ${name} was passed more than ${proofHours} hours ago. Ask again.`;
  return null;
}

/** True if two names consist of the same words, ignoring word order, case and accents. */
export const isSameName = (one: string, other: string): boolean => folded(one) === folded(other);

const folded = (name: string): string =>
  name
    .normalize("NFKD")
    .replaceAll(/\p{M}/gu, "")
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "")
    .toSorted()
    .join(" ");
