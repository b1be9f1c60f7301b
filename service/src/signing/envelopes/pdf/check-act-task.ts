import { equalBytes } from "@signsealship/evidence/bytes";
import { type ActFieldKind, actSha256In, fillsOwnFields } from "@signsealship/evidence/envelope";
import { EvidenceError } from "@signsealship/evidence/errors";
import { findSignatures, openUnlocked, withRanges } from "@signsealship/evidence/pdf";
import { verifySignatures } from "@signsealship/evidence/seal";
import { createNodeCrypto } from "@signsealship/verifier/node-crypto";

export type CheckActInput = {
  /** DER of the certificate of the latest signature. */
  readonly leaf: Uint8Array;
  /**
   * Hex SHA-256 of the act's record. The signature contains the hash. If the document encrypts its strings, the
   * signature contains the hash in encrypted form.
   */
  readonly actSha256: string;
  /** The length of the prepared file in bytes. Everything after it was added by this service. */
  readonly preparedBytes: number;
  /** The length in bytes of the document before this act. */
  readonly documentBytes: number;
  /** The signer's own fields, by name. */
  readonly fields: ReadonlyMap<string, ActFieldKind>;
  readonly at: Date;
};

/**
 * Verifies the whole file before an act counts as signed. The verifier reads the PDF with code of its own; it shares
 * only helpers with the signing, such as those for ASN.1 and certificates. The last signature must cover the whole file
 * and use a key that no earlier act used. It may fill in only its signer's own fields. All earlier acts must still be
 * valid.
 * @returns the reason why the verifier rejects the document; null when it accepts it
 */
export async function run(
  bytes: Buffer,
  { leaf, actSha256, preparedBytes, documentBytes, fields, at }: CheckActInput,
): Promise<string | null> {
  try {
    const all = await verifySignatures(bytes, [], at.getTime(), createNodeCrypto());
    const acts = all.filter(({ revisionEnd }) => revisionEnd !== null && revisionEnd > preparedBytes);
    const last = acts.at(-1);
    if (last?.revisionEnd !== bytes.length) return "no signature covers the whole file";
    if (!last.pades?.certificate || !equalBytes(last.pades.certificate.der, leaf)) return "it is another signer's";
    const { spki } = last.pades.certificate;
    if (acts.some((one) => one !== last && one.pades?.certificate && equalBytes(one.pades.certificate.spki, spki)))
      return "another signer signed with this key";
    const document = await openUnlocked(bytes);
    if (statedAct(document) !== actSha256) return "it states another act";
    if (!fillsOwnFields(document, documentBytes, fields)) return "it changes more than its own fields";
    const failed = acts.flatMap(({ claims }) => claims).find(({ state }) => state !== "holds");
    return failed?.why ?? null;
  } catch (error) {
    if (error instanceof EvidenceError) return error.message;
    throw error;
  }
}

type Opened = Awaited<ReturnType<typeof openUnlocked>>;

/**
 * The hash of the act's record, as the signature that covers the whole file states it. Null when no signature or
 * several signatures cover the whole file.
 */
function statedAct(document: Opened): string | null {
  const [whole, another] = withRanges(document, findSignatures(document), "foreign").filter(
    ({ byteRange }) => byteRange.ok && byteRange.range.end === document.bytes.length,
  );
  return whole && !another ? actSha256In(whole.dictionary) : null;
}
