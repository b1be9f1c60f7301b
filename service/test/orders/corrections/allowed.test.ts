import assert from "node:assert/strict";
import { test } from "node:test";
import { type Act, acts, whyNot } from "../../../src/orders/corrections/allowed.ts";
import { type OrderStatus, orderStatuses } from "../../../src/orders/order/order.ts";

const bought = { sign: true, notarize: true, ship: true, fax: true };
const nothingYet = {
  isSealed: false,
  lastFax: null,
  hasFaxFailedEarly: false,
  faxIsFixed: null,
  faxChanges: 0,
  emailChanges: 0,
  shippedAgain: 0,
  faxedAgain: 0,
  refundIsAsked: false,
  parcelIsFixed: null,
};
const at = (status: OrderStatus, more: object = {}) => ({
  status,
  statusBeforeHold: null,
  ...bought,
  ...nothingYet,
  ...more,
});

/** The actions that a firm may take in a status. */
const allowedIn = (status: OrderStatus, more?: object): Act[] =>
  acts.filter((act) => whyNot(at(status, more), act) === null);

const table: Readonly<Record<OrderStatus, string>> = {
  Created: "email address fax",
  ManualQuoteRequired: "email address fax",
  QuoteReady: "email address fax",
  AwaitingPayment: "email address fax",
  PaymentFailed: "email address fax",
  Paid: "email address fax refund",
  EsignPending: "document email address fax refund",
  EsignDeclined: "document email address fax again refund",
  EsignExpired: "document email address fax again refund",
  EsignComplete: "email address fax refund",
  NotarizationPending: "address fax refund",
  NotarizationFailed: "document email address fax again refund",
  IdentityLocked: "document address fax refund",
  NotarizationComplete: "email address fax refund",
  ShippingPending: "email address fax refund",
  Shipped: "email fax refund",
  ShippingFailed: "email address fax again refund",
  Delivered: "email fax refund",
  FaxPending: "email fax refund",
  FaxSent: "email refund",
  FaxDelivered: "email refund",
  FaxFailed: "email fax again refund",
  OnHold: "email refund",
  Completed: "email refund",
  RefundPending: "email",
  Refunded: "email",
  Cancelled: "",
};

test("the table of statuses and corrections", () => {
  assert.deepEqual(Object.keys(table).sort(), [...orderStatuses].sort());
  for (const status of orderStatuses) assert.equal(allowedIn(status).join(" "), table[status], status);
});

test("an order that is held while a notary identifies its client keeps the client’s address", () => {
  assert.ok(!allowedIn("OnHold", { statusBeforeHold: "NotarizationPending" }).includes("email"));
});

test("every refusal gives a reason, as a sentence", () => {
  for (const status of orderStatuses)
    for (const act of acts) {
      const why = whyNot(at(status), act);
      if (why !== null) assert.match(why, /^[A-Z].{10,}\.$/, `${act} in ${status}`);
    }
});

test("a signed or notarized document stays", () => {
  for (const status of ["EsignDeclined", "NotarizationFailed", "IdentityLocked"] as const)
    assert.ok(!allowedIn(status, { isSealed: true }).includes("document"), status);
});

test("services that were not bought can't be corrected", () => {
  assert.ok(!allowedIn("EsignDeclined", { ship: false }).includes("address"));
  assert.ok(!allowedIn("EsignDeclined", { fax: false }).includes("fax"));
});

test("a parcel and a fax are sent again once, and a fax number can be changed three times a day", () => {
  assert.ok(!allowedIn("ShippingFailed", { shippedAgain: 1 }).includes("again"));
  assert.ok(allowedIn("ShippingFailed", { faxedAgain: 1 }).includes("again"));
  assert.ok(!allowedIn("FaxFailed", { faxedAgain: 1 }).includes("again"));
  assert.ok(allowedIn("FaxFailed", { faxChanges: 2 }).includes("fax"));
  assert.ok(!allowedIn("FaxFailed", { faxChanges: 3 }).includes("fax"));
  assert.ok(allowedIn("EsignPending", { emailChanges: 9 }).includes("email"));
  assert.ok(!allowedIn("EsignPending", { emailChanges: 10 }).includes("email"));
});

test("a fax that failed while the parcel is under way is sent again once, to the same number", () => {
  const failed = { lastFax: "Failed", hasFaxFailedEarly: true };
  for (const status of ["ShippingPending", "Shipped"] as const) {
    assert.ok(allowedIn(status, failed).includes("again"), status);
    assert.ok(!allowedIn(status, { ...failed, faxedAgain: 1 }).includes("again"), status);
    assert.ok(!allowedIn(status, { lastFax: "Failed" }).includes("again"), `${status}: it is being sent again`);
  }
  assert.ok(!allowedIn("OnHold", failed).includes("again"));
});

test("a fax that its carrier may have keeps its number", () => {
  const faxIsFixed = "The fax is on its way.";
  assert.equal(whyNot(at("FaxPending", { faxIsFixed }), "fax"), faxIsFixed);
  assert.equal(whyNot(at("ShippingPending", { faxIsFixed }), "fax"), faxIsFixed);
  assert.equal(whyNot(at("FaxPending"), "fax"), null);
});

test("a parcel that the carrier has keeps its address", () => {
  const parcelIsFixed = "The carrier has the parcel.";
  assert.equal(whyNot(at("ShippingPending", { parcelIsFixed }), "address"), parcelIsFixed);
  assert.ok(allowedIn("ShippingFailed", { parcelIsFixed: null }).includes("address"));
});

test("only one refund can be requested at a time", () => {
  assert.equal(whyNot(at("EsignDeclined", { refundIsAsked: true }), "refund"), "A refund was asked for already.");
});
