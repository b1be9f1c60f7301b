import { sealReasons } from "@signsealship/evidence/seal";
import { perform, sealAndStore } from "../../fulfilment/fulfilment.ts";
import type { Operator } from "../../operators/operators.ts";
import { lockOrder } from "../../orders/orders.ts";
import { isOutcomeUnknown } from "../../platform/database/sql-errors.ts";
import { invalid, ServiceError } from "../../platform/errors.ts";
import { type Task, tooCostly } from "../../platform/workers/task.ts";
import type { Act } from "../acts/act.ts";
import { appendEntry } from "../acts/journal.ts";
import { certificateDer } from "../commissions/certificate.ts";
import type { UploadReport, UploadRules } from "../uploads/check.ts";
import { type Claimed, claimedOrder, type DeskDeps } from "./desk.ts";
import { documentToNotarize } from "./documents.ts";
import { deleteDraft, findDraft, waitingOrder } from "./orders.ts";

const checking: Task<UploadRules, UploadReport> = {
  name: "check a notary's upload",
  module: import.meta.resolve("../uploads/check-task.ts"),
  limitMs: 30_000,
};

/** The act that the notary noted, which everything else waits for. @throws ServiceError `conflict` without one */
export async function actOf(deps: DeskDeps, { order, notary }: Claimed): Promise<Act> {
  const draft = await findDraft(deps.db, order.taskId, notary.id);
  if (!draft?.act) throw new ServiceError("conflict", "Note the act first: its form is the entry of your journal.");
  return draft.act as Act;
}

/** What the verifier says of an upload. Nothing of it is stored. @throws ServiceError */
export async function reportOn(deps: DeskDeps, claimed: Claimed, bytes: Buffer): Promise<UploadReport> {
  const { notary, order, eligibility } = claimed;
  const act = await actOf(deps, claimed);
  const given = await documentToNotarize(deps, order);
  const input: UploadRules = {
    revision: { bytes: given.bytes.length, sha256: given.sha256 },
    certificate: notary.certificate === null ? null : certificateDer(notary.certificate),
    mayBePaper: act.mode === "ink" || act.mode === "rin",
    sentences: eligibility.rules.sentences[act.mode]?.value ?? [],
    tsaRoots: deps.tsaRoots,
    at: deps.clock(),
  };
  return deps.workers.run(checking, { holder: order.partnerId, bytes, input }).catch((error: unknown) => {
    if (!tooCostly(error)) throw error;
    throw invalid("The document takes too long to read.");
  });
}

/** What a notary says of an upload that was looked at. */
export type Confirmation = {
  /** Of the upload that the report was about. */
  sha256: string;
  /** Whether what the report warns of was confirmed. */
  warnings: boolean;
};

/**
 * Ends an act: checks the upload again, seals it, and writes journal and move in one transaction.
 * @throws ServiceError naming the check that failed, or that another file was confirmed
 */
export async function completeAct(
  deps: DeskDeps,
  operator: Operator,
  code: string,
  bytes: Buffer,
  confirmed: Confirmation,
): Promise<void> {
  const claimed = await claimedOrder(deps, operator, code);
  const { notary, order } = claimed;
  const act = await actOf(deps, claimed);
  requireMode(claimed, act);
  const report = await reportOn(deps, claimed, bytes);
  if (report.sha256 !== confirmed.sha256) throw invalid("This is another file than the one that was checked.");
  requireAccepted(report, confirmed.warnings);
  const given = await documentToNotarize(deps, order);
  const reason = sealReasons.notarized[order.environment];
  const of = { orderCode: order.code, partnerId: order.partnerId, on: "notarized" } as const;
  const document = await sealAndStore(deps, bytes, reason, of);
  await deps.db
    .transaction(async (tx) => {
      const locked = await lockOrder(tx, code);
      const still = await waitingOrder(tx, operator.environment, code);
      if (!locked || still?.taskId !== order.taskId || still.claimedBy !== operator.actor)
        throw new ServiceError("conflict", "The order is not in your hands any more.");
      const at = deps.clock();
      const { environment, orderId } = order;
      const warned = report.checks.filter(({ state }) => state === "warns").map(({ name }) => name);
      const { sha256: uploadedSha256, isPaper } = report;
      const about = {
        givenSha256: given.sha256,
        uploadedSha256,
        notarizedSha256: document.sha256,
        isPaper,
        confirmed: warned,
      };
      const frame = { journal: notary.id, notary, orderCode: code, environment, at, orderId };
      await appendEntry(tx, deps.rowMac, frame, { kind: "act", act, document: about });
      await perform(tx, locked, "notarized", { document }, { actor: operator.actor, at, log: deps.log });
      await deleteDraft(tx, order.taskId);
    })
    .catch(async (error) => {
      if (!isOutcomeUnknown(error)) await deps.blobs.discard(document.blobKey);
      throw error;
    });
}

/** @throws ServiceError when the notary may not act in the mode any more */
export function requireMode({ eligibility, notary }: Claimed, act: Pick<Act, "mode" | "act" | "venue">): void {
  const { modes, obstacles, rules } = eligibility;
  if (!modes.includes(act.mode)) throw invalid(`mode is not open to you for this order. ${obstacles.join(" ")}`.trim());
  if (!rules.acts.value.includes(act.act))
    throw invalid(`act must be one that is offered in ${notary.state}: ${rules.acts.value.join(", ")}.`);
  if (act.venue.state !== notary.state)
    throw invalid(`venue_state must be ${notary.state}: a notary acts where the commission counts.`);
}

/** @throws ServiceError naming what failed, or what was not confirmed */
function requireAccepted({ checks }: UploadReport, confirmed: boolean): void {
  const failed = checks.filter(({ state }) => state === "fails");
  if (failed.length > 0) throw invalid(failed.map(({ name, why }) => `${name}: ${why}`).join(" "));
  const warned = checks.filter(({ state }) => state === "warns");
  if (warned.length > 0 && !confirmed)
    throw invalid(`Confirm what the check warns of: ${warned.map(({ name }) => name).join(", ")}.`);
}
