import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Delivery, type EasyPostDouble, startEasyPost } from "@signsealship/testing/doubles/easypost";
import { type StripeDouble, startStripe } from "@signsealship/testing/doubles/stripe";
import { makeJobsDue } from "@signsealship/testing/due-jobs";
import { type Harness, openHarness } from "@signsealship/testing/harness";
import { minimal, orderForm, shipping } from "@signsealship/testing/inputs/order-form";
import { newPartner } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import { isSealed, sql } from "../../../src/kernel/platform/database/sql.ts";

export type LabelRow = {
  id: number;
  number: number;
  state: string;
  cents: number;
  carrier: string;
  service: string;
  trackingNumber: string;
  trackerId: string;
  fileSha256: string | null;
  refundState: string | null;
  why: string | null;
};

/** A service with accounts at EasyPost and the payment processor, and a firm with live access. */
export async function openLabelsWorld(env: Record<string, string> = {}) {
  const [easypost, stripe]: [EasyPostDouble, StripeDouble] = await Promise.all([startEasyPost(), startStripe()]);
  const harness: Harness = await openHarness({
    ...stripe.settings("live"),
    EASYPOST_API_KEY: easypost.apiKey,
    EASYPOST_API_BASE: easypost.url,
    EASYPOST_WEBHOOK_SECRET: easypost.webhookSecret,
    ...env,
  });
  const { db } = harness;
  const url = () => harness.service.baseUrl;
  const { headers } = await newPartner(harness.service, { live: true, name: "Acme Title" });

  /** Places an order for a parcel. @returns the service's response */
  async function place(fields: Record<string, string> = {}, by = headers) {
    const body = orderForm({ ...minimal, ...shipping, create_checkout: "true", ...fields });
    const response = await fetch(`${url()}/api/partner/orders`, { method: "POST", headers: by, body });
    assert.equal(response.status, 201);
    return (await response.json()) as {
      orderCode: string;
      checkoutUrl: string;
      status: string;
      lines: { type: string; label: string; amountCents: number }[];
    };
  }

  const statusOf = async (code: string) =>
    (await db.query<{ status: string }>(sql`SELECT status FROM orders WHERE ${isSealed(sql`code`, "order", code)}`))[0]
      ?.status;

  const labels = (code: string) =>
    db.query<LabelRow>(sql`
      SELECT l.id, number, state, cents, carrier, service, tracking_number AS "trackingNumber", tracker_id AS "trackerId",
        file_sha256 AS "fileSha256", refund_state AS "refundState", why
      FROM labels l JOIN orders o ON o.id = l.order_id WHERE ${isSealed(sql`o.code`, "order", code)} ORDER BY number`);

  return {
    harness,
    easypost,
    stripe,
    db,
    url,
    place,
    statusOf,
    labels,
    /** Pays an order and waits until its shipping begins. */
    async payFor({ orderCode, checkoutUrl }: { orderCode: string; checkoutUrl: string }) {
      await stripe.deliver(url(), stripe.pay(stripe.sessionOf(checkoutUrl)));
      await until(async () => (await statusOf(orderCode)) === "ShippingPending");
      return orderCode;
    },
    /** Waits until a label of the order is bought and its file is stored. @returns the order's last label */
    async boughtLabel(code: string): Promise<LabelRow> {
      const isThere = ({ state, fileSha256 }: LabelRow) => state === "bought" && fileSha256 !== null;
      const found = await until(async () => ((await labels(code)).some(isThere) ? labels(code) : null));
      const label = found.at(-1);
      assert.ok(label);
      return label;
    },
    /** Moves a parcel to a status, and delivers the event about it. */
    deliver: (trackerId: string, status: string, more: Record<string, unknown> = {}, how: Delivery = {}) =>
      easypost.deliver(url(), easypost.event(easypost.track(trackerId, status, more)), how),
    /** Posts a form of the console. */
    post: (path: string, cookie: string, form: Record<string, string> = {}) =>
      fetch(url() + path, {
        method: "POST",
        redirect: "manual",
        headers: { cookie, Accept: "text/html" },
        body: new URLSearchParams(form),
      }),
    page: async (path: string, cookie: string) => (await fetch(url() + path, { headers: { cookie } })).text(),
    /** The sent mails, with wrapped lines joined. */
    mails() {
      const outbox = join(harness.service.dataDir, "outbox");
      return existsSync(outbox)
        ? readdirSync(outbox)
            .filter((name) => name.endsWith(".eml"))
            .map((name) => readFileSync(join(outbox, name), "utf8").replace(/=\r?\n/g, ""))
        : [];
    },
    tasks: (code: string) =>
      db.query<{ id: number; kind: string; state: string; reason: string | null }>(sql`
        SELECT t.id, kind, state, reason FROM tasks t JOIN orders o ON o.id = t.order_id WHERE ${isSealed(sql`o.code`, "order", code)} ORDER BY t.id`),
    /** Makes the waiting jobs of a queue due now. */
    hurry: (queue: string) => makeJobsDue(db, queue),
    queued: async (queue: string) => (await db.query(sql`SELECT FROM jobs WHERE queue = ${queue}`)).length,
    async close() {
      await harness.close();
      await Promise.all([easypost.close(), stripe.close()]);
    },
  };
}
