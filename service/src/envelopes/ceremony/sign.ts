import { createHash, randomBytes, randomInt } from "node:crypto";
import { canonicalJson, type JsonObject } from "@signsealship/evidence/manifest";
import { envelopeQueue, lockOrder } from "../../orders/orders.ts";
import { PdfRefusal } from "../../pdf/refusal.ts";
import { sql } from "../../platform/database/sql.ts";
import { isOutcomeUnknown } from "../../platform/database/sql-errors.ts";
import { ServiceError } from "../../platform/errors.ts";
import { enqueue } from "../../platform/jobs/jobs.ts";
import { completeSeal, createCmsSigner, hashTail } from "../../seals/seals.ts";
import { completeEnvelope } from "../lifecycle/complete.ts";
import type { EnvelopeDeps } from "../lifecycle/deps.ts";
import { issueLink } from "../lifecycle/links.ts";
import type { PreparedField } from "../pdf/fields.ts";
import { buildActIn, checkActIn } from "../pdf/tasks.ts";
import { findSigners, setEnvelopeStatus, whoseTurn } from "../records/envelope.ts";
import {
  type Document,
  findRevisions,
  insertRevision,
  readDocument,
  type StoredTail,
  storeTail,
} from "../records/revisions.ts";
import { appendToTrail } from "../records/trail.ts";
import { issueSignerCertificate, oneActKey } from "../signer-authority.ts";
import type { Link, SignOutcome, SignRequest } from "./ceremony.ts";
import { clientDetail } from "./client-detail.ts";
import { follow, type Linked, requireState } from "./links.ts";
import { requireMark, valuesOf } from "./sign-request.ts";
import type { Client } from "./view.ts";

const reason = "I agree to sign this electronically";
/** Tokens of public authorities take 4 to 6 KB. */
const tokenRoom = 6 * 1024;
/** How much longer than needed places may be: nobody is to know it beforehand. */
const spare = { reserve: 256, padding: 1024 };
const draws = 4;
/** The request itself completes the envelope; the job is for the case that it is cut off. */
const completedWithinMs = 30_000;

/** A signature that is made, and waits to be written down. */
type Made = {
  tail: StoredTail;
  /** The file with it. */
  bytes: number;
  sha256: string;
  number: number;
  at: Date;
  record: JsonObject;
  actSha256: string;
  timeStamp: { authority: string; at: string } | null;
};

/**
 * Signs the newest revision for a signer, with a key that is made for this one act.
 * @throws ServiceError when the signer can't sign now, or a field is missing
 */
export async function sign(deps: EnvelopeDeps, link: Link, request: SignRequest, client: Client): Promise<SignOutcome> {
  const { db, clock, blobs } = deps;
  requireMark(request.mark);
  const linked = await follow(db, link, clock());
  // A reply that got lost: what is asked for was done.
  if (linked.signer.signedAt !== null && linked.identified) {
    const completed = linked.envelope.outcome === "Completed";
    return { outcome: "signed", completed: completed || (await completeIfLast(deps, linked.envelope.id)) };
  }
  requireState(linked, "ready");
  if (linked.signer.consent === null) throw new ServiceError("conflict", "Agree to sign electronically first.");
  const document = await readDocument(deps, linked.envelope);
  if (document.revision !== request.revision) return { outcome: "again" };
  const made = await makeAct(deps, linked, document, request, client);
  let written = false;
  try {
    written = await writeAct(deps, link, linked, made);
  } catch (error) {
    if (!isOutcomeUnknown(error)) await blobs.discard(made.tail.blobKey);
    throw error;
  }
  if (!written) {
    await blobs.discard(made.tail.blobKey);
    return { outcome: "again" };
  }
  return { outcome: "signed", completed: await completeIfLast(deps, linked.envelope.id) };
}

async function completeIfLast(deps: EnvelopeDeps, envelopeId: number): Promise<boolean> {
  const signers = await findSigners(deps.db, envelopeId);
  if (!signers.every(({ signedAt }) => signedAt !== null)) return false;
  // What keeps the seal from being made now is no fault of the act: the job tries again.
  return completeEnvelope(deps, envelopeId).catch((error: Error) => {
    deps.log.error({ err: error }, "an envelope that everybody has signed could not be completed yet");
    return false;
  });
}

async function makeAct(
  deps: EnvelopeDeps,
  { envelope, signer }: Linked,
  document: Document,
  request: SignRequest,
  client: Client,
): Promise<Made> {
  const { workers, stamp, clock, signerAuthority, baseUrl } = deps;
  const at = wholeSeconds(clock());
  const own = envelope.fields.filter((field) => field.signer === signer.n);
  const [prepared] = await findRevisions(deps.db, envelope.id);
  if (!prepared) throw new Error("an envelope without a revision");
  const values = valuesOf(own, request, { name: signer.name, at });
  const record = actRecord({ envelope, signer, document, request, values, own, client, at });
  const actSha256 = createHash("sha256").update(canonicalJson(record)).digest("hex");
  const key = oneActKey();
  const chain = await issueSignerCertificate(signerAuthority, {
    name: signer.name,
    email: signer.email,
    publicKey: key.publicKey,
    statement: `${baseUrl}/v/envelope/${envelope.verifyCode}`,
    serialNumber: randomBytes(16),
    at: at.getTime(),
  });
  const cmsSigner = createCmsSigner({ key, chain });
  const needed = cmsSigner.maxLength(stamp ? tokenRoom : undefined);
  const tail = await buildActIn(workers, {
    holder: envelope.partnerId,
    bytes: document.bytes,
    input: {
      act: {
        fields: own,
        values,
        mark: request.mark,
        caption: `${at.toISOString().slice(0, 16).replace("T", " ")} UTC · ${signer.name} · ${actSha256.slice(0, 8)}`,
        signerName: signer.name,
        reason,
        at,
        actSha256,
      },
      docSha256: document.sha256,
      draws: Array.from({ length: draws }, () => ({
        reserve: needed + randomInt(spare.reserve),
        padding: randomInt(spare.padding),
      })),
    },
  }).catch(asRefusal);
  const hash = createHash("sha256").update(document.bytes);
  const open = hashTail(tail, hash, document.bytes.length);
  const signature = await cmsSigner.sign(open);
  const given = stamp && (await stamp(signature.signature));
  const timeStamp = given && given.token.length <= tokenRoom ? given : null;
  const complete = completeSeal(open, signature.cms(timeStamp?.token));
  const bytes = Buffer.concat([document.bytes, complete.tail]);
  await checkActIn(workers, {
    holder: envelope.partnerId,
    bytes,
    input: { leaf: chain[0].der, preparedBytes: prepared.bytes, at: clock() },
  }).catch(asRefusal);
  return {
    tail: await storeTail(deps, envelope.orderCode, complete.tail),
    bytes: bytes.length,
    sha256: complete.sealedSha256,
    number: document.revision + 1,
    at,
    record,
    actSha256,
    timeStamp: timeStamp && { authority: timeStamp.authority, at: timeStamp.genTime.toISOString() },
  };
}

function asRefusal(error: unknown): never {
  if (!(error instanceof PdfRefusal)) throw error;
  throw new ServiceError("conflict", "This document can't be signed as it is. Tell the firm that sent it.", {
    cause: error,
  });
}

/** Signatures say whole seconds (PDF 32000-1, 7.9.4), and what is recorded says the same. */
const wholeSeconds = (instant: Date): Date => new Date(Math.floor(instant.getTime() / 1000) * 1000);

type Acting = {
  envelope: Linked["envelope"];
  signer: Linked["signer"];
  document: Document;
  request: SignRequest;
  values: ReadonlyMap<string, string>;
  own: readonly PreparedField[];
  client: Client;
  at: Date;
};

/** What the act was: its SHA-256 as canonical JSON stands in the signature dictionary. */
function actRecord({ envelope, signer, document, request, values, own, client, at }: Acting): JsonObject {
  const { consent } = signer;
  const { mark } = request;
  return {
    at: at.toISOString(),
    client: clientDetail(client),
    consent: consent && { ...consent },
    envelope: envelope.verifyCode,
    identifiedBy: signer.auth === "link" ? ["link mailed to the address"] : ["link mailed to the address", signer.auth],
    keyHeldBy: "service",
    mark: mark.kind === "typed" ? { kind: "typed", text: mark.text } : { kind: "drawn" },
    orderCode: envelope.orderCode,
    revision: { bytes: document.bytes.length, number: document.revision, sha256: document.sha256 },
    signer: { email: signer.email, n: signer.n, name: signer.name },
    values: own.flatMap(({ name, kind }) => {
      const value = values.get(name);
      return value === undefined ? [] : [{ field: name, kind, value }];
    }),
  };
}

/** @returns false when another signer was faster: then nothing is written */
async function writeAct(
  deps: EnvelopeDeps,
  link: Link,
  { envelope: { id, orderCode } }: Linked,
  made: Made,
): Promise<boolean> {
  const { db, rowMac, clock } = deps;
  return db.transaction(async (tx) => {
    const order = await lockOrder(tx, orderCode);
    const linked = await follow(tx, link, clock(), true);
    requireState(linked, "ready");
    const { envelope, signer } = linked;
    const head = (await findRevisions(tx, id)).at(-1);
    if (!order || head?.number !== made.number - 1) return false;
    const { at, number, bytes, sha256 } = made;
    await insertRevision(tx, envelope, { number, signer: signer.n, bytes, sha256, createdAt: at }, made.tail);
    await tx.query(sql`UPDATE envelope_signers SET signed_at = ${at} WHERE id = ${signer.id}`);
    await appendToTrail(tx, rowMac, envelope, "signed", clock(), {
      act: made.record,
      actSha256: made.actSha256,
      revision: { bytes, number, sha256 },
      signer: signer.n,
      timeStamp: made.timeStamp,
    });
    await setEnvelopeStatus(tx, order.id, "PartiallySigned", at);
    const left = whoseTurn(await findSigners(tx, id));
    if (left.length === 0) {
      await enqueue(tx, envelopeQueue, { orderId: order.id }, new Date(Date.now() + completedWithinMs));
    }
    for (const next of left)
      if (next.issuedAt === null) await issueLink(tx, deps, envelope, next, { at: clock(), actor: "system" });
    return true;
  });
}
