import { childrenOf, OID, onlyChildOf, readDer, readOctetString, readOid } from "@signsealship/evidence/asn1";
import { equalBytes, toHex } from "@signsealship/evidence/bytes";
import { actSha256In, fillsOwnFields } from "@signsealship/evidence/envelope";
import { changedSince, fieldName, fieldTexts, findSignatures, openUnlocked } from "@signsealship/evidence/pdf";
import type { PlacedField } from "./config.ts";

/** An act that the service prepared for the key of this browser. */
export type PreparedAct = {
  /** The bytes to be appended to the document that was shown. */
  readonly tail: Uint8Array;
  /** Where in it the signature's value goes. */
  readonly contentsStart: number;
  readonly contentsEnd: number;
  /** DER of the SET OF signed attributes (RFC 5652, section 5.4). */
  readonly signedAttrs: Uint8Array;
  /** The act's record, as canonical JSON: its SHA-256 is in the tail. */
  readonly record: string;
};

type Asked = {
  /** The document that was shown, whole. */
  readonly document: Uint8Array;
  /** The kinds of the signer's own fields, by their names. */
  readonly fields: ReadonlyMap<string, PlacedField["kind"]>;
  /** The labels of the options of radios, by the names of their fields. */
  readonly options: ReadonlyMap<string, string>;
  /** The values that were typed into the fields, by their names. */
  readonly values: ReadonlyMap<string, string>;
  /** The fields that a condition hides, by their names. */
  readonly hidden?: ReadonlySet<string>;
  /** How the signature looks, as the record says it: its members in the order of their names. */
  readonly mark: object;
};

/** The members of an act's record that are compared. */
type Said = {
  readonly keyHeldBy: string;
  readonly revision: { readonly sha256: string };
  readonly mark: object;
  readonly values: readonly {
    readonly field: string;
    readonly kind: string;
    readonly value: string;
    readonly option?: string;
  }[];
};

type File = Awaited<ReturnType<typeof openUnlocked>>;

/**
 * Whether an act is what the signer asked for: its attributes have the digest of the document that was shown with nothing but
 * the tail behind it, the tail fills in the signer's own fields and changes nothing else, the signature of the signer's own
 * field is the one that is prepared, and both those fields and the record whose digest it names say what was typed.
 */
export async function isWhatWasAsked(act: PreparedAct, asked: Asked): Promise<boolean> {
  const { document, mark } = asked;
  const { tail, contentsStart, contentsEnd, signedAttrs, record } = act;
  if (contentsStart < 0 || contentsEnd < contentsStart || contentsEnd > tail.length) return false;
  // Between its brackets is nothing yet: what is there is not signed.
  const gap = tail.subarray(contentsStart, contentsEnd);
  if (!/^<0*>$/.test(new TextDecoder("latin1").decode(gap))) return false;
  const signed = joined([document, tail.subarray(0, contentsStart), tail.subarray(contentsEnd)]);
  if (!equalBytes(messageDigestOf(signedAttrs), await sha256(signed))) return false;
  const file = await openUnlocked(joined([document, tail]));
  const texts = filledIn(asked, file);
  if (texts === null) return false;
  const actSha256 = toHex(await sha256(new TextEncoder().encode(record)));
  if (!isOwnSignature(file, act, asked, actSha256)) return false;
  const said = JSON.parse(record) as Said;
  if (said.keyHeldBy !== "browser") return false;
  if (said.revision.sha256 !== toHex(await sha256(document))) return false;
  if (JSON.stringify(said.mark) !== JSON.stringify(mark)) return false;
  return saysWhatWasTyped(said.values, texts, asked);
}

/**
 * The values of a document's fields with a tail behind it; null when the tail does more than filling in the signer's own
 * fields: judged as later changes of a signed document are.
 */
function filledIn({ document, fields }: Asked, file: File): ReadonlyMap<string, string | null> | null {
  const changed = changedSince(file, document.length);
  const isFilling = changed?.level === "forms" || changed?.level === "signatures";
  return isFilling && changed.fields.every((name) => fields.has(name)) && fillsOwnFields(file, document.length, fields)
    ? fieldTexts(file)
    : null;
}

/**
 * Whether one signature was added, as the value of one of the signer's own signature fields, and is the one that is prepared: it
 * states the record's hash and covers all but its own place. A reader finds a signature by its field, so text elsewhere in the
 * tail counts for nothing.
 */
function isOwnSignature(
  file: File,
  { contentsStart, contentsEnd }: PreparedAct,
  { document, fields }: Asked,
  actSha256: string,
): boolean {
  const added = findSignatures(file).filter(({ start }) => start === undefined || start >= document.length);
  const [signature, another] = added;
  const [titles, more] = signature?.fieldTitles ?? [];
  if (!signature || another || !titles || more || signature.start === undefined) return false;
  if (fields.get(fieldName(titles)) !== "signature") return false;
  const { dictionary } = signature;
  const { entries, repeated } = dictionary;
  const [contents, byteRange] = [entries.get("Contents"), entries.get("ByteRange")];
  const [from, to] = [document.length + contentsStart, document.length + contentsEnd];
  const place = [0, from, to, file.bytes.length - to];
  return (
    repeated.length === 0 &&
    contents?.kind === "string" &&
    contents.start === from &&
    contents.end === to &&
    byteRange?.kind === "array" &&
    byteRange.items.length === place.length &&
    byteRange.items.every((item, index) => item.kind === "number" && item.integer && item.value === place[index]) &&
    actSha256In(dictionary) === actSha256
  );
}

/** Whether the record names each own field that holds a text, once, as what it is and is called, with what was typed and what the file has. */
function saysWhatWasTyped(
  said: Said["values"],
  texts: ReadonlyMap<string, string | null>,
  { fields, options, values, hidden }: Asked,
): boolean {
  const own = [...fields].filter(([, kind]) => kind !== "signature" && kind !== "mark");
  const isKnown = [...values.keys()].every((name) => fields.has(name));
  return (
    isKnown &&
    said.length === own.length &&
    own.every(([name, kind]) => {
      const one = said.find(({ field }) => field === name);
      if (one?.kind !== kind || texts.get(name) !== one.value || one.option !== options.get(name)) return false;
      const nothing = kind === "checkbox" || kind === "radio" ? "Off" : "";
      if (hidden?.has(name)) return one.value === nothing;
      const typed = values.get(name) ?? nothing;
      if (kind === "number") return isSameNumber(one.value, typed);
      // The date is the service's, and so are the name and the initials of who left them empty.
      return one.value === typed || kind === "date" || (typed === "" && (kind === "name" || kind === "initials"));
    })
  );
}

/** The service groups the digits of a number, adds decimals, and names its currency: the number itself stays. */
function isSameNumber(written: string, typed: string): boolean {
  if (written === "" || typed === "") return written === typed;
  const [one, other] = [digitsOf(written), digitsOf(typed)];
  return one !== null && one === other;
}

function digitsOf(text: string): string | null {
  const found = /^(-?)\$?(\d[\d,]*)(?:\.(\d+))?(?: ?[A-Z]{3})?$/.exec(text);
  if (!found) return null;
  const [, sign = "", whole = "", fraction = ""] = found;
  // The service writes -0 as 0.
  return `${/[1-9]/.test(text) ? sign : ""}${whole.replaceAll(",", "").replace(/^0+(?=\d)/, "")}.${fraction.replace(/0+$/, "")}`;
}

/** The one digest that signed attributes name. @throws EvidenceError when the bytes are not attributes */
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
