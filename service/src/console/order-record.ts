import { type OrderHistory, orderHistory } from "../fulfilment/fulfilment.ts";
import type { Environment } from "../identity/identity.ts";
import { namesOfActors } from "../operators/operators.ts";
import { findOrder, type PublicOrderRow } from "../orders/orders.ts";
import type { Database } from "../platform/database/database.ts";
import { sql } from "../platform/database/sql.ts";
import { ServiceError } from "../platform/errors.ts";
import { isCode } from "../platform/text.ts";
import type { Address } from "../pricing/pricing.ts";
import { type ActOnRecord, actsOfOrder } from "../providers/providers.ts";
import { type LetterOnRecord, lettersOnRecord } from "../shipping/shipping.ts";
import { type Task, tasksOfOrder } from "../tasks/tasks.ts";
import { notesOfOrder, type OrderNote } from "./notes.ts";

/** What an operator sees of an order beside its documents and its signers. */
export type OrderRecord = {
  order: PublicOrderRow;
  id: number;
  partnerId: string;
  firmName: string;
  customerName: string | null;
  signerState: string | null;
  shipMethod: string | null;
  shipTo: Address | null;
  shipFrom: Address | null;
  /** Why EasyPost calls the address undeliverable, as far as it was asked. */
  addressProblem: string | null;
  isRush: boolean;
  history: OrderHistory;
  tasks: Task[];
  /** What providers were asked to do. */
  acts: ActOnRecord[];
  /** What Lob printed and mailed for it. */
  letters: LetterOnRecord[];
  notes: OrderNote[];
  /** The names of the operators among those who did something, by what the audit log calls them. */
  names: ReadonlyMap<string, string>;
};

type Facts = Omit<OrderRecord, "order" | "history" | "tasks" | "acts" | "letters" | "notes" | "names">;

/** @throws ServiceError `not_found` for an unknown code, and for an order of the other environment */
export async function orderRecord(db: Database, code: string, environment: Environment): Promise<OrderRecord> {
  const [facts] = isCode(code)
    ? await db.query<Facts>(sql`
        SELECT o.id, o.partner_id AS "partnerId", p.name AS "firmName", o.customer_name AS "customerName",
          o.signer_state AS "signerState", o.ship_method AS "shipMethod", o.ship_to AS "shipTo", o.ship_from AS "shipFrom",
          o.carrier_rate ->> 'addressProblem' AS "addressProblem", o.lines @> '[{"type": "RushFee"}]' AS "isRush"
        FROM orders o JOIN partners p ON p.id = o.partner_id WHERE o.code = ${code} AND o.environment = ${environment}`)
    : [];
  const order = facts && (await findOrder(db, code));
  if (!order) throw new ServiceError("not_found", "Order not found.");
  const [history, tasks, acts, letters, notes] = await Promise.all([
    orderHistory(db, code),
    tasksOfOrder(db, facts.id),
    actsOfOrder(db, facts.id),
    lettersOnRecord(db, facts.id),
    notesOfOrder(db, facts.id),
  ]);
  const actors = [
    ...history.history.map(({ actor }) => actor),
    ...notes.map(({ author }) => author),
    ...tasks.flatMap(({ claimedBy, endedBy }) => [claimedBy ?? "", endedBy ?? ""]),
  ];
  return { ...facts, order, history, tasks, acts, letters, notes, names: await namesOfActors(db, actors) };
}
