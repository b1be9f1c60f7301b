import assert from "node:assert/strict";
import { test } from "node:test";
import type { Operator } from "../../../../src/firms/operators/operators.ts";
import type { OrderState } from "../../../../src/orders/order/order.ts";
import { sideNav } from "../../../../src/pages/operator/frame/nav.ts";
import { foundBody } from "../../../../src/pages/operator/orders/list-page.ts";
import { labelOf, moveForm } from "../../../../src/pages/operator/orders/move-forms.ts";
import { timelinePart } from "../../../../src/pages/operator/orders/timeline.ts";
import { pathOfTask } from "../../../../src/pages/operator/today/page.ts";
import { orderSteps } from "../../../../src/pages/ui/orders/steps.ts";
import { render } from "../../../../src/pages/ui/render.ts";

const bought = { sign: true, notarize: false, ship: true, fax: false, faxTo: null, statusBeforeHold: null };

test("the button after the last service completes the order, and that before it begins the next one", () => {
  const signed = { ...bought, status: "EsignComplete" } as OrderState;
  assert.equal(labelOf("next_segment", signed), "Begin the next service");
  const last = { ...signed, status: "Delivered" } as typeof signed;
  assert.equal(labelOf("next_segment", last), "Complete the order");
  assert.match(
    render(moveForm("/operator/orders/x", "next_segment", last, undefined, new Date())),
    />Complete the order</,
  );
});

test("the forms about deliveries do not promise an email in a closing", () => {
  const order = { ...bought, status: "ShippingPending" } as OrderState;
  for (const move of ["shipped", "delivered", "fax_delivered"] as const)
    assert.match(
      render(moveForm("/operator/orders/x", move, order, undefined, new Date())),
      /The client is emailed [^.]+\. In a closing of several documents no email is sent/,
    );
});

test("the payment of a refunded order was refunded, not stopped", () => {
  for (const status of ["RefundPending", "Refunded"] as const) {
    const steps = orderSteps({ ...bought, status });
    const payment = steps[1]?.note ?? "";
    assert.match(payment, /[Rr]efund/);
    assert.equal(steps[2]?.note, "Stopped");
  }
  assert.equal(orderSteps({ ...bought, status: "Cancelled" })[1]?.note, "Stopped");
});

test("a link of the command line leads to no page that only a notary may open", () => {
  const cli = { actor: "operator:cli", roles: ["agent", "notary", "admin"], environment: "live", session: null };
  const shown = render(sideNav(cli as unknown as Operator, "today", "/operator"));
  assert.match(shown, /href="\/operator\/orders"/);
  assert.doesNotMatch(shown, /href="\/operator\/notary(?:\/journal)?"/);
});

test("the timeline names the command line as the actor of what its link did", () => {
  const line = {
    occurredAt: new Date(0).toISOString(),
    action: "order.noted",
    fromStatus: null,
    toStatus: null,
    detail: null,
  };
  const shown = (actor: string) => {
    const facts = { history: { history: [{ ...line, actor }] }, acts: [], names: new Map(), order: { code: "x" } };
    return render(timelinePart(facts as unknown as Parameters<typeof timelinePart>[0]));
  };
  for (const actor of ["operator", "operator:cli"]) assert.match(shown(actor), /Command line/);
  assert.match(shown("operator:5"), /A former operator/);
});

test("a task about no order leads to the list of its kind", () => {
  const approver = { actor: "operator:x", roles: ["approver"], environment: "live", session: null };
  const path = (kind: "money_difference" | "dispute", orderCode: string | null) =>
    pathOfTask({ kind, orderCode, mustBeAssigned: false }, approver as unknown as Operator);
  assert.equal(path("money_difference", null), "/operator/tasks/money_difference");
  assert.equal(path("dispute", "abc"), "/operator/orders/abc");
});

test("the list of orders names the document of each", () => {
  const order = {
    code: "a".repeat(40),
    status: "Paid",
    firmName: "Acme",
    customerName: "Dana",
    customerEmail: "d@example.com",
    externalReference: null,
    totalCents: 100,
    createdAt: new Date(0),
    documentName: null,
    docSlug: "deed",
    ...bought,
  };
  const titleOf = ({ docSlug }: { docSlug: string | null }) => (docSlug === "deed" ? "Warranty deed" : null);
  assert.match(render(foundBody("d@", { orders: [order], titleOf })), /Warranty deed/);
});
