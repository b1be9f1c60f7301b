import type { Operator } from "../../../firms/operators/operators.ts";
import { auditLine } from "../../../kernel/audit/audit.ts";
import { dayMs, hourMs } from "../../../kernel/platform/clock.ts";
import type { Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { invalid, ServiceError } from "../../../kernel/platform/errors.ts";
import { newUuid } from "../../../kernel/platform/ids.ts";
import { type SecretBytes, tokenSha256 } from "../../../kernel/platform/secrets.ts";
import { isCode, wholeNumberIn } from "../../../kernel/platform/text.ts";
import { perform } from "../../../orders/fulfilment/fulfilment.ts";
import { lockOrder } from "../../../orders/order/order.ts";
import type { IdentityProofing, KnowledgeQuiz } from "../../../providers/providers.ts";
import { claimedOrder, type DeskDeps, lockClaimed } from "../claims/claims.ts";
import { orderOfId, type WaitingOrder } from "../claims/orders.ts";
import { findNotary } from "../commissions/store.ts";
import { openAlternatives, type ProofMeans, proofingGap } from "../eligibility/online-rules.ts";
import type { Typed } from "../form-reader.ts";
import { identityMail } from "./mail.ts";
import {
  checkOfToken,
  checksOf,
  endCheck,
  expireCheck,
  failedQuizzes,
  type IdentityCheck,
  insertCheck,
  lockCheck,
  type Proof,
  type ProofKind,
  proofsOf,
  tokenUnder,
} from "./store.ts";

export type IdentityDeps = {
  desk: DeskDeps;
  secrets: SecretBytes;
  /** The provider that checks credentials; null when this installation has configured no account at the provider. */
  proofing: IdentityProofing | null;
  quiz: KnowledgeQuiz | null;
};

/** How long the link of a check is valid. */
const linkDays = 7;
/** How long a notary may rely on a passed check. */
export const proofHours = 24;
/** The most checks of one person for one order. The limit exists because each check costs money. */
const maxChecks = 5;

/** The types of proof that the service's providers offer for orders of an environment. */
export const meansFor = (
  { proofing, quiz }: Pick<IdentityDeps, "proofing" | "quiz">,
  environment: WaitingOrder["environment"],
): ProofMeans => ({
  credentials: proofing?.environment === environment,
  questions: quiz?.environment === environment,
});

export const kindsOf = ({ needs }: Pick<IdentityCheck, "needs">): ProofKind[] => [
  ...(needs.includes("credential_analysis") || needs.includes("biometric") ? (["credential"] as const) : []),
  ...(needs.includes("kba") ? (["questions"] as const) : []),
];

/**
 * Mails a person a link for proving their identity. The operator must be the notary who has claimed the order. If the
 * notary's state accepts several combinations of proofs, uses the first one that the providers offer.
 * @throws ServiceError `validation` if the order has no such person, or no provider offers a proof that the state's
 * rules need; `conflict` while another check of the person is open, after too many checks, and after too many failed
 * quizzes
 */
export async function askIdentity(deps: IdentityDeps, operator: Operator, code: string, typed: Typed): Promise<void> {
  const { desk, secrets } = deps;
  const claimed = await claimedOrder(desk, operator, code);
  const person = wholeNumberIn(typed["person"], 0, 99) ?? 0;
  await desk.db.transaction(async (tx) => {
    const { notary, order, at, eligibility } = await lockClaimed(tx, desk, operator, claimed);
    if (!order.signers[person - 1]) throw invalid("person must be the number of somebody who is to appear.");
    const { online } = eligibility.rules;
    const means = meansFor(deps, order.environment);
    const gap = proofingGap(online, means);
    const [needs] = openAlternatives(online, means);
    if (gap !== null || !needs) throw invalid(`No identity check is offered for ${notary.state}. ${gap ?? ""}`);
    const { orderId, partnerId, environment } = order;
    const quiz = needs.includes("kba") ? (online.kba?.value ?? null) : null;
    const about = { orderId, notaryId: notary.id, person };
    await requireMayAsk(tx, { ...about, partnerId }, at);
    if (quiz) await requireNotLocked(tx, about, { ...quiz, at });
    const id = newUuid();
    const expiresAt = new Date(at.getTime() + linkDays * dayMs);
    const sha256 = tokenSha256(tokenUnder(secrets, id));
    await insertCheck(tx, { id, ...about, needs, quiz, tokenSha256: sha256, askedAt: at, expiresAt });
    await identityMail.enqueue(tx, { checkId: id });
    const detail = { checkId: id, person, needs };
    await tx.query(
      auditLine({
        at,
        action: "identity.asked",
        actor: operator.actor,
        partnerId,
        orderId,
        detail: { ...detail, environment },
      }),
    );
  });
}

type About = Pick<IdentityCheck, "orderId" | "notaryId" | "person">;

async function requireMayAsk(
  tx: Tx,
  { orderId, person, partnerId }: About & { partnerId: string },
  at: Date,
): Promise<void> {
  const before = (await checksOf(tx, orderId)).filter((check) => check.person === person);
  if (before.length >= maxChecks)
    throw new ServiceError("conflict", `A person’s identity is checked at most ${maxChecks} times for an order.`);
  const open = before.find(({ state }) => state === "asked");
  if (!open) return;
  if (open.expiresAt > at) throw new ServiceError("conflict", "This person was asked already, and the link is open.");
  await expireCheck(tx, open, { partnerId, at });
}

/**
 * Requires that the person may try another quiz. After too many failed quizzes in this notary's checks, the person must
 * wait for the `hours` of the state's rules.
 * @throws ServiceError `conflict` during that wait
 */
async function requireNotLocked(
  tx: Tx,
  about: About,
  { retakes, hours, at }: { retakes: number; hours: number; at: Date },
): Promise<void> {
  const failed = await failedQuizzes(tx, about, new Date(at.getTime() - hours * hourMs));
  const last = failed.at(-1);
  if (!last || failed.length <= retakes) return;
  const until = new Date(last.getTime() + hours * hourMs).toISOString().slice(0, 16).replace("T", " ");
  throw new ServiceError(
    "conflict",
    `This person failed the questions ${failed.length} times. With you they are asked again from ${until} UTC on.`,
  );
}

/** A check of a person's identity, with its order and the person's tries (`proofs`). */
export type OpenedCheck = {
  check: IdentityCheck;
  proofs: Proof[];
  order: WaitingOrder;
  notaryName: string;
  /** The person who must prove their identity. */
  name: string;
};

/**
 * Finds the identity check of a link, even one that has ended.
 * @throws ServiceError `not_found` for an invalid link, and when the order no longer waits for a notary
 */
export async function openCheck({ desk }: IdentityDeps, token: string): Promise<OpenedCheck> {
  const check = isCode(token) ? await checkOfToken(desk.db, tokenSha256(token)) : undefined;
  if (!check) throw noCheck();
  return opened(desk, desk.db, check);
}

const noCheck = () => new ServiceError("not_found", "This link opens no identity check.");

async function opened({ rowMac }: DeskDeps, db: Sql, check: IdentityCheck): Promise<OpenedCheck> {
  // The queries run one after another, because a transaction has only one connection.
  const order = await orderOfId({ db, rowMac }, check.orderId);
  const notary = await findNotary(db, check.notaryId);
  const proofs = await proofsOf(db, [check.id]);
  const name = order?.signers[check.person - 1]?.name;
  if (!order || !notary || name === undefined) throw noCheck();
  return { check, proofs, order, notaryName: notary.commissionName, name };
}

/** True if a check still accepts proofs. */
export const isOpen = ({ state, expiresAt }: IdentityCheck, now: Date): boolean => state === "asked" && expiresAt > now;

/**
 * Locks the order and then the check, and reads both again after that.
 * @throws ServiceError `conflict` for a check that no longer accepts proofs, and when the order no longer waits for a
 * notary
 */
export async function lockOpenCheck(
  deps: IdentityDeps,
  tx: Tx,
  { check, order }: { check: Pick<IdentityCheck, "id">; order: Pick<WaitingOrder, "code"> },
) {
  const locked = await lockOrder(tx, order.code);
  const still = await lockCheck(tx, check.id);
  const at = deps.desk.clock();
  if (locked?.status !== "NotarizationPending" || !still || !isOpen(still, at))
    throw new ServiceError("conflict", "This identity check is closed.");
  return { locked, at, ...(await opened(deps.desk, tx, still)) };
}

export type LockedCheck = Awaited<ReturnType<typeof lockOpenCheck>>;

/**
 * Ends the check as passed when each type of proof is passed. If `failedForGood`, ends it as failed, and the order
 * becomes IdentityLocked. Must be called after each try that passed or failed.
 */
export async function concludeCheck(
  { desk }: IdentityDeps,
  tx: Tx,
  { check, locked, order, at }: LockedCheck,
  failedForGood: boolean,
): Promise<void> {
  const { id, person } = check;
  const proofs = await proofsOf(tx, [id]);
  const hasPassed = (kind: ProofKind) => proofs.some((proof) => proof.kind === kind && proof.state === "passed");
  const state = failedForGood ? "failed" : kindsOf(check).every(hasPassed) ? "passed" : null;
  if (state === null) return;
  await endCheck(tx, id, state, at);
  const { orderId, partnerId } = order;
  const line = {
    at,
    action: `identity.${state}`,
    actor: "signer",
    partnerId,
    orderId,
    detail: { checkId: id, person },
  };
  await tx.query(auditLine(line));
  if (state === "passed") return;
  const reason = `The identity check of person ${person} failed for good`;
  await perform(tx, locked, "identity_locked", { reason }, { actor: "identity-check", at, log: desk.log });
}
