import { auditLine } from "../../../kernel/audit/audit.ts";
import { dayMs } from "../../../kernel/platform/clock.ts";
import { columnCipher } from "../../../kernel/platform/column-cipher.ts";
import type { Tx } from "../../../kernel/platform/database/database.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import { newUuid } from "../../../kernel/platform/ids.ts";
import { enqueueAfter, type Jobs } from "../../../kernel/platform/jobs/jobs.ts";
import type { SecretBytes } from "../../../kernel/platform/secrets.ts";
import type { CredentialResult, Providers } from "../../../providers/providers.ts";
import { orderOfId } from "../desk/orders.ts";
import {
  concludeCheck,
  type IdentityDeps,
  isOpen,
  kindsOf,
  type LockedCheck,
  lockOpenCheck,
  meansFor,
  type OpenedCheck,
  openCheck,
} from "./checks.ts";
import {
  endProof,
  findCheck,
  findProof,
  forgetProof,
  foundColumn,
  insertProof,
  lockCheck,
  type Proof,
  type ProofKind,
  proofOfReference,
  setProof,
} from "./store.ts";

/** The most tries of a credential in a check, because each costs money. */
const mostCredentials = 4;
/** After this many faces that did not match, no other try is allowed. */
const mostMismatches = 2;

const lookQueue = "identity-look";
const forgetQueue = "identity-forget";
/** If no event arrives, the provider is asked after these pauses, and then daily while the link is valid. */
const lookPausesMs = [2, 10, 60, 360, 1080].map((minutes) => minutes * 60_000);
/** How long a provider's findings are stored after the start of the check. */
const keptMs = 30 * dayMs;
const againMs = 7 * dayMs;

const unavailable = (what: string) => new ServiceError("unavailable", `${what} are not available now.`);

/**
 * Begins the check of the person's credential, or continues a check that was begun.
 * @returns the URL of the provider's page
 * @throws ServiceError `conflict` for a check that is passed or had too many attempts, `unavailable` when the provider
 * can't be reached
 */
export async function beginCredential(deps: IdentityDeps, token: string): Promise<string> {
  const { desk, proofing } = deps;
  const found = await openCheck(deps, token);
  if (!proofing || !meansFor(deps, found.order.environment).credentials) throw unavailable("Checks of credentials");
  // Asks for the earlier try's result first, because a refused credential may be shown again in the same session.
  const before = triesOf(found.proofs, "credential").find(({ state }) => state === "begun");
  if (before) await lookAtCredential(deps, before.id);
  const proof = await desk.db.transaction(async (tx) => begun(tx, await lockOpenCheck(deps, tx, found)));
  let { reference } = proof;
  if (reference === null) {
    const comparesFaces = found.check.needs.includes("biometric");
    // The link itself is a credential that the provider must not see.
    const returnTo = `${desk.baseUrl}/identity/back`;
    ({ reference } = await proofing.begin({ id: proof.id, comparesFaces, returnTo }));
    const known = reference;
    await desk.db.transaction(async (tx) => {
      await lockCheck(tx, found.check.id);
      await setProof(tx, proof.id, { reference: known });
      await enqueueAfter(tx, lookQueue, { proofId: proof.id }, lookPausesMs[0] ?? 0);
      await enqueueAfter(tx, forgetQueue, { proofId: proof.id }, keptMs);
    });
  }
  const page = await proofing.page(reference);
  if (page === null) throw new ServiceError("conflict", "The provider is looking at what you showed. Wait a minute.");
  return page;

  async function begun(tx: Tx, { check, proofs, at, order }: LockedCheck) {
    const tries = triesOf(proofs, "credential");
    requireOpenKind({ check, proofs }, "credential");
    const open = tries.find(({ state }) => state === "begun");
    if (open) return open;
    if (tries.length >= mostCredentials)
      throw new ServiceError("conflict", "The credential was tried too often. Ask the notary for another way.");
    const id = newUuid();
    const proof = { id, checkId: check.id, kind: "credential", attempt: tries.length + 1 } as const;
    await insertProof(tx, { ...proof, provider: "stripe_identity", begunAt: at });
    const { orderId, partnerId } = order;
    const detail = { checkId: check.id, proofId: id, kind: "credential" };
    await tx.query(auditLine({ at, action: "identity.begun", actor: "signer", partnerId, orderId, detail }));
    return { id, reference: null as string | null };
  }
}

export const triesOf = (proofs: readonly Proof[], kind: ProofKind): Proof[] =>
  proofs.filter((proof) => proof.kind === kind);

function requireOpenKind({ check, proofs }: Pick<OpenedCheck, "check" | "proofs">, kind: ProofKind): void {
  if (!kindsOf(check).includes(kind)) throw new ServiceError("not_found", "This check does not ask for that.");
  if (triesOf(proofs, kind).some(({ state }) => state === "passed"))
    throw new ServiceError("conflict", "You have passed this part already.");
}

/** Asks the provider for the result of a try, and stores it once. @returns false while the check is in progress */
export async function lookAtCredential(deps: IdentityDeps, proofId: string): Promise<boolean> {
  const { desk, proofing } = deps;
  const proof = await findProof(desk.db, proofId);
  if (proof?.state !== "begun" || proof.reference === null || !proofing) return true;
  const result = await proofing.look(proof.reference, proof.id);
  if (result === null) return false;
  const check = await findCheck(desk.db, proof.checkId);
  const waiting = check && isOpen(check, desk.clock()) ? await orderOfId(desk, check.orderId) : undefined;
  // The order has moved on, so the provider's findings no longer matter.
  if (!check || !waiting) return true;
  await desk.db.transaction(async (tx) => {
    const locked = await lockOpenCheck(deps, tx, { check, order: waiting });
    const still = locked.proofs.find(({ id }) => id === proofId);
    if (still?.state !== "begun") return;
    const { at, order } = locked;
    const content = cipherOf(deps.secrets).encrypt(Buffer.from(JSON.stringify(result)), proofId);
    await endProof(tx, proofId, { state: result.outcome, at, content });
    const { orderId, partnerId } = order;
    const { outcome, why } = result;
    const detail = { checkId: locked.check.id, proofId, kind: "credential", outcome, why };
    await tx.query(auditLine({ at, action: "identity.proof", actor: "identity-check", partnerId, orderId, detail }));
    const failures = triesOf(locked.proofs, "credential").filter(({ state }) => state === "failed").length;
    const isLast = outcome === "failed" && (result.isFinal || failures + 1 >= mostMismatches);
    await concludeCheck(deps, tx, locked, isLast);
  });
  return true;
}

const cipherOf = (secrets: SecretBytes) => columnCipher(secrets, foundColumn);

/** The provider's findings about a credential; null before there are any, and after they were deleted. */
export const resultOf = (
  secrets: SecretBytes,
  { id, content }: Pick<Proof, "id" | "content">,
): CredentialResult | null =>
  content === null ? null : (JSON.parse(cipherOf(secrets).decrypt(content, id).toString()) as CredentialResult);

type Look = { proofId: string; looks?: number };

/** Handles events of the provider, polls about checks whose event did not arrive, and deletes old findings. */
export function identityJobs(jobs: Jobs, providers: Providers, deps: IdentityDeps): void {
  const { db } = deps.desk;
  providers.onEvent("stripe_identity", async ({ type, objectId }) => {
    if (!type.startsWith("identity.verification_session.")) return "irrelevant";
    const proof = await proofOfReference(db, "stripe_identity", objectId);
    if (!proof) return "unknown";
    if (proof.state !== "begun") return "known";
    // Asks the provider, because an event may be late, repeated or out of order.
    await lookAtCredential(deps, proof.id);
    return "applied";
  });
  jobs.work<Look>(lookQueue, async ({ proofId, looks = 0 }) => {
    const isDone = await lookAtCredential(deps, proofId);
    if (isDone) return;
    const pause = lookPausesMs[looks + 1] ?? dayMs;
    await enqueueAfter(db, lookQueue, { proofId, looks: looks + 1 }, pause);
  });
  jobs.work<{ proofId: string }>(forgetQueue, ({ proofId }) => forget(deps, proofId));
}

/** Deletes findings at the provider and here, unless the order still waits for the notary. */
async function forget({ desk, proofing }: IdentityDeps, proofId: string): Promise<void> {
  const proof = await findProof(desk.db, proofId);
  const check = proof && (await findCheck(desk.db, proof.checkId));
  if (!check || proof.reference === null) return;
  if (await orderOfId(desk, check.orderId)) return enqueueAfter(desk.db, forgetQueue, { proofId }, againMs);
  // Without the account the request is impossible, so the job fails visibly and is kept.
  if (!proofing) throw unavailable("Checks of credentials");
  await proofing.forget(proof.reference);
  await desk.db.transaction(async (tx) => {
    await lockCheck(tx, proof.checkId);
    await forgetProof(tx, proofId, desk.clock());
  });
}
