import { type Database, withLongStatements } from "../../kernel/platform/database/database.ts";
import type { AsOwner } from "../../kernel/platform/database/migrations.ts";
import { openSealedTexts } from "../../kernel/platform/sealed-text.ts";
import { keyIdText, keysOf } from "../../kernel/platform/secrets.ts";
import { rotateTexts } from "../sealed-texts.ts";
import { type BlobsDeps, countBlobs, rotateBlobs } from "./blobs.ts";
import { forgetKeys } from "./recorded-keys.ts";
import { countRowMacs, type KeyCounts, rotateRowMacs } from "./rows.ts";
import { countValues, rotateValues } from "./values.ts";

/** Counts of the data under a key: rows with a MAC, encrypted values, blobs. */
export type UnderKey = {
  keyId: string;
  state: "current" | "old" | "missing" | "without id";
  rows: number;
  values: number;
  blobs: number;
};

type RotationDeps = BlobsDeps & { db: Database };

/** Counts the data under each key, the current one first. Reads every row and the start of every blob. */
export async function secretsStatus(deps: RotationDeps, now: Date): Promise<UnderKey[]> {
  const { secrets } = deps;
  const db = withLongStatements(deps.db);
  const [rows, values, blobs] = [await countRowMacs(db), await countValues(db), await countBlobs(deps, now)];
  const [current, ...old] = keysOf(secrets).map(keyIdText);
  const ids = new Set([...keysOf(secrets).map(keyIdText), ...rows.keys(), ...values.keys(), ...blobs.keys()]);
  function stateOf(id: string): UnderKey["state"] {
    if (id === current) return "current";
    if (old.includes(id)) return "old";
    return id === "none" ? "without id" : "missing";
  }
  const countIn = (counts: KeyCounts, id: string) => counts.get(id) ?? 0;
  return [...ids].map((keyId) => ({
    keyId,
    state: stateOf(keyId),
    rows: countIn(rows, keyId),
    values: countIn(values, keyId),
    blobs: countIn(blobs, keyId),
  }));
}

export const underKeyText = ({ keyId, state, rows, values, blobs }: UnderKey): string =>
  `${keyId === "none" ? "without a key id" : `key ${keyId} (${state})`}: ${rows} rows, ${values} secrets, ${blobs} documents`;

const isEmpty = ({ rows, values, blobs }: UnderKey): boolean => rows + values + blobs === 0;

/** The ids of keys that no data depends on; empty while any data lack a key id. */
export function keysThatMayGo(status: readonly UnderKey[]): string[] {
  if (status.some((one) => one.state === "without id" && !isEmpty(one))) return [];
  return status.filter((one) => one.state === "old" && isEmpty(one)).map(({ keyId }) => keyId);
}

const rotateSealedTexts = ({ asOwner, secrets }: RotationDeps & { asOwner: AsOwner }): Promise<number> =>
  asOwner((owner) => rotateTexts(withLongStatements(owner), openSealedTexts(secrets), secrets));

/**
 * Re-encrypts and re-authenticates all data under the current key: MACs, encrypted values, and blobs. Safe on a running
 * service of several nodes, and after an interruption.
 * @returns how much was changed, how much remains under other keys, and which keys may be removed
 */
export async function rotateSecrets(deps: RotationDeps & { asOwner: AsOwner }, now: () => Date) {
  const { db, secrets } = deps;
  const rotated = {
    // Runs as the owner of the database, because the service's role has no right to change most rows of evidence.
    rows: await deps.asOwner((owner) => rotateRowMacs(withLongStatements(owner), secrets)),
    values: (await rotateValues(db, secrets)) + (await rotateSealedTexts(deps)),
    blobs: await rotateBlobs(deps, now()),
  };
  const status = await secretsStatus(deps, now());
  const mayGo = keysThatMayGo(status);
  await forgetKeys(db, mayGo);
  return {
    keyId: keyIdText(secrets),
    rotated,
    left: status.filter((one) => one.state !== "current" && !isEmpty(one)),
    mayGo,
  };
}
