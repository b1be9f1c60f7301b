import { hash } from "node:crypto";
import { canonicalJson, type JsonObject } from "@signsealship/evidence/manifest";
import type { Certificate } from "@signsealship/evidence/x509";
import {
  assembleCms,
  completeSeal,
  hashTail,
  maxCmsLength,
  signedAttributesOf,
  type TimeStamp,
  verifySignedAttributes,
} from "../../../evidence/seals/seals.ts";
import { PdfRefusal } from "../../../kernel/pdf/refusal.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import { ownFields, type PreparedField, type SignatureMark } from "../pdf/fields.ts";
import { buildActIn, checkActIn } from "../pdf/tasks.ts";
import type { EnvelopeDeps } from "../records/deps.ts";
import { type Document, type StoredTail, storeTail } from "../records/revisions.ts";
import { recordCertificate } from "../revocation.ts";
import { issueSignerCertificate } from "../signer-authority.ts";
import { endingOf } from "../texts/texts.ts";
import type { SignRequest } from "./ceremony.ts";
import { clientDetail } from "./client-detail.ts";
import { knownFields, requireSignable } from "./known-fields.ts";
import type { Linked } from "./links.ts";
import { requireOwnAct } from "./require-own-act.ts";
import { valuesOf } from "./sign-request.ts";
import type { Client } from "./view.ts";

const reason = "I agree to sign this electronically";
/** Tokens of public authorities take 4 to 6 KB. */
const tokenRoom = 6 * 1024;
/** How much longer than needed places may be: nobody is to know it beforehand. */
const spare = { reserve: 256, padding: 1024 };
const draws = 4;

/** Who holds the key of an act, and its public half: SubjectPublicKeyInfo of P-256, DER. */
export type KeyHolder = { readonly keyHeldBy: "service" | "browser"; readonly publicKey: Uint8Array };

/** An act that waits for its signature: all that is signed is settled. */
export type OpenAct = {
  /** Of the document that it follows. */
  readonly revision: number;
  readonly tail: Buffer;
  /** Where in the tail the signature value goes, with its brackets. */
  readonly contentsStart: number;
  readonly contentsEnd: number;
  readonly byteRange: readonly [0, number, number, number];
  /** DER of the SET OF signed attributes: what the key signs. */
  readonly signedAttrs: Uint8Array;
  readonly chain: readonly [Certificate, ...Certificate[]];
  /** The act's record; its SHA-256 as canonical JSON is in the signature dictionary. */
  readonly record: JsonObject;
  readonly actSha256: string;
  /** Whole seconds. */
  readonly at: Date;
};

/** A signed revision that lies in the store, and waits to be written down. */
export type MadeAct = {
  tail: StoredTail;
  number: number;
  /** Of the file with it. */
  bytes: number;
  sha256: string;
  at: Date;
  record: JsonObject;
  actSha256: string;
  /** `tokenSha256` is hex of the token's DER: the authority's URL alone would not tell which token it is. */
  timeStamp: { authority: string; at: string; tokenSha256: string } | null;
  /** Of the certificate of the key that signed. */
  serialNumber: Uint8Array;
};

/** Builds the revision of an act up to its signature. @throws ServiceError */
export async function openAct(
  deps: EnvelopeDeps,
  linked: Linked,
  document: Document,
  request: SignRequest,
  { publicKey, keyHeldBy }: KeyHolder,
  client: Client,
): Promise<OpenAct> {
  const { workers, stamp, clock, random, signerAuthorities, baseUrl } = deps;
  const { envelope, signer, embed, sitting, room } = linked;
  const at = wholeSeconds(clock());
  const own = ownFields(envelope.fields, signer.n);
  const filling = { name: signer.name, at, language: signer.language };
  const { values, hidden } = valuesOf(own, request, filling, await knownFields(deps, linked));
  await requireSignable(deps, linked, values);
  const record = actRecord({
    envelope,
    signer,
    embed,
    sitting,
    room,
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
  const authority = signerAuthorities[envelope.environment];
  const entry = await recordCertificate(deps, authority, at);
  const chain = await issueSignerCertificate(authority, {
    ...entry,
    name: signer.name,
    environment: envelope.environment,
    publicKey,
    statement: `${baseUrl}/v/envelope/${envelope.verifyCode}`,
    at: at.getTime(),
  });
  const needed = maxCmsLength(chain, stamp ? tokenRoom : undefined);
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
  const lengths = Array.from({ length: draws }, () => ({
    reserve: needed + random.below(spare.reserve),
    padding: random.below(spare.padding),
  }));
  const input = { act, docSha256: document.sha256, draws: lengths };
  const call = { holder: envelope.partnerId, bytes: document.bytes, input };
  const tail = await buildActIn(workers, call).catch(asRefusal);
  const place = hashTail(tail, document.hash, document.bytes.length);
  const signedAttrs = signedAttributesOf({ chain, place });
  return { ...tail, revision: document.revision, signedAttrs, chain, record, actSha256, at };
}

/** The signature of an act, and its time stamp where an authority gave one in time. */
export type ActSignature = { readonly signature: Uint8Array; readonly timeStamp: TimeStamp | null };

/**
 * Requests a time stamp for a signature: an authority may take its time, so nothing large is held meanwhile.
 * @param signature ECDSA over the signed attributes: DER, or r and s as WebCrypto gives them
 * @throws ServiceError `validation` for a signature that is not of this act
 */
export async function stampAct({ stamp }: EnvelopeDeps, act: OpenAct, signature: Uint8Array): Promise<ActSignature> {
  const { chain, signedAttrs } = act;
  const value = verifySignedAttributes({ chain, signedAttrs, signature });
  if (value === null) throw new ServiceError("validation", "The signature does not verify. Reload the page.");
  const given = stamp && (await stamp(value));
  return { signature, timeStamp: given && given.token.length <= tokenRoom ? given : null };
}

/**
 * Puts the signature into its act, stores the revision, and has the verifier judge the file as it will be kept: what it
 * does not accept is discarded, and no row ever names it.
 * @throws ServiceError; Error for an act that was altered while it waited
 */
export async function closeAct(
  deps: EnvelopeDeps,
  linked: Linked,
  document: Document,
  open: OpenAct,
  { signature, timeStamp }: ActSignature,
): Promise<MadeAct> {
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
  throw new ServiceError("conflict", "This document can't be signed as it is. Tell the firm that sent it.", {
    cause: error,
  });
}

/** Signatures say whole seconds (PDF 32000-1, 7.9.4), and what is recorded says the same. */
const wholeSeconds = (instant: Date): Date => new Date(Math.floor(instant.getTime() / 1000) * 1000);

/**
 * A mark as the record has it: of a drawing the hash of its strokes, of a picture the hashes of what its image and its mask hold,
 * so that anybody can compare.
 */
export function markRecord(mark: SignatureMark): JsonObject {
  if (mark.kind === "typed") return { kind: "typed", text: mark.text };
  const sha256 = (bytes: Uint8Array | string) => hash("sha256", bytes);
  if (mark.kind === "drawn") {
    const { height, strokes, width } = mark;
    // Members in the order of canonical JSON; the browser writes the same.
    return { kind: "drawn", sha256: sha256(JSON.stringify({ height, strokes, width })) };
  }
  const { width, height, rgb, alpha } = mark;
  return { height, kind: "uploaded", maskSha256: alpha && sha256(alpha), sha256: sha256(rgb), width };
}

type Acting = Pick<Linked, "envelope" | "signer" | "embed" | "sitting" | "room"> & {
  document: Document;
  request: SignRequest;
  values: ReadonlyMap<string, string>;
  hidden: ReadonlySet<string>;
  own: readonly PreparedField[];
  client: Client;
  at: Date;
  keyHeldBy: KeyHolder["keyHeldBy"];
};

const stepOf = ({ auth, phone }: Linked["signer"]): string =>
  auth === "text_code" ? `code by text message to a number ending ${endingOf(phone ?? "")}` : auth;

function actRecord(acting: Acting): JsonObject {
  const { envelope, signer, embed, sitting, room, document, request, values, hidden, own, client, at, keyHeldBy } =
    acting;
  const { mark } = request;
  const byNotary = room ? [room.presence] : null;
  const byLink = embed
    ? `page at ${embed.origin}, opened by the firm for the signer`
    : sitting
      ? `in person, on a device that ${sitting.host} of the firm handed over`
      : "link mailed to the address";
  return {
    at: at.toISOString(),
    ...(embed && { channel: "embedded", origin: embed.origin }),
    ...(sitting && { channel: "in_person", host: sitting.host }),
    ...(room && { channel: room.isRemote ? "by_audio_and_video" : "in_presence" }),
    client: clientDetail(client),
    consent: signer.consent && { ...signer.consent },
    envelope: envelope.verifyCode,
    identifiedBy: byNotary ?? (signer.auth === "link" ? [byLink] : [byLink, stepOf(signer)]),
    keyHeldBy,
    mark: markRecord(mark),
    orderCode: envelope.orderCode,
    revision: { bytes: document.bytes.length, number: document.revision, sha256: document.sha256 },
    signer: { email: signer.email, n: signer.n, name: signer.name },
    values: own.flatMap(({ name, kind, option, showWhen }) => {
      const value = values.get(name);
      if (value === undefined) return [];
      const notShown = hidden.has(name) && showWhen;
      const more = { ...(option !== undefined && { option }), ...(notShown && { notShown: { ...notShown } }) };
      return [{ field: name, kind, value, ...more }];
    }),
  };
}
