import assert from "node:assert/strict";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { lockOrder } from "../../../src/orders/order/order.ts";
import { technologyFeeOf } from "../../../src/orders/refunds/refunds.ts";
import { openRoomsService } from "../../closing/rooms/rooms-service.ts";

const running = await forTests(openRoomsService());

const feeOf = (code: string) =>
  running.db.transaction(async (tx) => {
    const order = await lockOrder(tx, code);
    assert.ok(order);
    return technologyFeeOf(tx, order.id);
  });

test("all of the technology fee is refunded: the tier had discounted only the workflow fee", async () => {
  const firm = await running.partner("ClosingDesk", "Acme Title");
  assert.equal(await feeOf(await firm.order({ svc_notary: "true", signer_state: "FL" })), 2400);
});

test("an order without online notarization has no technology fee to refund", async () => {
  const firm = await running.partner("ClosingDesk", "Plain Title");
  assert.equal(await feeOf(await firm.order()), 0);
});
