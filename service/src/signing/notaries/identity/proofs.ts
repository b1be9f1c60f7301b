import { auditLine } from "../../../kernel/audit/audit.ts";
import { dayMs, minuteMs } from "../../../kernel/platform/clock.ts";
import { columnCipher } from "../../../kernel/platform/column-cipher.ts";
import type { Tx } from "../../../kernel/platform/database/database.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import { newUuid } from "../../../kernel/platform/ids.ts";
import { enqueueAfter, type Jobs } from "../../../kernel/platform/jobs/jobs.ts";
import type { SecretBytes } from "../../../kernel/platform/secrets.ts";
import type { CredentialResult, Providers } from "../../../providers/providers.ts";
import { orderOfId } from "../claims/orders.ts";
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

/** The most tries of a credential in one check. The limit exists because each try costs money. */
const maxCredentials = 4;
/** After this many tries in which the face did not match, no further try is allowed. */
const maxMismatches = 2;

const lookQueue = "identity-look";
const forgetQueue = "identity-forget";
/**
 * The pauses before each poll of the provider's result if the provider sends no event. After these pauses, the service
 * polls daily while the link is valid.
 */
const lookPausesMs = [2, 10, 60, 360, 1080].map((minutes) => minutes * minuteMs);
/** A provider's findings are stored this long from the start of the try, or longer while the order still waits. */
const retentionMs = 30 * dayMs;
const againMs = 7 * dayMs;

const unavailable = (what: string) => new ServiceError("unavailable", `${what} are not available now.`);

/**
 * Begins a try of the person's credential, or continues the try that is in progress.
 * @returns the URL of the provider's page
 * @throws ServiceError `conflict` when the credential is already accepted, when no try is left, and while the provider
 * still examines the credential; `unavailable` when the provider can't be reached; otherwise as `lockOpenCheck`
 */
export async function beginCredential(deps: IdentityDeps, token: string): Promise<string> {
  const { desk, proofing } = deps;
  const found = await openCheck(deps, token);
  if (!proofing || !meansFor(deps, found.order.environment).credentials) throw unavailable("Checks of credentials");
  // Polls the result of an earlier try first. If the provider rejected that credential, the person may show another one
  // in the same session at the provider.
  const before = triesOf(found.proofs, "credential").find(({ state }) => state === "begun");
  if (before) await lookAtCredential(deps, before.id);
  const proof = await desk.db.transaction(async (tx) => openProof(tx, await lockOpenCheck(deps, tx, found)));
  let { reference } = proof;
  if (reference === null) {
    const comparesFaces = found.check.needs.includes("biometric");
    // The provider returns the person to a fixed URL, not to the person's link for the identity check. That link
    // contains an access token that the provider must not see.
    const returnTo = `${desk.baseUrl}/identity/back`;
    ({ reference } = await proofing.begin({ id: proof.id, comparesFaces, returnTo }));
    const startedReference = reference;
    await desk.db.transaction(async (tx) => {
      await lockCheck(tx, found.check.id);
      await setProof(tx, proof.id, { reference: startedReference });
      await enqueueAfter(tx, lookQueue, { proofId: proof.id }, lookPausesMs[0] ?? 0);
      await enqueueAfter(tx, forgetQueue, { proofId: proof.id }, retentionMs);
    });
  }
  const page = await proofing.page(reference);
  if (page === null) throw new ServiceError("conflict", "The provider is looking at what you showed. Wait a minute.");
  return page;

  async function openProof(tx: Tx, locked: LockedCheck) {
    const { check, proofs } = locked;
    const tries = triesOf(proofs, "credential");
    requireOpenKind({ check, proofs }, "credential");
    const open = tries.find(({ state }) => state === "begun");
    if (open) return open;
    if (tries.length >= maxCredentials)
      throw new ServiceError("conflict", "The credential was tried too often. Ask the notary for another way.");
    const id = await insertTry(tx, locked, {
      kind: "credential",
      attempt: tries.length + 1,
      provider: "stripe_identity",
    });
    return { id, reference: null as string | null };
  }
}

/**
 * Inserts a new try of the locked check.
 * @returns its id
 */
export async function insertTry(
  tx: Tx,
  { check, at, order: { orderId, partnerId } }: LockedCheck,
  asked: Pick<Proof, "kind" | "attempt" | "provider">,
): Promise<string> {
  const id = newUuid();
  await insertProof(tx, { id, checkId: check.id, begunAt: at, ...asked });
  const detail = { checkId: check.id, proofId: id, kind: asked.kind };
  await tx.query(auditLine({ at, action: "identity.begun", actor: "signer", partnerId, orderId, detail }));
  return id;
}

export const triesOf = (proofs: readonly Proof[], kind: ProofKind): Proof[] =>
  proofs.filter((proof) => proof.kind === kind);

function requireOpenKind({ check, proofs }: Pick<OpenedCheck, "check" | "proofs">, kind: ProofKind): void {
  if (!kindsOf(check).includes(kind)) throw new ServiceError("not_found", "This check does not ask for that.");
  if (triesOf(proofs, kind).some(({ state }) => state === "passed"))
    throw new ServiceError("conflict", "You have passed this part already.");
}

/**
 * Polls the result of a try at the provider, and stores it once.
 * @returns false while the provider has no result
 */
export async function lookAtCredential(deps: IdentityDeps, proofId: string): Promise<boolean> {
  const { desk, proofing } = deps;
  const proof = await findProof(desk.db, proofId);
  if (proof?.state !== "begun" || proof.reference === null || !proofing) return true;
  const result = await proofing.look(proof.reference, proof.id);
  if (result === null) return false;
  const check = await findCheck(desk.db, proof.checkId);
  const waiting = check && isOpen(check, desk.clock()) ? await orderOfId(desk, check.orderId) : undefined;
  // The check has ended, or the order no longer waits for a notary. So the provider's findings are not needed.
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
    const isLast = outcome === "failed" && (result.isFinal || failures + 1 >= maxMismatches);
    await concludeCheck(deps, tx, locked, isLast);
  });
  return true;
}

const cipherOf = (secrets: SecretBytes) => columnCipher(secrets, foundColumn);

/** The provider's findings about a credential. Null before the provider has any, and after their deletion. */
export const resultOf = (
  secrets: SecretBytes,
  { id, content }: Pick<Proof, "id" | "content">,
): CredentialResult | null =>
  content === null ? null : (JSON.parse(cipherOf(secrets).decrypt(content, id).toString()) as CredentialResult);

type Look = { proofId: string; looks?: number };

/** Handles the provider's events, polls results when no event arrives, and deletes old findings. */
export function identityJobs(jobs: Jobs, providers: Providers, deps: IdentityDeps): void {
  const { db } = deps.desk;
  providers.onEvent("stripe_identity", async ({ type, objectId }) => {
    if (!type.startsWith("identity.verification_session.")) return "irrelevant";
    const proof = await proofOfReference(db, "stripe_identity", objectId);
    if (!proof) return "unknown";
    if (proof.state !== "begun") return "known";
    // An event only means that something has changed: it may be late, repeated or out of order. So the service polls
    // the result.
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

/**
 * Deletes the findings at the provider and in the database. While the order still waits for the notary, the deletion is
 * postponed.
 */
async function forget({ desk, proofing }: IdentityDeps, proofId: string): Promise<void> {
  const proof = await findProof(desk.db, proofId);
  const check = proof && (await findCheck(desk.db, proof.checkId));
  if (!check || proof.reference === null) return;
  if (await orderOfId(desk, check.orderId)) return enqueueAfter(desk.db, forgetQueue, { proofId }, againMs);
  // Without this installation's account at the provider, the provider's findings can't be deleted. The job then fails,
  // so that the operator sees it.
  if (!proofing) throw unavailable("Checks of credentials");
  await proofing.forget(proof.reference);
  await desk.db.transaction(async (tx) => {
    await lockCheck(tx, proof.checkId);
    await forgetProof(tx, proofId, desk.clock());
  });
}
