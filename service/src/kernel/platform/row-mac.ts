import { createHmac, createSecretKey, timingSafeEqual } from "node:crypto";
import { type Clock, hourMs } from "./clock.ts";
import { AlteredRecordError } from "./errors.ts";
import { type Log, maskCodes } from "./logs.ts";
import { deriveKey, keyId, keyIdBytes, keysOf, type SecretBytes } from "./secrets.ts";

/** The members of a row that its MAC covers, in a fixed order. A time counts to the millisecond. */
export type Members = { readonly [name: string]: string | number | boolean | Date | null };

/**
 * MACs that bind evidence rows to a key outside the database. Database access alone is not enough to create or alter a
 * valid row.
 */
export type RowMac = {
  /** The MAC of a row: the key's id (4 bytes), and HMAC-SHA-256 over table and members (32 bytes). */
  of: (table: string, members: Members) => Buffer;
  /**
   * True if the MAC is valid: a holder of the key wrote exactly these members to the table. False for a row without a
   * MAC, and for a MAC whose key is missing.
   * @param row the members that identify the row when an invalid MAC is reported; by default the first two of `members`
   */
  holds: (table: string, members: Members, mac: Uint8Array | null, row?: Members) => boolean;
  /**
   * Requires that `holds` is true. A missing key counts as an alteration: the service starts only with all keys that
   * rows were written under, so a MAC with another key's id is most likely forged.
   * @param as.row as for `holds`
   * @param as.altered makes the error for an invalid MAC; by default an `AlteredRecordError`
   */
  verify: (
    table: string,
    members: Members,
    mac: Uint8Array | null,
    as?: { row?: Members; altered?: () => Error },
  ) => void;
};

const macBytes = keyIdBytes + 32;
/**
 * The most MACs that are cached for each key, and the longest row whose MAC is cached. An API key's row is verified on
 * each request. Longer rows, which contain texts of people, are not cached.
 */
const maxCached = 1000;
const maxCachedLength = 512;

/** Called each time a row with an invalid MAC is read. */
export type OnUnvouched = (table: string, members: Members) => void;

/**
 * Opens the functions that make and verify the MACs of rows.
 * @param master the keys of SECRETS_KEY and SECRETS_KEYS_OLD; a MAC key is derived from each of them
 * @param onUnknownKey called with the key id of a MAC whose key is missing
 */
export function openRowMac(
  master: SecretBytes,
  onUnknownKey: (keyId: string) => void = () => {},
  onUnvouched: OnUnvouched = () => {},
): RowMac {
  const macs = macsOf(master, onUnknownKey);
  const holds: RowMac["holds"] = (table, members, mac, row = members) => {
    const vouched = macs.holds(table, members, mac);
    if (!vouched) onUnvouched(table, row);
    return vouched;
  };
  return {
    of: macs.of,
    holds,
    verify(table, members, mac, { row, altered = () => new AlteredRecordError() } = {}) {
      if (!holds(table, members, mac, row)) throw altered();
    },
  };
}

// The most rows reported in an hour. A forged row may be read on every request, and must not fill the log.
const maxReported = 10_000;

/**
 * Returns a function that logs each invalid row at most once an hour.
 * @param count called once for each logged line
 */
export function reportUnvouched(clock: Clock, log: Log, count: (table: string) => void): OnUnvouched {
  let hour = 0;
  const reported = new Set<string>();
  return (table, members) => {
    const now = Math.floor(clock().getTime() / hourMs);
    if (now !== hour) reported.clear();
    hour = now;
    const row = encoded(table, members);
    if (reported.has(row) || reported.size === maxReported) return;
    reported.add(row);
    count(table);
    // The first two members of a row identify it: they are its id, or a code and a kind or position.
    const id = Object.entries(members)
      .slice(0, 2)
      .map(([name, value]) => `${name}=${value}`);
    log.error({ table, row: maskCodes(id.join(" ")) }, "a row is not vouched for: it was changed outside this service");
  };
}

function macsOf(master: SecretBytes, onUnknownKey: (keyId: string) => void): Pick<RowMac, "of" | "holds"> {
  const makers = keysOf(master).map(makerOf);
  const [current = makerOf(master)] = makers;
  return {
    of: current.of,
    holds(table, members, mac) {
      if (mac === null || mac.length !== macBytes) return false;
      const id = mac.subarray(0, keyIdBytes);
      const maker = makers.find((one) => one.id.equals(id));
      if (maker) return timingSafeEqual(maker.again(table, members), mac);
      onUnknownKey(Buffer.from(id).toString("hex"));
      return false;
    },
  };
}

function makerOf(master: SecretBytes) {
  const key = createSecretKey(deriveKey(master, "row MAC"));
  const id = keyId(master);
  const macOf = (text: string): Buffer => Buffer.concat([id, createHmac("sha256", key).update(text).digest()]);
  const cached = new Map<string, Buffer>();
  return {
    id,
    of: (table: string, members: Members): Buffer => macOf(encoded(table, members)),
    /** The MAC for a verification. MACs of recently verified rows are cached. */
    again(table: string, members: Members): Buffer {
      const text = encoded(table, members);
      if (text.length > maxCachedLength) return macOf(text);
      const mac = cached.get(text) ?? macOf(text);
      if (cached.size === maxCached) cached.clear();
      cached.set(text, mac);
      return mac;
    },
  };
}

/**
 * Encodes a table and members in their order: as JSON, with times in ISO 8601. Sorting the members would be slow (`npm
 * run bench closing`).
 */
const encoded = (table: string, members: Members): string => JSON.stringify([table, members]);
