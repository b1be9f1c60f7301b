import { hourMs } from "../../../kernel/platform/clock.ts";
import type { CredentialResult } from "../../../providers/providers.ts";
import type { WaitingOrder } from "../desk/orders.ts";
import { type Sheet, sheetsOfOrder } from "../sheets/store.ts";
import { type IdentityDeps, isOpen, proofHours } from "./checks.ts";
import { resultOf } from "./proofs.ts";
import { checksOf, type IdentityCheck, type Proof, proofsOf } from "./store.ts";

/** The known facts about the identity of a person who is to appear. */
export type IdentityState = {
  /** The number of the person, counted from 1. */
  person: number;
  name: string;
  /** The person's latest check; null when none was requested. */
  check: IdentityCheck | null;
  proofs: (Proof & { result: CredentialResult | null })[];
  /** The name on the credential, if it differs from the name in the order. */
  otherName: string | null;
  /** Whether the check was passed too long ago for the notary to rely on it. */
  isTooOld: boolean;
};

/** The latest check of each person of an order, with its tries. */
export async function identitiesOf(deps: IdentityDeps, order: WaitingOrder): Promise<IdentityState[]> {
  const { db, clock } = deps.desk;
  const checks = await checksOf(db, order.orderId);
  const proofs = await proofsOf(
    db,
    checks.map(({ id }) => id),
  );
  const oldest = clock().getTime() - proofHours * hourMs;
  return order.signers.map(({ name }, index) => {
    const person = index + 1;
    const check = checks.findLast((each) => each.person === person) ?? null;
    const tries = proofs
      .filter(({ checkId }) => checkId === check?.id)
      .map((proof) => ({ ...proof, result: resultOf(deps.secrets, proof) }));
    const found = tries.findLast(({ result }) => result?.names)?.result?.names ?? null;
    const otherName = found !== null && !isSameName(found, name) ? found : null;
    const isTooOld = check?.state === "passed" && (check.endedAt?.getTime() ?? 0) < oldest;
    return { person, name, check, proofs: tries, otherName, isTooOld };
  });
}

/** Whether two names consist of the same words, ignoring word order, case and accents. */
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
