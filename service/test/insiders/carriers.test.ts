import assert from "node:assert/strict";
import { test } from "node:test";
import { newClient } from "@signsealship/testing/client";
import { forTests } from "@signsealship/testing/for-tests";
import { openHarness } from "@signsealship/testing/harness";
import { minimal, orderForm, shipping } from "@signsealship/testing/inputs/order-form";
import { newPartner, runCli } from "@signsealship/testing/service";
import { isSealed, type Statement, sql } from "../../src/kernel/platform/database/sql.ts";
import { openInsider } from "./insider.ts";

const running = await forTests(openHarness());
const insider = await forTests(openInsider(running.service.dataDir));
const { baseUrl, dataDir } = running.service;
const firm = newClient(baseUrl, (await newPartner(running.service)).key, (status) => status < 300);

const fields = { ...minimal, ...shipping, fax_to: "+12125550199" };

/** An order in a room, with a delivered parcel and fax. */
async function sentOrder() {
  const form = orderForm(fields);
  const { orderCode: code } = await firm.ok<{ orderCode: string }>("POST", "/api/partner/orders", form);
  const { roomCode } = await firm.ok<{ roomCode: string }>("POST", "/api/rooms", { name: "12 Elm Street" });
  await firm.ok("POST", `/api/rooms/${roomCode}/orders`, { orderCode: code });
  const idOf = async () =>
    (
      await insider.run<{ id: number; status: string }>(
        sql`SELECT id, status FROM orders WHERE ${isSealed(sql`code`, "order", code)}`,
      )
    )[0];
  for (let n = 0; n < 20 && (await idOf())?.status !== "Completed"; n++)
    await firm.ok("POST", `/api/partner/sandbox/orders/${code}/advance`);
  const id = (await idOf())?.id ?? 0;
  const pages = async () => {
    const statuses = [`/orders/${code}`, `/api/rooms/${roomCode}`].map(
      async (path) => (await fetch(baseUrl + path)).status,
    );
    return Promise.all(statuses);
  };
  const cli = async () => (await runCli({ DATA_DIR: dataDir }, "order", "show", code)).code;
  return { id, pages, cli };
}

test("a parcel or a fax that was altered, set back or inserted is not shown", async () => {
  const attacks: [string, boolean, (id: number) => Statement[]][] = [
    [
      "another tracking number",
      true,
      (id) => [sql`UPDATE shipments SET tracking_number = '1Z' WHERE order_id = ${id}`],
    ],
    [
      "a state and back again",
      true,
      (id) => [
        sql`UPDATE shipments SET status = 'Failed' WHERE order_id = ${id}`,
        sql`UPDATE shipments SET status = 'Delivered' WHERE order_id = ${id}`,
      ],
    ],
    [
      "another parcel",
      true,
      (id) => [
        sql`INSERT INTO shipments (order_id, status, carrier, tracking_number, shipped_at, row_mac, state_version)
          SELECT order_id, status, carrier, tracking_number, shipped_at, row_mac, state_version FROM shipments WHERE order_id = ${id}`,
      ],
    ],
    ["another fax number", false, (id) => [sql`UPDATE faxes SET fax_to = '+12125550100' WHERE order_id = ${id}`]],
  ];
  for (const [name, isPublic, statements] of attacks) {
    const order = await sentOrder();
    assert.deepEqual([await order.pages(), await order.cli()], [[200, 200], 0], name);
    for (const statement of statements(order.id)) await insider.run(statement);
    assert.deepEqual(await order.pages(), isPublic ? [503, 503] : [200, 200], name);
    assert.equal(await order.cli(), 1, name);
  }
  const { stdout } = await runCli({ DATA_DIR: dataDir }, "doctor");
  assert.match(stdout, /did not write faxes \d+ so/);
});

test("carriers' rows can't be removed, or moved to another order", async () => {
  const { id } = await sentOrder();
  for (const table of [sql`labels`, sql`letters`, sql`faxes`, sql`fax_attempts`, sql`shipments`]) {
    await assert.rejects(insider.run(sql`DELETE FROM ${table} WHERE order_id = ${id}`), /append-only/, table.text);
    await assert.rejects(insider.run(sql`UPDATE ${table} SET order_id = order_id + 1`), /append-only/, table.text);
  }
});
