import { equalBytes } from "@signsealship/evidence/bytes";
import { type ActFieldKind, actSha256In, fillsOwnFields } from "@signsealship/evidence/envelope";
import { EvidenceError } from "@signsealship/evidence/errors";
import { findSignatures, openUnlocked, withRanges } from "@signsealship/evidence/pdf";
import { verifySignatures } from "@signsealship/evidence/seal";
import { createNodeCrypto } from "@signsealship/verifier/node-crypto";

export type CheckActInput = {
  /** DER of the certificate that signed last. */
  readonly leaf: Uint8Array;
  /** Hex SHA-256 of the act's record: what the signature states, encrypted where the document's strings are. */
  readonly actSha256: string;
  /** Length of the file as it was prepared: what is signed beyond is ours. */
  readonly preparedBytes: number;
  /** Length of the document before the act. */
  readonly documentBytes: number;
  /** The signer's own fields, by their names. */
  readonly fields: ReadonlyMap<string, ActFieldKind>;
  readonly at: Date;
};

/**
 * The verifier, asked before an act counts as signed: it reads the very bytes that will be kept, with code that it does not
 * share with what signs. The last signature must cover all of the file, be by a key that signed no act before, fill in its signer's own
 * fields alone, and every act before it still hold.
 * @returns why it does not accept them; null when it does
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

/** The hash that the signature over the whole file states; null for none, or for several signatures over it. */
function statedAct(document: Opened): string | null {
  const [whole, another] = withRanges(document, findSignatures(document), "foreign").filter(
    ({ byteRange }) => byteRange.ok && byteRange.range.end === document.bytes.length,
  );
  return whole && !another ? actSha256In(whole.dictionary) : null;
}
