import { createHash } from "node:crypto";
import { canonicalJson, type JsonObject } from "@signsealship/evidence/manifest";
import { sealReasons } from "@signsealship/evidence/seal";
import type { Operator } from "../../../firms/operators/operators.ts";
import { orDiscard } from "../../../kernel/platform/blobs/blobs.ts";
import type { Tx } from "../../../kernel/platform/database/database.ts";
import { invalid, ServiceError } from "../../../kernel/platform/errors.ts";
import { perform, sealAndStore } from "../../../orders/fulfilment/fulfilment.ts";
import { type Act, isOnPaper } from "../acts/act.ts";
import { appendEntry } from "../acts/journal.ts";
import { deleteSignatures } from "../acts/signatures.ts";
import { type Claimed, claimedOrder, type DeskDeps, lockClaimed } from "../claims/claims.ts";
import { currentSha256, documentToNotarize, signedAgainOnPaper } from "../claims/documents.ts";
import { type Draft, deleteDraft, findDraft, lockDraft } from "../claims/orders.ts";
import { certificateDer } from "../commissions/certificate.ts";
import { inPersonObstacle } from "../in-person/in-person.ts";
import { recordingOfAct } from "../recordings/in-journal.ts";
import { requireTogether } from "../sessions/act.ts";
import type { SignedAct } from "../sessions/door.ts";
import { endWithSignature, requireReady } from "../sheets/room.ts";
import { openSheetOf } from "../sheets/store.ts";
import type { UploadReport } from "../uploads/check.ts";
import { actChecks, outsideOf, ruleFaults } from "./act-checks.ts";

/**
 * The act that the notary noted. All further steps require it.
 * @throws ServiceError `conflict` when none was noted
 */
function actIn(draft: Draft | undefined): Act {
  if (!draft?.act) throw new ServiceError("conflict", "Note the act first: its form is the entry of your journal.");
  return draft.act as Act;
}

/**
 * Returns the noted act. Requires that every step before the notary's signature is done.
 * @param mayHaveSigned false to reject a session in which the notary has already signed
 * @throws ServiceError `conflict` naming the missing step
 */
export async function readyAct(deps: DeskDeps, claimed: Claimed, mayHaveSigned = true): Promise<Act> {
  const { order, notary } = claimed;
  const act = actIn(await findDraft(deps.db, order.taskId, notary.id));
  const sheet = await openSheetOf(deps, order.taskId);
  requireReady(sheet, act, notary.id);
  if (!sheet) await signedAgainOnPaper(deps.db, claimed, act, act.signedBefore !== undefined);
  await requireTogether(deps.db, order.taskId, act, mayHaveSigned);
  return act;
}

/** Reads the two inputs for the check of an upload: the noted act, and the document that the notary received. */
async function premisesOf(deps: DeskDeps, claimed: Claimed) {
  return { act: await readyAct(deps, claimed), given: await documentToNotarize(deps, claimed.order) };
}

type Premises = Awaited<ReturnType<typeof premisesOf>>;

/** The report on an uploaded document. `actSha256` is the hash (`hashOf`) of the act for which the report was made. */
export type DeskReport = UploadReport & { actSha256: string };

/** Hex SHA-256 of the act’s canonical JSON. */
export const hashOf = (act: Act): string => createHash("sha256").update(recordOf(act)).digest("hex");

/** The canonical JSON of an act, as its journal entry contains it. */
export const recordOf = (act: Act): string => canonicalJson(act as unknown as JsonObject);

/**
 * A document that a notary signed. `drawnLines` are the lines of text that the service drew into a reserved block.
 * Empty without such a block, and when the notary signed with another tool.
 */
export type Upload = { bytes: Buffer; drawnLines: readonly string[] };

/**
 * The verifier's report on an upload, with warnings about the act. Stores nothing.
 * @throws ServiceError
 */
export async function reportOn(deps: DeskDeps, claimed: Claimed, upload: Upload): Promise<DeskReport> {
  return reportFrom(deps, claimed, await premisesOf(deps, claimed), upload);
}

async function reportFrom(
  deps: DeskDeps,
  { notary, order, eligibility }: Claimed,
  { act, given }: Premises,
  { bytes, drawnLines }: Upload,
): Promise<DeskReport> {
  const report = await deps.papers.checkUpload(order.partnerId, bytes, {
    revision: { bytes: given.file.length, sha256: given.sha256 },
    certificate: notary.certificate === null ? null : certificateDer(notary.certificate),
    mayBePaper: isOnPaper(act.mode),
    sentences: eligibility.rules.sentences[act.mode]?.value ?? [],
    drawnLines,
    at: deps.clock(),
  });
  const checks = [...report.checks, ...actChecks(act, report.stampedAt, eligibility)];
  return { ...report, checks, actSha256: hashOf(act) };
}

/** A notary's confirmation of the report on an upload. */
type Confirmation = {
  /** Hex SHA-256 of the uploaded file for which the confirmed report was made. */
  sha256: string;
  /** The hash (`hashOf`) of the act for which the confirmed report was made. */
  actSha256: string;
  /** The names of the checks whose warnings the notary confirmed. */
  warnings: readonly string[];
};

/**
 * A notary's confirmation of a report. `close`, if present, is called when the signed file has passed all checks; it
 * ends the recording of the act.
 */
export type Confirming = Confirmation & { close?: (signed: SignedAct) => Promise<void> };

/** A new report that differs from the confirmed one. `problem` names the differences in words. */
export type Unconfirmed = { report: DeskReport; problem: string };

/**
 * Ends an act: checks the upload again and seals it. Then one transaction writes the journal and changes the order's
 * status.
 * @returns null when the act is done. If the new report differs from the confirmed one, writes nothing and returns the
 * new report for review
 * @throws ServiceError naming the check that failed, or that another file was confirmed
 */
export async function completeAct(
  deps: DeskDeps,
  operator: Operator,
  code: string,
  upload: Upload,
  { close, ...confirmed }: Confirming,
): Promise<Unconfirmed | null> {
  const claimed = await claimedOrder(deps, operator, code);
  const premises = await premisesOf(deps, claimed);
  requireMode(claimed, premises.act);
  const report = await reportFrom(deps, claimed, premises, upload);
  if (report.sha256 !== confirmed.sha256) throw invalid("This is another file than the one that was checked.");
  const failed = report.checks.filter(({ state }) => state === "fails");
  if (failed.length > 0) throw invalid(failed.map(({ name, why }) => `${name}: ${why}`).join(" "));
  const problem = unconfirmed(report, confirmed);
  if (problem !== null) return { report, problem };
  await close?.({ sha256: report.sha256, actSha256: report.actSha256 });
  const { order } = claimed;
  const { code: orderCode, partnerId, environment } = order;
  const of = { orderCode, partnerId, environment, on: "notarized" } as const;
  const document = await sealAndStore(
    { ...deps, ...deps.papers },
    upload.bytes,
    sealReasons.notarized[environment],
    of,
  );
  await orDiscard(deps.blobs, document.blobKey, () =>
    deps.db.transaction((tx) => writeDown(tx, deps, operator, claimed, { ...premises, report, document })),
  );
  return null;
}

type Ended = Premises & { report: DeskReport; document: Awaited<ReturnType<typeof sealAndStore>> };

/**
 * Writes the completed act to the journal, and changes the order's status.
 * @throws ServiceError `conflict` when the act or the document has changed since the review
 */
async function writeDown(
  tx: Tx,
  deps: DeskDeps,
  operator: Operator,
  claimed: Claimed,
  { act, given, report, document }: Ended,
): Promise<void> {
  const now = await lockClaimed(tx, deps, operator, claimed);
  const { locked, notary, order, at } = now;
  requireMode(now, act);
  if (hashOf(actIn(await lockDraft(tx, order.taskId, notary.id))) !== report.actSha256)
    throw new ServiceError("conflict", "The act was changed meanwhile. Check the document again.");
  if ((await currentSha256(tx, order.orderId)) !== given.sha256)
    throw new ServiceError("conflict", "The order has another document meanwhile. Download and sign that one.");
  const about = {
    givenSha256: given.sha256,
    uploadedSha256: report.sha256,
    notarizedSha256: document.sha256,
    isPaper: report.isPaper,
    confirmed: warned(report),
  };
  const { environment, orderId, code: orderCode } = order;
  const frame = { journal: notary.id, notary, orderCode, environment, at, orderId, actor: operator.actor };
  const recording = await recordingOfAct(tx, act, deps.baseUrl);
  await appendEntry(tx, deps.rowMac, frame, { kind: "act", act, document: about, ...(recording && { recording }) });
  await requireTogether(tx, order.taskId, act);
  await endWithSignature(tx, deps.rowMac, { ...order, notaryId: notary.id }, act, { document, by: operator.actor, at });
  await perform(tx, locked, "notarized", { document }, { actor: operator.actor, at, log: deps.log });
  await deleteDraft(tx, order.taskId);
  await deleteSignatures(tx, order.taskId);
}

/**
 * Requires that the notary may perform this act for the order.
 * @throws ServiceError when the notary may not act in this mode, for this kind of act or in this U.S. state; when the
 * firm has not agreed to the mode; and when the commission was not valid during the act. For remote acts, also for a
 * fee above the state's limit, and for a missing fact about a principal
 */
export function requireMode(
  { eligibility, notary, inPerson }: Pick<Claimed, "eligibility" | "notary" | "inPerson">,
  act: Pick<Act, "mode" | "act" | "venue" | "startedAt" | "endedAt" | "feeCents" | "principals">,
): void {
  const { modes, obstacles, rules } = eligibility;
  if (!modes.includes(act.mode)) throw invalid(`mode is not open to you for this order. ${obstacles.join(" ")}`.trim());
  const obstacle = inPersonObstacle(act.mode, inPerson);
  if (obstacle !== null) throw new ServiceError("conflict", obstacle);
  if (!rules.acts.value.includes(act.act))
    throw invalid(`act must be one that is offered in ${notary.state}: ${rules.acts.value.join(", ")}.`);
  if (act.venue.state !== notary.state)
    throw invalid(`venue_state must be ${notary.state}: a notary acts where the commission counts.`);
  const outside = outsideOf(notary, act);
  if (outside !== null) throw invalid(outside);
  for (const [field, rule] of Object.entries(ruleFaults(act, rules))) throw invalid(`${field} ${rule}.`);
}

const warned = ({ checks }: DeskReport): string[] =>
  checks.filter(({ state }) => state === "warns").map(({ name }) => name);

/** Describes how a new report differs from the confirmed one. Null when they agree. */
function unconfirmed(report: DeskReport, { actSha256, warnings }: Confirmation): string | null {
  if (report.actSha256 !== actSha256) return "The act was changed since the document was checked. Look at it again.";
  const names = warned(report);
  if (names.length === warnings.length && names.every((name) => warnings.includes(name))) return null;
  return `Confirm what the check warns of now: ${names.join(", ") || "nothing"}.`;
}
