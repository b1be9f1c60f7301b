import assert from "node:assert/strict";
import { test } from "node:test";
import { statusGroupOf, statusGroups, wasPaid } from "../../../../src/orders/order/transitions/status-groups.ts";
import { orderStatuses } from "../../../../src/orders/order/transitions/statuses.ts";

const groupOf: Record<string, string[]> = {
  open: ["Created", "QuoteReady", "AwaitingPayment", "Paid"],
  signing: ["EsignPending"],
  signed: ["EsignComplete"],
  notarizing: ["NotarizationPending"],
  notarized: ["NotarizationComplete"],
  shipping: ["ShippingPending", "FaxPending"],
  shipped: ["Shipped", "FaxSent"],
  delivered: ["Delivered", "FaxDelivered"],
  complete: ["Completed"],
};
const listed = new Set(Object.values(groupOf).flat());

test("puts every status of the contract into its group, and every problem into attention", () => {
  for (const [group, statuses] of Object.entries(groupOf))
    for (const status of statuses) assert.equal(statusGroupOf(status), group, status);
  const problems = orderStatuses.filter((status) => !listed.has(status));
  assert.equal(problems.length, 12);
  for (const status of problems) assert.equal(statusGroupOf(status), "attention", status);
  assert.equal(statusGroups.length, 10);
});

test("treats an unknown status as open, never as complete", () => {
  for (const status of ["", "completed", "Completed ", "toString", "__proto__"])
    assert.equal(statusGroupOf(status), "open");
});

test("recognizes paid orders, a held one by its status before", () => {
  const unpaid = [
    "Created",
    "QuoteReady",
    "AwaitingPayment",
    "PaymentFailed",
    "ManualQuoteRequired",
    "Cancelled",
    "OnHold",
    "Unheard",
  ];
  for (const status of [...orderStatuses, "Unheard"])
    assert.equal(wasPaid(status, null), !unpaid.includes(status), status);
  assert.equal(wasPaid("OnHold", "EsignPending"), true);
  assert.equal(wasPaid("OnHold", "AwaitingPayment"), false);
  assert.equal(wasPaid("QuoteReady", "EsignPending"), false);
});
