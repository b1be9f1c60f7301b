import assert from "node:assert/strict";
import type { Harness } from "@signsealship/testing/harness";
import { minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { until } from "@signsealship/testing/until";
import { isSealed, sql } from "../../../src/kernel/platform/database/sql.ts";
import { openLog } from "../../../src/kernel/platform/logs.ts";
import { lockOrder, transition } from "../../../src/orders/order/order.ts";
import { mailsTo, postForm } from "../../firms/members/signed-in-member.ts";

/** A commission in Ohio, with a registration for acts by audio and video. */
export const ohioCommission = {
  commissionName: "Nora Ames",
  state: "OH",
  county: "Franklin",
  commissionNumber: "1",
  status: "active",
  commissionExpires: "2040-01-31",
  ronRegistration: "R",
  ronExpires: "2040-01-31",
};

/**
 * Places a firm's orders and brings them to a notary, over HTTP.
 * @param origin the origin of the pages, because passkeys need a host name
 */
export function ordersToNotarize(
  { service, db }: Pick<Harness, "service" | "db">,
  { headers }: { headers: Record<string, string> },
  origin = service.baseUrl,
) {
  const at = (path: string) => origin + path;
  const read = async <T>(path: string) => (await (await fetch(at(path), { headers })).json()) as T;
  const statusOf = async (code: string) => (await read<{ status: string }>(`/api/partner/orders/${code}`)).status;
  return {
    /** Places an order and pays it in the sandbox. The order then waits for a notary, or first for its signers. */
    async place(fields: Record<string, string> = {}, document = makePdf({ text: "Deed" })): Promise<string> {
      const body = orderForm({ ...minimal, svc_notary: "true", name: "Jane Doe", ...fields }, document);
      const placed = await fetch(at("/api/partner/orders"), { method: "POST", headers, body });
      const answer = (await placed.json()) as { orderCode: string };
      const { orderCode } = answer;
      assert.ok(orderCode, JSON.stringify(answer));
      await fetch(at(`/api/partner/sandbox/orders/${orderCode}/advance`), { method: "POST", headers });
      return orderCode;
    },
    /**
     * Waits until the order has an open task, and claims it for the notary with this cookie. @returns the ids of the
     * task and of the order
     */
    async claim(code: string, cookie: string): Promise<{ id: number; orderId: number }> {
      const task = await until(async () => {
        const [found] = await db.query<{ id: number; orderId: number }>(sql`
          SELECT t.id, o.id AS "orderId" FROM tasks t JOIN orders o ON o.id = t.order_id
          WHERE ${isSealed(sql`o.code`, "order", code)} AND t.kind = 'notarize' AND t.state IN ('open', 'claimed')`);
        return found;
      });
      const claimed = await postForm(at(`/operator/notary/tasks/${task.id}/claim`), {}, { cookie, Origin: origin });
      assert.equal(claimed.status, 303);
      return task;
    },
    statusOf,
    /** Signs at home with a mailed link, as a browser without JavaScript does. */
    async signsAtHome(email: string): Promise<void> {
      const path = await until(
        () => mailsTo(service, email).flatMap((mail) => /\/sign\/[0-9a-f]{40}/.exec(mail)?.[0] ?? [])[0],
      );
      const look = async () => (await fetch(at(path))).text();
      const page = await look();
      const value = (name: string) => new RegExp(`name="${name}"[^>]*? value="([^"]*)"`).exec(page)?.[1] ?? "";
      const given = { version: value("version"), language: value("language"), can_read: "on" };
      assert.equal((await postForm(at(`${path}/consent`), given, {})).status, 303);
      const revision = /name="revision" value="(\d+)"/.exec(await look())?.[1] ?? "1";
      const signed = await postForm(at(`${path}/sign`), { revision, name: "Jane Doe" }, {});
      assert.equal(signed.status, 303, await signed.text());
    },
    /**
     * Waits until all signers of an order have signed. Then moves the order to its notary, before the sandbox performs
     * the notarization.
     */
    async reachesNotary(code: string): Promise<void> {
      await until(async () => (await statusOf(code)) === "EsignComplete");
      await db.transaction(async (tx) => {
        const order = await lockOrder(tx, code);
        assert.ok(order);
        await transition(tx, order, "next_segment", { actor: "test", at: new Date(), log: openLog("silent") });
      });
    },
    async notarized(code: string): Promise<Buffer> {
      const path = `/api/partner/orders/${code}/documents`;
      const { documents } = await read<{ documents: { kind: string; documentId: string }[] }>(path);
      const id = documents.find(({ kind }) => kind === "notarized")?.documentId;
      return Buffer.from(await (await fetch(at(`${path}/${id}`), { headers })).arrayBuffer());
    },
  };
}
