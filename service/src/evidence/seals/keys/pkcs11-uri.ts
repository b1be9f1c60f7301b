import { SealKeyError } from "./seal-key.ts";

/** The parts of a PKCS#11 URI that a seal key needs (RFC 7512). An absent attribute matches anything. */
export type Pkcs11Uri = {
  readonly modulePath: string;
  readonly token?: string;
  readonly serial?: string;
  readonly manufacturer?: string;
  readonly model?: string;
  readonly slotId?: number;
  /** CKA_LABEL of the key. */
  readonly object?: string;
  /** CKA_ID of the key, as bytes. */
  readonly id?: Uint8Array;
  readonly pinValue?: string;
  /** The file with the PIN, as a path or a `file:` URI. */
  readonly pinSource?: string;
};

const pathNames = ["token", "serial", "manufacturer", "model", "slot-id", "object", "id", "type"];
const queryNames = ["module-path", "pin-value", "pin-source"];

/**
 * Reads `pkcs11:token=..;object=..;id=%01?module-path=..&pin-source=..`. A seal key needs `module-path`, and `object`,
 * `id` or both. Unknown attributes are refused by name, as RFC 7512 section 2.3 asks, except vendor attributes (`x-`).
 * @throws {SealKeyError} `bad-uri` or `not-supported`
 */
export function parsePkcs11Uri(uri: string): Pkcs11Uri {
  const match = /^pkcs11:([^?#]*)(?:\?([^#]*))?$/.exec(uri);
  if (match === null) throw bad("a PKCS#11 URI is pkcs11:token=..;object=..?module-path=..&pin-source=..");
  const path = attributes(match[1] ?? "", ";", pathNames);
  const query = attributes(match[2] ?? "", "&", queryNames);
  const text = (from: Map<string, Buffer>, name: string) => from.get(name)?.toString("utf8");
  const modulePath = text(query, "module-path");
  if (modulePath === undefined) throw bad("pkcs11: needs module-path, the path of the module's library");
  if (!path.has("object") && !path.has("id")) throw bad("pkcs11: needs object (the key's label) or id");
  const type = text(path, "type");
  if (type !== undefined && type !== "private") throw bad("pkcs11: type can only be private");
  const slotId = text(path, "slot-id");
  if (slotId !== undefined && !/^\d{1,10}$/.test(slotId)) throw bad("pkcs11: slot-id is a number");
  const pinSource = text(query, "pin-source");
  if (pinSource?.startsWith("|")) {
    throw new SealKeyError("not-supported", "pkcs11: pin-source names a file; commands are not run");
  }
  return withoutUndefined({
    modulePath,
    token: text(path, "token"),
    serial: text(path, "serial"),
    manufacturer: text(path, "manufacturer"),
    model: text(path, "model"),
    slotId: slotId === undefined ? undefined : Number(slotId),
    object: text(path, "object"),
    id: path.get("id"),
    pinValue: text(query, "pin-value"),
    pinSource,
  });
}

function attributes(text: string, separator: string, allowed: readonly string[]): Map<string, Buffer> {
  const found = new Map<string, Buffer>();
  for (const part of text.split(separator)) {
    if (part === "") continue;
    const equals = part.indexOf("=");
    const name = part.slice(0, equals === -1 ? undefined : equals);
    if (name.startsWith("x-")) continue;
    if (equals === -1 || !allowed.includes(name)) throw bad(`pkcs11: the attribute ${name} is not known`);
    if (found.has(name)) throw bad(`pkcs11: the attribute ${name} is there twice`);
    found.set(name, percentDecoded(part.slice(equals + 1), name));
  }
  return found;
}

/** Decodes percent-encoding to bytes, because an id need not be text. */
function percentDecoded(text: string, name: string): Buffer {
  if (/%(?![0-9A-Fa-f]{2})/.test(text)) throw bad(`pkcs11: ${name} is not percent-encoded properly`);
  const pieces = text.split(/(%[0-9A-Fa-f]{2})/);
  return Buffer.concat(
    pieces.map((piece) => (piece.startsWith("%") ? Buffer.from(piece.slice(1), "hex") : Buffer.from(piece))),
  );
}

type Defined<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

const withoutUndefined = <T extends object>(value: T): Defined<T> =>
  Object.fromEntries(Object.entries(value).filter(([, v]) => v !== undefined)) as Defined<T>;

const bad = (message: string): SealKeyError => new SealKeyError("bad-uri", message);
