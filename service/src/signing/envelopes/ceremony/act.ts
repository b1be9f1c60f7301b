import { hash } from "node:crypto";
import { canonicalJson, type JsonObject } from "@signsealship/evidence/manifest";
import type { Certificate } from "@signsealship/evidence/x509";
import {
  assembleCms,
  completeSeal,
  drawLengths,
  hashTail,
  maxCmsLength,
  type Stamp,
  signedAttributesOf,
  type TimeStamp,
  usualTokenBytes,
  verifySignedAttributes,
} from "../../../evidence/seals/seals.ts";
import { wholeSeconds } from "../../../kernel/pdf/edit.ts";
import { PdfRefusal } from "../../../kernel/pdf/refusal.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import type { Random } from "../../../kernel/platform/random.ts";
import { zoneOf } from "../../../orders/payments/payments.ts";
import { ownFields } from "../pdf/fields.ts";
import { buildActIn, checkActIn } from "../pdf/tasks.ts";
import type { EnvelopeDeps } from "../records/deps.ts";
import { cachedDocuments, type Document, type EnvelopeOf, type StoredTail, storeTail } from "../records/revisions.ts";
import type { SignerCertificates } from "../revocation.ts";
import { actRecord, type KeyHolder } from "./act-record.ts";
import type { SignRequest } from "./ceremony.ts";
import type { Linked } from "./links.ts";
import { referencedFields, requireSignable } from "./referenced-fields.ts";
import { requireOwnAct } from "./require-own-act.ts";
import { valuesOf } from "./sign-request.ts";
import type { Client } from "./view.ts";

const reason = "I agree to sign this electronically";

/** An act whose signature is still missing. All data that the signature covers is final. */
export type OpenAct = {
  /** The number of the revision to which this act is appended. */
  readonly revision: number;
  readonly tail: Buffer;
  /**
   * The offsets of the signature value, with its angle brackets, within `tail`. The bytes of `tail` are appended to the
   * document.
   */
  readonly contentsStart: number;
  readonly contentsEnd: number;
  readonly byteRange: readonly [0, number, number, number];
  /** DER of the SET OF signed attributes. The signer's key signs these bytes. */
  readonly signedAttrs: Uint8Array;
  readonly chain: readonly [Certificate, ...Certificate[]];
  /** The act's record. The signature dictionary contains the SHA-256 of its canonical JSON. */
  readonly record: JsonObject;
  readonly actSha256: string;
  /** The time of the act, in whole seconds. */
  readonly at: Date;
};

/** A signed revision that is stored, but not yet recorded in the database. */
export type StoredAct = {
  tail: StoredTail;
  number: number;
  /** The length in bytes of the whole file, including this revision. */
  bytes: number;
  sha256: string;
  at: Date;
  record: JsonObject;
  actSha256: string;
  /**
   * The time stamp of the act; null if there is none. `tokenSha256` is the hex SHA-256 of the token's DER, because the
   * authority's URL alone does not identify the token.
   */
  timeStamp: { authority: string; at: string; tokenSha256: string } | null;
  /** The serial number of the signing key's certificate. */
  serialNumber: Uint8Array;
};

type ActDeps = Pick<EnvelopeDeps, "db" | "clock" | "blobs" | "rowMac" | "workers"> & {
  random: Random;
  certificates: SignerCertificates;
  /** Requests a time stamp. Null if no time-stamping authority is configured. */
  stamp: Stamp | null;
};

/**
 * Creates acts in three steps: open, stamp, close. The steps are separate because the signing key may be in the
 * signer's browser, and a time stamp can take seconds.
 */
export type Acts = {
  /**
   * Returns the newest revision of an envelope, and caches it for some time. The caller must have reserved memory for
   * it.
   * @throws the errors of `readDocument`
   */
  readonly document: (envelope: EnvelopeOf) => Promise<Document>;
  /**
   * Builds the revision of an act without its signature.
   * @throws ServiceError; Error when a field depends on the trail and the trail was altered
   */
  readonly open: (
    linked: Linked,
    document: Document,
    request: SignRequest,
    holder: KeyHolder,
    client: Client,
  ) => Promise<OpenAct>;
  /**
   * Requests a time stamp for a signature. The authority may be slow, so no document stays in memory while it answers.
   * @param signature ECDSA over the signed attributes: DER, or r and s as WebCrypto returns them
   * @throws ServiceError `validation` for a signature that is not over this act's attributes
   */
  readonly stamp: (act: OpenAct, signature: Uint8Array) => Promise<ActSignature>;
  /**
   * Inserts the signature into its act and stores the revision. Also runs the verifier on the whole file, and discards
   * the revision if the verifier rejects the file. Writes no rows.
   * @throws ServiceError `conflict` for a rejected file; Error if the act's record was altered since the act was
   * opened, or names another signer
   */
  readonly close: (linked: Linked, document: Document, act: OpenAct, signed: ActSignature) => Promise<StoredAct>;
};

export function openActs(deps: ActDeps): Acts {
  const read = cachedDocuments();
  return {
    document: (envelope) => read(deps, envelope),
    open: (...act) => openAct(deps, ...act),
    stamp: (act, signature) => stampAct(deps, act, signature),
    close: (...act) => closeAct(deps, ...act),
  };
}

async function openAct(
  deps: ActDeps,
  linked: Linked,
  document: Document,
  request: SignRequest,
  { publicKey, keyHeldBy }: KeyHolder,
  client: Client,
): Promise<OpenAct> {
  const { workers, stamp, clock, random, certificates } = deps;
  const { envelope, signer } = linked;
  const at = wholeSeconds(clock());
  const own = ownFields(envelope.fields, signer.n);
  const zone = await zoneOf(deps.db, envelope.partnerId);
  const filling = { name: signer.name, at, language: signer.language, zone };
  const { values, hidden } = valuesOf(own, request, filling, await referencedFields(deps, linked));
  await requireSignable(deps, linked, values);
  const record = actRecord({
    ...linked,
    document,
    request,
    values,
    hidden,
    own,
    client,
    at,
    keyHeldBy,
  });
  const actSha256 = hash("sha256", canonicalJson(record));
  const chain = await certificates.issue(envelope, { name: signer.name, publicKey, at });
  const needed = maxCmsLength(chain, stamp ? usualTokenBytes : undefined);
  const act = {
    fields: own,
    values,
    mark: request.mark,
    caption: `${at.toISOString().slice(0, 16).replace("T", " ")} UTC · ${signer.name} · ${actSha256.slice(0, 8)}`,
    signerName: signer.name,
    reason,
    at,
    actSha256,
  };
  const input = { act, docSha256: document.sha256, draws: drawLengths(random, needed) };
  const call = { holder: envelope.partnerId, bytes: document.bytes, input };
  const tail = await buildActIn(workers, call).catch(asRefusal);
  const place = hashTail(tail, document.hash, document.bytes.length);
  const signedAttrs = signedAttributesOf({ chain, place });
  return { ...tail, revision: document.revision, signedAttrs, chain, record, actSha256, at };
}

/**
 * The signature of an act, and its time stamp. `timeStamp` is null in three cases: no authority is configured, none
 * answered in time, or the token is too long for its place.
 */
type ActSignature = { readonly signature: Uint8Array; readonly timeStamp: TimeStamp | null };

async function stampAct({ stamp }: ActDeps, act: OpenAct, signature: Uint8Array): Promise<ActSignature> {
  const { chain, signedAttrs } = act;
  const value = verifySignedAttributes({ chain, signedAttrs, signature });
  if (value === null) throw new ServiceError("validation", "The signature does not verify. Reload the page.");
  const token = stamp && (await stamp(value));
  return { signature, timeStamp: token && token.token.length <= usualTokenBytes ? token : null };
}

async function closeAct(
  deps: ActDeps,
  linked: Linked,
  document: Document,
  open: OpenAct,
  { signature, timeStamp }: ActSignature,
): Promise<StoredAct> {
  requireOwnAct(open, linked);
  const { workers, clock } = deps;
  const { envelope } = linked;
  const { tail, contentsStart, contentsEnd, byteRange, signedAttrs, chain, ...act } = open;
  const token = timeStamp ? { token: timeStamp.token } : {};
  const place = hashTail({ tail, contentsStart, contentsEnd, byteRange }, document.hash, document.bytes.length);
  const complete = completeSeal(place, assembleCms({ chain, signedAttrs, signature, ...token }));
  const { actSha256 } = open;
  const { preparedBytes } = document;
  const fields = new Map(ownFields(envelope.fields, linked.signer.n).map(({ name, kind }) => [name, kind]));
  const input = {
    leaf: chain[0].der,
    actSha256,
    preparedBytes,
    documentBytes: document.bytes.length,
    fields,
    at: clock(),
  };
  const call = { holder: envelope.partnerId, bytes: [document.bytes, complete.tail], input };
  const [stored, checked] = await Promise.allSettled([
    storeTail(deps, envelope, complete.tail),
    checkActIn(workers, call),
  ]);
  if (stored.status === "rejected") throw stored.reason;
  if (checked.status === "rejected") {
    await deps.blobs.discard(stored.value.blobKey);
    return asRefusal(checked.reason);
  }
  return {
    tail: stored.value,
    number: document.revision + 1,
    bytes: document.bytes.length + complete.tail.length,
    sha256: complete.sealedSha256,
    at: act.at,
    record: act.record,
    actSha256: act.actSha256,
    timeStamp: timeStamp && {
      authority: timeStamp.authority,
      at: timeStamp.genTime.toISOString(),
      tokenSha256: hash("sha256", timeStamp.token),
    },
    serialNumber: chain[0].serialNumber,
  };
}

function asRefusal(error: unknown): never {
  if (!(error instanceof PdfRefusal)) throw error;
  throw new ServiceError("conflict", "This document can't be signed. Tell the firm that sent it.", {
    cause: error,
  });
}
