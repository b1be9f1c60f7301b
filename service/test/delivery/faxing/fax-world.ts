import assert from "node:assert/strict";
import { startTelnyx, type TelnyxDouble, type TelnyxFax } from "@signsealship/testing/doubles/telnyx";
import { changeRowsOf } from "@signsealship/testing/row-mac";
import { until } from "@signsealship/testing/until";
import { attemptState } from "../../../src/delivery/faxing/store.ts";
import { isSealed, sql } from "../../../src/kernel/platform/database/sql.ts";
import { openLiveService } from "../../orders/fulfilment/live-service.ts";

export type AttemptRow = { attempt: number; state: string; reason: string | null; dueAt: Date; faxId: string | null };

/** A service with an account at Telnyx, and a firm with live access. */
export async function openFaxWorld(env: Record<string, string> = {}) {
  const telnyx: TelnyxDouble = await startTelnyx();
  const live = await openLiveService({
    TELNYX_API_KEY: telnyx.apiKey,
    TELNYX_API_BASE: telnyx.url,
    TELNYX_PUBLIC_KEY: telnyx.publicKey,
    TELNYX_FAX_APP: "1234567890",
    TELNYX_FAX_FROM: "+13125550100",
    ...env,
  });
  const { db, statusOf } = live;
  let last = 1000;

  const faxesTo = (faxTo: string): TelnyxFax[] => telnyx.faxes.filter(({ to }) => to === faxTo);
  const attempts = (code: string) =>
    db.query<AttemptRow>(sql`
      SELECT attempt, state, reason, due_at AS "dueAt", fax_id AS "faxId" FROM fax_attempts f
        JOIN orders o ON o.id = f.order_id WHERE ${isSealed(sql`o.code`, "order", code)} ORDER BY attempt`);
  const become = (code: string, status: string) => until(async () => (await statusOf(code)) === status);

  return {
    ...live,
    telnyx,
    faxesTo,
    attempts,
    become,
    /** A paid order with a fax number that no other order uses. */
    async order(document?: Buffer) {
      const faxTo = `+1212555${++last}`;
      const code = await live.paidOrder({ fax_to: faxTo }, document ? { document } : {});
      return { code, faxTo };
    },
    /** Waits until Telnyx has accepted `of` faxes for a number. @returns the last one */
    fax: (faxTo: string, of = 1) =>
      until(() => {
        const sent = faxesTo(faxTo);
        return sent.length >= of ? sent[of - 1] : undefined;
      }),
    /** Moves a fax to a state, and delivers the event about it. */
    async tell(fax: TelnyxFax, status: TelnyxFax["status"], more: Record<string, unknown> = {}) {
      const answer = await telnyx.deliver(live.url(), telnyx.move(fax, status, more));
      assert.equal(answer.status, 200);
    },
    /** The last document of a kind, as downloaded by the firm; null when there is none yet. */
    async documentOf(code: string, kind: string): Promise<Buffer | null> {
      const path = `${live.url()}/api/partner/orders/${code}/documents`;
      const { documents } = (await (await fetch(path, live)).json()) as {
        documents: { documentId: string; kind: string }[];
      };
      const found = documents.findLast((each) => each.kind === kind);
      return found ? Buffer.from(await (await fetch(`${path}/${found.documentId}`, live)).arrayBuffer()) : null;
    },
    /**
     * Makes all pending work of an order due: its next attempt, and the look-up of an attempt with an unknown outcome.
     */
    async passTime(code: string) {
      const which = sql`order_id = (SELECT id FROM orders WHERE ${isSealed(sql`code`, "order", code)})`;
      await changeRowsOf(db, attemptState, which, sql`due_at = now() - interval '1 s'`);
      // This update and the service may cause a deadlock. `db.transaction` then tries again.
      await db.transaction((tx) =>
        tx.query(
          sql`UPDATE provider_calls SET look_at = now() - interval '1 s' WHERE ${which} AND look_at IS NOT NULL`,
        ),
      );
      for (const queue of ["fax", "provider-act-telnyx"]) await live.hurry(queue);
    },
    async close() {
      await live.close();
      await telnyx.close();
    },
  };
}
