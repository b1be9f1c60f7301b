import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import type { Principal } from "../../../src/kernel/identity/identity.ts";
import type { PaymentOfFirm } from "../../../src/orders/payments/payments.ts";
import { billingBody } from "../../../src/pages/dashboard/billing/body.ts";
import { render } from "../../../src/pages/ui/render.ts";

const at = new Date("2026-03-04T05:06:07Z");
const principal: Principal = {
  ...{ partnerId: randomUUID(), environment: "live", firmName: "Acme Title", tier: "trial", liveEnabled: true },
  ...{ key: null, member: null },
};

const payment = (): PaymentOfFirm => [
  {
    ...{ id: randomUUID(), groupId: null, orderId: 1, orderCode: "a".repeat(40), partnerId: principal.partnerId },
    ...{ environment: "live", methodId: randomUUID(), amountCents: 9_900, supplementId: null, askedBy: "key:x" },
    ...{ askedAt: at, sentAt: at, changedAt: at, state: "succeeded", paymentIntent: "pi_1", reason: null },
    ...{ reference: null, isDisputed: false, creditedCents: 0, lostCents: 0 },
  },
];

const pageOf = (payments: number): string =>
  render(
    billingBody({
      ...{ principal, isPaidHere: true, methods: [], spenders: [], used: new Map(), now: at, zone: "America/New_York" },
      payments: Array.from({ length: payments }, payment),
    }),
  );

test("lists at most 50 payments of a firm, and says so where there are more", () => {
  const rowsOf = (page: string) => page.split("/dashboard/orders/").length - 1;
  const [all, more] = [pageOf(50), pageOf(51)];
  assert.deepEqual([rowsOf(all), rowsOf(more)], [50, 50]);
  assert.doesNotMatch(all, /Only the newest/);
  assert.match(more, /Only the newest 50 payments .*<a href="\/dashboard\/statements">Statements<\/a>/);
});
