import { type Static, Type } from "typebox";
import { auditLine } from "../../kernel/audit/audit.ts";
import { actorOf, type Principal } from "../../kernel/identity/identity.ts";
import { readCheckedYaml } from "../../kernel/platform/checked-yaml.ts";
import { type Clock, isTimeZone } from "../../kernel/platform/clock.ts";
import type { Database, Sql, Tx } from "../../kernel/platform/database/database.ts";
import { type Statement, sql } from "../../kernel/platform/database/sql.ts";
import { verified, writeStateMacs } from "../../kernel/platform/database/state-mac.ts";
import { invalid, ServiceError, StartupError } from "../../kernel/platform/errors.ts";
import { isPlainText } from "../../kernel/platform/text.ts";
import { keepTasks } from "../../kernel/tasks/tasks.ts";
import { billingDocuments, billingPartyState, fromPayments } from "../payments/payments.ts";

const maxLines = 6;
const line = (max = 100) => Type.String({ maxLength: max });
const File = Type.Object(
  {
    issuer: Type.Object(
      { name: line(), address: Type.Array(line(), { maxItems: maxLines }), taxId: line() },
      { additionalProperties: false },
    ),
    taxLine: line(300),
    zone: Type.String(),
  },
  { additionalProperties: false },
);

/** The issuer of receipts and statements, from the operator's file. Empty texts are not printed. */
export type Issuer = Static<typeof File>["issuer"] & { taxLine: string; zone: string };

/**
 * The buyer named on receipts and statements: the name and address that the firm entered, or else the firm's name
 * alone. `zone`: the time zone of its months and dates; absent when the firm uses the service's.
 */
export type Buyer = { name: string; address: readonly string[]; zone?: string };

/**
 * Reads the issuer of receipts from the file that the setting BILLING names.
 * @throws StartupError naming the first entry that breaks a rule
 */
export function readIssuer(path: string): Issuer {
  const { issuer, taxLine, zone } = readCheckedYaml("BILLING", path, File);
  const texts = [issuer.name, issuer.taxId, taxLine, ...issuer.address];
  if (!texts.every(isPlainText))
    throw new StartupError(`BILLING ${path}: each text must be one line without control characters`);
  if (!isZone(zone))
    throw new StartupError(
      `BILLING ${path}: zone must be the name of a time zone, such as America/New_York or UTC, and not ${JSON.stringify(zone)}: offsets and abbreviations are not names`,
    );
  return { ...issuer, taxLine, zone };
}

/**
 * True if the text is UTC or a region's time zone, such as America/New_York. PostgreSQL reads an offset such as
 * `+05:00` with the opposite sign, and an abbreviation such as `CET` without summer time. So these are refused.
 */
const isZone = (zone: string): boolean => (zone === "UTC" || zone.includes("/")) && isTimeZone(zone);

/** Registers the issuer from the operator's file as the issuer of all later documents. */
export const registerIssuer = (db: Database, issuer: Issuer, at: Date): Promise<void> =>
  db.transaction((tx) => addVersion(tx, null, issuer, { by: "system", at }));

/**
 * Adds a version of the issuer (`partnerId` is null) or of a firm as the buyer, unless the latest version is the same.
 */
async function addVersion(
  tx: Tx,
  partnerId: string | null,
  content: Issuer | Buyer,
  { by, at }: { by: string; at: Date },
): Promise<void> {
  await tx.query(sql`SELECT pg_advisory_xact_lock(hashtextextended(${`billing party ${partnerId}`}, 0))`);
  const [added] = await tx.query<{ id: number }>(sql`
    INSERT INTO billing_parties (partner_id, content, created_by, created_at)
    SELECT ${partnerId}::uuid, ${JSON.stringify(content)}::jsonb, ${by}::text, ${at}::timestamptz
    WHERE ${JSON.stringify(content)}::jsonb IS DISTINCT FROM (
      SELECT content FROM billing_parties WHERE partner_id IS NOT DISTINCT FROM ${partnerId}::uuid ORDER BY id DESC LIMIT 1)
    RETURNING id`);
  if (added) await writeStateMacs(tx, billingPartyState, sql`id = ${added.id}`);
}

const newest = (which: Statement) => sql`
  SELECT content, ${verified(billingPartyState, sql`b`)} FROM billing_parties b WHERE ${which} ORDER BY id DESC LIMIT 1`;

/**
 * The issuer that new receipts name.
 * @throws ServiceError `unavailable` when the row's MAC is invalid
 */
export async function currentIssuer(db: Sql): Promise<Issuer> {
  const [found] = await db.query<{ content: Issuer }>(newest(sql`b.partner_id IS NULL`));
  if (!found) throw new Error("no issuer is on record: the service registers it at its start");
  return found.content;
}

/** True if the issuer has the name and the address that a receipt needs. */
export const namesIssuer = ({ name, address }: Pick<Issuer, "name" | "address">): boolean =>
  name !== "" && address.some((line) => line !== "");

/**
 * Opens a task when a live payment's receipt lacks the issuer's name or address, and the operator's file still lacks
 * it. After the task was closed, the next such receipt opens another one. Payments continue, because the payer has
 * already paid. A processor key in test mode moves no money, so it opens no task.
 */
export async function watchIssuer(
  { db, clock }: { db: Database; clock: Clock },
  processor: { testMode: boolean } | null,
): Promise<void> {
  await db.transaction((tx) =>
    keepTasks(tx, clock(), "receipt_issuer", async () => {
      if (processor?.testMode || namesIssuer(await currentIssuer(tx))) return [];
      const issuers = await tx.query<{ id: number; content: Issuer }>(sql`
        SELECT b.id, b.content, ${verified(billingPartyState, sql`b`)} FROM billing_parties b WHERE b.partner_id IS NULL`);
      const named = issuers.filter(({ content }) => namesIssuer(content)).map(({ id }) => id);
      const [receipt] = await tx.query<{ at: Date }>(sql`
        SELECT d.booked_at AS at ${fromPayments} JOIN ${billingDocuments(sql`d`)} ON d.payment_id = p.id
        WHERE d.kind = 'receipt' AND d.environment = 'live' AND NOT p.simulated
          AND (d.issuer_id IS NULL OR d.issuer_id <> ALL (${named}::bigint[])) ORDER BY d.id DESC LIMIT 1`);
      const reason = `Receipts of live payments are issued, and they name no issuer with an address. Write the service’s name and address into the file of the setting BILLING, and restart the service. Earlier receipts stay as they were issued.`;
      return receipt ? [["issuer", { reason, since: receipt.at }]] : [];
    }),
  );
}

/** The time zone of the months and dates of a firm that chose none. */
export const serviceZone = async (db: Sql): Promise<string> => (await currentIssuer(db)).zone;

/**
 * The name and address that the firm set for its receipts; null when it has not set them.
 * @throws ServiceError `unavailable` when the row's MAC is invalid
 */
export async function buyerOf(db: Sql, partnerId: string): Promise<Buyer | null> {
  const [found] = await db.query<{ content: Buyer }>(newest(sql`b.partner_id = ${partnerId}`));
  return found?.content ?? null;
}

/** The time zones that owners can choose for their firm's months. */
export const buyerZones = [
  "America/New_York",
  "America/Chicago",
  "America/Denver",
  "America/Phoenix",
  "America/Los_Angeles",
  "America/Anchorage",
  "Pacific/Honolulu",
  "America/Puerto_Rico",
  "Pacific/Guam",
  "UTC",
] as const;

/**
 * Sets the firm's name, address and time zone for its later receipts and statements. An empty time zone selects the
 * service's; an absent one leaves the zone unchanged. A closed month keeps its time zone, and the next month begins at
 * its end.
 * @throws ServiceError for a caller who is not an owner of the firm, for an owner without access to the firm's live
 * environment, and for invalid input
 */
export async function setBuyer(
  { db, clock }: { db: Database; clock: Clock },
  principal: Principal,
  typed: { name: string; address: string; zone?: string | undefined },
): Promise<void> {
  const { member, partnerId, liveEnabled } = principal;
  if (member?.role !== "owner" || (liveEnabled && !member.liveAccess))
    throw new ServiceError("owner_required", "Only an owner of the firm with live access may do this.");
  const name = typed.name.trim();
  const address = typed.address
    .replaceAll("\r\n", "\n")
    .split("\n")
    .map((each) => each.trim())
    .filter((each) => each !== "");
  if (name.length < 1 || name.length > 100 || !isPlainText(name))
    throw invalid("Name on receipts must have 1 to 100 characters, on one line.");
  if (address.length > maxLines || address.some((each) => each.length > 100 || !isPlainText(each)))
    throw invalid(`Address must have at most ${maxLines} lines of at most 100 characters.`);
  const present = async () => (await buyerOf(db, partnerId))?.zone ?? "";
  const zone = typed.zone ?? (await present());
  // The stored time zone stays valid even if the list no longer contains it.
  if (zone !== "" && !buyerZones.some((each) => each === zone) && zone !== (await present()))
    throw invalid("Time zone must be one of the listed ones.");
  await db.transaction(async (tx) => {
    const [at, by] = [clock(), actorOf(principal)];
    await addVersion(tx, partnerId, { name, address, ...(zone !== "" && { zone }) }, { by, at });
    await tx.query(
      auditLine({
        at,
        action: "billing.address",
        actor: by,
        partnerId,
        orderId: null,
        detail: { name, address, zone },
      }),
    );
  });
}
