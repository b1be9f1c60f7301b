import { auditLine } from "../../kernel/audit/audit.ts";
import { actorOf, type Owner, type Principal } from "../../kernel/identity/identity.ts";
import type { Clock } from "../../kernel/platform/clock.ts";
import { type ColumnCipher, columnCipher } from "../../kernel/platform/column-cipher.ts";
import type { Database, Sql } from "../../kernel/platform/database/database.ts";
import { isSealed, sql } from "../../kernel/platform/database/sql.ts";
import { invalid, ServiceError } from "../../kernel/platform/errors.ts";
import { newUuid } from "../../kernel/platform/ids.ts";
import type { Log } from "../../kernel/platform/logs.ts";
import type { ProtectedTable } from "../../kernel/platform/protected-data.ts";
import type { SecretBytes } from "../../kernel/platform/secrets.ts";
import { isPlainLines, isVisible } from "../../kernel/platform/text.ts";
import { orderNotFound } from "./own-order.ts";
import { whenDocumentsWereDeleted } from "./store.ts";

const firmNoteColumn = "firm_note";

export const noteRows: ProtectedTable = {
  table: sql`firm_notes`,
  key: sql`id`,
  ciphers: [{ use: firmNoteColumn, column: sql`text`, context: sql`id::text` }],
};

/** A note by a member, visible only to the member's own firm. `text` is null when it can't be decrypted. */
export type FirmNote = { author: string; text: string | null; createdAt: Date };

/**
 * Notes that members write on their firm's orders. Only the firm's dashboard shows them. The client, the API and
 * webhooks don't get them.
 */
export type FirmNotes = {
  /** The notes on an order, newest first. */
  of: (orderCode: string, owner: Owner) => Promise<FirmNote[]>;
  /**
   * Adds a note to an order.
   * @throws ServiceError for another firm's order, an invalid text, too many notes, and an order whose documents were
   * deleted
   */
  add: (principal: Principal, orderCode: string, text: string) => Promise<void>;
};

const maxCharacters = 2_000;
const maxNotes = 200;

type Deps = { db: Database; clock: Clock; secrets: SecretBytes; log: Log };

export function openFirmNotes({ db, clock, secrets, log }: Deps): FirmNotes {
  const cipher = columnCipher(secrets, firmNoteColumn);
  return {
    async of(orderCode, owner) {
      const rows = await notesOf(db, orderCode, owner);
      return rows.map(({ id, text, ...note }) => ({ ...note, text: opened(cipher, log, text, id) }));
    },
    async add(principal, orderCode, typed) {
      const text = noteText(typed);
      const [id, at, author] = [newUuid(), clock(), actorOf(principal)];
      await db.transaction(async (tx) => {
        const { partnerId, environment } = principal;
        const [order] = await tx.query<{ id: number; notes: number }>(sql`
SELECT id, (SELECT count(*)::int FROM firm_notes WHERE order_id = orders.id) AS notes FROM orders
WHERE ${isSealed(sql`code`, "order", orderCode)} AND partner_id = ${partnerId} AND environment = ${environment} FOR NO KEY UPDATE`);
        if (!order) throw orderNotFound();
        // The notes are deleted together with the documents. A note added after that would never be deleted.
        if ((await whenDocumentsWereDeleted(tx, order.id)) !== null)
          throw new ServiceError("conflict", "This order’s documents and notes were deleted. It takes no new notes.");
        if (order.notes >= maxNotes) throw invalid(`An order holds at most ${maxNotes} notes.`);
        await tx.query(sql`
INSERT INTO firm_notes (id, order_id, author, text, created_at)
VALUES (${id}, ${order.id}, ${author}, ${cipher.encrypt(Buffer.from(text), id)}, ${at})`);
        await tx.query(auditLine({ at, action: "order.firm_noted", actor: author, partnerId, orderId: order.id }));
      });
    },
  };
}

type SealedNote = { id: string; author: string; text: Buffer; createdAt: Date };

const notesOf = (db: Sql, orderCode: string, { partnerId, environment }: Owner) =>
  db.query<SealedNote>(sql`
SELECT n.id, n.author, n.text, n.created_at AS "createdAt" FROM firm_notes n JOIN orders o ON o.id = n.order_id
WHERE ${isSealed(sql`o.code`, "order", orderCode)} AND o.partner_id = ${partnerId} AND o.environment = ${environment}
ORDER BY n.created_at DESC, n.id DESC`);

/**
 * Validates the text of a note and returns it trimmed.
 * @throws ServiceError naming the rule
 */
function noteText(typed: string): string {
  const text = typed.trim();
  if (!isVisible(text) || [...text].length > maxCharacters || !isPlainLines(text))
    throw invalid("Note must have 1 to 2,000 characters, and no control characters.");
  return text;
}

/** Decrypts a note. Logs a failure and returns null, so that the other notes can still be shown. */
function opened(cipher: ColumnCipher, log: Log, sealed: Buffer, id: string): string | null {
  try {
    return cipher.decrypt(sealed, id).toString();
  } catch (error) {
    log.error({ err: error }, "a firm's note can't be decrypted");
    return null;
  }
}
