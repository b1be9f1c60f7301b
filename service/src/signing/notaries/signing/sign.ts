import { createHash } from "node:crypto";
import {
  assembleCms,
  drawLengths,
  hashTail,
  maxCmsLength,
  type Stamp,
  signedAttributesOf,
  usualTokenBytes,
  verifySignedAttributes,
} from "../../../evidence/seals/seals.ts";
import { type Operator, requirePasskeyOf } from "../../../firms/operators/operators.ts";
import { wholeSeconds } from "../../../kernel/pdf/edit.ts";
import { invalid, ServiceError } from "../../../kernel/platform/errors.ts";
import type { Random } from "../../../kernel/platform/random.ts";
import { runOr, type Task, type Workers } from "../../../kernel/platform/workers/task.ts";
import { notaryBlockOf } from "../../envelopes/envelopes.ts";
import { type Act, isOnPaper } from "../acts/act.ts";
import { findSignature, keepPrepared, keepSigned } from "../acts/signatures.ts";
import { type Claimed, claimedOrder, type DeskDeps } from "../claims/claims.ts";
import { currentSha256, withDocument } from "../claims/documents.ts";
import { sealFor } from "../commissions/seals.ts";
import {
  type Confirming,
  completeAct,
  type DeskReport,
  hashOf,
  readyAct,
  recordOf,
  reportOn,
  requireMode,
  type Unconfirmed,
  type Upload,
} from "../desk/complete.ts";
import { roomOfAct } from "../sheets/room.ts";
import { linesOf } from "./block.ts";
import type { NotaryOutput, NotaryRevision } from "./build-task.ts";
import { chainOf, nameWarning } from "./own-certificate.ts";

/** The dependencies that the notary's own signature needs in addition to those of the desk. */
export type NotarySigningDeps = {
  desk: DeskDeps;
  workers: Workers;
  /** Requests a time stamp. Null when no time-stamping authority is configured. */
  stamp: Stamp | null;
  random: Pick<Random, "below">;
};

const building: Task<NotaryRevision, NotaryOutput> = {
  name: "build a notary's revision",
  module: import.meta.resolve("./build-task.ts"),
  limitMs: 30_000,
};

/** A revision without its signature. The notary's key, which signs it, is in the browser or at a trust service. */
export type PreparedSignature = {
  /** The bytes to append to the document that the notary received. */
  tail: Buffer;
  contentsStart: number;
  contentsEnd: number;
  /** The DER encoding of the signed attributes (a SET OF), which the notary's key signs. */
  signedAttrs: Uint8Array;
  givenSha256: string;
  actSha256: string;
  /**
   * The canonical JSON of the act. The signature contains its hash. Before the browser signs, it compares this hash
   * with the text.
   */
  record: string;
  /** The lines of the block, which the notary sees before signing. */
  lines: string[];
  isVisible: boolean;
  hasSeal: boolean;
  /** Warnings that the notary must read before signing. */
  warnings: string[];
};

/**
 * Prepares the revision that the notary signs on this service's page: a block with the act, and the signature over the
 * whole file.
 * @param der the certificate of the key, which is in the browser or at a trust service
 * @throws ServiceError naming the error in the certificate or the act
 */
export async function prepareSignature(
  { desk, workers, stamp, random }: NotarySigningDeps,
  operator: Operator,
  code: string,
  der: Uint8Array,
): Promise<PreparedSignature> {
  const claimed = await claimedOrder(desk, operator, code);
  const act = await readyAct(desk, claimed, false);
  requireElectronic(claimed, act);
  const { notary, order } = claimed;
  const at = wholeSeconds(desk.clock());
  const chain = chainOf(claimed.notary, der, at);
  const lines = await linesOf(desk.db, claimed, act);
  const seal = await sealFor(desk.db, notary);
  const needed = maxCmsLength(chain, stamp ? usualTokenBytes : undefined);
  const actSha256 = hashOf(act);
  const block = await blockFor(desk, order);
  const revision = {
    lines,
    seal,
    block,
    name: notary.commissionName,
    reason: "Notarization",
    location: `${act.venue.county}, ${act.venue.state}`,
    at,
    actSha256,
    draws: drawLengths(random, needed),
  };
  return withDocument(desk, order, async ({ sha256, bytes }) => {
    const { tail: built, isVisible } = await build(workers, order.partnerId, bytes, { ...revision, docSha256: sha256 });
    const tail = Buffer.from(built.tail);
    const place = hashTail({ ...built, tail }, createHash("sha256").update(bytes), bytes.length);
    const signedAttrs = signedAttributesOf({ chain, place });
    const { contentsStart, contentsEnd } = built;
    const prepared = { givenSha256: sha256, actSha256, tail, contentsStart, contentsEnd };
    const toStore = { ...prepared, certificate: Buffer.from(der), signedAttrs: Buffer.from(signedAttrs) };
    await keepPrepared(desk.db, keyOf(claimed), toStore, desk.clock());
    const warnings = nameWarning(chain[0], notary);
    if (!isVisible) warnings.push("No blank place was found: the signature shows nothing on the pages.");
    return { ...prepared, signedAttrs, record: recordOf(act), lines, isVisible, hasSeal: seal !== null, warnings };
  });
}

/**
 * Builds the revision that the notary signs.
 * @throws ServiceError `conflict` for a document that can't be signed here
 */
async function build(workers: Workers, holder: string, bytes: Buffer, input: NotaryRevision) {
  const built = await runOr(workers, building, { holder, bytes, input }, () => ({
    refused: "reading it takes too long",
  }));
  if (!("refused" in built)) return built;
  throw new ServiceError(
    "conflict",
    `This document can’t be signed in the page: ${built.refused}. Sign it in your own software.`,
  );
}

/**
 * Completes the prepared revision with the notary's signature, and with a time stamp if the service can get one. The
 * document is sealed later, when the notary has confirmed the report.
 * @throws ServiceError `validation` for a signature that doesn't match; `conflict` when the revision is signed already,
 * was prepared again, or has too little space for changed certificates; otherwise as `chainOf` and `waitingSignature`
 */
export async function completeSignature(
  { desk, stamp }: NotarySigningDeps,
  operator: Operator,
  code: string,
  signature: Uint8Array,
): Promise<void> {
  const claimed = await claimedOrder(desk, operator, code);
  const prepared = await waitingSignature(desk, claimed);
  if (prepared.isSigned) throw new ServiceError("conflict", "It is signed already.");
  const chain = chainOf(claimed.notary, prepared.certificate, desk.clock());
  const { signedAttrs, contentsStart, contentsEnd } = prepared;
  const value = verifySignedAttributes({ chain, signedAttrs, signature });
  if (value === null)
    throw invalid("The signature does not match this document and your certificate’s key. Sign again.");
  const stamped = stamp && (await stamp(value));
  const token = stamped && stamped.token.length <= usualTokenBytes ? { token: stamped.token } : {};
  const cms = assembleCms({ chain, signedAttrs, signature, ...token });
  if (2 * cms.length > contentsEnd - contentsStart - 2)
    throw new ServiceError("conflict", "Your certificates were changed meanwhile. Sign again.");
  const tail = Buffer.from(prepared.tail);
  tail.write(Buffer.from(cms).toString("hex"), contentsStart + 1, "latin1");
  if (!(await keepSigned(desk.db, keyOf(claimed), signedAttrs, tail)))
    throw new ServiceError("conflict", "It was prepared again, or signed, meanwhile. Reload the page.");
}

/**
 * The verifier's report on the file that was signed on this service's page. It has the same members as the report on an
 * upload.
 * @throws ServiceError `conflict` before the notary has signed; otherwise as `waitingSignature` and `reportOn`
 */
export async function reportOnSigned(desk: DeskDeps, claimed: Claimed): Promise<DeskReport> {
  return reportOn(desk, claimed, await signedFile(desk, claimed));
}

/**
 * Ends the act with the file that was signed on this service's page, as `completeAct` does with an upload. A notary who
 * has a passkey must use it, because the certificate file may be stored on a shared device.
 * @throws ServiceError `conflict` before the notary has signed; otherwise as `requirePasskeyOf` and `completeAct`
 */
export async function completeWithSigned(
  desk: DeskDeps,
  operator: Operator,
  code: string,
  confirmed: Confirming,
): Promise<Unconfirmed | null> {
  if (operator.session?.proof.hasPasskey) requirePasskeyOf(operator, desk.clock());
  const file = await signedFile(desk, await claimedOrder(desk, operator, code));
  return completeAct(desk, operator, code, file, confirmed);
}

/**
 * Assembles the file that the notary signed. The memory that is reserved for reading the document is released before
 * this function returns. Sealing reserves memory as well, and could wait forever for memory that is still held.
 */
async function signedFile(desk: DeskDeps, claimed: Claimed): Promise<Upload> {
  const { act, ...prepared } = await waitingSignature(desk, claimed);
  if (!prepared.isSigned) throw new ServiceError("conflict", "Nothing was signed in the page yet.");
  const { order } = claimed;
  const drawnLines = (await blockFor(desk, order)) ? await linesOf(desk.db, claimed, act) : [];
  const bytes = await withDocument(desk, order, async (document) => Buffer.concat([document.bytes, prepared.tail]));
  return { bytes, drawnLines };
}

const blockFor = async ({ db }: DeskDeps, { orderId }: Claimed["order"]) =>
  notaryBlockOf(db, orderId, await roomOfAct(db, orderId));

const keyOf = ({ order, notary }: Claimed) => ({ taskId: order.taskId, notaryId: notary.id });

/**
 * The prepared revision that the notary must still sign or confirm, with its act.
 * @throws ServiceError `conflict` when the act or the document has changed since the preparation, and when the revision
 * has expired
 */
export async function waitingSignature(desk: DeskDeps, claimed: Claimed) {
  const prepared = await findSignature(desk.db, keyOf(claimed), desk.clock());
  if (!prepared)
    throw new ServiceError("conflict", "Nothing waits for your signature. Open your certificate file again.");
  const act = await readyAct(desk, claimed);
  const sha256Now = await currentSha256(desk.db, claimed.order.orderId);
  if (hashOf(act) !== prepared.actSha256 || sha256Now !== prepared.givenSha256)
    throw new ServiceError("conflict", "The act or the document was changed meanwhile. Sign again.");
  return { ...prepared, act };
}

function requireElectronic(claimed: Claimed, act: Act): void {
  requireMode(claimed, act);
  if (isOnPaper(act.mode)) throw invalid("An act in ink is signed on paper. Upload a scan of it.");
}
