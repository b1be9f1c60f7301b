import { hash } from "node:crypto";
import { inflateSync } from "node:zlib";
import { auditLine } from "../../../kernel/audit/audit.ts";
import type { Clock } from "../../../kernel/platform/clock.ts";
import { changeRow } from "../../../kernel/platform/database/change-rows.ts";
import type { Database, Sql } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { type StateMac, verified, writeStateMacs } from "../../../kernel/platform/database/state-mac.ts";
import { invalid, ServiceError } from "../../../kernel/platform/errors.ts";
import { newUuid } from "../../../kernel/platform/ids.ts";
import { stateRows } from "../../../kernel/platform/protected-data.ts";
import { isUuid } from "../../../kernel/platform/text.ts";
import type { Workers } from "../../../kernel/platform/workers/task.ts";
import { encodePng, readPictureIn } from "../../envelopes/envelopes.ts";
import type { Commission } from "./commission.ts";
import { requireNotary } from "./keep.ts";
import { lockNotary } from "./store.ts";

/** A picture of a notary's official seal, for drawing it into the notary's blocks. */
export type SealPicture = {
  id: string;
  png: Buffer;
  sha256: string;
  createdAt: Date;
  /** The time when a person confirmed that the picture matches the commission; null before that. */
  confirmedAt: Date | null;
  /** The texts of the commission (`sealTexts`) at the time of the confirmation; null before that. */
  commission: string | null;
};

const sealState: StateMac = {
  table: sql`notary_seals`,
  key: sql`id`,
  mac: sql`row_mac`,
  covered: (s) => sql`${s}.id, ${s}.notary_id, encode(sha256(${s}.png), 'hex'), ${s}.created_by,
    (${s}.created_at AT TIME ZONE 'UTC'), ${s}.commission, ${s}.confirmed_by, (${s}.confirmed_at AT TIME ZONE 'UTC')`,
};

export const sealRows = stateRows(sealState);

/**
 * The texts of the commission that a seal shows. A picture is used only while these texts are the same as when it was
 * confirmed. A renewal changes the expiry date, so the picture must be confirmed again.
 */
export const sealTexts = ({ commissionName, state, county, commissionNumber, commissionExpires }: Commission): string =>
  JSON.stringify([commissionName, state, county, commissionNumber, commissionExpires]);

/**
 * The picture that was last uploaded for a notary.
 * @throws ServiceError `unavailable` for a picture whose MAC is invalid
 */
export async function latestSeal(db: Sql, notaryId: string): Promise<SealPicture | undefined> {
  const [seal] = await db.query<SealPicture>(sql`
    SELECT id, png, encode(sha256(png), 'hex') AS sha256, created_at AS "createdAt", confirmed_at AS "confirmedAt", commission,
      ${verified(sealState, sql`notary_seals`)}
    FROM notary_seals WHERE notary_id = ${notaryId} ORDER BY created_at DESC, id DESC LIMIT 1`);
  return seal;
}

/**
 * The latest picture, if it was confirmed for the current commission. Null otherwise, even if an earlier picture was
 * confirmed.
 */
export async function sealFor(db: Sql, notary: Commission & { id: string }): Promise<Buffer | null> {
  const seal = await latestSeal(db, notary.id);
  return seal && isConfirmedFor(seal, notary) ? seal.png : null;
}

export const isConfirmedFor = ({ confirmedAt, commission }: SealPicture, notary: Commission): boolean =>
  confirmedAt !== null && commission === sealTexts(notary);

const choose = "document must be one PNG or JPEG picture of the seal.";
const faults: Readonly<Record<string, string>> = {
  format: choose,
  size: "document has too many pixels: make the picture smaller.",
  empty: "document is a picture of one color alone.",
};

export type SealDeps = { db: Database; clock: Clock; workers: Workers };

/**
 * Stores a picture, re-encoded and limited in size. Until this picture is confirmed, no picture of the notary's seal is
 * used.
 * @throws ServiceError naming the field and the rule
 */
export async function addSeal({ db, clock, workers }: SealDeps, notaryId: string, bytes: Buffer, actor: string) {
  const notary = await requireNotary(db, notaryId);
  const picture = await readPictureIn(workers, { holder: actor, bytes });
  if ("fault" in picture) throw invalid(faults[picture.fault] ?? choose);
  const png = encodePng({ ...picture, rgba: inflateSync(picture.deflated) });
  const id = newUuid();
  const at = clock();
  await db.transaction(async (tx) => {
    await tx.query(sql`
      INSERT INTO notary_seals (id, notary_id, png, created_by, created_at)
      VALUES (${id}, ${notary.id}, ${png}, ${actor}, ${at})`);
    await writeStateMacs(tx, sealState, sql`id = ${id}`);
    const detail = { notary: notary.id, seal: id, sha256: hash("sha256", png) };
    await tx.query(auditLine({ at, action: "notary.seal_added", actor, detail }));
  });
}

/**
 * Confirms that the picture matches the commission, so that the notary's blocks show it from now on.
 * @param shown the commission's texts as the page showed them
 * @throws ServiceError `conflict` for a picture that is not the newest or is confirmed already, and if the commission
 * has changed since
 */
export async function confirmSeal(
  { db, clock }: Pick<SealDeps, "db" | "clock">,
  notaryId: string,
  { seal, shown }: { seal: string; shown: string },
  actor: string,
): Promise<void> {
  const { id } = await requireNotary(db, notaryId);
  const at = clock();
  await db.transaction(async (tx) => {
    const notary = await lockNotary(tx, id);
    const latest = await latestSeal(tx, id);
    if (!notary || !latest || !isUuid(seal) || latest.id !== seal)
      throw new ServiceError("conflict", "Another picture was uploaded. Look at it.");
    if (sealTexts(notary) !== shown)
      throw new ServiceError("conflict", "The commission was changed. Compare the picture with it again.");
    if (isConfirmedFor(latest, notary)) throw new ServiceError("conflict", "The picture is confirmed already.");
    const confirmed = sql`commission = ${shown}, confirmed_by = ${actor}, confirmed_at = ${at}`;
    await changeRow(tx, sealState, seal, confirmed);
    const detail = { notary: id, seal, sha256: latest.sha256, commission: JSON.parse(shown) as unknown };
    await tx.query(auditLine({ at, action: "notary.seal_confirmed", actor, detail }));
  });
}
