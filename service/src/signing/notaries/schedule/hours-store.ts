/** The hours of notaries, as stored. */
import type { Operator } from "../../../firms/operators/operators.ts";
import { auditLine } from "../../../kernel/audit/audit.ts";
import type { Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { type StateMac, verified, writeStateMacs } from "../../../kernel/platform/database/state-mac.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import { stateRows } from "../../../kernel/platform/protected-data.ts";
import { type DeskDeps, notaryOf } from "../claims/claims.ts";
import { lockNotary } from "../commissions/store.ts";
import { accepted, type Typed } from "../form-reader.ts";
import { type NotaryHours, readHours } from "./hours.ts";

const hoursState: StateMac = {
  table: sql`notary_hours`,
  key: sql`notary_id`,
  mac: sql`row_mac`,
  covered: (h) => sql`${h}.notary_id, ${h}.zone, ${h}.weekly, ${h}.exceptions, ${h}.meeting_url, ${h}.place,
    extract(epoch FROM ${h}.updated_at)`,
};

export const hoursRows = stateRows(hoursState);

/**
 * A notary's hours; null for a notary who has set none.
 * @throws ServiceError `unavailable` for hours whose MAC is invalid
 */
export async function findHours(db: Sql, notaryId: string): Promise<NotaryHours | null> {
  const [found] = await db.query<NotaryHours>(sql`
    SELECT zone, weekly, exceptions, meeting_url AS "meetingUrl", place, ${verified(hoursState, sql`notary_hours`)}
    FROM notary_hours WHERE notary_id = ${notaryId}`);
  return found ?? null;
}

/**
 * Stores when and where the notary is available. Booked appointments stay unchanged.
 * @throws ServiceError naming every wrong field; `role_required` for a suspended notary
 */
export async function setHours(deps: DeskDeps, operator: Operator, typed: Typed): Promise<void> {
  const hours = accepted(readHours(typed));
  const { id } = await notaryOf(deps.db, operator);
  await deps.db.transaction(async (tx) => {
    const notary = await lockNotary(tx, id);
    if (notary?.status === "suspended") throw new ServiceError("role_required", "You are suspended as a notary.");
    const at = deps.clock();
    await writeHours(tx, id, hours, at);
    await tx.query(
      auditLine({ at, action: "notary.hours", actor: operator.actor, detail: { notaryId: id, zone: hours.zone } }),
    );
  });
}

async function writeHours(tx: Tx, notaryId: string, hours: NotaryHours, at: Date): Promise<void> {
  const { zone, weekly, exceptions, meetingUrl, place } = hours;
  await tx.query(sql`
    INSERT INTO notary_hours (notary_id, zone, weekly, exceptions, meeting_url, place, updated_at)
    VALUES (${notaryId}, ${zone}, ${JSON.stringify(weekly)}::jsonb, ${JSON.stringify(exceptions)}::jsonb, ${meetingUrl}, ${place}, ${at})
    ON CONFLICT (notary_id) DO UPDATE SET zone = excluded.zone, weekly = excluded.weekly, exceptions = excluded.exceptions,
      meeting_url = excluded.meeting_url, place = excluded.place, updated_at = excluded.updated_at`);
  await writeStateMacs(tx, hoursState, sql`notary_id = ${notaryId}`);
}
