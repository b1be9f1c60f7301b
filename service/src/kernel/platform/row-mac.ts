import { createHmac, createSecretKey, timingSafeEqual } from "node:crypto";
import { type Clock, hourMs } from "./clock.ts";
import { type Log, maskCodes } from "./logs.ts";
import { deriveKey, keyId, keyIdBytes, keysOf, type SecretBytes } from "./secrets.ts";

/** A row's content, by name; the order of the names counts. A time counts to the millisecond. */
export type Members = { readonly [name: string]: string | number | boolean | Date | null };

/**
 * Binds the rows of evidence to a key that is not in the database: who can write the database alone can neither make nor
 * alter a row that holds.
 */
export type RowMac = {
  /** The id of the key (4 bytes) and HMAC-SHA-256 over table and members (32 bytes). */
  of: (table: string, members: Members) => Buffer;
  /**
   * Verifies the MAC: a holder of the key wrote exactly these members to the table; false for a row without a MAC.
   * @param row what the report of one that does not hold calls the row; its members by default
   */
  holds: (table: string, members: Members, mac: Uint8Array | null, row?: Members) => boolean;
};

const macBytes = keyIdBytes + 32;
/** A key's row is checked with each request of its firm; what people wrote is longer, and not kept. */
const mostKept = 1000;
const longestKept = 512;

/** Called for each row whose MAC does not hold, whenever it is read. */
export type OnUnvouched = (table: string, members: Members) => void;

/**
 * @param master the keys of SECRETS_KEY and SECRETS_KEYS_OLD; of each another key of its own is derived
 * @param onUnknownKey called with the id of a key that a MAC was made with and that is not there
 */
export function openRowMac(
  master: SecretBytes,
  onUnknownKey: (keyId: string) => void = () => {},
  onUnvouched: OnUnvouched = () => {},
): RowMac {
  const { of, holds } = macsOf(master, onUnknownKey);
  return {
    of,
    holds(table, members, mac, row = members) {
      const vouched = holds(table, members, mac);
      if (!vouched) onUnvouched(table, row);
      return vouched;
    },
  };
}

// A row is read with each request that asks for it: its line would fill the log.
const mostReported = 10_000;

/** Reports each row that is not vouched for once an hour. @param count is called as often as a line is logged */
export function reportUnvouched(clock: Clock, log: Log, count: (table: string) => void): OnUnvouched {
  let hour = 0;
  const reported = new Set<string>();
  return (table, members) => {
    const now = Math.floor(clock().getTime() / hourMs);
    if (now !== hour) reported.clear();
    hour = now;
    const row = encoded(table, members);
    if (reported.has(row) || reported.size === mostReported) return;
    reported.add(row);
    count(table);
    // The first two members say which row it is: an id, or a code and a kind or position.
    const id = Object.entries(members)
      .slice(0, 2)
      .map(([name, value]) => `${name}=${value}`);
    log.error(
      { table, row: maskCodes(id.join(" ")) },
      "a row is not vouched for: this service did not write it as it is",
    );
  };
}

function macsOf(master: SecretBytes, onUnknownKey: (keyId: string) => void): RowMac {
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
  const kept = new Map<string, Buffer>();
  return {
    id,
    of: (table: string, members: Members): Buffer => macOf(encoded(table, members)),
    /** The same, from memory for what was asked a short while ago. */
    again(table: string, members: Members): Buffer {
      const text = encoded(table, members);
      if (text.length > longestKept) return macOf(text);
      const mac = kept.get(text) ?? macOf(text);
      if (kept.size === mostKept) kept.clear();
      kept.set(text, mac);
      return mac;
    },
  };
}

/** One text for each table and members in their order: JSON, a time in ISO 8601. (`npm run bench closing`: sorting costs.) */
const encoded = (table: string, members: Members): string => JSON.stringify([table, members]);
