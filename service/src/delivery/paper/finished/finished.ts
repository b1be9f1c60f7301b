import {
  type Operator,
  requirePasskeyOf,
  requirePermission,
  requireSecondPerson,
} from "../../../firms/operators/operators.ts";
import type { Owner } from "../../../kernel/identity/identity.ts";
import { countPagesIn } from "../../../kernel/pdf/pages/count-pages.ts";
import type { Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { invalid, ServiceError } from "../../../kernel/platform/errors.ts";
import { isPlainText } from "../../../kernel/platform/text.ts";
import { runOr, type Task } from "../../../kernel/platform/workers/task.ts";
import { claimantOf } from "../../../kernel/tasks/tasks.ts";
import { finishedTarget, type MoveDeps, moveOrder } from "../../../orders/fulfilment/fulfilment.ts";
import type { LockedOrder, OrderState } from "../../../orders/order/order.ts";
import {
  type EnvelopeDeps,
  type OrderDocument,
  orderDocuments,
  type SignedHere,
  signedHere,
  withOrderDocument,
} from "../../../signing/envelopes/envelopes.ts";
import { inPersonObstacle, inPersonOf } from "../../../signing/notaries/notaries.ts";
import { furthestOf } from "../paper-order.ts";
import type { FinishedCheck, FinishedReport, FinishedRules } from "./check.ts";
import { type ApprovalDeps, decideAcceptance, openAcceptance, requestAcceptance } from "./second-person.ts";

const checking: Task<FinishedRules, FinishedReport> = {
  name: "check a document that people finished",
  module: import.meta.resolve("./check-task.ts"),
  limitMs: 30_000,
};

/**
 * How a document can be finished outside the service: people sign it or notarize it, on paper or with other software.
 */
export const finishings = ["signed", "notarized"] as const;
export type Finishing = (typeof finishings)[number];

/** The facts that determine whether an order accepts a document that was finished outside the service. */
export type FinishedOrder = OrderState & Owner & { code: string };

export type FinishedDeps = { envelopes: EnvelopeDeps; tsaRoots: string };

export type FinishingDeps = { finished: FinishedDeps; moves: MoveDeps };

/**
 * Verifies a document that was finished outside the service, and returns a report. Stores nothing.
 * @throws ServiceError when the order's status doesn't allow such a document, reading it takes too long, or the order's
 * own document can't be read
 */
export async function reportOnFinished(
  deps: FinishedDeps,
  order: FinishedOrder,
  on: Finishing,
  bytes: Buffer,
): Promise<FinishedReport> {
  requireTurn(order, on);
  const { envelopes, tsaRoots } = deps;
  const { db, workers, clock } = envelopes;
  const found = furthestOf(await orderDocuments(envelopes, order.code, order));
  const input = { latest: { ...found, pages: await pagesOf(envelopes, order, found) }, tsaRoots, at: clock() };
  const report = await runOr(workers, checking, { holder: order.partnerId, bytes, input }, () => {
    throw invalid("The document takes too long to read.");
  });
  if (on === "notarized") return { ...report, checks: [...report.checks, await onlineCheck(db, order, report)] };
  const here = await signedHere(db, order.code);
  return here === null || here.signed === 0 ? report : { ...report, checks: [...report.checks, signedCheck(here)] };
}

/**
 * The check for an order with a paid online notarization. A scan of a notarization in ink passes only if the firm has
 * agreed to a notarization in person. The notary's page applies the same rule.
 */
async function onlineCheck(db: Sql, order: FinishedOrder, { isPaper }: FinishedReport): Promise<FinishedCheck> {
  const name = "online_bought";
  const inPerson = await inPersonOf(db, order.code, order);
  const obstacle = inPersonObstacle("ink", inPerson?.request ?? null);
  if (obstacle === null)
    return { name, state: "holds", why: "The firm has agreed to a notarization in person, in ink." };
  if (isPaper) return { name, state: "fails", why: obstacle };
  const why =
    "Online notarization was bought. A digital signature does not tell how people appeared: confirm that the act was not done in person, in ink.";
  return { name, state: "warns", why };
}

/**
 * The number of pages of an order's document.
 * @returns null when the document was deleted
 */
async function pagesOf(deps: EnvelopeDeps, order: FinishedOrder, { documentId, deletedAt }: OrderDocument) {
  if (deletedAt) return null;
  return withOrderDocument(deps, { orderCode: order.code, owner: order, documentId }, (bytes) =>
    countPagesIn(deps.workers, order.partnerId, bytes),
  );
}

const signedCheck = ({ signed, of }: SignedHere): FinishedCheck => ({
  name: "signed_here",
  state: signed === of ? "fails" : "warns",
  why:
    signed === of
      ? "Everybody has signed here: the sealed document is on its way."
      : `${signed} of ${of} have signed here. What they signed is not in this file, and is given up.`,
});

/** A person's confirmation of a report: the file's hash, how the document was finished, and the checks that warned. */
type FinishedConfirmation = { sha256: string; reason: string; warnings: readonly string[] };

/** A report that the person must confirm again, and the problem with the first confirmation. */
export type Unconfirmed = { report: FinishedReport; problem: string };

type Upload = { bytes: Buffer; confirmed: FinishedConfirmation };

/**
 * Seals and stores a document that was finished outside the service, and moves the order. A notarized document first
 * needs a second person's approval, unless a notary hands it in. A notary who got a role on the console within the last
 * day needs the approval, too.
 * @returns `sealed`; `asked` when the document waits for approval; the report to confirm again when nothing was stored
 * @throws ServiceError as `reportOnFinished`, for a failed check, and for a file other than the confirmed one. Also for
 * an operator without the permission or a recent passkey, and when signing or notarization has continued online
 */
export async function acceptFinished(
  deps: FinishingDeps,
  operator: Operator,
  order: FinishedOrder,
  on: Finishing,
  upload: Upload,
): Promise<Unconfirmed | "sealed" | "asked"> {
  const { moves } = deps;
  requirePermission(operator, ["documents.take_in"]);
  requirePasskeyOf(operator, moves.clock());
  const again = await requireConfirmed(deps.finished, order, on, upload);
  if (again) return again;
  const { sha256, reason, warnings } = upload.confirmed;
  const isEstablishedNotary = operator.roles.includes("notary") && (operator.decidesFrom ?? 0) <= moves.clock();
  if (on === "notarized" && !isEstablishedNotary) {
    const request = { sha256, reason: reason.trim(), warnings };
    await requestAcceptance(moves, operator, order.code, request, async (tx, locked) => {
      requireTurn(locked, on);
      await requireFree(tx, locked, on, operator.actor);
    });
    return "asked";
  }
  await sealFinished(moves, order, on, { bytes: upload.bytes, reason, actor: operator.actor });
  return "sealed";
}

/**
 * Approves a document that waits for a second person. The approver must submit the same file. Only one of two
 * concurrent approvals succeeds.
 * @throws ServiceError as `acceptFinished`, for a request that has ended, and for the operator's own request unless the
 * installation allows that
 */
export async function approveFinished(
  deps: FinishingDeps & { approval: ApprovalDeps },
  operator: Operator,
  order: FinishedOrder,
  bytes: Buffer,
): Promise<void> {
  const { moves, approval } = deps;
  requirePermission(operator, ["documents.take_in"]);
  requirePasskeyOf(operator, moves.clock());
  const request = await openAcceptance(moves.db, order.code);
  if (!request) throw new ServiceError("conflict", "Nothing waits here for a second person.");
  requireSecondPerson(approval.refundApproval, operator, request, "document to be taken in", moves.clock());
  const { sha256, reason, warnings } = request;
  const again = await requireConfirmed(deps.finished, order, "notarized", {
    bytes,
    confirmed: { sha256, reason, warnings },
  });
  if (again) throw new ServiceError("conflict", `${again.problem} Refuse this request, and ask again.`);
  await sealFinished(moves, order, "notarized", { bytes, reason, actor: operator.actor }, (tx) =>
    decideAcceptance(tx, { clock: moves.clock, ...approval }, operator, {
      orderCode: order.code,
      id: request.id,
      state: "approved",
    }),
  );
}

/**
 * Compares a person's confirmation with the report on the file.
 * @returns null when the confirmation is complete; otherwise the report, which the person must confirm again
 * @throws ServiceError for another file, for a check that fails, and as `reportOnFinished`
 */
async function requireConfirmed(
  deps: FinishedDeps,
  order: FinishedOrder,
  on: Finishing,
  { bytes, confirmed }: Upload,
): Promise<Unconfirmed | null> {
  const report = await reportOnFinished(deps, order, on, bytes);
  if (report.sha256 !== confirmed.sha256) throw invalid("This is another file than the one that was checked.");
  const failed = report.checks.filter(({ state }) => state === "fails");
  if (failed.length > 0) throw invalid(failed.map(({ name, why }) => `${name}: ${why}`).join(" "));
  const reason = confirmed.reason.trim();
  if (reason === "" || reason.length > 500 || !isPlainText(reason))
    return { report, problem: "How it was finished must have 1 to 500 characters of text." };
  const warned = report.checks.filter(({ state }) => state === "warns").map(({ name }) => name);
  if (warned.some((name) => !confirmed.warnings.includes(name)))
    return { report, problem: `Confirm what the check warns of: ${warned.join(", ")}.` };
  return null;
}

/**
 * Seals and stores the document, and moves the order.
 * @param also more work for the transaction that moves the order; the order is locked then
 */
async function sealFinished(
  moves: MoveDeps,
  order: FinishedOrder,
  on: Finishing,
  { bytes, reason, actor }: { bytes: Buffer; reason: string; actor: string },
  also: (tx: Tx) => Promise<void> = async () => {},
): Promise<void> {
  const facts = { reason: reason.trim() };
  const request = { code: order.code, to: requireTurn(order, on), actor, document: bytes, facts };
  const requireByHand: MoveDeps["requireByHand"] = async (tx, locked, event) => {
    await moves.requireByHand?.(tx, locked, event);
    await requireFree(tx, locked, on, actor);
    await also(tx);
  };
  await moveOrder({ ...moves, requireByHand }, request);
}

/**
 * Refuses the document if the order's signing or notarization has meanwhile continued online.
 * @throws ServiceError `conflict` when all signers have signed online, or another notary has claimed the order
 */
async function requireFree(tx: Tx, { id, code }: LockedOrder, on: Finishing, actor: string): Promise<void> {
  if (on === "signed") {
    const here = await signedHere(tx, code);
    if (here !== null && here.signed === here.of) throw new ServiceError("conflict", signedCheck(here).why);
    return;
  }
  const notary = await claimantOf(tx, id, "notarize");
  if (notary !== null && notary !== actor)
    throw new ServiceError("conflict", "A notary has claimed this order. Ask the notary to give it back first.");
}

/**
 * Requires that the order waits for a document that is signed or notarized (`on`) outside the service.
 * @returns the status to which the document moves the order
 * @throws ServiceError `conflict` when the order's status doesn't allow such a document
 */
function requireTurn(order: OrderState, on: Finishing): string {
  const to = finishedTarget(order, on);
  if (to === null)
    throw new ServiceError("conflict", `An order in ${order.status} waits for no document that was ${on}.`);
  return to;
}
