import { concatBytes, toHex } from "@signsealship/evidence/bytes";
import { actSha256In, fillsOwnFields } from "@signsealship/evidence/envelope";
import { changedSince, fieldName, fieldTexts, findSignatures, openUnlocked } from "@signsealship/evidence/pdf";
import { sha256 } from "../../ui/browser/bytes.ts";
import { coversRevision, type PreparedSignature } from "../../ui/browser/prepared-signature.ts";
import type { FieldOnPage } from "./config.ts";

export type PreparedAct = PreparedSignature & {
  /** The act's record (what the signer typed), as canonical JSON. The appended bytes contain its SHA-256. */
  readonly record: string;
};

type Asked = {
  /** The complete displayed document. */
  readonly document: Uint8Array;
  /** The kinds of the signer's own fields, keyed by field name. */
  readonly fields: ReadonlyMap<string, FieldOnPage["kind"]>;
  /** The label of each radio button, keyed by the button's field name. */
  readonly options: ReadonlyMap<string, string>;
  /** The typed values, keyed by field name. */
  readonly values: ReadonlyMap<string, string>;
  /** The names of the fields that a condition hides. */
  readonly hidden?: ReadonlySet<string>;
  /**
   * The signature's appearance. Its members must be in the same order as in the act's record, because both are compared
   * as JSON.
   */
  readonly mark: object;
};

/** The members of an act's record that `isWhatWasAsked` compares with the signer's request. */
type RecordedAct = {
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
 * True if a prepared act does exactly what the signer requested. The signed attributes must contain the digest of the
 * displayed document plus the tail. The tail may fill in only the signer's own fields, with the typed values. It must
 * add one signature, the prepared one, in a signature field of the signer. That signature must contain the record's
 * digest. The record must contain the typed values. The service itself may set dates, and a name or initials that the
 * signer left empty.
 */
export async function isWhatWasAsked(act: PreparedAct, asked: Asked): Promise<boolean> {
  const { document, mark } = asked;
  const { tail, record } = act;
  if (!(await coversRevision(document, act))) return false;
  const file = await openUnlocked(concatBytes([document, tail]));
  const texts = filledIn(asked, file);
  if (texts === null) return false;
  const actSha256 = toHex(await sha256(new TextEncoder().encode(record)));
  if (!isOwnSignature(file, act, asked, actSha256)) return false;
  const recorded = JSON.parse(record) as RecordedAct;
  if (recorded.keyHeldBy !== "browser") return false;
  if (recorded.revision.sha256 !== toHex(await sha256(document))) return false;
  if (JSON.stringify(recorded.mark) !== JSON.stringify(mark)) return false;
  return saysWhatWasTyped(recorded.values, texts, asked);
}

/**
 * The values of the document's fields after the tail is appended. Null if the tail changes anything except the signer's
 * own fields. Uses the verifier's rules for changes of a signed document.
 */
function filledIn({ document, fields }: Asked, file: File): ReadonlyMap<string, string | null> | null {
  const changed = changedSince(file, document.length);
  const isFilling = changed?.level === "forms" || changed?.level === "signatures";
  return isFilling && changed.fields.every((name) => fields.has(name)) && fillsOwnFields(file, document.length, fields)
    ? fieldTexts(file)
    : null;
}

/**
 * True if the tail adds exactly one signature, in one of the signer's own fields, and it is the prepared one. That
 * signature contains the record's hash, and covers all bytes except its own value. Only signatures in fields count,
 * because PDF readers find a signature by its field.
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

/**
 * True if the record contains each of the signer's own fields exactly once, except signatures and marks. Each must have
 * the field's kind and option, and its value must match the typed text and the text in the file.
 */
function saysWhatWasTyped(
  recorded: RecordedAct["values"],
  texts: ReadonlyMap<string, string | null>,
  { fields, options, values, hidden }: Asked,
): boolean {
  const own = [...fields].filter(([, kind]) => kind !== "signature" && kind !== "mark");
  const allExist = [...values.keys()].every((name) => fields.has(name));
  return (
    allExist &&
    recorded.length === own.length &&
    own.every(([name, kind]) => {
      const one = recorded.find(({ field }) => field === name);
      if (one?.kind !== kind || texts.get(name) !== one.value || one.option !== options.get(name)) return false;
      const nothing = kind === "checkbox" || kind === "radio" ? "Off" : "";
      if (hidden?.has(name)) return one.value === nothing;
      const typed = values.get(name) ?? nothing;
      if (kind === "number") return isSameNumber(one.value, typed);
      // The service sets the date. It also sets the name and the initials when the signer left them empty.
      return one.value === typed || kind === "date" || (typed === "" && (kind === "name" || kind === "initials"));
    })
  );
}

/**
 * True if the written and the typed text are the same number. The service groups a number's digits, and adds decimals
 * and the currency.
 */
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
