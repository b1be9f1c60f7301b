import { createHash, randomBytes } from "node:crypto";
import { createTypeset, openFaces } from "@signsealship/certificate";
import type { Certificate } from "@signsealship/evidence/x509";
import { makeRoot } from "../../../../src/evidence/seals/certificate/authority.ts";
import { assembleCms, maxCmsLength, signedAttributesOf } from "../../../../src/evidence/seals/cms/cms.ts";
import { completeSeal, hashTail } from "../../../../src/evidence/seals/pdf/seal-pdf.ts";
import type { Environment } from "../../../../src/kernel/identity/identity.ts";
import { buildAct } from "../../../../src/signing/envelopes/pdf/act.ts";
import {
  isButton,
  OFF,
  ownFields,
  type PlannedField,
  type PreparedField,
  type SignatureMark,
  textsOf,
} from "../../../../src/signing/envelopes/pdf/fields.ts";
import { prepareDocument } from "../../../../src/signing/envelopes/pdf/prepare.ts";
import {
  issueSignerCertificate,
  makeSignerAuthority,
  oneActKey,
} from "../../../../src/signing/envelopes/signer-authority.ts";
import { memoryKey, someInstant } from "../../../evidence/seals/signers.ts";

/**
 * One signer's act. Each key of `values` is the label of an option or a field, or the kind of a field without a label.
 */
export type Doing = { name: string; mark?: SignatureMark; values?: Record<string, string> };

const heldBy = (field: PreparedField, values: Record<string, string>): string =>
  [field.option, field.label, field.kind].map((key) => values[key ?? ""]).find((value) => value !== undefined) ??
  (isButton(field) ? OFF : "");

const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes);

/** The URL where the revocation of the certificates is published. */
export const crlPlace = "https://seal.example/seal/crl/0.crl";

/** Prepares and signs documents, with its own authority. */
export async function openSigning(environment: Environment = "live") {
  const faces = await openFaces();
  const typeset = createTypeset(faces);
  const made = { host: "seal.example", environment, at: someInstant };
  const issued: Certificate[] = [];
  const root = await makeRoot({ ...made, key: memoryKey("rsa"), serialNumber: randomBytes(16) });
  const issuing = { ...made, key: memoryKey("p-256"), serialNumber: randomBytes(16) };
  const authority = await makeSignerAuthority(root, issuing);

  /**
   * Prepares the act of a signer for a key. The caller signs `signedAttrs` with that key and passes the signature to
   * `close`. `publicKey` is a SubjectPublicKeyInfo in DER.
   */
  async function open(
    document: Buffer,
    fields: readonly PreparedField[],
    signer: number,
    { name, values = {}, mark = { kind: "typed", text: name } }: Doing,
    { publicKey, actSha256 = "0a1b2c3d".repeat(8) }: { publicKey: Uint8Array; actSha256?: string },
  ) {
    const own = ownFields(fields, signer);
    const caption = `2026-01-15 12:00 UTC · ${name} · ${actSha256.slice(0, 8)}`;
    for (const text of [name, caption, ...Object.values(values)]) await faces.prepare(text);
    if (mark.kind === "typed") await faces.prepare(mark.text);
    const chain = await issueSignerCertificate(authority, {
      name,
      environment,
      publicKey,
      statement: "https://seal.example/signers",
      crl: crlPlace,
      serialNumber: randomBytes(16),
      at: someInstant,
    });
    issued.push(chain[0]);
    const act = {
      fields: own,
      values: new Map(own.map((field) => [field.name, heldBy(field, values)])),
      mark,
      caption,
      signerName: name,
      reason: "I agree to sign this electronically",
      at: new Date(someInstant),
      actSha256,
      reserve: maxCmsLength(chain),
    };
    const hash = sha256(document);
    const place = hashTail(buildAct(document, hash.copy().digest("hex"), act, typeset), hash, document.length);
    const signedAttrs = signedAttributesOf({ chain, place });
    const { tail, contentsStart, contentsEnd } = place;
    return {
      act: { outcome: "prepared", tail, contentsStart, contentsEnd, signedAttrs } as const,
      /** The document with the signed act. */
      close: (signature: Uint8Array): Buffer =>
        Buffer.concat([document, completeSeal(place, assembleCms({ chain, signedAttrs, signature })).tail]),
    };
  }

  return {
    root,
    authority: authority.chain[0],
    issuer: authority,
    /** The certificates of the acts so far. */
    issued,
    /** A document with the fields of its signers. */
    async prepare(
      original: Buffer,
      planned: readonly PlannedField[],
      signers: readonly string[],
      { isNotarized = false } = {},
    ) {
      const page = { title: "Signatures", note: "Each signature below is in the document itself." };
      for (const text of [...signers, ...planned.flatMap(textsOf), page.title, page.note]) await faces.prepare(text);
      const docSha256 = sha256(original).digest("hex");
      const { tail, fields } = prepareDocument(
        original,
        { planned, signers: signers.length, page, docSha256, isNotarized },
        typeset,
      );
      return { bytes: Buffer.concat([original, tail]), fields };
    },
    /** The document with one more act. */
    async act(document: Buffer, fields: readonly PreparedField[], signer: number, doing: Doing): Promise<Buffer> {
      const key = oneActKey();
      const { act, close } = await open(document, fields, signer, doing, key);
      return close(await key.sign(act.signedAttrs));
    },
    open,
  };
}
