import assert from "node:assert/strict";
import { test } from "node:test";
import type { Operator, OperatorRole } from "../../../../src/firms/operators/operators.ts";
import type { WaitingRefund } from "../../../../src/orders/refunds/refunds.ts";
import { byHandCard } from "../../../../src/pages/operator/payments/by-hand.ts";

const at = new Date("2026-03-04T05:06:07.089Z");
const share = { paymentId: 7, orderId: 3, orderCode: "a".repeat(64), orderStatus: "EsignPending", restCents: 9_900 };
const refund: WaitingRefund = {
  id: "re_1",
  paymentIntent: "pi_1",
  amountCents: 500,
  currency: "usd",
  seenAt: at,
  shares: [share],
  state: "waiting",
  assignment: null,
};
const shownTo = (
  role: OperatorRole,
  each = refund,
  session: Operator["session"] = null,
  id: string | null = "a",
): string => {
  const shown = { id, name: "A", email: null, roles: [role], environment: "live", actor: "operator:a" } as const;
  const operator: Operator = { ...shown, sessionId: "s", signedInAt: at, decidesFrom: null, session };
  return String(byHandCard([each], operator));
};

test("only those who may say which orders a refund was for have the form for it", () => {
  for (const role of ["agent", "approver"] as const) assert.match(shownTo(role), /name="part-7"/, role);
  assert.match(shownTo("auditor"), /\$5\.00/);
  assert.doesNotMatch(shownTo("auditor"), /<form/);
});

test("an approver without a passkey has no form for it, and an agent needs no passkey", () => {
  const session = {
    id: "s",
    userId: "a",
    email: "a@desk.example",
    environment: "live",
    proof: { confirmedAt: at, passkeyAt: null, hasPasskey: false, passkeyForLive: false },
  } as unknown as Operator["session"];
  assert.doesNotMatch(shownTo("approver", refund, session), /<form/);
  assert.match(shownTo("agent", refund, session), /name="part-7"/);
});

test("an operator who came by a link of the command line has no form for it", () => {
  const byLink = (each = refund) => shownTo("approver", each, null, null);
  assert.match(byLink(), /\$5\.00/);
  assert.doesNotMatch(byLink(), /<form/);
  const assignment = {
    id: "1",
    refund: refund.id,
    parts: [{ payment: 7, cents: 500 }],
    reason: "asked",
    requestedAt: at,
    requestedBy: "b",
    requestedByName: "B",
  };
  assert.doesNotMatch(byLink({ ...refund, assignment }), /<form|\/approve"|\/drop"/);
});

test("an assignment of a refund that failed can be refused, and not approved", () => {
  const assignment = {
    id: "1",
    refund: refund.id,
    parts: [{ payment: 7, cents: 500 }],
    reason: "asked",
    requestedAt: at,
    requestedBy: "b",
    requestedByName: "B",
  };
  assert.match(shownTo("approver", { ...refund, assignment }), /\/approve"/);
  const failed = shownTo("approver", { ...refund, assignment, state: "ended" });
  assert.doesNotMatch(failed, /\/approve"/);
  assert.match(failed, /\/drop"/);
});

test("a refund that the bank has not confirmed has no form, and one above what is left says how much to divide", () => {
  const pending = shownTo("approver", { ...refund, state: "pending" });
  assert.match(pending, /Wait for the bank/);
  assert.doesNotMatch(pending, /<form/);
  assert.doesNotMatch(shownTo("agent"), /Only \$/);
  assert.match(shownTo("agent", { ...refund, amountCents: 10_000 }), /Only \$99\.00 is left of these orders/);
});
