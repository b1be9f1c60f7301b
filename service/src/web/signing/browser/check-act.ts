import { childrenOf, OID, onlyChildOf, readDer, readOctetString, readOid } from "@signsealship/evidence/asn1";
import { equalBytes, toHex } from "@signsealship/evidence/bytes";
import { changedSince, openUnlocked } from "@signsealship/evidence/pdf";

/** An act that the service prepared for the key of this browser. */
export type PreparedAct = {
  /** What is to be appended to the document that was shown. */
  readonly tail: Uint8Array;
  /** Where in it the signature's value goes. */
  readonly contentsStart: number;
  readonly contentsEnd: number;
  /** DER of the SET OF signed attributes (RFC 5652, section 5.4). */
  readonly signedAttrs: Uint8Array;
  /** What the act is, as canonical JSON: its SHA-256 stands in the tail. */
  readonly record: string;
};

type Asked = {
  /** The document that was shown, whole. */
  readonly document: Uint8Array;
  /** The names of the signer's own fields. */
  readonly fields: ReadonlySet<string>;
  /** What was typed into the fields, by their names. */
  readonly values: ReadonlyMap<string, string>;
  /** How the signature looks, as the record says it: its members in the order of their names. */
  readonly mark: object;
};

/**
 * Whether an act is what the signer asked for: its attributes have the digest of the document that was shown with nothing but
 * the tail behind it, the tail fills in the signer's own fields and changes nothing else, and the record whose digest is in the
 * tail says what was typed.
 */
export async function isWhatWasAsked(act: PreparedAct, { document, fields, values, mark }: Asked): Promise<boolean> {
  const { tail, contentsStart, contentsEnd, signedAttrs, record } = act;
  if (contentsStart < 0 || contentsEnd < contentsStart || contentsEnd > tail.length) return false;
  // Between its brackets is nothing yet: what is there is not signed.
  const gap = tail.subarray(contentsStart, contentsEnd);
  if (!/^<0*>$/.test(new TextDecoder("latin1").decode(gap))) return false;
  const signed = joined([document, tail.subarray(0, contentsStart), tail.subarray(contentsEnd)]);
  if (!equalBytes(messageDigestOf(signedAttrs), await sha256(signed))) return false;
  if (!(await fillsIn(fields, document, tail))) return false;
  const actSha256 = toHex(await sha256(new TextEncoder().encode(record)));
  if (!new TextDecoder("latin1").decode(tail).includes(`/SSSActSha256<${actSha256}>`)) return false;
  const said = JSON.parse(record) as {
    keyHeldBy: string;
    revision: { sha256: string };
    mark: object;
    values: { field: string; kind: string; value: string }[];
  };
  if (said.keyHeldBy !== "browser") return false;
  if (said.revision.sha256 !== toHex(await sha256(document))) return false;
  if (JSON.stringify(said.mark) !== JSON.stringify(mark)) return false;
  return said.values.every(({ field, kind, value }) => {
    const asked = values.get(field);
    // What was left empty stays so, but for the name and the initials, which the service fills in.
    return asked === undefined || asked === value || (asked === "" && (kind === "name" || kind === "initials"));
  });
}

/** Whether a tail does no more than filling in some fields: judged as later changes of a signed document are. */
async function fillsIn(fields: ReadonlySet<string>, document: Uint8Array, tail: Uint8Array): Promise<boolean> {
  const changed = changedSince(await openUnlocked(joined([document, tail])), document.length);
  const isFilling = changed?.level === "forms" || changed?.level === "signatures";
  return isFilling && changed.fields.every((name) => fields.has(name));
}

/** The one digest that signed attributes name. @throws EvidenceError when they are no attributes */
function messageDigestOf(signedAttrs: Uint8Array): Uint8Array {
  const digests = childrenOf(readDer(signedAttrs)).flatMap((attribute) => {
    const [type, values] = childrenOf(attribute);
    return type && values && readOid(type) === OID.idMessageDigest ? [readOctetString(onlyChildOf(values))] : [];
  });
  const [digest, another] = digests;
  return digest && !another ? digest : new Uint8Array(0);
}

const sha256 = async (bytes: Uint8Array): Promise<Uint8Array> =>
  new Uint8Array(await crypto.subtle.digest("SHA-256", bytes as Uint8Array<ArrayBuffer>));

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const bytes of parts) {
    whole.set(bytes, at);
    at += bytes.length;
  }
  return whole;
}
