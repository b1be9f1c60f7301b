import { createCipheriv, createDecipheriv, createHmac, createSecretKey, type KeyObject } from "node:crypto";
import { deriveKey, keyIdText, keyOfId, keysOf, type SecretBytes } from "./secrets.ts";

/**
 * The kinds of sealed (encrypted) texts. Each kind has its own keys, so a text of one kind can't be decrypted as
 * another kind.
 */
export type SealedKind =
  | "proof"
  | "closing"
  | "envelope"
  | "room"
  | "order"
  | "orderStart"
  | "event"
  | "manifest"
  | "answer"
  | "act";

/**
 * Encrypts texts that grant access, such as an order's code. Under one key, equal texts have equal encrypted forms. So
 * an index can find a text, although a copy of the database reveals none.
 */
export type SealedTexts = {
  /** The sealed form of the text under the current key. */
  seal: (kind: SealedKind, text: string) => string;
  /** The sealed forms of the text, one under each configured key. A text stored under another key matches none. */
  allForms: (kind: SealedKind, text: string) => string[];
  /**
   * Decrypts a sealed form. Returns any other text unchanged, and also an altered form. That is safe: an altered form
   * is not a valid code, and no MAC matches it.
   * @throws ServiceError `unavailable`, with the id of the missing key, when the form's key is missing
   */
  open: (kind: SealedKind, stored: string) => string;
};

/** The start of every sealed form, followed by the key's id (8 hex digits), a period, and the rest in base64url. */
export const sealedStart = "c1.";
export const keyIdStart = sealedStart.length;
const idEnd = keyIdStart + 8;
/**
 * Recognizes a sealed form by its start. After the key's id, it must have at least 38 characters: a nonce and a tag.
 */
const form = /^c1\.[0-9a-f]{8}\.[\w-]{38}/;

const [nonceLength, tagLength] = [12, 16];

type Keys = { id: string; cipher: KeyObject; nonce: KeyObject; forms: Memo };

function keysFor(key: SecretBytes, kind: SealedKind): Keys {
  const derived = (use: string) => createSecretKey(deriveKey(key, `${use}:${kind}`));
  const [cipher, nonce] = [derived("sealed text"), derived("sealed text nonce")];
  return { id: keyIdText(key), cipher, nonce, forms: new Map() };
}

/**
 * Caches results by input, because a request encrypts and decrypts the same few codes several times. Each encryption or
 * decryption takes about 10 microseconds.
 */
type Memo = Map<string, string>;

const [maxRemembered, rememberedLength] = [2_000, 160];

function remembered(memo: Memo, of: string, make: () => string): string {
  if (of.length > rememberedLength) return make();
  const cached = memo.get(of);
  if (cached !== undefined) return cached;
  const result = make();
  const [oldest] = memo.size < maxRemembered ? [] : memo.keys();
  if (oldest !== undefined) memo.delete(oldest);
  memo.set(of, result);
  return result;
}

/**
 * Opens the encryption of sealed texts.
 * @param master the keys of SECRETS_KEY and SECRETS_KEYS_OLD
 */
export function openSealedTexts(master: SecretBytes): SealedTexts {
  const byKind = new Map<SealedKind, Map<SecretBytes, Keys>>();
  function keysOfKind(kind: SealedKind): Map<SecretBytes, Keys> {
    const keys = byKind.get(kind) ?? new Map(keysOf(master).map((key) => [key, keysFor(key, kind)]));
    byKind.set(kind, keys);
    return keys;
  }
  const texts = new Map<SealedKind, Memo>();
  function textsOf(kind: SealedKind): Memo {
    const memo = texts.get(kind) ?? new Map();
    texts.set(kind, memo);
    return memo;
  }
  function openedOrSame(kind: SealedKind, stored: string): string {
    if (!form.test(stored)) return stored;
    const encoded = stored.slice(idEnd + 1);
    const bytes = Buffer.from(encoded, "base64url");
    // Encodes the bytes again and compares, because the decoder skips invalid characters and also accepts the other
    // base64 alphabet. For a long text this is faster than a regular expression.
    if (bytes.toString("base64url") !== encoded) return stored;
    const key = keyOfId(master, Buffer.from(stored.slice(keyIdStart, idEnd), "hex"));
    const keys = keysOfKind(kind).get(key) ?? keysFor(key, kind);
    return opened(keys, kind, bytes) ?? stored;
  }
  const allForms = (kind: SealedKind, text: string) =>
    [...keysOfKind(kind).values()].map((keys) => formUnder(keys, kind, text));
  return {
    seal: (kind, text) => formUnder(keysOfKind(kind).get(master) ?? keysFor(master, kind), kind, text),
    allForms,
    open: (kind, stored) => remembered(textsOf(kind), stored, () => openedOrSame(kind, stored)),
  };
}

/**
 * The sealed form of a text under a key: AES-256-GCM with an HMAC of the text as the nonce. Equal texts have equal
 * forms; two different texts have the same nonce only with a probability of 2^-96. RFC 5297 (SIV) does the same with a
 * longer nonce.
 */
const formUnder = (keys: Keys, kind: SealedKind, text: string): string =>
  remembered(keys.forms, text, () => makeForm(keys, kind, text));

function makeForm({ id, cipher: key, nonce: nonceKey }: Keys, kind: SealedKind, text: string): string {
  const nonce = createHmac("sha256", nonceKey).update(text).digest().subarray(0, nonceLength);
  const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(Buffer.from(kind));
  const sealed = Buffer.concat([nonce, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]);
  return `${sealedStart}${id}.${sealed.toString("base64url")}`;
}

function opened({ cipher: key }: Keys, kind: SealedKind, sealed: Buffer): string | null {
  const decipher = createDecipheriv("aes-256-gcm", key, sealed.subarray(0, nonceLength)).setAAD(Buffer.from(kind));
  decipher.setAuthTag(sealed.subarray(sealed.length - tagLength));
  try {
    const text = decipher.update(sealed.subarray(nonceLength, sealed.length - tagLength));
    // Throws if the tag is wrong. In GCM, `final` returns no further text.
    decipher.final();
    return text.toString();
  } catch {
    return null;
  }
}
